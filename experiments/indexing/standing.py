"""How files stand now: their rows, read against what an index made now would be made with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from experiments.indexing.stamps import Stamps, why_stale
from store.files import FAILED, INDEXED, STALE, STATES
from store.tables import FileRow


class Standing(NamedTuple):
    """One file.

    Attributes:
        row: What the store knows of it.
        state: As of now: an indexed document becomes stale when what it was made with is no longer at hand.
        reason: Why it is in this state, with what to do; empty where there is nothing to say.
        since: When it came into the state that is on record.
    """

    row: FileRow
    state: str
    reason: str
    since: datetime

    @property
    def id(self) -> str:
        """The document's id."""
        return self.row.document_id


def standing(row: FileRow, now: Stamps) -> Standing:
    """How one file stands."""
    why = why_stale(row, now) if row.state == INDEXED else ""
    if why:
        return Standing(row, STALE, _sentence(why), row.changed_at)
    said = _sentence(row.reason or "")
    if row.state == FAILED and row.advice:
        said = f"{said} {row.advice}"
    return Standing(row, row.state, said, row.changed_at)


def standings(rows: Sequence[FileRow], now: Stamps) -> tuple[Standing, ...]:
    """How all files stand: what failed first, as it asks for something to be done, then what is not indexed."""
    order = (FAILED, STALE, "extracting", "queued", INDEXED)
    found = [standing(row, now) for row in rows]
    return tuple(sorted(found, key=lambda one: (order.index(one.state), one.row.kind == "unsupported", one.id)))


def counts(found: Sequence[Standing]) -> dict[str, int]:
    """Files by state; states of which there are none are left out."""
    counted = Counter(one.state for one in found)
    return {state: counted[state] for state in STATES if counted[state]}


def _sentence(words: str) -> str:
    if not words:
        return ""
    said = words[:1].upper() + words[1:]
    return said if said.endswith((".", "!", "?")) else said + "."
