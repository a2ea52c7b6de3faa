"""Putting SQLite's write-ahead log on, which SQLite itself does not wait for."""

from __future__ import annotations

import random
import sqlite3
import time

PATIENCE = 60.0  # seconds


def write_ahead(connection: sqlite3.Connection, patience: float = PATIENCE) -> None:
    """Open a connection's write-ahead log, and switch a new file to one.

    The switch, and the clean-up by the last connection that closes, need the file for themselves for a moment; a
    connection that comes just then is told that it is locked at once, whatever its busy timeout, because waiting
    there could be a deadlock. So it is tried again here.

    Args:
        connection: New, with no transaction begun.
        patience: Seconds after which a file that stays locked is an error.

    Raises:
        sqlite3.OperationalError: If it stays locked, or is read-only or no place to write.
    """
    end = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            connection.execute("PRAGMA synchronous = NORMAL").close()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - two that collide must not do so again
