"""Running the retrievers of one strategy: index, rank, and read each question's outcome.

Everything a combination's numbers are made from is a `Retrieval`; it depends on neither thresholds nor k.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.documents import Document
from corpus.questions import Query
from experiments.chunking import Chunk, chunk_corpus
from experiments.conditions import Strategy
from experiments.embedding import Embedded
from experiments.evaluation import Cutting
from experiments.lexical import BM25Index
from experiments.outcomes import Outcome, collect
from experiments.ranking import (
    Ranking,
    dense_distances,
    distance_identity_error,
    rank,
    reciprocal_rank_fusion,
)
from experiments.relevance import Held, Projection, project

TIMED_QUESTIONS = 25  # enough for a median; each is run alone, as a live system would


class Retrieval(NamedTuple):
    """What one combination returned, before any threshold or k is read from it."""

    outcomes: tuple[Outcome, ...]
    cutting: Cutting
    milliseconds: dict[str, list[float]]
    identity_error: float  # largest |L2^2 / 2 - (1 - cos)| over a sample
    depth: int  # hits kept with each outcome


@dataclass(frozen=True, slots=True)
class Cut:
    """A corpus cut by one strategy, with what answers each question laid over it."""

    strategy: Strategy
    chunks: tuple[Chunk, ...]
    answers: tuple[Projection, ...]  # one a query, without what an encoder's window does to it

    @property
    def texts(self) -> list[str]:
        """What is embedded and indexed."""
        return [chunk.text for chunk in self.chunks]


def cut(documents: Sequence[Document], queries: Sequence[Query], strategy: Strategy) -> Cut:
    """Cut the corpus and find the chunks that hold what answers each question."""
    chunks = chunk_corpus(documents, strategy)
    return Cut(strategy, chunks, project(chunks, queries))


@dataclass(frozen=True, slots=True)
class Index:
    """One strategy's chunks as one model sees them, with all questions compared to all chunks."""

    cut: Cut
    queries: Sequence[Query]
    embedded: Embedded
    distances: NDArray[np.float64]  # (n_queries, n_chunks)
    identity_error: float
    cutting: Cutting
    projections: tuple[Projection, ...]
    milliseconds: dict[str, list[float]]


def index(
    cut: Cut, queries: Sequence[Query], embedded: Embedded, asked: Embedded, embed_times: Sequence[float]
) -> Index:
    """Compare every question with every chunk, exactly.

    Args:
        cut: The chunks.
        queries: The questions.
        embedded: The chunks' vectors.
        asked: The questions' vectors.
        embed_times: Milliseconds to embed a question.

    Raises:
        ValueError: If a vector is not of unit length within 1e-5.
    """
    distances = np.round(dense_distances(asked.vectors, embedded.vectors), 6)
    return Index(
        cut=cut,
        queries=queries,
        embedded=embedded,
        distances=distances,
        identity_error=distance_identity_error(asked.vectors, embedded.vectors),
        cutting=_cutting(cut.chunks, embedded),
        projections=_projections(cut, queries, embedded),
        milliseconds={
            "embed": list(embed_times),
            "scan": _times(
                lambda row: rank(1 - dense_distances(asked.vectors[row : row + 1], embedded.vectors)), len(queries)
            ),
        },
    )


def retrieve(index: Index, retriever: str, lexical: BM25Index, bm25: Ranking, depth: int) -> Retrieval:
    """Rank by one retriever and read every question's outcome.

    Args:
        index: The strategy as the model sees it.
        retriever: `dense`, `bm25` or `hybrid`.
        lexical: The BM25 index of the same chunks.
        bm25: Its full ranking of all questions.
        depth: How many top hits to keep with each outcome.

    Raises:
        ValueError: If the retriever is unknown.
    """
    questions = [query.text for query in index.queries]
    dense = rank(1 - index.distances)
    if retriever == "dense":
        ranking, stages = dense, {"embed", "scan"}
    elif retriever == "bm25":
        ranking, stages = bm25, {"lexical"}
    elif retriever == "hybrid":
        ranking, stages = (
            reciprocal_rank_fusion([dense, bm25], len(index.cut.chunks)),
            {"embed", "scan", "lexical", "fuse"},
        )
    else:
        raise ValueError(f"unknown retriever {retriever!r}")
    times = dict(index.milliseconds)
    if "lexical" in stages:
        times["lexical"] = _times(lambda row: lexical.scores(questions[row : row + 1]), len(questions))
    if "fuse" in stages:
        times["fuse"] = _times(
            lambda row: reciprocal_rank_fusion([_row(dense, row), _row(bm25, row)], len(index.cut.chunks)),
            len(questions),
        )
    return Retrieval(
        outcomes=collect(
            index.queries,
            index.cut.chunks,
            ranking,
            index.distances,
            index.projections,
            [int(tokens) for tokens in index.embedded.tokens],
            reads_vectors=retriever != "bm25",
            depth=depth,
        ),
        cutting=index.cutting,
        milliseconds={stage: times[stage] for stage in times if stage in stages},
        identity_error=index.identity_error,
        depth=depth,
    )


def _row(ranking: Ranking, row: int) -> Ranking:
    return Ranking(ranking.order[row : row + 1], ranking.scores[row : row + 1])


def _times(work: Callable[[int], object], questions: int) -> list[float]:
    """Milliseconds of each of the first questions alone; the first call warms up and is not counted."""
    times = []
    for row in range(min(questions, TIMED_QUESTIONS)):
        if row == 0:
            work(row)
        begin = time.perf_counter()
        work(row)
        times.append((time.perf_counter() - begin) * 1000)
    return times


def _cutting(chunks: Sequence[Chunk], embedded: Embedded) -> Cutting:
    header = overlap = 0
    for chunk, starts in zip(chunks, embedded.token_starts, strict=True):
        own = len(chunk.text) - (chunk.end - chunk.start)  # first character of the chunk's own words
        in_header = int(np.searchsorted(starts, len(chunk.header)))
        header += in_header
        overlap += int(np.searchsorted(starts, own)) - in_header
    lengths = np.array([len(chunk.text) for chunk in chunks], np.int64)
    return Cutting(
        chunks=len(chunks),
        characters=int(lengths.sum()),
        tokens=int(embedded.tokens.sum()),
        header_tokens=header,
        overlap_tokens=overlap,
        over_budget=sum(chunk.over_budget for chunk in chunks),
        over_window=int((embedded.seen < lengths).sum()),
    )


def _projections(cut: Cut, queries: Sequence[Query], embedded: Embedded) -> tuple[Projection, ...]:
    """The answers on the chunks, and which of these hold a needle's end beyond the encoder's window."""
    projections = []
    for query, answer in zip(queries, cut.answers, strict=True):
        if answer.documents:
            projections.append(answer)
            continue
        needles = []
        for needle, held in zip(query.needles, answer.needles, strict=True):
            beyond = [
                chunk for chunk in held.containing if _end_in_text(cut.chunks[chunk], needle.end) > embedded.seen[chunk]
            ]
            needles.append(Held(held.containing, held.quotable, np.array(beyond, np.intp)))
        projections.append(Projection(tuple(needles), answer.require))
    return tuple(projections)


def _end_in_text(chunk: Chunk, end: int) -> int:
    """Where a document offset lies in the embedded text."""
    return len(chunk.text) - (chunk.end - end)
