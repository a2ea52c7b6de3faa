"""A small world in which everything can be worked out by eye: three documents, eleven questions, a keyword encoder.

`filled` puts a whole sweep of it into a store through the same functions the runner uses.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Engine

from corpus.documents import Document
from corpus.fingerprint import corpus_hash, questions_hash
from corpus.questions import Needle, Query, Stratum
from experiments.conditions import Strategy, grid
from experiments.embedding import Embedded
from experiments.evaluation import score
from experiments.lexical import BM25Index
from experiments.models import EncodedBatch, ModelStamp
from experiments.outcomes import Hit, Outcome
from experiments.ranking import rank
from experiments.recording import document_rows, measure_rows, outcome_rows, query_rows, to_parquet
from experiments.retrieval import Index, Retrieval, cut, index, retrieve
from experiments.token_scores import token_numbers
from store import reads, writes
from store.tables import CombinationRow, SweepRow

MODEL = "keywords"
KEYWORDS = ("moon", "tide", "yeast", "oven", "queen", "honey", "swarm", "ferry")
THRESHOLDS = (0.1, 0.3, 0.5)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

TIDES = """# Tides

The moon pulls the sea.

## Spring

A spring tide comes at the new moon and at the full one.

## Neap

A neap tide comes a week later.
"""
BREAD = """# Bread

## Dough

Let the yeast rest in warm water for ten minutes.

## Baking

The oven stands at 230 degrees. Bake until brown.
"""
BEES = """# Bees

## Hive

One queen lays all the eggs.

## Harvest

Take honey in July.

A swarm leaves in May.
"""


def document(id: str, text: str, title: str = "T") -> Document:  # noqa: A002 - the field's own name
    """A document as loading gives it."""
    return Document(id, title, text, f"/documents/{id}", hashlib.sha256(text.encode()).hexdigest(), "utf-8")


def needle(where: Document, words: str) -> Needle:
    """The place at which `words` stand; they must stand there once."""
    if where.text.count(words) != 1:
        raise ValueError(f"{words!r} stands {where.text.count(words)} times in {where.id}")
    start = where.text.index(words)
    end = start + len(words)
    return Needle(f"{where.id}#char={start},{end}", words, where.id, start, end)


def query(
    id: str,  # noqa: A002 - the field's own name
    text: str,
    answer: Needle | None = None,
    *,
    phrasing: str | None = None,
    stratum: Stratum | None = None,
) -> Query:
    """A question as loading gives it."""
    return Query(id, text, () if answer is None else (answer,), phrasing, stratum, (), 1)


DOCUMENTS = (
    document("bees.md", BEES, "Bees"),
    document("bread.md", BREAD, "Bread"),
    document("tides.md", TIDES, "Tides"),
)
_BEES, _BREAD, _TIDES = DOCUMENTS
FULL_MOON = needle(_TIDES, "A spring tide comes at the new moon and at the full one.")
REST = needle(_BREAD, "Let the yeast rest in warm water for ten minutes.")
HEAT = needle(_BREAD, "The oven stands at 230 degrees.")
EGGS = needle(_BEES, "One queen lays all the eggs.")
QUERIES = (
    query("moon-course", "At which moon is the tide high?", FULL_MOON, phrasing="course"),
    query("moon-ticket", "boat stuck, moon?", FULL_MOON, phrasing="ticket"),
    query("rest-course", "How long does the yeast rest?", REST, phrasing="course"),
    query("rest-ticket", "my yeast does nothing", REST, phrasing="ticket"),
    query("heat-course", "How hot is the oven?", HEAT, phrasing="course"),
    query("heat-ticket", "burnt it again", HEAT, phrasing="ticket"),
    query("eggs-course", "Which of them lays the eggs, the queen?", EGGS, phrasing="course"),
    query("eggs-ticket", "queen gone", EGGS, phrasing="ticket"),
    query("near-price", "What does honey cost?", stratum="near"),
    query("near-ferry", "Does the ferry sail at high tide?", stratum="near"),
    query("far-paella", "paella recipe", stratum="far"),
)
# Small budgets, so that the small documents fall into several chunks and the blind cut destroys something.
BLIND = Strategy("A", "blind", header=False, overlap=0, budget=60)
OVERLAPPING = Strategy("B", "blind", header=False, overlap=40, budget=60)
SECTIONS = Strategy("E", "boundaries", header=True, overlap=0, budget=200)
STRATEGIES = (BLIND, OVERLAPPING, SECTIONS)


class KeywordEncoder:
    """Counts keywords: texts that share none are at distance 1, texts with the same mix of them at distance 0.

    A text without any keyword lies on an axis of its own. Tokens are the runs without white space.
    """

    def __init__(self, window: int = 256) -> None:
        """Read `window` tokens of each text and no more."""
        self.stamp = ModelStamp(MODEL, "test", "w" * 64, "f" * 64, len(KEYWORDS) + 1, window, "fp32")

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed texts to be found."""
        spans = [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]
        window = self.stamp.window
        seen = [
            len(text) if len(words) <= window else words[window - 1][1]
            for text, words in zip(texts, spans, strict=True)
        ]
        vectors = [_counts(text[:read]) for text, read in zip(texts, seen, strict=True)]
        starts = [np.array([start for start, _ in words], np.uint32) for words in spans]
        return EncodedBatch(np.array(vectors, np.float32).reshape(len(texts), self.stamp.dimensions), starts, seen)

    def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed questions."""
        return self.encode_documents(texts)


def _counts(text: str) -> list[float]:
    words = re.findall(r"[a-z]+", text.lower())
    counts = [float(words.count(word)) for word in KEYWORDS]
    norm = math.hypot(*counts)
    return [*(count / norm for count in counts), 0.0] if norm else [*counts, 1.0]


def embedded(texts: Sequence[str], encoder: KeywordEncoder) -> Embedded:
    """Vectors of texts, without a cache."""
    batch = encoder.encode_documents(texts)
    return Embedded(batch.vectors, batch.token_starts, np.array(batch.seen, np.int64), len(texts))


def indexed(
    strategy: Strategy,
    encoder: KeywordEncoder | None = None,
    documents: Sequence[Document] = DOCUMENTS,
    queries: Sequence[Query] = QUERIES,
) -> Index:
    """One strategy's index of a world."""
    encoder = encoder or KeywordEncoder()
    pieces = cut(documents, queries, strategy)
    asked = embedded([one.text for one in queries], encoder)
    return index(pieces, queries, embedded(pieces.texts, encoder), asked, [1.0, 2.0, 3.0])


def retrieved(strategy: Strategy, retriever: str, encoder: KeywordEncoder | None = None, depth: int = 20) -> Retrieval:
    """What one retriever returns in this world."""
    return from_index(indexed(strategy, encoder), retriever, depth)


def from_index(ready: Index, retriever: str, depth: int = 20) -> Retrieval:
    """What one retriever returns over an index."""
    lexical = BM25Index(ready.cut.texts)
    bm25 = rank(lexical.scores([one.text for one in ready.queries]), positive_only=True)
    return retrieve(ready, retriever, lexical, bm25, depth)


def hit(document: str = "d.md", start: int = 0, end: int = 10, **values: Any) -> Hit:
    """A returned chunk of which a test names only what it looks at."""
    plain: dict[str, Any] = {"overlap_start": start, "section": "", "score": 1.0, "distance": 0.5, "tokens": 3}
    return Hit(document, start, end, **{**plain, "contains": False, "quotable": False, **values})


def found(query_id: str, needle_id: str, rank: int | None, distance: float | None = 0.4, **values: Any) -> Outcome:
    """The outcome of an answerable question whose needle stands at `rank`, that far away."""
    in_gate = rank is not None and rank <= 4
    plain: dict[str, Any] = {
        "phrasing": None,
        "destroyed": False,
        "truncated": False,
        "quotable": None if rank is None else True,
        "nearest": distance,
        "needle_distance": distance if in_gate else None,
        "chunk_distance": distance,
        "gap": 0.0,
        "hits": (),
    }
    return Outcome(query_id=query_id, needle_id=needle_id, stratum=None, rank=rank, **{**plain, **values})


def unanswerable(query_id: str, stratum: str, nearest: float | None) -> Outcome:
    """The outcome of a question that the corpus does not answer."""
    return Outcome(query_id, None, None, stratum, None, False, False, None, nearest, None, None, 0.0)


def sweep_row(**values: Any) -> SweepRow:
    """A sweep of this world, of which a test names only what it looks at."""
    plain: dict[str, Any] = {
        "key": hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:32],
        "fingerprint": "f" * 64,
        "state": "finished",
        "created_at": NOON,
        "commit": "c" * 40,
        "branch": "main",
        "dirty": False,
        "corpus_hash": corpus_hash(DOCUMENTS),
        "questions_hash": questions_hash(QUERIES),
        "hit_rule": "whole",
        "pipeline": "1",
        "documents": len(DOCUMENTS),
        "needles": 4,
        "answerable": 8,
        "near": 2,
        "far": 1,
        "settings": {"k": [1, 4], "thresholds": list(THRESHOLDS), "alpha": 0.05, "seed": 7},
        "versions": {"python": "3"},
    }
    return SweepRow(**{**plain, **values})


def combination_row(strategy: str, retriever: str, position: int = 0, **values: Any) -> CombinationRow:
    """A queued combination."""
    model = None if retriever == "bm25" else MODEL
    key = "/".join(part for part in (strategy, retriever, model) if part)
    plain: dict[str, Any] = {"sweep_id": 0, "position": position, "key": key, "model": model, "state": "queued"}
    return CombinationRow(strategy=strategy, retriever=retriever, **{**plain, **values})


def record(
    engine: Engine,
    combination_id: int,
    retrieval: Retrieval,
    ks: Sequence[int] = (1, 4),
    queries: Sequence[Query] = QUERIES,
) -> None:
    """Score a retrieval and record it, as the runner does."""
    numbers = score(retrieval.outcomes, retrieval.cutting, retrieval.milliseconds, ks=ks, seed=7)
    numbers += token_numbers(retrieval.outcomes, queries, retrieval.omega, ks=ks, seed=7)
    writes.record_combination(
        engine,
        combination_id,
        measures=measure_rows(combination_id, numbers),
        outcomes=outcome_rows(combination_id, retrieval.outcomes),
        parquet=to_parquet(retrieval.outcomes),
        stamp={
            "model": KeywordEncoder().stamp._asdict(),
            "cutting": retrieval.cutting._asdict(),
            "milliseconds": retrieval.milliseconds,
            "identity_error": retrieval.identity_error,
            "depth": retrieval.depth,
        },
        measured_in=None,
    )


def filled(
    engine: Engine,
    strategies: Sequence[Strategy] = STRATEGIES,
    retrievers: Sequence[str] = ("dense", "bm25", "hybrid"),
    failed: Mapping[str, str] | None = None,
    **sweep: Any,
) -> int:
    """Put a whole sweep of this world into a store.

    Args:
        engine: An open store.
        strategies: Rows of the grid.
        retrievers: Columns of the grid.
        failed: Keys of combinations that failed, with their reasons; they are not recorded.
        sweep: Columns of the sweep's row.

    Returns:
        The sweep's id.
    """
    row = sweep_row(**sweep)
    writes.add_corpus(engine, *document_rows(DOCUMENTS, row.corpus_hash))
    writes.add_questions(engine, query_rows(QUERIES, row.questions_hash))
    cells = grid(strategies, retrievers, [MODEL])
    rows = [combination_row(cell.strategy, cell.retriever, position) for position, cell in enumerate(cells)]
    sweep_id = writes.add_sweep(engine, row, rows)
    indexes = {strategy.name: indexed(strategy) for strategy in strategies}
    for one in reads.combinations(engine, sweep_id):
        if one.key in (failed or {}):
            writes.update_combination(engine, one.id or 0, state="failed", reason=(failed or {})[one.key])
        else:
            record(engine, one.id or 0, from_index(indexes[one.strategy], one.retriever))
    return sweep_id
