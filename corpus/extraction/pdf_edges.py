"""Running headers and footers: lines that come back at the same height of page after page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
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


class _Edge(NamedTuple):
    """A line at the top or bottom of a page."""

    page: int
    place: int  # in the page's lines
    line: Line


def without_edges(pages: Sequence[Sequence[Line]], body_size: float) -> tuple[list[list[Line]], tuple[Dropped, ...]]:
    """Leave out running headers, footers and page numbers.

    A line is one when it is the outermost of at least three pages, or close to that, at the same height, in the same
    words, and in letters no larger than the text's; numbers in it may differ if they count on with the pages. A page
    number stands alone at the same height of at least two pages and counts on. No page loses all its words.

    Args:
        pages: The lines of each page in reading order.
        body_size: Height of the text's font.

    Returns:
        The pages without them, and what was left out.
    """
    groups: dict[tuple[str, int], list[_Edge]] = defaultdict(list)
    for page, lines in enumerate(pages):
        for edge in _edges(page, lines):
            at = round((edge.line.top + edge.line.bottom) / 2 / _SAME_HEIGHT)
            if _PAGE_NUMBER.match(edge.line.text):
                groups["", at].append(edge)
            elif edge.line.size <= 1.05 * body_size or edge.line.turned:
                words = " ".join(_NUMBER.sub("#", edge.line.text).casefold().split())
                groups[words, at].append(edge)
    left_out = [running for (words, _), edges in groups.items() for running in _running(words, edges)]
    gone = {(edge.page, edge.place) for edges in left_out for edge in edges}
    for page, lines in enumerate(pages):
        if lines and all((page, place) in gone for place in range(len(lines))):
            gone -= {(page, place) for place in range(len(lines))}
    touched = {page for page, _ in gone}
    kept = [
        [line for place, line in enumerate(lines) if (page, place) not in gone] if page in touched else list(lines)
        for page, lines in enumerate(pages)
    ]
    dropped = []
    for edges in left_out:
        left = [edge for edge in edges if (edge.page, edge.place) in gone]
        if left:
            dropped.append(Dropped(left[0].line.text, len({edge.page for edge in left})))
    return kept, tuple(sorted(dropped, key=lambda one: (-one.pages, one.text)))


def _running(words: str, edges: Sequence[_Edge]) -> Iterator[Sequence[_Edge]]:
    """Yield the lines of a group that run through pages; those without words are page numbers."""
    if _counts_on(edges, _LEAST_PAGES if words else _LEAST_NUMBERS):
        yield edges
        return
    same: dict[str, list[_Edge]] = defaultdict(list)
    for edge in edges:
        same[edge.line.text].append(edge)
    yield from (alike for alike in same.values() if words and len({edge.page for edge in alike}) >= _LEAST_PAGES)


def _edges(page: int, lines: Sequence[Line]) -> list[_Edge]:
    order = sorted(range(len(lines)), key=lambda place: -lines[place].top)
    outer = dict.fromkeys([*order[:1], *order[-1:], *(n for n in order if lines[n].turned)])
    for first, second in (order[:_OUTER], order[: -_OUTER - 1 : -1]) if len(order) >= _OUTER else ():
        if abs(lines[first].top - lines[second].top) < _CLOSE * lines[first].size:  # a header of two lines
            outer[second] = None
    return [_Edge(page, place, lines[place]) for place in outer]


def _counts_on(edges: Sequence[_Edge], least: int) -> bool:
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
