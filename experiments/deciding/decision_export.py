"""A decision as a production config reads it: TOML or JSON, with everything the gate needs and where it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

import tomli_w

from experiments.conditions import OWN, Strategy, strategy_from_settings
from experiments.deciding.decisions import decided_at
from experiments.lexical import BM25Settings
from experiments.ranking import DEFAULT_FUSION, Fusion
from store.tables import DecisionRow

Format = Literal["toml", "json"]
FORMATS: tuple[Format, ...] = ("toml", "json")
SCHEMA = 1  # raised when a key changes its place or meaning

_HEADER = """\
# The answer gate, as decided. Written by `bluffline decide`; do not edit: decide again, and export again.
# A question is answered from at most [gate] keep chunks, those with a cosine distance strictly under the threshold.
"""
_BM25 = re.compile(r"k1 = (?P<k1>\S+), b = (?P<b>\S+), tokens: (?P<tokens>runs of [^,]+)(?:, (?P<stems>\w+) stems)?")
_ASCII = "runs of a-z and 0-9"


def export(decision: DecisionRow, form: Format) -> str:
    """The decision as text; read again, it is what `config` says of it.

    Raises:
        ValueError: If the form is neither `toml` nor `json`.
    """
    values = config(decision)
    if form == "json":
        return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "toml":
        return _HEADER + "\n" + tomli_w.dumps(values, multiline_strings=False)
    raise ValueError(f"unknown form {form!r}, known are {', '.join(FORMATS)}")


def config(decision: DecisionRow) -> dict[str, Any]:
    """Everything of a decision that production needs, in tables; what is not known is left out, never empty."""
    return _without_none(
        {
            "schema": SCHEMA,
            "decision": {
                "id": decision.id,
                "key": decision.key,
                "supersedes": decision.supersedes,
                "project": decision.project,
                "who": decision.who,
                "when": decided_at(decision).isoformat(timespec="seconds"),
                "why": decision.reason,
                "picked_by": decision.picked_by,
            },
            "gate": {"threshold": decision.threshold, "keep": decision.gate_size, "distance": "cosine"},
            "strategy": _strategy(decision),
            "retriever": _retriever(decision),
            "model": _model(decision.stamp, decision.model),
            "scorer": _scorer(decision),
            "measured": {
                "sweep": decision.sweep_key,
                "combination": decision.combination,
                "commit": decision.commit,
                "branch": decision.branch,
                "dirty": decision.dirty,
                "corpus_sha256": decision.corpus_hash,
                "questions_sha256": decision.questions_hash,
                "hit_rule": decision.hit_rule,
                "pipeline": decision.pipeline,
            },
            "costs": {**decision.costs, "unanswerable_share": decision.unanswerable_share},
            "evaluation": _shares(decision, "evaluation"),
            "calibration": _shares(decision, "calibration"),
            "bounds": _bounds(decision),
        }
    )


def strategy_from_spec(name: str, spec: str) -> Strategy:
    """The strategy a canonical line describes; the inverse of `Strategy.spec`.

    Raises:
        ValueError: If the line is not such a description.
    """
    parts = dict(part.split("=", 1) for part in spec.split(";") if "=" in part)
    try:
        settings = {
            "cuts": parts["cuts"],
            "header": {"true": True, "false": False}[parts["header"]],
            "overlap": int(parts["overlap"]),
            "budget": int(parts["budget"]),
        }
    except (KeyError, ValueError) as error:
        raise ValueError(f"{spec!r} does not describe a strategy") from error
    return strategy_from_settings(name, settings)


def bm25_from_words(words: str) -> BM25Settings:
    """The BM25 settings a sweep has recorded in words; the inverse of `BM25Settings.describe`.

    Raises:
        ValueError: If the words are not such a description.
    """
    found = _BM25.fullmatch(words)
    if found is None:
        raise ValueError(f"{words!r} does not describe BM25's settings")
    return BM25Settings(
        k1=float(found["k1"]),
        b=float(found["b"]),
        tokeniser="ascii" if found["tokens"] == _ASCII else "unicode",
        stemming=found["stems"],
    )


def _strategy(decision: DecisionRow) -> dict[str, Any]:
    if decision.strategy == OWN:
        return {"name": OWN, "asks": decision.strategy_spec}
    strategy = strategy_from_spec(decision.strategy, decision.strategy_spec)
    return {
        "name": strategy.name,
        "cuts": strategy.cuts,
        "header": strategy.header,
        "overlap": strategy.overlap,
        "budget": strategy.budget,
    }


def _retriever(decision: DecisionRow) -> dict[str, Any]:
    values: dict[str, Any] = {"name": decision.retriever}
    if decision.retriever_settings is not None:
        bm25 = bm25_from_words(decision.retriever_settings)
        values["bm25"] = {"k1": bm25.k1, "b": bm25.b, "tokeniser": bm25.tokeniser, "stemming": bm25.stemming}
    if decision.strategy != OWN and decision.retriever in ("hybrid", "rerank"):
        fusion = Fusion.from_words(decision.fusion) if decision.fusion else DEFAULT_FUSION
        weights = {"dense": fusion.dense, "bm25": fusion.bm25}
        values["fusion"] = {"method": "reciprocal rank", "k": fusion.k, "weights": weights}
    return values


def _scorer(decision: DecisionRow) -> dict[str, Any] | None:
    """The second model: it orders chunks, and the gate still reads the first model's distances."""
    if decision.scorer is None:
        return None
    kind = {"rerank": "cross-encoder", "late": "late interaction"}[decision.retriever]
    depth = decision.scorer_stamp.get("depth")
    return {"kind": kind, "reranks": depth, **_model(decision.scorer_stamp, decision.scorer)}


def _model(stamp: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """A model; of a decision the one whose distances the gate reads, which BM25 has too."""
    return {
        "name": stamp.get("name", name),
        "source": stamp.get("source"),
        "weights_sha256": stamp.get("weights"),
        "files_sha256": stamp.get("files"),
        "dimensions": stamp.get("dimensions"),
        "window": stamp.get("window"),
        "precision": stamp.get("precision"),
    }


def _shares(decision: DecisionRow, side: str) -> dict[str, Any] | None:
    """One side's row; a share without questions is left out, so that nothing measured never reads as 0."""
    found = decision.evidence.get("choice", {}).get(side)
    if found is None:
        return None
    shares = {name: share for name, share in found["row"].items() if isinstance(share, dict) and share["n"]}
    return {"method": decision.evidence["choice"]["method"], **shares}


def _bounds(decision: DecisionRow) -> dict[str, Any]:
    """The bounds at the threshold; `certified` says whether the target was certified for it beforehand."""
    bounds: dict[str, Any] = {"confidence": decision.confidence, "target": decision.target}
    certificates = decision.evidence.get("certification", {})
    for name, bound in decision.evidence.get("bounds", {}).items():
        limit = certificates.get(name, {}).get("threshold")
        certified = None if decision.target is None else limit is not None and decision.threshold <= limit
        bounds[name] = {**{key: bound[key] for key in ("bluffs", "n", "upper")}, "certified": certified}
    return bounds


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    """TOML has no null."""
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }
