"""Every number of a sweep as plain data, for `bluffline show --json` and for exports."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from experiments.pairs import Pair, compare
from experiments.reading import LoadedSweep
from experiments.stats.intervals import Proportion
from experiments.thresholds import Extremes, ThresholdRow, extremes, read_thresholds
from experiments.verdicts.gains import Gain
from experiments.verdicts.strategies import Arm, on_strategies
from store.tables import CombinationRow, MeasureRow

# What a sweep's row says about the process that runs it is no result.
_PASSING = {"pid", "heartbeat_at", "stage", "done", "total", "eta_seconds", "cancel_requested", "host"}


def report(loaded: LoadedSweep) -> dict[str, Any]:
    """All of a sweep.

    Returns:
        `sweep`, `verdicts` by k, `combinations` (each with `numbers`, `thresholds` and `extremes`), `pairs` by k and
        `gains` of second models, of JSON's types only. What is not known is null, never 0.
    """
    arms = loaded.arms
    settings = loaded.sweep.settings
    by_id = dict(zip([row.id for row in loaded.recorded], arms, strict=True))
    return {
        "sweep": {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in loaded.sweep.model_dump(exclude=_PASSING).items()
        },
        "verdicts": {str(k): list(on_strategies(arms, k, settings["alpha"]).sentences) for k in settings["k"]},
        "combinations": [
            _combination(row, loaded.measures.get(row.id or 0, {}), by_id.get(row.id), [None, *settings["thresholds"]])
            for row in loaded.combinations
        ],
        "pairs": {
            str(k): [_pair(pair) for pair in compare({arm.key: arm.outcomes for arm in arms}, k, settings["alpha"])]
            for k in settings["k"]
        },
        "gains": [_gain(gain) for gain in loaded.gains],
    }


def _combination(
    row: CombinationRow, numbers: dict[str, MeasureRow], arm: Arm | None, thresholds: list[float | None]
) -> dict[str, Any]:
    model = row.stamp.get("model")
    return {
        "key": row.key,
        "strategy": row.strategy,
        "retriever": row.retriever,
        "model": row.model,
        "scorer": row.scorer,
        "state": row.state,
        "reason": row.reason,
        "measured_in": row.measured_in,
        "gate_model": model,
        "scorer_model": row.stamp.get("scorer"),
        "distance_identity_error": row.stamp.get("identity_error"),
        "cutting": row.stamp.get("cutting"),
        "own": row.stamp.get("own"),
        "mlflow_run_id": row.mlflow_run_id,
        "numbers": {name: number.model_dump(exclude={"combination_id", "name"}) for name, number in numbers.items()},
        "thresholds": [_threshold(one) for one in read_thresholds(arm.outcomes, thresholds)] if arm else [],
        "extremes": _extremes(extremes(arm.outcomes)) if arm else None,
    }


def _threshold(row: ThresholdRow) -> dict[str, Any]:
    return {name: share(value) if isinstance(value, Proportion) else value for name, value in row._asdict().items()}


def share(value: Proportion) -> dict[str, float | int | None]:
    """A proportion with its interval and n."""
    return {"hits": value.hits, "n": value.n, "value": value.estimate, "low": value.low, "high": value.high}


def _extremes(found: Extremes) -> dict[str, Any]:
    return {**found._asdict(), "separable": found.separable}


def _pair(pair: Pair) -> dict[str, Any]:
    return {**pair._asdict(), "by_needle": pair.by_needle._asdict()}


def _gain(gain: Gain) -> dict[str, Any]:
    """A second model against the ranking without it; Holm's correction runs over `family` tests."""
    difference = gain.difference
    return {
        "key": gain.arm.key,
        "against": gain.base.key,
        "recall_at_1": {
            "with": share(gain.after),
            "without": share(gain.before),
            "wins": gain.wins,
            "losses": gain.losses,
            "n": gain.n,
            "p": gain.p,
            "holm_p": gain.holm_p,
        },
        "mrr": {
            "with": gain.mrr_after if gain.n else None,
            "without": gain.mrr_before if gain.n else None,
            "difference": {"value": difference.mean, "low": difference.low, "high": difference.high, "n": gain.n},
            "p": gain.mrr_p,
            "holm_p": gain.mrr_holm_p,
        },
        "family": gain.family,
        "milliseconds": {"with": gain.milliseconds, "without": gain.base_milliseconds},
    }
