"""A retriever's ranking, scored: what became of each question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corpus.questions import Query, Require
from experiments.chunking import Chunk
from experiments.gate import GATE_SIZE
from experiments.outcomes import DOCUMENTS_KEPT, HITS_KEPT, Hit, Outcome, RankedDocument
from experiments.ranking import Ranking, rank_matrix
from experiments.relevance import Projection


def collect(
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
    ranking: Ranking,
    distances: NDArray[np.float64],
    projections: Sequence[Projection],
    tokens: Sequence[int],
    *,
    reads_vectors: bool,
    depth: int = HITS_KEPT,
    scored: Sequence[Projection] | None = None,
    reranked: Ranking | None = None,
) -> tuple[Outcome, ...]:
    """Score one retriever's ranking.

    Args:
        queries: The questions, n of them.
        chunks: The chunks, m of them.
        ranking: Full ranking, shape (n, m); -1 where nothing more is returned.
        distances: Cosine distance of every question to every chunk, shape (n, m).
        projections: What answers each question, on the chunks, n of them.
        tokens: Of each chunk, m of them.
        reads_vectors: Whether the retriever sees only what fits the encoder's window.
        depth: How many top hits to record with each outcome.
        scored: What answers each question, as the window of a second model leaves it; None where the ranking's scores
            are not a second model's.
        reranked: The ranking a reranker was given; None without one.

    Returns:
        One outcome a question.
    """
    before = rank_matrix(reranked, len(chunks)) if reranked is not None else [None] * len(queries)
    readers = {"encoder": projections if reads_vectors else None, "scorer": scored}
    return tuple(
        _outcome(
            query,
            order[order >= 0],
            row,
            projection,
            truncated_by=" and ".join(name for name, read in readers.items() if read and read[number].truncated)
            or None,
            scorer_score=_best(scores[order >= 0][:GATE_SIZE]) if scored is not None else None,
            hits=_hits(chunks, order[order >= 0][:depth], scores, row, projection, tokens, first_ranks),
            documents=_documents(query, chunks, order[order >= 0], scores, max(depth, DOCUMENTS_KEPT)),
        )
        for number, (query, order, scores, row, projection, first_ranks) in enumerate(
            zip(queries, ranking.order, ranking.scores, distances, projections, before, strict=True)
        )
    )


def _outcome(
    query: Query,
    order: NDArray[np.intp],
    distances: NDArray[np.float64],
    projection: Projection,
    *,
    truncated_by: str | None,
    scorer_score: float | None,
    hits: tuple[Hit, ...],
    documents: tuple[RankedDocument, ...],
) -> Outcome:
    gated = order[:GATE_SIZE]
    held, require = projection.needles, projection.require
    firsts = [_first(order, needle.containing) for needle in held]
    rank = _together(firsts, require)
    return Outcome(
        query_id=query.id,
        needle_id=query.answer_id,
        phrasing=query.phrasing,
        stratum=query.stratum,
        rank=None if rank is None else int(rank),
        destroyed=None if projection.documents else projection.destroyed,
        truncated=truncated_by is not None,
        quotable=None if rank is None or projection.documents else _quotable(order, projection, firsts),
        nearest=_least(distances[gated]),
        needle_distance=_together([_least(distances[gated[np.isin(gated, one.containing)]]) for one in held], require),
        chunk_distance=_together([_least(distances[one.containing]) for one in held], require),
        gap=round(float(distances[order[1]] - distances[order[0]]), 6) if len(order) > 1 else None,
        hits=hits,
        truncated_by=truncated_by,
        scorer_score=scorer_score,
        documents=documents,
        grades=tuple(sorted((grade for _, grade in query.relevant if grade > 0), reverse=True)),
    )


def _first(order: NDArray[np.intp], wanted: NDArray[np.intp]) -> int | None:
    """Rank from 1 of the first chunk that is wanted."""
    found = np.flatnonzero(np.isin(order, wanted))
    return int(found[0]) + 1 if len(found) else None


def _together(values: Sequence[float | None], require: Require) -> float | None:
    """Of several needles the best value where any answers, the worst where all are needed and all are there."""
    there = [value for value in values if value is not None]
    if require == "any":
        return min(there, default=None)
    return max(there, default=None) if len(there) == len(values) else None


def _quotable(order: NDArray[np.intp], projection: Projection, firsts: Sequence[int | None]) -> bool:
    """Whether the first hit quotes a needle whole; where all are needed, whether the first hit of each does."""
    found = [(first, held) for first, held in zip(firsts, projection.needles, strict=True) if first is not None]
    best = min(first for first, _ in found)
    quotes = [(first, bool(np.isin(order[first - 1], held.quotable))) for first, held in found]
    if projection.require == "all":
        return all(quote for _, quote in quotes)
    return any(quote for first, quote in quotes if first == best)


def _documents(
    query: Query, chunks: Sequence[Chunk], order: NDArray[np.intp], scores: NDArray[np.float64], depth: int
) -> tuple[RankedDocument, ...]:
    """The documents of a judged question in the order of their best chunk: that of their first appearance."""
    if not query.relevant:
        return ()
    grades = dict(query.relevant)
    best: dict[str, float] = {}
    for place, index in enumerate(order):
        best.setdefault(chunks[index].document, float(scores[place]))
        if len(best) == depth:
            break
    return tuple(RankedDocument(name, score, grades.get(name, 0)) for name, score in best.items())


def _hits(
    chunks: Sequence[Chunk],
    order: NDArray[np.intp],
    scores: NDArray[np.float64],
    distances: NDArray[np.float64],
    projection: Projection,
    tokens: Sequence[int],
    first_ranks: NDArray[np.int64] | None,
) -> tuple[Hit, ...]:
    contains = np.isin(order, projection.containing)
    quotable = np.isin(order, projection.quotable)
    return tuple(
        Hit(
            document=chunks[index].document,
            start=chunks[index].start,
            end=chunks[index].end,
            overlap_start=chunks[index].overlap_start,
            section=chunks[index].section,
            score=None if np.isnan(scores[place]) else float(scores[place]),
            distance=float(distances[index]),
            tokens=int(tokens[index]),
            contains=bool(contains[place]),
            quotable=bool(quotable[place]),
            first_rank=int(first_ranks[index]) if first_ranks is not None else None,
        )
        for place, index in enumerate(order)
    )


def _best(scores: NDArray[np.float64]) -> float | None:
    """The highest score there is; chunks that were not scored have none."""
    known = scores[~np.isnan(scores)]
    return float(known.max()) if len(known) else None


def _least(values: NDArray[np.float64]) -> float | None:
    return float(values.min()) if len(values) else None
