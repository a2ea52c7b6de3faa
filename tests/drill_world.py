"""A small world for the pages of single answers: hostile text, a folder in an id, a needle cut apart, two wordings.

`drilled` writes it as a run would, retrieved by the keyword encoder of `worlds`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from worlds import (
    BLIND,
    DOCUMENTS,
    MODEL,
    OVERLAPPING,
    QUERIES,
    SECTIONS,
    KeywordEncoder,
    combination_row,
    document,
    from_index,
    indexed,
    needle,
    query,
    record,
    sweep_row,
)

from corpus.fingerprint import corpus_hash, questions_hash
from experiments.chunking import chunk_document
from experiments.conditions import Strategy, grid
from experiments.recording import document_rows, query_rows
from experiments.reviewing.cuttings import window_keys
from store import reads, writes
from store.vectors import CachedVector, VectorCache

OVENS_ID = "guides/ovens & <more>.md"
OVENS = document(
    OVENS_ID,
    "# Ovens <i>all</i>\n\n"
    "## Heat & <script>alert(1)</script>\n\n"
    "An oven 🔥🔥 holds <b>heat</b> in its stones. The ferry brings new stones in spring, the honey comes later on.\n\n"
    "## Doors\n\nA door keeps the oven warm through the night.\n",
    "Ovens <i>all</i>",
)
STONES = needle(OVENS, "An oven 🔥🔥 holds <b>heat</b> in its stones.")
DOOR = needle(OVENS, "A door keeps the oven warm through the night.")
HOSTILE = "<img src=x onerror=alert(2)> which oven?"
ASKED = (
    *QUERIES,
    query("stones/course", "What holds the heat of an oven?", STONES, phrasing="course"),
    query("stones/ticket", HOSTILE, STONES, phrasing="ticket"),
    query("door", "oven door", DOOR),
    query("near-literal", "why does the ferry bring new stones in spring", stratum="near"),
)
CORPUS = (*DOCUMENTS, OVENS)
STRATEGIES = (BLIND, OVERLAPPING, SECTIONS)
DEFAULT_RETRIEVERS = ("dense", "bm25", "hybrid")


def settings(strategies: tuple[Strategy, ...] = STRATEGIES, **values: Any) -> dict[str, Any]:
    """What a sweep keeps of how it was measured."""
    return {
        "strategies": {one.name: one.spec for one in strategies},
        "retrievers": list(DEFAULT_RETRIEVERS),
        "models": [MODEL],
        "k": [1, 4, 8],
        "thresholds": [0.1, 0.3, 0.5, 0.7, 0.9],
        "alpha": 0.05,
        "seed": 7,
        **values,
    }


def drilled(
    engine: Engine,
    *,
    strategies: tuple[Strategy, ...] = STRATEGIES,
    window: int = 256,
    failed: dict[str, str] | None = None,
    **columns: Any,
) -> int:
    """Record a sweep of this world.

    Args:
        engine: An open store.
        strategies: Rows of the grid.
        window: Tokens the encoder reads.
        failed: Combinations that failed, with their reasons.
        columns: Columns of the sweep's row.

    Returns:
        Its id.
    """
    row = sweep_row(
        **{
            "settings": settings(strategies),
            "corpus_hash": corpus_hash(CORPUS),
            "questions_hash": questions_hash(ASKED),
            "documents": 4,
            "needles": 6,
            "answerable": 11,
            "near": 3,
            **columns,
        }
    )
    writes.add_corpus(engine, *document_rows(CORPUS, row.corpus_hash))
    writes.add_questions(engine, query_rows(ASKED, row.questions_hash))
    cells = grid(strategies, DEFAULT_RETRIEVERS, [MODEL])
    rows = [combination_row(cell.strategy, cell.retriever, place) for place, cell in enumerate(cells)]
    sweep_id = writes.add_sweep(engine, row, rows)
    encoder = KeywordEncoder(window)
    indexes = {one.name: indexed(one, encoder, CORPUS, ASKED) for one in strategies}
    for one in reads.combinations(engine, sweep_id):
        if one.key in (failed or {}):
            writes.update_combination(engine, one.id or 0, state="failed", reason=(failed or {})[one.key])
        else:
            record(engine, one.id or 0, from_index(indexes[one.strategy], one.retriever), (1, 4, 8))
    return sweep_id


def embedded_in(root: Path, strategies: tuple[Strategy, ...] = STRATEGIES, window: int = 256) -> None:
    """Write the cache of vectors of this world into a project's folder."""
    encoder = KeywordEncoder(window)
    path = root / "var" / "vectors" / f"{encoder.stamp.files[:16]}.db"
    cache = VectorCache(path, encoder.stamp.cache_stamp)
    for strategy in strategies:
        chunks = [chunk for one in CORPUS for chunk in chunk_document(one, strategy)]
        batch = encoder.encode_documents([chunk.text for chunk in chunks])
        entries = zip(window_keys(chunks), batch.vectors, batch.token_starts, batch.seen, strict=True)
        cache.put({key: CachedVector(vector, starts, seen) for key, vector, starts, seen in entries})


def edited(text: str) -> tuple[str, str]:
    """The hash of a corpus in which one document reads differently, and that document's id."""
    changed = replace(DOCUMENTS[0], text=text, sha256="9" * 64)
    return corpus_hash((changed, *CORPUS[1:])), changed.id
