"""How the files of the documents folder stand, in a plain sentence."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.words import listed, plural


def on_files_of_index(counted: Mapping[str, int], unread: int, folder: str) -> str:
    """How many files are searchable, and what is the matter with the others.

    Args:
        counted: Files by state; states of which there are none are left out.
        unread: Of the failed ones, those of a format that is not read.
        folder: Where they lie.
    """
    total = sum(counted.values())
    if not total:
        return f"Nothing is indexed yet of {folder}."
    failed = counted.get("failed", 0) - unread
    others = [
        f"{failed:,} failed" if failed else "",
        f"{plural(unread, 'file')} of a format that is not read" if unread else "",
        f"{counted['stale']:,} stale" if counted.get("stale") else "",
        f"{waiting:,} waiting" if (waiting := counted.get("queued", 0) + counted.get("extracting", 0)) else "",
    ]
    said = listed([one for one in others if one])
    indexed = f"{counted.get('indexed', 0):,} of {plural(total, 'file')} {'is' if total == 1 else 'are'} indexed"
    return f"{indexed}; {said}." if said else f"{indexed}."
