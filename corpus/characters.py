"""Characters that no text may hold, because no file, database or page can carry them."""

from __future__ import annotations

import re
from typing import NamedTuple

_HALF = re.compile("[\ud800-\udfff]")


class Unusable(NamedTuple):
    """What is wrong with a text, to be put behind its name, and what to do."""

    problem: str
    advice: str


def unusable(text: str) -> Unusable | None:
    """Return why a text cannot be kept; None where it can."""
    if _HALF.search(text):
        advice = "Write the character itself, or both halves of the escape."
        return Unusable("holds half a surrogate pair, which is no character", advice)
    if "\0" in text:
        return Unusable("holds a zero character, which no text has", "Remove it.")
    return None
