"""A document's text with the cuts of a strategy laid over it, as runs that a page can write one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpus.headings import Heading
from experiments.asking.marking import Run, Span, Window, runs
from experiments.chunking import Chunk
from experiments.reviewing.cuttings import Overlay


class CutLabel(NamedTuple):
    """Where a chunk begins."""

    number: int
    at: str  # `start,end` of its own words
    title: str
    header: str


class Stretch(NamedTuple):
    """A run of text."""

    at: int  # offset of its first character in the document, in code points
    text: str
    needle: bool
    classes: str
    anchor: str  # its id; empty where nothing points to it
    title: str
    cut: CutLabel | None


def stretches(
    text: str,
    window: Window,
    overlay: Overlay,
    headings: Sequence[Heading],
    unread: Mapping[int, int],
    focus: Window | None,
    anchor: str = "",
) -> tuple[Stretch, ...]:
    """The text of a window, run by run.

    Args:
        text: The whole document.
        window: What of it is shown.
        overlay: The document under a strategy.
        headings: Its headings.
        unread: Offset from which on an encoder did not read a chunk, by the chunk's place.
        focus: A stretch to be marked.
        anchor: The id it gets, where that is not its offsets.
    """
    chunks = overlay.chunks
    spans = [
        *_overlaps(chunks),
        *_outside(text, chunks),
        *(Span(start, chunks[place].end, "unread") for place, start in unread.items()),
        *(Span(heading.start, heading.end, "heading", f"s-{number}") for number, heading in enumerate(headings, 1)),
        *(
            Span(one.needle.start, one.needle.end, "destroyed" if one.destroyed else "needle", one.needle.id)
            for one in overlay.needles
        ),
    ]
    if focus is not None:
        spans.append(Span(focus.start, focus.end, "focus"))
    labels = {chunk.start: _label(number, chunk, len(chunks)) for number, chunk in enumerate(chunks, 1)}
    anchors = _anchors(overlay, headings, focus, anchor)
    return tuple(_stretch(run, anchors, labels) for run in runs(text, window, spans, labels))


def _stretch(run: Run, anchors: Mapping[int, str], labels: Mapping[int, CutLabel]) -> Stretch:
    kinds = dict.fromkeys(mark.kind for mark in run.marks)
    needle = "needle" in kinds or "destroyed" in kinds
    classes = [kind for kind in kinds if kind != "needle"]
    titles = {
        "overlap": "overlap: embedded with the next chunk too",
        "outside": "in no chunk",
        "unread": "beyond the encoder's window: not read",
        "destroyed": "a needle that no chunk holds whole",
    }
    title = "; ".join(titles[kind] for kind in kinds if kind in titles)
    return Stretch(
        run.start, run.text, needle, " ".join(classes), anchors.get(run.start, ""), title, labels.get(run.start)
    )


def _anchors(overlay: Overlay, headings: Sequence[Heading], focus: Window | None, anchor: str) -> dict[int, str]:
    """Ids by the offset they stand at; a stretch asked for goes before a needle, a needle before a heading."""
    found = {heading.start: f"s-{number}" for number, heading in enumerate(headings, 1)}
    found |= {one.needle.start: f"char={one.needle.start},{one.needle.end}" for one in overlay.needles}
    if focus is not None:
        found[focus.start] = anchor or f"char={focus.start},{focus.end}"
    return found


def _overlaps(chunks: Sequence[Chunk]) -> list[Span]:
    return [Span(chunk.overlap_start, chunk.start, "overlap") for chunk in chunks if chunk.overlap_start < chunk.start]


def _outside(text: str, chunks: Sequence[Chunk]) -> list[Span]:
    """Words that lie in no chunk, such as heading lines where cuts keep to sections."""
    found, behind = [], 0
    for chunk in (*chunks, None):
        start = len(text) if chunk is None else chunk.start
        gap = text[behind:start]
        if gap.strip():
            lead = len(gap) - len(gap.lstrip())
            found.append(Span(behind + lead, behind + len(gap.rstrip()), "outside"))
        behind = max(behind, len(text) if chunk is None else chunk.end)
    return found


def _label(number: int, chunk: Chunk, total: int) -> CutLabel:
    length = chunk.end - chunk.start
    title = f"chunk {number:,} of {total:,}: {length:,} characters of its own"
    if chunk.overlap_start < chunk.start:
        title += f", {chunk.start - chunk.overlap_start} of overlap before"
    if chunk.over_budget:
        title += ", over the budget"
    return CutLabel(number, f"{chunk.start},{chunk.end}", title, chunk.header)
