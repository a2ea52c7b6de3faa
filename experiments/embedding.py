"""From texts to vectors, through the cache: what was embedded once is never embedded again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.model_stamps import ModelStamp
from experiments.models import BATCH as PASSED_AT_ONCE
from experiments.models import Encoder
from store.vectors import CachedVector, VectorCache

Kind = Literal["document", "query"]
BATCH = 4 * PASSED_AT_ONCE  # texts handed to an encoder at once, and written at once; it sorts them by their tokens
_PIECES = re.compile(r"\w+|[^\w\s]")
Advance = Callable[[int], object]  # told how many texts were embedded since the last call


class Embedded(NamedTuple):
    """Vectors of a list of texts, in its order."""

    vectors: NDArray[np.float32]  # (n, dimensions), unit length
    token_starts: list[NDArray[np.uint32]]
    seen: NDArray[np.int64]  # (n,) characters inside the encoder's window
    computed: int  # texts that were not in the cache

    @property
    def tokens(self) -> NDArray[np.int64]:
        """Tokens of each text, special ones left out, shape (n,)."""
        return np.array([len(starts) for starts in self.token_starts], np.int64)


def open_cache(folder: Path, stamp: ModelStamp) -> VectorCache:
    """The vectors of one model, among those of others.

    Raises:
        StampMismatchError: If the file holds vectors of another model, or of another version of this code.
    """
    return VectorCache(folder / f"{stamp.cache_name}.db", stamp.file_stamp)


def key_of(kind: Kind, text: str) -> bytes:
    """The cache key of a text; questions and documents differ because a model may prompt them differently."""
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def missing(kind: Kind, texts: Sequence[str], cache: VectorCache) -> list[str]:
    """The distinct texts that are not in the cache, longest first so that a batch holds texts of one length.

    Words and signs are counted, because they are much nearer to tokens than characters are.
    """
    distinct = {key_of(kind, text): text for text in texts}
    known = cache.get(list(distinct))
    todo = [text for key, text in distinct.items() if key not in known]
    return sorted(todo, key=lambda text: (-len(_PIECES.findall(text)), -len(text), text))


def embed(kind: Kind, texts: Sequence[str], encoder: Encoder, cache: VectorCache, advance: Advance) -> Embedded:
    """Embed texts, reading what the cache has and writing every batch as it is done.

    Args:
        kind: Whether the texts are to be found or are questions.
        texts: Any texts, repeated ones included.
        encoder: The model.
        cache: Its cache; a sweep that is killed loses at most the batch it was working on.
        advance: Called after each batch.

    Returns:
        One vector a text.

    Raises:
        ValueError: If the model gave a vector that is not of unit length within 1e-5.
    """
    encode = encoder.encode_documents if kind == "document" else encoder.encode_queries
    todo = missing(kind, texts, cache)
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        encoded = encode(batch)
        _check_norms(encoded.vectors, batch)
        entries = zip(batch, encoded.vectors, encoded.token_starts, encoded.seen, strict=True)
        cache.put({key_of(kind, text): CachedVector(vector, starts, seen) for text, vector, starts, seen in entries})
        advance(len(batch))
    keys = [key_of(kind, text) for text in texts]
    known = cache.get(list(dict.fromkeys(keys)))
    vectors = np.stack([known[key].vector for key in keys]) if keys else np.zeros((0, encoder.stamp.dimensions), "f4")
    return Embedded(
        vectors=vectors,
        token_starts=[known[key].token_starts for key in keys],
        seen=np.array([known[key].seen for key in keys], np.int64),
        computed=len(todo),
    )


def _check_norms(vectors: NDArray[np.float32], texts: Sequence[str]) -> None:
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = np.flatnonzero(~(np.abs(norms - 1) <= 1e-5))
    if len(wrong):
        raise ValueError(
            f"the model gave a vector of length {norms[wrong[0]]:.6g} instead of 1 for {texts[wrong[0]][:60]!r}"
        )
