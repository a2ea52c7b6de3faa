"""Locators: which place of a file a range of its canonical text came from, in a form a person can open."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

_SPAN = re.compile(r"t=(?P<begin>[\d.]+),(?P<end>[\d.]+)$")
_SHEET = re.compile(r"sheet=(?P<sheet>[^&]*)(?:&range=(?P<first>[A-Z]+\d+)(?::(?P<last>[A-Z]+\d+))?)?$")


class Locator(NamedTuple):
    """One stretch of a canonical text and the place in the file it came from.

    Attributes:
        start: First code point of the canonical text.
        end: One past its last.
        place: A fragment without ``#``: ``page=12``, ``t=132.4,158.9`` or ``sheet=Prices&range=A2:F2`` (the sheet's
            name percent-encoded).
    """

    start: int
    end: int
    place: str


def locate(locators: Sequence[Locator], start: int, end: int) -> str:
    """Return the fragment that leads to a range of a document, with its ``#``.

    Args:
        locators: The document's, in order and without overlap; empty where its text is the file itself.
        start: First code point of the range.
        end: One past its last.

    Returns:
        Pages: the page the range begins on. Transcripts: from the beginning of its first cue to the end of its last.
        Sheets: one A1 range around its rows on the sheet it begins on. Anything else, a range no locator touches
        included: ``#char=start,end``.
    """
    places = [locator.place for locator in touched(locators, start, end)]
    if not places:
        return f"#char={start},{end}"
    return "#" + (_joined_span(places) or _joined_sheet(places) or places[0])


def touched(locators: Sequence[Locator], start: int, end: int) -> Sequence[Locator]:
    """Return the locators that share at least one character with the range ``[start, end)``."""
    if start >= end:
        return ()
    first = bisect_right(locators, start, key=lambda locator: locator.end)
    behind = bisect_left(locators, end, key=lambda locator: locator.start)
    return locators[first:behind]


def clipped(locators: Sequence[Locator], end: int) -> tuple[Locator, ...]:
    """Return the locators of a text of which only the first ``end`` characters were kept."""
    return tuple(locator._replace(end=min(locator.end, end)) for locator in locators if locator.start < end)


def _joined_span(places: Sequence[str]) -> str | None:
    spans = [span for place in places if (span := _SPAN.match(place))]
    return f"t={spans[0]['begin']},{spans[-1]['end']}" if spans else None


def _joined_sheet(places: Sequence[str]) -> str | None:
    """Join the ranges of the first sheet; a place that names no range is the sheet's heading."""
    ranges = [found for place in places if (found := _SHEET.match(place))]
    if not ranges:
        return None
    # A range that begins with the heading of a sheet is about its rows; with nothing but headings it is the sheet.
    sheet = next((one["sheet"] for one in ranges if one["first"]), ranges[0]["sheet"])
    corners = [
        _corner(cell)
        for one in ranges
        if one["sheet"] == sheet and one["first"]
        for cell in (one["first"], one["last"] or one["first"])
    ]
    if not corners:
        return f"sheet={sheet}"
    columns, rows = zip(*corners, strict=True)
    first, last = f"{column_name(min(columns))}{min(rows)}", f"{column_name(max(columns))}{max(rows)}"
    return f"sheet={sheet}&range={first}" + ("" if first == last else f":{last}")


def _corner(cell: str) -> tuple[int, int]:
    letters = cell.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column, int(cell[len(letters) :])


def column_name(column: int) -> str:
    """Return the letters of a spreadsheet column counted from 1: 1 is ``A``, 27 is ``AA``."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
