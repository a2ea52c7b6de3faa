"""One strategy's chunks as one model sees them, kept in memory so that a live question is answered at once.

It ranks by the same functions a sweep ranks with, so that what is measured is what answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.documents import Document
from experiments.chunking import Chunk, chunk_corpus
from experiments.conditions import RETRIEVERS, SCORER_RETRIEVERS, Strategy
from experiments.dense_search import nearest
from experiments.embedding import embed, key_of
from experiments.lexical import BM25Index, BM25Settings
from experiments.models import EncodedBatch, Encoder, ModelStamp
from experiments.ranking import ABSENT, Fusion, Ranking, dense_distances, fuse, rank, rank_matrix
from experiments.second_models import SecondModel
from store.vectors import VectorCache


class Found(NamedTuple):
    """One returned chunk: its place in the index, and what the retriever and the gate see of it."""

    chunk: int
    rank: int  # from 1
    score: float | None  # the retriever's own; None behind the chunks a reranker scored
    distance: float  # cosine, to the gate's model
    first_rank: int | None = None  # before a reranker put it here; None without one


class Asked(NamedTuple):
    """A question as a model sees it."""

    vector: NDArray[np.float32]  # (1, dimensions)
    seen: int  # characters inside the model's window


class LockedEncoder:
    """An encoder that is used by one thread at a time: a web process has several, a tokeniser stands only one."""

    def __init__(self, encoder: Encoder) -> None:
        """Guard `encoder`; the model is still loaded only when the first text arrives."""
        self._encoder = encoder
        self._lock = threading.Lock()
        self.stamp: ModelStamp = encoder.stamp

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed texts to be found."""
        with self._lock:
            return self._encoder.encode_documents(texts)

    def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed questions."""
        with self._lock:
            return self._encoder.encode_queries(texts)


@dataclass(frozen=True, slots=True)
class LiveIndex:
    """Chunks with their vectors and their BM25 weights.

    Attributes:
        strategy: How the corpus was cut.
        chunks: The chunks, in the order of the vectors.
        vectors: Unit vectors, shape (n_chunks, dimensions).
        lexical: BM25 over the same chunks.
        fusion: How the rankings of the two are fused.
        computed: Texts that no cache held and that were embedded for this index.
    """

    strategy: Strategy
    chunks: tuple[Chunk, ...]
    vectors: NDArray[np.float32]
    lexical: BM25Index
    fusion: Fusion
    computed: int

    def search(
        self,
        question: str,
        vector: NDArray[np.float32],
        retriever: str,
        depth: int,
        second: SecondModel | None = None,
    ) -> tuple[list[Found], dict[str, float]]:
        """The first chunks of one retriever's ranking.

        Args:
            question: What is asked.
            vector: Its unit vector, shape (1, dimensions).
            retriever: One of `conditions.RETRIEVERS`.
            depth: How many chunks at most.
            second: The second model over these chunks, for the retrievers that have one.

        Returns:
            What was found, best first, and the milliseconds of each stage.

        Raises:
            ValueError: If the retriever is unknown, or lacks its second model.
        """
        if retriever not in RETRIEVERS:
            raise ValueError(f"unknown retriever {retriever!r}")
        if (second is None) == (retriever in SCORER_RETRIEVERS):
            raise ValueError(f"retriever {retriever!r} {'lacks its' if second is None else 'has no'} second model")
        clock = _Stages()
        if retriever == "dense":  # nothing else is needed of the chunks further down
            nearby = nearest(vector, self.vectors, depth)
            clock.lap("scan")
            return _found(nearby, np.round(1 - nearby.scores[0], 6)), clock.milliseconds
        distances = np.round(dense_distances(vector, self.vectors), 6)
        dense = rank(1 - distances)
        clock.lap("scan")
        ranking, before = dense, None
        if retriever in ("bm25", "hybrid", "rerank"):
            ranking = rank(self.lexical.scores([question]), positive_only=True)
            clock.lap("lexical")
        if retriever in ("hybrid", "rerank"):
            ranking = fuse(dense, ranking, len(self.chunks), self.fusion)
            clock.lap("fuse")
        if second is not None:
            before = rank_matrix(ranking, len(self.chunks))[0] if retriever == "rerank" else None
            ranking = second.rank([question], ranking)
            clock.lap("rerank" if retriever == "rerank" else "maxsim")
        first = Ranking(ranking.order[:, :depth], ranking.scores[:, :depth])
        return _found(first, distances[0, first.order[0]], before), clock.milliseconds


class _Stages:
    """Milliseconds between one lap and the next."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.milliseconds[stage] = (now - self._last) * 1000
        self._last = now


def _found(ranking: Ranking, distances: NDArray[np.float64], before: NDArray[np.int64] | None = None) -> list[Found]:
    """One query's ranking with the distance of each chunk, in the ranking's order."""
    return [
        Found(
            int(chunk),
            place + 1,
            None if np.isnan(score) else float(score),
            float(distance),
            None if before is None else int(before[chunk]),
        )
        for place, (chunk, score, distance) in enumerate(
            zip(ranking.order[0], ranking.scores[0], distances, strict=True)
        )
        if chunk != ABSENT
    ]


def build(
    documents: Sequence[Document],
    strategy: Strategy,
    encoder: Encoder,
    cache: VectorCache,
    bm25: BM25Settings,
    fusion: Fusion,
) -> LiveIndex:
    """Cut the corpus, read the vectors a sweep has left in the cache, and embed only what is missing.

    Args:
        documents: The corpus.
        strategy: How to cut it.
        encoder: The model; not loaded when the cache holds every chunk.
        cache: Its vectors.
        bm25: Settings of the lexical index.
        fusion: How its ranking is fused with the dense one.

    Raises:
        ValueError: If the corpus gives no chunk, or a vector is not of unit length within 1e-5.
    """
    chunks = chunk_corpus(documents, strategy)
    if not chunks:
        raise ValueError(f"strategy {strategy.name} cuts no chunk out of {len(documents)} documents")
    texts = [chunk.text for chunk in chunks]
    embedded = embed("document", texts, encoder, cache, lambda _: None)
    return LiveIndex(strategy, chunks, embedded.vectors, BM25Index(texts, bm25), fusion, embedded.computed)


def ask_model(question: str, encoder: Encoder, cache: VectorCache) -> Asked:
    """A question's vector: out of the cache where a sweep asked it, else from the model.

    What people ask live is not written into the cache.
    """
    key = key_of("query", question)
    known = cache.get([key]).get(key)
    if known is not None:
        return Asked(known.vector[np.newaxis, :], known.seen)
    encoded = encoder.encode_queries([question])
    return Asked(encoded.vectors, encoded.seen[0])
