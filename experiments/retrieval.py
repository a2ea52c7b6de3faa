"""Running the retrievers of one strategy: index, rank, and read each question's outcome.

Everything a combination's numbers are made from is a `Retrieval`; it depends on neither thresholds nor k.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.documents import Document
from corpus.questions import Query
from experiments.chunking import Chunk, chunk_corpus
from experiments.collecting import collect
from experiments.conditions import SCORER_RETRIEVERS, Strategy
from experiments.embedding import Embedded
from experiments.evaluation import Cutting
from experiments.lexical import BM25Index
from experiments.measures import TIMED_QUESTIONS
from experiments.outcomes import Outcome
from experiments.ranking import (
    DEFAULT_FUSION,
    Fusion,
    Ranking,
    dense_distances,
    distance_identity_error,
    fuse,
    rank,
)
from experiments.relevance import Held, Projection, precision_omegas, project
from experiments.second_models import SecondModel

# What a question goes through, in order.
_STAGES = {
    "dense": ("embed", "scan"),
    "bm25": ("lexical",),
    "hybrid": ("embed", "scan", "lexical", "fuse"),
    "rerank": ("embed", "scan", "lexical", "fuse", "rerank"),
    "late": ("tokens", "maxsim"),
}


CharactersRead = Callable[[str, Sequence[int]], list[int]]  # of chunks, for a question


class Retrieval(NamedTuple):
    """What one combination returned, before any threshold or k is read from it."""

    outcomes: tuple[Outcome, ...]
    cutting: Cutting | None  # None where the chunks are not known
    milliseconds: dict[str, list[float]]
    identity_error: float  # largest |L2^2 / 2 - (1 - cos)| over a sample
    depth: int  # hits kept with each outcome
    token_bytes: int | None = None  # of the chunks' token vectors on disk, where the retriever keeps any
    omega: Mapping[str, float] = MappingProxyType({})  # precision omega by question; empty where it is not known
    own: dict[str, Any] | None = None  # of a team's own retriever: how asking it went


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
    omega: dict[str, float]  # precision omega by question


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
        projections=_projections(cut, queries, lambda _, chunks: [int(embedded.seen[chunk]) for chunk in chunks]),
        milliseconds={
            "embed": list(embed_times),
            "scan": _times(
                lambda row: rank(1 - dense_distances(asked.vectors[row : row + 1], embedded.vectors)), len(queries)
            ),
        },
        omega=precision_omegas(cut.chunks, queries),
    )


def retrieve(
    index: Index,
    retriever: str,
    lexical: BM25Index,
    bm25: Ranking,
    depth: int,
    second: SecondModel | None = None,
    *,
    fusion: Fusion = DEFAULT_FUSION,
) -> Retrieval:
    """Rank by one retriever and read every question's outcome.

    Args:
        index: The strategy as the model sees it.
        retriever: One of `conditions.RETRIEVERS`.
        lexical: The BM25 index of the same chunks.
        bm25: Its full ranking of all questions.
        depth: How many top hits to keep with each outcome.
        second: The second model over the same chunks, for the retrievers that have one.
        fusion: How the dense and the BM25 ranking are fused.

    Raises:
        ValueError: If the retriever is unknown, or lacks its second model.
    """
    questions = [query.text for query in index.queries]
    dense = rank(1 - index.distances)
    if retriever not in _STAGES:
        raise ValueError(f"unknown retriever {retriever!r}")
    if (second is None) == (retriever in SCORER_RETRIEVERS):
        raise ValueError(f"retriever {retriever!r} {'lacks its' if second is None else 'has no'} second model")
    stages = _STAGES[retriever]
    if "fuse" in stages:
        first = fuse(dense, bm25, len(index.cut.chunks), fusion)
    else:
        first = bm25 if retriever == "bm25" else dense
    times = dict(index.milliseconds)
    if second is not None:  # what is scored one by one for the times is not scored again for the ranking
        times |= second.milliseconds(questions, first)
    if "lexical" in stages:
        times["lexical"] = _times(lambda row: lexical.scores(questions[row : row + 1]), len(questions))
    if "fuse" in stages:
        times["fuse"] = _times(
            lambda row: fuse(_row(dense, row), _row(bm25, row), len(index.cut.chunks), fusion),
            len(questions),
        )
    return Retrieval(
        outcomes=collect(
            index.queries,
            index.cut.chunks,
            second.rank(questions, first) if second is not None else first,
            index.distances,
            index.projections,
            [int(tokens) for tokens in index.embedded.tokens],
            reads_vectors="scan" in stages,
            depth=depth,
            scored=_projections(index.cut, index.queries, second.characters_read) if second is not None else None,
            reranked=first if retriever == "rerank" else None,
        ),
        cutting=index.cutting,
        milliseconds={stage: times[stage] for stage in stages},
        identity_error=index.identity_error,
        depth=depth,
        token_bytes=second.bytes_kept if second is not None else None,
        omega=index.omega,
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


def _projections(cut: Cut, queries: Sequence[Query], characters_read: CharactersRead) -> tuple[Projection, ...]:
    """The answers on the chunks, and which of these hold a needle's end beyond what a model reads of them."""
    projections = []
    for query, answer in zip(queries, cut.answers, strict=True):
        if answer.documents:
            projections.append(answer)
            continue
        needles = []
        for needle, held in zip(query.needles, answer.needles, strict=True):
            holding = held.containing.tolist()
            beyond = [
                chunk
                for chunk, read in zip(holding, characters_read(query.text, holding), strict=True)
                if _end_in_text(cut.chunks[chunk], needle.end) > read
            ]
            needles.append(Held(held.containing, held.quotable, np.array(beyond, np.intp)))
        projections.append(Projection(tuple(needles), answer.require))
    return tuple(projections)


def _end_in_text(chunk: Chunk, end: int) -> int:
    """Where a document offset lies in the embedded text."""
    return len(chunk.text) - (chunk.end - end)
