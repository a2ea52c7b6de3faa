"""What one combination did with one question: everything a threshold, a rank or a page is later read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.questions import Query
from experiments.chunking import Chunk
from experiments.gate import GATE_SIZE
from experiments.ranking import Ranking

HITS_KEPT = 20  # top hits recorded with each outcome at least, for the drill-down
# "ranked below k": k is what the gate looks at.
STAGES = ("destroyed", "truncated", "ranked below k", "refused", "kept")


@dataclass(frozen=True, slots=True)
class Hit:
    """One returned chunk."""

    document: str
    start: int
    end: int
    overlap_start: int
    section: str
    score: float
    distance: float
    tokens: int
    contains: bool  # the needle whole, in the embedded text
    quotable: bool  # the needle whole, in the chunk's own words
    text: str | None = None  # what was returned, where it stands at no one place of the documents

    @property
    def locator(self) -> str:
        """Where the chunk's own words stand in the document."""
        return f"#char={self.start},{self.end}"


class Recorded(Protocol):
    """The scalars of an outcome, whether fresh or read from the store."""

    @property
    def query_id(self) -> str: ...  # noqa: D102
    @property
    def needle_id(self) -> str | None: ...  # noqa: D102
    @property
    def phrasing(self) -> str | None: ...  # noqa: D102
    @property
    def stratum(self) -> str | None: ...  # noqa: D102
    @property
    def rank(self) -> int | None: ...  # noqa: D102
    @property
    def destroyed(self) -> bool | None: ...  # noqa: D102
    @property
    def truncated(self) -> bool: ...  # noqa: D102
    @property
    def quotable(self) -> bool | None: ...  # noqa: D102
    @property
    def nearest(self) -> float | None: ...  # noqa: D102
    @property
    def needle_distance(self) -> float | None: ...  # noqa: D102
    @property
    def chunk_distance(self) -> float | None: ...  # noqa: D102
    @property
    def gap(self) -> float | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one combination.

    Attributes:
        query_id: The question.
        needle_id: Its needle; None where the corpus does not answer it.
        phrasing: How it is worded, where given.
        stratum: `near` or `far`, for unanswerable questions only.
        rank: Rank (from 1) of the first returned chunk that contains the needle; None when none is returned.
        destroyed: No chunk of the strategy contains the needle whole; None where the chunks are not known.
        truncated: Every chunk that contains it holds its end beyond the encoder's window (retrievers that read
            vectors only).
        quotable: Whether the first hit's own words contain the needle; None without a hit.
        nearest: Smallest cosine distance among the chunks the gate looks at; None when nothing was returned.
        needle_distance: Smallest cosine distance among those of them that contain the needle.
        chunk_distance: Cosine distance to the nearest chunk that contains the needle, at whatever rank.
        gap: Distance of the second returned chunk minus that of the first.
        hits: The top returned chunks, best first.
    """

    query_id: str
    needle_id: str | None
    phrasing: str | None
    stratum: str | None
    rank: int | None
    destroyed: bool | None
    truncated: bool
    quotable: bool | None
    nearest: float | None
    needle_distance: float | None
    chunk_distance: float | None
    gap: float | None
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Projection:
    """One query's needle on the chunks of a strategy; empty arrays where it has none."""

    containing: NDArray[np.intp]
    quotable: NDArray[np.intp]
    truncated: NDArray[np.intp]  # those of `containing` in which the needle ends beyond the window


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
) -> tuple[Outcome, ...]:
    """Score one retriever's ranking.

    Args:
        queries: The questions, n of them.
        chunks: The chunks, m of them.
        ranking: Full ranking, shape (n, m); -1 where nothing more is returned.
        distances: Cosine distance of every question to every chunk, shape (n, m).
        projections: Each question's needle on the chunks, n of them.
        tokens: Of each chunk, m of them.
        reads_vectors: Whether the retriever sees only what fits the encoder's window.
        depth: How many top hits to record with each outcome.

    Returns:
        One outcome a question.
    """
    return tuple(
        _outcome(
            query,
            order[order >= 0],
            row,
            projection,
            reads_vectors,
            hits=_hits(chunks, order[order >= 0][:depth], scores, row, projection, tokens),
        )
        for query, order, scores, row, projection in zip(
            queries, ranking.order, ranking.scores, distances, projections, strict=True
        )
    )


def _outcome(
    query: Query,
    order: NDArray[np.intp],
    distances: NDArray[np.float64],
    projection: Projection,
    reads_vectors: bool,
    hits: tuple[Hit, ...],
) -> Outcome:
    answerable = query.needle is not None
    is_hit = np.isin(order, projection.containing)
    found = np.flatnonzero(is_hit)
    gated = order[:GATE_SIZE]
    gated_hits = gated[is_hit[:GATE_SIZE]]
    return Outcome(
        query_id=query.id,
        needle_id=query.needle.id if query.needle else None,
        phrasing=query.phrasing,
        stratum=query.stratum,
        rank=int(found[0]) + 1 if len(found) else None,
        destroyed=answerable and len(projection.containing) == 0,
        truncated=reads_vectors
        and len(projection.containing) > 0
        and len(projection.truncated) == len(projection.containing),
        quotable=bool(np.isin(order[found[0]], projection.quotable)) if len(found) else None,
        nearest=_least(distances[gated]),
        needle_distance=_least(distances[gated_hits]),
        chunk_distance=_least(distances[projection.containing]),
        gap=round(float(distances[order[1]] - distances[order[0]]), 6) if len(order) > 1 else None,
        hits=hits,
    )


def _hits(
    chunks: Sequence[Chunk],
    order: NDArray[np.intp],
    scores: NDArray[np.float64],
    distances: NDArray[np.float64],
    projection: Projection,
    tokens: Sequence[int],
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
            score=float(scores[place]),
            distance=float(distances[index]),
            tokens=int(tokens[index]),
            contains=bool(contains[place]),
            quotable=bool(quotable[place]),
        )
        for place, index in enumerate(order)
    )


def _least(values: NDArray[np.float64]) -> float | None:
    return float(values.min()) if len(values) else None


def stage(outcome: Recorded, threshold: float | None) -> str:
    """Where an answerable question's answer was lost, or `kept`: the first of the stages that explains it.

    Args:
        outcome: An outcome of an answerable question.
        threshold: The gate's cut; None for no threshold.

    Raises:
        ValueError: If the question has no needle: nothing of it could be lost.
    """
    if outcome.needle_id is None:
        raise ValueError(f"{outcome.query_id} is unanswerable: it has no answer to lose")
    if outcome.destroyed:
        return "destroyed"
    if outcome.rank is None or outcome.rank > GATE_SIZE:
        return "truncated" if outcome.truncated else "ranked below k"
    cut = float("inf") if threshold is None else threshold
    kept = outcome.needle_distance is not None and outcome.needle_distance < cut
    return "kept" if kept else "refused"
