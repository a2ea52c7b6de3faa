"""A content-addressed cache of embeddings on disk, one file a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.stamped import StampedFile, slices


class CachedVector(NamedTuple):
    """What embedding one text gave."""

    vector: NDArray[np.float32]  # (dimensions,)
    token_starts: NDArray[np.uint32]  # (tokens,) character at which each token begins, special tokens left out
    seen: int  # characters of the text that fit into the encoder's window


class VectorCache(StampedFile):
    """Vectors of one model by the hash of the text they were made from."""

    holds, again = "vectors", "embed"
    tables = (
        "CREATE TABLE IF NOT EXISTS vector "
        "(key BLOB PRIMARY KEY, vector BLOB, token_starts BLOB, seen INTEGER) WITHOUT ROWID",
    )

    def get(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """The cached vectors among `keys`."""
        with closing(self._connect()) as connection:
            return {
                key: CachedVector(np.frombuffer(vector, np.float32), np.frombuffer(starts, np.uint32), seen)
                for marks, part in slices(keys)
                for key, vector, starts, seen in connection.execute(
                    f"SELECT key, vector, token_starts, seen FROM vector WHERE key IN ({marks})",  # noqa: S608 - placeholders only
                    part,
                )
            }

    def put(self, vectors: Mapping[bytes, CachedVector]) -> None:
        """Add a batch, whole or not at all."""
        with closing(self._connect()) as connection, connection:
            connection.executemany(
                "INSERT OR IGNORE INTO vector VALUES (?, ?, ?, ?)",
                [
                    (
                        key,
                        entry.vector.astype(np.float32).tobytes(),
                        entry.token_starts.astype(np.uint32).tobytes(),
                        entry.seen,
                    )
                    for key, entry in vectors.items()
                ],
            )
