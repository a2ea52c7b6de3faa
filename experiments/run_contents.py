"""What MLflow's runs say: tags, parameters and metrics made from what the store has recorded.

Pure functions of rows; `experiments.tracking` sends what they return.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from experiments.stats.intervals import Proportion
from experiments.thresholds import ThresholdRow
from store.tables import CombinationRow, MeasureRow, SweepRow

_QUALITY = ("recall_at_", "mrr", "destroyed", "truncated")  # repeated on every threshold's run


def tags(sweep: SweepRow, kind: str, parent: str | None = None) -> dict[str, str]:
    """Tags of a run: `kind` is `sweep`, `combination` or `threshold`, `parent` the run it is nested in."""
    found = {
        "bluffline.kind": kind,
        "bluffline.sweep": sweep.key,
        "commit": sweep.commit or "none",
        "branch": sweep.branch or "none",
        "dirty": {None: "unknown", True: "true", False: "false"}[sweep.dirty],
        "corpus_hash": sweep.corpus_hash,
        "questions_hash": sweep.questions_hash,
    }
    if sweep.commit:
        found["mlflow.source.git.commit"] = sweep.commit
    if parent:
        found["mlflow.parentRunId"] = parent
    return found


def sweep_params(sweep: SweepRow) -> dict[str, str]:
    """Parameters of a sweep's run: its sizes, rules and settings."""
    return {
        "documents": str(sweep.documents),
        "needles": str(sweep.needles),
        "answerable": str(sweep.answerable),
        "near": str(sweep.near),
        "far": str(sweep.far),
        "hit_rule": sweep.hit_rule,
        "pipeline": sweep.pipeline,
        "fingerprint": sweep.fingerprint,
        **{name: json.dumps(value)[:6000] for name, value in sweep.settings.items()},
    }


def combination_params(row: CombinationRow) -> dict[str, str]:
    """Parameters of a combination's run, and of each of its thresholds'."""
    return {
        "strategy": row.strategy,
        "retriever": row.retriever,
        "model": row.model or "none",
        "scorer": row.scorer or "none",
        "gate_model": str(row.stamp.get("model", {}).get("name", "none")),
        **({"asks": str(row.stamp["own"]["asks"])[:500]} if "own" in row.stamp else {}),
    }


def own_metrics(row: CombinationRow) -> dict[str, float]:
    """How asking a team's own retriever went, and how what it returned was located; nothing for other combinations."""
    own = row.stamp.get("own")
    if own is None:
        return {}
    counts = {
        **{f"requests_{name}": count for name, count in own["tally"].items()},
        **{f"located_{way.replace(' ', '_')}": count for way, count in own["located"].items()},
    }
    return {name: float(count) for name, count in counts.items()}


def combination_metrics(numbers: Mapping[str, MeasureRow]) -> dict[str, float]:
    """Every number of a combination with its interval and n; what is not known is not logged as 0."""
    return {key: value for name, number in numbers.items() for key, value in _metrics(name, number)}


def threshold_metrics(row: ThresholdRow, metrics: Mapping[str, float]) -> dict[str, float]:
    """The columns of a threshold, and the combination's quality beside them."""
    quality = {key: value for key, value in metrics.items() if key.startswith(_QUALITY)}
    return {**quality, **dict(_shares(row))}


def _metrics(name: str, number: MeasureRow) -> Iterator[tuple[str, float]]:
    for suffix, value in (
        ("", number.value),
        ("_low", number.low),
        ("_high", number.high),
        ("_hits", number.hits),
        ("_n", number.n),
    ):
        if value is not None:
            yield name + suffix, float(value)


def _shares(row: ThresholdRow) -> Iterator[tuple[str, float]]:
    for name, share in row._asdict().items():
        if isinstance(share, Proportion):
            yield f"{name}_hits", float(share.hits)
            yield f"{name}_n", float(share.n)
            if share.estimate is not None and share.low is not None and share.high is not None:
                yield name, share.estimate
                yield f"{name}_low", share.low
                yield f"{name}_high", share.high
