"""Running headers and footers: lines that come back at the same height of page after page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from corpus.extraction.extracted import Dropped
from corpus.extraction.pdf_lines import Line

_OUTER = 2  # lines from the top and from the bottom
_CLOSE = 2.2  # by size
_SAME_HEIGHT = 6.0  # points
_LEAST_PAGES = 3
_LEAST_NUMBERS = 2
_NUMBER = re.compile(r"\d{1,9}")
_PAGE_NUMBER = re.compile(
    r"(?:[-–—|]\s*)?(?:page|p\.|seite|s\.)?\s*(\d{1,5}|[ivxlc]{1,7})\s*(?:(?:of|von|/)\s*\d{1,5})?(?:\s*[-–—|])?$", re.I
)


class Edge(NamedTuple):
    """A line at the top or bottom of a page."""

    page: int
    place: int  # in the page's lines
    line: Line


class Kept(NamedTuple):
    """Pages without their running headers and footers."""

    pages: list[list[Line]]
    gone: list[Line]
    dropped: tuple[Dropped, ...]


def edges_of(page: int, lines: Sequence[Line]) -> list[Edge]:
    """Return the lines of a page that may be a running header or footer."""
    tops = [line.top for line in lines]
    order = sorted(range(len(lines)), key=tops.__getitem__, reverse=True)
    outer = dict.fromkeys([*order[:1], *order[-1:], *[place for place in order if lines[place].turned]])
    for first, second in (order[:_OUTER], order[: -_OUTER - 1 : -1]) if len(order) >= _OUTER else ():
        if abs(tops[first] - tops[second]) < _CLOSE * lines[first].size:  # a header of two lines
            outer[second] = None
    return [Edge(page, place, lines[place]) for place in outer]


def without_edges(pages: Sequence[list[Line]], edges: Iterable[Edge], body_size: float) -> Kept:
    """Leave out running headers, footers and page numbers.

    A line is one when it is the outermost of at least three pages, or close to that, at the same height, in the same
    words, and in letters no larger than the text's; numbers in it may differ if they count on with the pages. A page
    number stands alone at the same height of at least two pages and counts on. No page loses all its words.

    Args:
        pages: The lines of each page in reading order.
        edges: The lines of all pages that may be such a line.
        body_size: Height of the text's font.
    """
    groups: dict[tuple[str, int], list[Edge]] = defaultdict(list)
    for edge in edges:
        line = edge.line
        at = round((line.top + line.bottom) / 2 / _SAME_HEIGHT)
        if _PAGE_NUMBER.match(line.text):
            groups["", at].append(edge)
        elif line.size <= 1.05 * body_size or line.turned:
            words = " ".join(_NUMBER.sub("#", line.text).casefold().split())
            groups[words, at].append(edge)
    left_out = [running for (words, _), alike in groups.items() for running in _running(words, alike)]
    gone: dict[int, set[int]] = defaultdict(set)
    for edge in chain.from_iterable(left_out):
        gone[edge.page].add(edge.place)
    kept = list(pages)
    for page, places in list(gone.items()):
        if len(places) == len(pages[page]):
            del gone[page]
        else:
            kept[page] = list(pages[page])
            for place in sorted(places, reverse=True):
                del kept[page][place]
    dropped = []
    for running in left_out:
        left = [edge for edge in running if edge.page in gone]
        if left:
            dropped.append(Dropped(left[0].line.text, len({edge.page for edge in left})))
    return Kept(
        kept,
        [pages[page][place] for page, places in gone.items() for place in places],
        tuple(sorted(dropped, key=lambda one: (-one.pages, one.text))),
    )


def _running(words: str, edges: Sequence[Edge]) -> Iterator[Sequence[Edge]]:
    """Yield the lines of a group that run through pages; those without words are page numbers."""
    least = _LEAST_PAGES if words else _LEAST_NUMBERS
    if len(edges) < least:
        return
    if _counts_on(edges, least):
        yield edges
        return
    same: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        same[edge.line.text].append(edge)
    yield from (alike for alike in same.values() if words and len({edge.page for edge in alike}) >= _LEAST_PAGES)


def _counts_on(edges: Sequence[Edge], least: int) -> bool:
    """Tell whether one of the lines' numbers grows as the page's does, from most of the pages to the next."""
    if len({edge.page for edge in edges}) < least:
        return False
    numbers = [[int(number) for number in _NUMBER.findall(edge.line.text)] for edge in edges]
    if not numbers[0]:  # Roman numbers
        return all(not found for found in numbers) and len({edge.line.text for edge in edges}) == len(edges)
    for place in range(min(map(len, numbers))):
        steps = [
            numbers[n + 1][place] - numbers[n][place] == edges[n + 1].page - edges[n].page
            for n in range(len(edges) - 1)
        ]
        if sum(steps) * 2 > len(steps):
            return True
    return False
