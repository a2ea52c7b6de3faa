"""A content-addressed store of token vectors on disk, one pair of files a model.

The vectors are many, so they stand side by side in a flat float16 file that is memory-mapped when it is read; where
each text's vectors begin stands in an SQLite index, which alone says what is there. A killed writer leaves rows behind
the last one the index knows, and the next one writes over them; writers take turns.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.stamped import StampedFile, StampMismatchError, slices

STORAGE = np.dtype("<f2")  # half the bytes of float32; moves a similarity of two tokens by less than 0.001


class Place(NamedTuple):
    """Where a text's token vectors lie."""

    first: int  # row of the flat file
    rows: int
    seen: int  # characters of the text inside the model's window


class TokenVectorStore(StampedFile):
    """Token vectors of one model by the hash of the text they were made from."""

    holds, again = "token vectors", "embed"
    tables = (
        "CREATE TABLE IF NOT EXISTS place "
        "(key BLOB PRIMARY KEY, first INTEGER NOT NULL, rows INTEGER NOT NULL, seen INTEGER NOT NULL) WITHOUT ROWID",
    )

    def __init__(self, path: Path, stamp: Mapping[str, str | int], dimensions: int) -> None:
        """Open or create the store.

        Args:
            path: The index; the vectors lie beside it, with the suffix `.f16`.
            stamp: What the vectors depend on; that they are kept as float16 is added.
            dimensions: Of a vector.

        Raises:
            StampMismatchError: If the files are of another model, or the vectors are not all there.
        """
        super().__init__(path, {**stamp, "storage": "float16"})
        self._dimensions = dimensions
        self._flat = path.with_suffix(".f16")
        with closing(self._connect()) as connection:
            end = self._end(connection)
        size = self._flat.stat().st_size if self._flat.exists() else 0
        if size < end * self._row_bytes:
            raise StampMismatchError(
                f"{self._flat} holds {size:,} of the {end * self._row_bytes:,} bytes its index {path} names: "
                "move both files away and embed again"
            )

    @property
    def _row_bytes(self) -> int:
        return self._dimensions * STORAGE.itemsize

    def _end(self, connection: object) -> int:
        """Rows the index knows of."""
        return int(connection.execute("SELECT COALESCE(MAX(first + rows), 0) FROM place").fetchone()[0])  # type: ignore[attr-defined]

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Place]:
        """The places of those of `keys` that are there."""
        with closing(self._connect()) as connection:
            return {
                key: Place(first, rows, seen)
                for marks, part in slices(keys)
                for key, first, rows, seen in connection.execute(
                    f"SELECT key, first, rows, seen FROM place WHERE key IN ({marks})",  # noqa: S608 - placeholders only
                    part,
                )
            }

    def put(self, texts: Mapping[bytes, tuple[NDArray[np.float32], int]]) -> None:
        """Add a batch of vectors, shape (tokens, dimensions) each, with the characters seen; whole or not at all."""
        with closing(self._connect()) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE")  # one writer at a time, over both files
            try:
                first = self._end(connection)
                places, blocks = [], []
                for key, (vectors, seen) in texts.items():
                    if connection.execute("SELECT 1 FROM place WHERE key = ?", (key,)).fetchone():
                        continue
                    places.append((key, first, len(vectors), seen))
                    blocks.append(np.ascontiguousarray(vectors, STORAGE))
                    first += len(vectors)
                if places:
                    self._write(places[0][1], blocks)
                connection.executemany("INSERT INTO place VALUES (?, ?, ?, ?)", places)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def _write(self, first: int, blocks: Sequence[NDArray[np.float16]]) -> None:
        with self._flat.open("r+b" if self._flat.exists() else "w+b") as flat:
            flat.seek(first * self._row_bytes)
            flat.writelines(block.tobytes() for block in blocks)
            flat.flush()
            os.fsync(flat.fileno())  # before the index says they are there

    def vectors(self) -> NDArray[np.float16]:
        """All vectors, memory-mapped, shape (rows, dimensions)."""
        if not self._flat.exists():
            return np.zeros((0, self._dimensions), STORAGE)
        rows = self._flat.stat().st_size // self._row_bytes
        return (
            np.memmap(self._flat, STORAGE, "r", shape=(rows, self._dimensions))
            if rows
            else np.zeros((0, self._dimensions), STORAGE)
        )
