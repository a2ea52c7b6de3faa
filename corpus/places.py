"""Places: from what a person opens (a page, a time, cells) to the range of a canonical text that came from there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl

from corpus.locators import Locator

_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(?:,(\d{1,9}(?:\.\d{1,6})?))?")
_CELLS = re.compile(r"[A-Z]{1,3}(\d{1,7})(?::[A-Z]{1,3}(\d{1,7}))?")


class PlaceError(ValueError):
    """A place that cannot be read, or that a document does not have."""

    def __init__(self, name: str, value: str, allowed: str) -> None:
        """Keep the parameter, what was given and what would be taken."""
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name}={value} is not allowed; {name} may be {allowed}")


class Place(NamedTuple):
    """A place in a document's file and the range of its text.

    Attributes:
        start: First code point.
        end: One past the last.
        page: Of a document with pages; None elsewhere.
        seconds: Where a recording is at that place; None elsewhere.
        sheet: Of a spreadsheet; empty elsewhere.
    """

    start: int
    end: int
    page: int | None = None
    seconds: tuple[float, float] | None = None
    sheet: str = ""


def parsed(place: str) -> dict[str, str]:
    """The parts of a fragment: `sheet=Prices&range=A2:F2` as a mapping, decoded."""
    return dict(parse_qsl(place.removeprefix("#").replace("+", "%2B"), keep_blank_values=True))


def pages_of(locators: Sequence[Locator]) -> tuple[int, ...]:
    """The pages that have text, in order."""
    found = {int(page): None for one in locators if (page := parsed(one.place).get("page", "")).isdecimal()}
    return tuple(sorted(found))


def place_at(locators: Sequence[Locator], start: int, end: int) -> Place:
    """Where in the file a range of the text lies: the page, the time or the sheet it begins in."""
    inside = [one for one in locators if one.start < end and start < one.end]
    first = parsed(inside[0].place) if inside else {}
    page = int(first["page"]) if first.get("page", "").isdecimal() else None
    times = [span for one in inside if (span := _span(parsed(one.place).get("t", "")))]
    seconds = (times[0][0], times[-1][1]) if times else None
    return Place(start, end, page, seconds, first.get("sheet", ""))


def find_place(locators: Sequence[Locator], asked: Mapping[str, str]) -> Place | None:
    """The range of a text that came from a place of its file.

    Args:
        locators: The document's.
        asked: `page`, `t`, or `sheet` with or without `range`, as a locator writes them; others are passed over.

    Returns:
        None where no place is asked for.

    Raises:
        PlaceError: If it cannot be read, or the document has no such place.
    """
    if page := asked.get("page"):
        return _page(locators, page)
    if time := asked.get("t"):
        return _time(locators, time)
    if asked.get("sheet") or asked.get("range"):
        return _cells(locators, asked.get("sheet", ""), asked.get("range", ""))
    return None


def _page(locators: Sequence[Locator], page: str) -> Place:
    there = pages_of(locators)
    known = f"a page with text, from {there[0]} to {there[-1]}" if there else "left out: this document has no pages"
    if not page.isascii() or not page.isdecimal() or len(page) > 9:
        raise PlaceError("page", page, known)
    found = [one for one in locators if parsed(one.place).get("page") == str(int(page))]
    if not found:
        raise PlaceError("page", page, known)
    return Place(found[0].start, found[-1].end, int(page))


def _span(time: str) -> tuple[float, float] | None:
    match = _TIME.fullmatch(time)
    if match is None:
        return None
    begin = float(match[1])
    return begin, float(match[2]) if match[2] else begin


def _time(locators: Sequence[Locator], time: str) -> Place:
    asked = _span(time)
    if asked is None or asked[1] < asked[0]:
        raise PlaceError("t", time, "seconds, as 132.4 or 132.4,158.9")
    begin, end = asked
    spans = [(one, span) for one in locators if (span := _span(parsed(one.place).get("t", "")))]
    found = [(one, span) for one, span in spans if span[0] <= end and begin < max(span[1], span[0] + 1e-9)]
    if begin != end:  # a cue that only begins where the asked time ends is not meant
        found = [(one, span) for one, span in found if span[0] < end]
    if not found:
        last = f", up to {spans[-1][1][1]:g}" if spans else ": this document has no times"
        raise PlaceError("t", time, f"a time at which something is said{last}")
    return Place(found[0][0].start, found[-1][0].end, seconds=(begin, end))


def _cells(locators: Sequence[Locator], sheet: str, cells: str) -> Place:
    sheets = list(dict.fromkeys(name for one in locators if (name := parsed(one.place).get("sheet")) is not None))
    if not sheets:
        raise PlaceError("sheet", sheet, "left out: this document has no sheets")
    chosen = sheet or sheets[0]
    if chosen not in sheets:
        raise PlaceError("sheet", sheet, "one of " + ", ".join(sheets[:20]))
    of_sheet = [(one, parsed(one.place).get("range", "")) for one in locators if parsed(one.place)["sheet"] == chosen]
    if not cells:
        return Place(of_sheet[0][0].start, of_sheet[-1][0].end, sheet=chosen)
    asked = _rows(cells)
    if asked is None:
        raise PlaceError("range", cells, "cells, as A2 or A2:F7")
    found = [
        one for one, written in of_sheet if (rows := _rows(written)) and rows[0] <= asked[1] and asked[0] <= rows[1]
    ]
    if not found:
        raise PlaceError("range", cells, f"cells of {chosen} with something in them")
    return Place(found[0].start, found[-1].end, sheet=chosen)


def _rows(cells: str) -> tuple[int, int] | None:
    match = _CELLS.fullmatch(cells)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return min(first, last), max(first, last)
