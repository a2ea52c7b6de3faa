"""The needles a recorded question has: one that its own columns say whole, or several."""

from __future__ import annotations

from typing import NamedTuple

from store.tables import QueryRow


class NeedleSpan(NamedTuple):
    """A needle as it was recorded: a verbatim span of a document, half-open, in code points."""

    id: str
    text: str
    document: str
    start: int
    end: int


def needle_spans(row: QueryRow) -> tuple[NeedleSpan, ...]:
    """All needles of a question in its own order; none where nothing or whole documents answer it."""
    if row.needles:
        return tuple(NeedleSpan(**needle) for needle in row.needles)
    if row.needle_id is None or row.needle is None:
        return ()
    return (NeedleSpan(row.needle_id, row.needle, row.document or "", row.start or 0, row.end or 0),)
