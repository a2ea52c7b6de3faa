"""Caches on disk that say what they depend on: an SQLite file that is read only by what wrote it.

SQLite rather than a flat file: a batch is either in it or not (a killed sweep loses nothing that was done), two sweeps
may write at once, and a file whose stamp differs from the model at hand is refused instead of read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from store.write_ahead import write_ahead

_PLACEHOLDERS = 500  # of one statement


class StampMismatchError(Exception):
    """The cache was not written by the model at hand."""


class StampedFile:
    """A cache of one model's results; the tables are a subclass's."""

    holds = "results"  # what the file holds, and the verb that makes it anew, for messages
    again = "run"
    tables: tuple[str, ...] = ()  # statements that make them where they are missing

    def __init__(self, path: Path, stamp: Mapping[str, str | int]) -> None:
        """Open or create the cache.

        Args:
            path: The file; its folder is made when missing.
            stamp: What its content depends on. Written into a new file, compared with an old one.

        Raises:
            StampMismatchError: If the file is of another model (both stamps are named) or is no cache.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        wanted = json.dumps(dict(stamp), sort_keys=True)
        try:
            found = self._found_stamp(wanted)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, full, read-only: the file itself is sound
                raise
            raise StampMismatchError(f"{path} is not a cache of {self.holds} ({error}): move the file away") from error
        if _read(found) != _read(wanted):
            raise StampMismatchError(
                f"{path} holds {self.holds} of {found}, but the model at hand is {wanted}; "
                f"{self.holds} of two models cannot be compared: move the file away and {self.again} again"
            )

    def _found_stamp(self, wanted: str) -> str:
        """The stamp of the file, which is the one wanted where the file is new."""
        with closing(self._connect()) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")  # makes the tables or waits for whoever does, never half of each
            connection.execute("CREATE TABLE IF NOT EXISTS stamp (only_row INTEGER PRIMARY KEY, json TEXT)")
            for statement in self.tables:
                connection.execute(statement)
            connection.execute("CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, json TEXT)")
            connection.execute("INSERT OR IGNORE INTO stamp VALUES (1, ?)", (wanted,))
            return str(connection.execute("SELECT json FROM stamp").fetchone()[0])

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=60)
        try:
            write_ahead(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def note(self, name: str) -> list[float] | None:
        """Numbers kept beside the content, such as how long making it took; None when there are none."""
        with closing(self._connect()) as connection:
            found = connection.execute("SELECT json FROM note WHERE name = ?", (name,)).fetchone()
        return [float(value) for value in json.loads(found[0])] if found else None

    def put_note(self, name: str, values: Sequence[float]) -> None:
        """Keep numbers beside the content, replacing what was there."""
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, json.dumps(list(values))))


def _read(stamp: str) -> dict[str, str | int]:
    """A stamp with the pipeline version that files had before it was written down."""
    return {"pipeline": "1", **json.loads(stamp)}


def slices(keys: Sequence[bytes]) -> Iterator[tuple[str, Sequence[bytes]]]:
    """Keys in parts one statement takes, each with its placeholders."""
    for start in range(0, len(keys), _PLACEHOLDERS):
        part = keys[start : start + _PLACEHOLDERS]
        yield ",".join("?" * len(part)), part
