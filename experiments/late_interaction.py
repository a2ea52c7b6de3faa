"""Late interaction: question and chunk are embedded apart, token by token, and compared token by token.

MaxSim, exactly and over all chunks: each token of the question looks for the token of the chunk most like it, and
what they find is added up.

References:
    Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over
    BERT", SIGIR 2020.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.embedding import key_of
from experiments.measures import TIMED_QUESTIONS
from experiments.models import BATCH
from experiments.ranking import FloatMatrix, Ranking, rank
from experiments.second_models import SCORE_DECIMALS, TokenBatch, TokenEncoder
from store.token_vectors import Place, TokenVectorStore

Advance = Callable[[int], object]  # told how many texts were embedded since the last call
# Similarities held at once, in float32: what bounds the memory, whatever the corpus.
_BLOCK_FLOATS = 8_000_000


class TokenIndex(NamedTuple):
    """Where the token vectors of a list of chunks lie."""

    vectors: NDArray[np.float16]  # (rows of the whole store, dimensions), memory-mapped
    places: tuple[Place, ...]  # one a chunk
    computed: int  # texts that were not in the store

    @property
    def bytes_kept(self) -> int:
        """Bytes of these chunks' vectors on disk."""
        return sum(place.rows for place in self.places) * int(self.vectors.shape[1]) * self.vectors.itemsize


def missing_tokens(texts: Sequence[str], store: TokenVectorStore) -> list[str]:
    """The distinct texts whose token vectors are not there, longest first so that a batch holds texts of one length."""
    distinct = {key_of("document", text): text for text in texts}
    known = store.get(list(distinct))
    return sorted((text for key, text in distinct.items() if key not in known), key=lambda text: (-len(text), text))


def index_tokens(
    texts: Sequence[str], encoder: TokenEncoder, store: TokenVectorStore, advance: Advance = lambda _: None
) -> TokenIndex:
    """Embed chunks token by token, reading what the store has and writing every batch as it is done.

    Args:
        texts: Embedded texts of the chunks, header and overlap included.
        encoder: The model; not loaded when the store holds every text.
        store: Its token vectors; a sweep that is killed loses at most the batch it was working on.
        advance: Called after each batch.

    Raises:
        ValueError: If the model gave a text no vector, or one that is not of unit length within 1e-3.
    """
    todo = missing_tokens(texts, store)
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        encoded = encoder.encode_documents(batch)
        for text, vectors in zip(batch, encoded.vectors, strict=True):
            _check(vectors, text)
        entries = zip(batch, encoded.vectors, encoded.seen, strict=True)
        store.put({key_of("document", text): (vectors, seen) for text, vectors, seen in entries})
        advance(len(batch))
    keys = [key_of("document", text) for text in texts]
    known = store.get(list(dict.fromkeys(keys)))
    return TokenIndex(store.vectors(), tuple(known[key] for key in keys), len(todo))


def max_sim(questions: Sequence[NDArray[np.float32]], index: TokenIndex) -> FloatMatrix:
    """Sum over a question's tokens of the largest dot product with any token of a chunk.

    Chunks are read in blocks, so that memory stays bounded however many there are.

    Args:
        questions: n of them, each (tokens, dimensions), unit vectors.
        index: m chunks.

    Returns:
        Shape (n, m), float64; at most the number of the question's tokens.
    """
    if not questions:
        return np.zeros((0, len(index.places)))
    asked = np.ascontiguousarray(np.concatenate(questions).T, np.float32)  # (dimensions, all tokens)
    begins = np.concatenate([[0], np.cumsum([len(one) for one in questions])[:-1]])
    scores = np.empty((len(questions), len(index.places)))
    for first, last in _blocks(index.places, asked.shape[1]):
        block = index.places[first:last]
        tokens = np.concatenate([index.vectors[one.first : one.first + one.rows] for one in block])
        similar = tokens.astype(np.float32) @ asked
        starts = np.concatenate([[0], np.cumsum([one.rows for one in block])[:-1]])
        best = np.maximum.reduceat(similar, starts, axis=0).astype(np.float64)  # (chunks, all tokens)
        scores[:, first:last] = np.add.reduceat(best, begins, axis=1).T
    return scores


def _blocks(places: Sequence[Place], columns: int) -> Iterator[tuple[int, int]]:
    """Ranges of chunks whose similarities fit into the bound; at least one chunk each."""
    first = rows = 0
    for at, place in enumerate(places):
        if at > first and (rows + place.rows) * columns > _BLOCK_FLOATS:
            yield first, at
            first, rows = at, 0
        rows += place.rows
    if places:
        yield first, len(places)


def _check(vectors: NDArray[np.float32], text: str) -> None:
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = np.flatnonzero(~(np.abs(norms - 1) <= 1e-3))
    if not len(norms) or len(wrong):
        gave = f"a token vector of length {norms[wrong[0]]:.6g} instead of 1" if len(norms) else "no token vector"
        raise ValueError(f"the model gave {gave} for {text[:60]!r}")


class LateRanker:
    """A late-interaction model over the chunks of one strategy; a `SecondModel`."""

    def __init__(
        self, encoder: TokenEncoder, index: TokenIndex, tell: Callable[[list[int]], object] = lambda _: None
    ) -> None:
        """Prepare to rank the chunks of `index`; the model is loaded when the first question arrives.

        Args:
            encoder: The model.
            index: Token vectors of the chunks.
            tell: Told how many characters of each question were read.
        """
        self.stamp = encoder.stamp
        self.bytes_kept: int | None = index.bytes_kept
        self._encoder, self._index, self._tell = encoder, index, tell

    def rank(self, questions: Sequence[str], first: Ranking) -> Ranking:
        """All chunks by MaxSim, ties by chunk index; the ranking of another retriever is not looked at."""
        asked = self._encoder.encode_queries(questions) if questions else TokenBatch([], [])
        self._tell(asked.seen)
        return rank(max_sim(asked.vectors, self._index), decimals=SCORE_DECIMALS)

    def milliseconds(self, questions: Sequence[str], first: Ranking) -> dict[str, list[float]]:
        """Milliseconds to embed a question and to compare it, of the first questions one by one."""
        times: dict[str, list[float]] = {"tokens": [], "maxsim": []}
        for place, question in enumerate(questions[:TIMED_QUESTIONS]):
            if not place:
                max_sim(self._encoder.encode_queries([question]).vectors, self._index)  # warms up
            begin = time.perf_counter()
            asked = self._encoder.encode_queries([question]).vectors
            middle = time.perf_counter()
            rank(max_sim(asked, self._index), decimals=SCORE_DECIMALS)
            times["tokens"].append((middle - begin) * 1000)
            times["maxsim"].append((time.perf_counter() - middle) * 1000)
        return times

    def characters_read(self, question: str, chunks: Sequence[int]) -> list[int]:
        """Characters of these chunks' texts inside the model's window."""
        return [self._index.places[chunk].seen for chunk in chunks]
