"""How much of a text an encoder read, out of a cache of vectors, without the vectors and without writing to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

_PARAMETERS = 500


def characters_read(cache: Path, keys: Sequence[bytes]) -> dict[bytes, int]:
    """Characters of texts that fitted into the encoder's window.

    Args:
        cache: A model's cache of vectors; one that is missing or cannot be read knows nothing.
        keys: Keys of the texts.

    Returns:
        Those that are known, by key.
    """
    if not cache.is_file():
        return {}
    found: dict[bytes, int] = {}
    try:
        with closing(sqlite3.connect(f"{cache.absolute().as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            for start in range(0, len(keys), _PARAMETERS):
                part = keys[start : start + _PARAMETERS]
                places = ",".join("?" * len(part))
                query = f"SELECT key, seen FROM vector WHERE key IN ({places})"  # noqa: S608 - placeholders only
                found.update(connection.execute(query, part))
    except sqlite3.Error:  # moved, locked or no cache at all: then it is not known
        return {}
    return found
