"""How much a cache holds, without opening it for writing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def entries(cache: Path, table: str) -> int | None:
    """Rows of a cache's table.

    Args:
        cache: The file.
        table: A name of ours, never of a user's.

    Returns:
        How many there are; 0 where there is no file yet, None where it cannot be read.
    """
    if not cache.is_file():
        return 0
    try:
        with closing(sqlite3.connect(f"{cache.absolute().as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - ours
    except sqlite3.Error:
        return None
