"""Watching the documents folder: indexing again whenever something in it changed and came to rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

Snapshot = dict[str, tuple[int, int]]


def snapshot(folder: Path) -> Snapshot:
    """Size and time of every visible file below a folder, or of the one file that holds all documents."""
    found = {}
    for path in (folder,) if folder.is_file() else folder.rglob("*"):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        try:
            facts = path.stat()
        except OSError:  # gone since it was listed
            continue
        if path.is_file():
            found[path.as_posix()] = (facts.st_size, facts.st_mtime_ns)
    return found


def watch(
    folder: Path,
    index: Callable[[], object],
    *,
    seconds: float = 2.0,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Call `index` now and whenever the folder has changed; ends with whatever exception ends it.

    Polling works on every file system, network drives included. A change is taken up once two looks in a row saw the
    same, so that a file that is still being copied is left alone.

    Args:
        folder: The documents folder.
        index: Indexes it; only what changed costs anything.
        seconds: Between two looks.
        sleep: Waits; raises to end.
    """
    indexed: Snapshot | None = None
    before = snapshot(folder)
    while True:
        if before != indexed:
            index()
            indexed = before
        sleep(seconds)
        now = snapshot(folder)
        while now != before:
            before = now
            sleep(seconds)
            now = snapshot(folder)
