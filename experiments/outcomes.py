"""What one combination did with one question: everything a threshold, a rank or a page is later read from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from corpus.questions import OF_DOCUMENTS
from experiments.gate import GATE_SIZE

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
