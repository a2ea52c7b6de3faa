"""A content-addressed cache of embeddings on disk, one file a model.

SQLite rather than a flat file: a batch is either in it or not (a killed sweep loses nothing that was embedded), two
sweeps may write at once, and a file whose stamp differs from the model at hand is refused instead of read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class CachedVector(NamedTuple):
    """What embedding one text gave."""

    vector: NDArray[np.float32]  # (dimensions,)
    token_starts: NDArray[np.uint32]  # (tokens,) character at which each token begins, special tokens left out
    seen: int  # characters of the text that fit into the encoder's window


class StampMismatchError(Exception):
    """The cache was not written by the model at hand."""


class VectorCache:
    """Vectors of one model by the hash of the text they were made from."""

    def __init__(self, path: Path, stamp: Mapping[str, str | int]) -> None:
        """Open or create the cache.

        Args:
            path: The file; its folder is made when missing.
            stamp: What the vectors depend on. Written into a new file, compared with an old one.

        Raises:
            StampMismatchError: If the file holds vectors of another model (both stamps are named) or is no cache.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        wanted = json.dumps(dict(stamp), sort_keys=True)
        try:
            found = self._found_stamp(wanted)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, full, read-only: the file itself is sound
                raise
            raise StampMismatchError(f"{path} is not a cache of vectors ({error}): move the file away") from error
        if found != wanted:
            raise StampMismatchError(
                f"{path} holds vectors of {found}, but the model at hand is {wanted}; "
                "vectors of two models cannot be compared: move the file away and embed again"
            )

    def _found_stamp(self, wanted: str) -> str:
        """The stamp of the file, which is the one wanted where the file is new."""
        with closing(self._connect()) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS stamp (only_row INTEGER PRIMARY KEY, json TEXT)")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vector "
                "(key BLOB PRIMARY KEY, vector BLOB, token_starts BLOB, seen INTEGER) WITHOUT ROWID"
            )
            connection.execute("CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, json TEXT)")
            connection.execute("INSERT OR IGNORE INTO stamp VALUES (1, ?)", (wanted,))
            return str(connection.execute("SELECT json FROM stamp").fetchone()[0])

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=60)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def get(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """The cached vectors among `keys`."""
        with closing(self._connect()) as connection:
            return {
                key: CachedVector(np.frombuffer(vector, np.float32), np.frombuffer(starts, np.uint32), seen)
                for part in _slices(keys, 500)
                for key, vector, starts, seen in connection.execute(
                    f"SELECT key, vector, token_starts, seen FROM vector WHERE key IN ({','.join('?' * len(part))})",  # noqa: S608 - placeholders only
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

    def note(self, name: str) -> list[float] | None:
        """Numbers kept beside the vectors, such as how long embedding took; None when there are none."""
        with closing(self._connect()) as connection:
            found = connection.execute("SELECT json FROM note WHERE name = ?", (name,)).fetchone()
        return [float(value) for value in json.loads(found[0])] if found else None

    def put_note(self, name: str, values: Sequence[float]) -> None:
        """Keep numbers beside the vectors, replacing what was there."""
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, json.dumps(list(values))))


def _slices(keys: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
