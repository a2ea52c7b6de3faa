"""A sweep for pages: five combinations on 94 questions that look like real ones, with hits, texts and every number.

`reviewed` writes it as a run would. A is a blind cut that destroys needles, E keeps them; E finds more, so that some
pairs are resolved and others are not; far questions are easy to refuse and near ones are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import numpy as np
from made_outcomes import question_set
from made_sweeps import MODEL, SETTINGS, STAMP
from sqlalchemy import Engine

from experiments.evaluation import Cutting, score
from experiments.outcomes import Hit, Outcome
from experiments.recording import measure_rows, outcome_rows, to_parquet
from store import reads, writes
from store.tables import CombinationRow, DocumentRow, QueryRow, SweepRow, TextRow

KS = (1, 4, 8, 20)
DENSE_A, BM25_A = f"A/dense/{MODEL}", "A/bm25"
DENSE_E, BM25_E, HYBRID_E = f"E/dense/{MODEL}", "E/bm25", f"E/hybrid/{MODEL}"
KEYS = (DENSE_A, BM25_A, DENSE_E, BM25_E, HYBRID_E)
FOUND = {DENSE_A: 0.42, BM25_A: 0.45, DENSE_E: 0.86, BM25_E: 0.7, HYBRID_E: 0.86}  # share of needles returned
DOCUMENT = "handbook.md"
TEXT = (
    "# Handbook\n\n## Leave\n\nLeave is asked for in the calendar & confirmed by the lead.\n\n"
    "## Cafeteria\n\nThe cafeteria opens at seven. Nobody knows what is the capital of france there.\n"
)
LITERAL = "what is the capital of france"  # asked, and in the text, which does not answer it
HOSTILE = "<script>alert(1)</script> near question"


def outcomes_of(key: str, seed: int = 3) -> list[Outcome]:
    """The outcomes of one combination; the same questions for every key."""
    rng = np.random.default_rng([seed, *key.encode()])
    destroyed = {f"n{number}" for number in range(9)} if key.startswith("A/") else set()
    return [_returned(one, FOUND[key], destroyed, rng) for one in question_set(seed)]


def _returned(one: Outcome, found: float, destroyed: set[str], rng: np.random.Generator) -> Outcome:
    if one.needle_id is None:
        return replace(one, hits=_hits(one.nearest or 1.0, None))
    if one.needle_id in destroyed or rng.random() > found:
        lost = one.needle_id in destroyed
        return replace(one, rank=None, destroyed=lost, needle_distance=None, chunk_distance=None if lost else 0.9,
                       quotable=None, hits=_hits(one.nearest or 1.0, None))  # fmt: skip
    rank = int(rng.integers(1, 12))
    kept = one.nearest if rank <= 4 else None
    return replace(one, rank=rank, needle_distance=kept, chunk_distance=(one.nearest or 0.0) + 0.02 * (rank > 4),
                   quotable=True, hits=_hits(one.nearest or 1.0, rank))  # fmt: skip


def _hits(nearest: float, rank: int | None) -> tuple[Hit, ...]:
    leave, cafeteria = TEXT.index("Leave is"), TEXT.index("The cafeteria")
    spans = [(cafeteria, len(TEXT), "Cafeteria"), (leave, leave + 58, "Leave")] * 2
    return tuple(
        Hit(DOCUMENT, start, end, start, section, 1 - place / 10, round(nearest + place * 0.03, 6), 12,
            contains=rank == place + 1, quotable=rank == place + 1)
        for place, (start, end, section) in enumerate(spans)
    )  # fmt: skip


def reviewed(
    engine: Engine,
    *,
    keys: Sequence[str] = KEYS,
    failed: Mapping[str, str] | None = None,
    queued: Sequence[str] = (),
    measured_in: str | None = None,
    seed: int = 3,
    **columns: Any,
) -> int:
    """Record the sweep.

    Args:
        engine: An open store.
        keys: The grid, in order.
        failed: Combinations that failed, with their reasons.
        queued: Combinations that were not reached.
        measured_in: Key of the sweep whose retrievals were read again.
        seed: Of the outcomes.
        columns: Columns of the sweep's row.

    Returns:
        Its id.
    """
    number = len(reads.sweeps(engine)) + 1
    sweep = SweepRow(**{**_columns(number), **columns})
    text_hash = sha256(TEXT.encode()).hexdigest()
    document = DocumentRow(corpus_hash=sweep.corpus_hash, document_id=DOCUMENT, position=0, title="Handbook",
                           source=f"/{DOCUMENT}", encoding="utf-8", characters=len(TEXT), sections=2,
                           text_sha256=text_hash)  # fmt: skip
    writes.add_corpus(engine, [document], [TextRow(sha256=text_hash, text=TEXT)])
    writes.add_questions(engine, _queries(sweep.questions_hash, seed))
    sweep_id = writes.add_sweep(engine, sweep, [_combination(key, place) for place, key in enumerate(keys)])
    for row in reads.combinations(engine, sweep_id):
        if row.key in (failed or {}):
            writes.update_combination(engine, row.id or 0, state="failed", reason=(failed or {})[row.key])
        elif row.key not in queued:
            _record(engine, row, measured_in, seed)
    return sweep_id


def _columns(number: int) -> dict[str, Any]:
    blind = {"A": "cuts=blind;header=false;overlap=0;budget=512", **SETTINGS["strategies"]}
    return {
        "key": f"{number:032x}", "fingerprint": "f" * 64, "state": "finished",
        "created_at": datetime(2026, 5, 4, tzinfo=UTC), "commit": "c0ffee" * 6 + "c0ff", "branch": "main",
        "dirty": False, "corpus_hash": "d" * 64, "questions_hash": "e" * 64, "hit_rule": "rule/1", "pipeline": "1",
        "documents": 1, "needles": 32, "answerable": 64, "near": 21, "far": 9,
        "settings": {**SETTINGS, "strategies": blind, "retrievers": ["dense", "bm25", "hybrid"], "models": [MODEL],
                     "k": list(KS)},
        "versions": {"bluffline": "0.1.0"},
    }  # fmt: skip


def _queries(questions_hash: str, seed: int) -> list[QueryRow]:
    texts = {"near0": LITERAL, "near1": HOSTILE}
    return [
        QueryRow(questions_hash=questions_hash, query_id=one.query_id, position=place, stratum=one.stratum,
                 text=texts.get(one.query_id, f"question {one.query_id}"), needle_id=one.needle_id)
        for place, one in enumerate(question_set(seed))
    ]  # fmt: skip


def _combination(key: str, position: int) -> CombinationRow:
    strategy, retriever, *model = key.split("/", 2)
    return CombinationRow(sweep_id=0, position=position, key=key, strategy=strategy, retriever=retriever,
                          model=model[0] if model else None, state="queued")  # fmt: skip


def _record(engine: Engine, row: CombinationRow, measured_in: str | None, seed: int) -> None:
    outcomes = outcomes_of(row.key, seed)
    blind = row.strategy == "A"
    cutting = Cutting(chunks=740 if blind else 1068, characters=375_859, tokens=105_014 if blind else 114_032,
                      header_tokens=0 if blind else 10_000, overlap_tokens=0, over_budget=0,
                      over_window=2 if blind else 9)  # fmt: skip
    stages = {"dense": ("embed", "scan"), "bm25": ("lexical",), "hybrid": ("embed", "scan", "lexical", "fuse")}
    times = {stage: [0.1 * place + 1 for place in range(25)] for stage in stages[row.retriever]}
    numbers = score(outcomes, cutting, times, ks=KS, seed=7)
    writes.record_combination(
        engine,
        row.id or 0,
        measures=measure_rows(row.id or 0, numbers),
        outcomes=outcome_rows(row.id or 0, outcomes),
        parquet=to_parquet(outcomes),
        stamp={"model": STAMP, "cutting": cutting._asdict(), "milliseconds": times, "identity_error": 2.4e-7},
        measured_in=measured_in,
    )
