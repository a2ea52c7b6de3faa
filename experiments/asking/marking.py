"""Text with things marked in it: spans laid over one another become runs that lie side by side.

Positions are code points of a document's canonical text, half-open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple


class Span(NamedTuple):
    """Something that is marked."""

    start: int
    end: int
    kind: str
    name: str = ""  # which one of its kind


class Run(NamedTuple):
    """A stretch of text under the same marks from its first character to its last."""

    start: int
    end: int
    text: str
    marks: tuple[Span, ...]

    def under(self, kind: str) -> bool:
        """Whether a mark of this kind lies over it."""
        return any(mark.kind == kind for mark in self.marks)

    def named(self, kind: str) -> tuple[str, ...]:
        """Names of the marks of this kind that lie over it."""
        return tuple(mark.name for mark in self.marks if mark.kind == kind)


class Window(NamedTuple):
    """A stretch of a text that is shown."""

    start: int
    end: int


def runs(text: str, window: Window, spans: Iterable[Span], cuts: Iterable[int] = ()) -> list[Run]:
    """Cut a stretch of text wherever a mark begins or ends.

    Args:
        text: The whole text.
        window: What of it is shown; marks are clipped to it.
        spans: The marks, in any order, overlapping as they like; empty ones mark nothing.
        cuts: Further positions at which a run ends.

    Returns:
        Runs that together are exactly the stretch, none of them empty, marks in the order of their start.

    Raises:
        ValueError: If the window does not lie in the text.
    """
    if not 0 <= window.start <= window.end <= len(text):
        raise ValueError(f"the window {tuple(window)} does not lie in a text of {len(text)} characters")
    clipped = [
        span._replace(start=max(span.start, window.start), end=min(span.end, window.end))
        for span in sorted(spans)
        if max(span.start, window.start) < min(span.end, window.end)
    ]
    edges = {window.start, window.end, *(cut for cut in cuts if window.start < cut < window.end)}
    for span in clipped:
        edges.update((span.start, span.end))
    found: list[Run] = []
    active: list[Span] = []
    following = 0
    ordered = sorted(edges)
    for start, end in pairwise(ordered):
        active = [span for span in active if span.end > start]
        while following < len(clipped) and clipped[following].start <= start:
            active.append(clipped[following])
            following += 1
        found.append(Run(start, end, text[start:end], tuple(active)))
    return found


def around(text: str, start: int, end: int, reach: int) -> Window:
    """A stretch with its surroundings, ending between words where there is white space near.

    Args:
        text: The whole text.
        start: First character of the stretch.
        end: One past its last.
        reach: Characters wanted on either side.

    Raises:
        ValueError: If the stretch does not lie in the text.
    """
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"({start}, {end}) does not lie in a text of {len(text)} characters")
    return Window(_wordwise(text, start, reach, -1), _wordwise(text, end, reach, 1))


def parts(text: str, size: int) -> list[Window]:
    """A long text in parts of about `size` characters, each ending behind a blank line, a line break or a space.

    The same text is always cut in the same places, so that a position names its part.

    Raises:
        ValueError: If `size` is under 1.
    """
    if size < 1:
        raise ValueError(f"parts of {size} characters cannot be made")
    found, start = [], 0
    while len(text) - start > size * 1.5:  # the last part may be half as long again: no stump is left over
        end = _break(text, start + size // 2, start + size)
        found.append(Window(start, end))
        start = end
    found.append(Window(start, len(text)))
    return found


def part_of(windows: Sequence[Window], position: int) -> int:
    """Which part, from 0, a position lies in; the last where it lies behind the text."""
    return next((index for index, window in enumerate(windows) if position < window.end), len(windows) - 1)


def _break(text: str, low: int, high: int) -> int:
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, low, high)
        if found >= 0:
            return found + len(mark)
    return high


def _wordwise(text: str, place: int, reach: int, step: int) -> int:
    far = min(max(place + step * reach, 0), len(text))
    if far in (0, len(text)):
        return far
    # Nearer by up to a quarter, to where a word ends; a run without white space is cut where it is.
    for offset in range(max(1, reach // 4)):
        here = far - step * offset
        if text[here - 1 if step < 0 else here].isspace():
            return here
    return far
