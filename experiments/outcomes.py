"""What one combination did with one question: everything a threshold, a rank or a page is later read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.questions import OF_DOCUMENTS, Query, Require
from experiments.chunking import Chunk
from experiments.gate import GATE_SIZE
from experiments.ranking import Ranking, rank_matrix
from experiments.relevance import Projection

HITS_KEPT = 20  # top hits recorded with each outcome at least, for the drill-down
DOCUMENTS_KEPT = 100  # of document-level relevance: deep enough for R@100
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
    score: float | None  # the retriever's own; None behind the chunks a reranker scored
    distance: float
    tokens: int
    contains: bool  # a needle whole, in the embedded text; of document-level relevance: of a relevant document
    quotable: bool  # a needle whole, in the chunk's own words; of document-level relevance the same as `contains`
    text: str | None = None  # what was returned, where it stands at no one place of the documents
    first_rank: int | None = None  # before a reranker put it here; None where there is none

    @property
    def locator(self) -> str:
        """Where the chunk's own words stand in the text; `corpus.locators` lead on to the file."""
        return f"#char={self.start},{self.end}"


class RankedDocument(NamedTuple):
    """A document in the order of its best chunk, with its grade for the question (0 where it has none)."""

    document: str
    score: float
    grade: int


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
    @property
    def truncated_by(self) -> str | None: ...  # noqa: D102
    @property
    def scorer_score(self) -> float | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question under one combination.

    Attributes:
        query_id: The question.
        needle_id: What answers it (`Query.answer_id`); None where the corpus does not.
        phrasing: How it is worded, where given.
        stratum: `near` or `far`, for unanswerable questions only.
        rank: Rank (from 1) of the first returned chunk that contains the needle, or any of several; where all are
            needed, the rank at which all have been seen. None when that never happens.
        destroyed: No chunk of the strategy contains the needle whole; of several, any one of which answers, none of
            them; where all are needed, at least one of them. None where the chunks are not known, and of whole
            documents, which nothing destroys.
        truncated: Not destroyed, but every chunk that contains it holds its end beyond the window of a model the
            retriever reads with; of several as with `destroyed`.
        quotable: Whether the first hit's own words contain the needle; where all are needed, whether the first hit of
            each does. None without a hit, and for document-level relevance.
        nearest: Smallest cosine distance among the chunks the gate looks at; None when nothing was returned.
        needle_distance: Smallest cosine distance among those of them that contain the needle: the threshold under
            which the gate stops keeping it. Where all are needed, the largest of these; None unless all are there.
        chunk_distance: Cosine distance to the nearest chunk that contains the needle, at whatever rank; where all are
            needed, the largest of these.
        gap: Distance of the second returned chunk minus that of the first.
        hits: The top returned chunks, best first.
        truncated_by: Whose window, `encoder`, `scorer` or `encoder and scorer`; None where none did, and in records
            older than second models.
        scorer_score: Best score a second model gave one of the chunks the gate looks at; None without such a model.
        documents: Of document-level relevance: the top documents by their best chunk, best first, else empty.
        grades: Of document-level relevance: the grades over 0 of all relevant documents, highest first, else empty.
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
    truncated_by: str | None = None
    scorer_score: float | None = None
    documents: tuple[RankedDocument, ...] = ()
    grades: tuple[int, ...] = ()


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


def judges_documents(outcomes: Iterable[Recorded]) -> bool:
    """Whether outcomes are of document-level relevance: whole documents were judged, and there are no needles."""
    return any(outcome.needle_id is not None and outcome.needle_id.startswith(OF_DOCUMENTS) for outcome in outcomes)


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
