"""Cutting documents into chunks, with ranges that come from the cutting itself.

A chunk has two texts. ``text`` is embedded: header, overlap and own words. ``content`` is its own words alone and
the only thing ever quoted. Every range is in code points of the document's canonical text, half-open. All work is
linear in the document's length, whatever it holds.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

from corpus.documents import Document
from corpus.headings import Heading, headings, title_heading
from experiments.conditions import Strategy

# Neither pattern can back up over more than the line or run it stands in, so no text makes them quadratic. One blank
# line is enough to match: those that follow it stand in front of the next paragraph, which begins at its first line
# with words.
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"[.!?]+\s*")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one document, as it is embedded and as it is quoted.

    Attributes:
        document: The document's id.
        section: Title of the section the chunk lies in (a blind chunk: starts in); empty before the first.
        start: First code point of its own words in the document.
        end: One past its last.
        overlap_start: First code point that is embedded, at most ``start``.
        header: ``[Title > Section]``, or empty.
        text: What is embedded: header, line break and ``document.text[overlap_start:end]``.
        content: What is quoted: ``document.text[start:end]``.
        over_budget: Whether its own words are longer than the strategy's budget.
    """

    document: str
    section: str
    start: int
    end: int
    overlap_start: int
    header: str
    text: str
    content: str
    over_budget: bool


class _Span(NamedTuple):
    start: int
    end: int


class _Region(NamedTuple):
    """A stretch of text between two heading lines that chunks never cross."""

    section: str
    start: int
    end: int


def chunk_corpus(documents: Iterable[Document], strategy: Strategy) -> tuple[Chunk, ...]:
    """Chunks of all documents, ordered by (document, start) whatever order the documents come in.

    Args:
        documents: Documents with distinct ids.
        strategy: How to cut.

    Returns:
        All chunks; a chunk's place in the tuple is its index everywhere else.

    Raises:
        ValueError: If two documents have the same id.
    """
    ordered = sorted(documents, key=lambda document: document.id)
    for first, second in pairwise(ordered):
        if first.id == second.id:
            raise ValueError(f"two documents have the id {first.id!r}")
    return tuple(chunk for document in ordered for chunk in chunk_document(document, strategy))


def chunk_document(document: Document, strategy: Strategy) -> tuple[Chunk, ...]:
    """Chunks of one document in the order of their start.

    Blind cuts are exact slices of ``budget`` characters, headings included; slices of white space alone are dropped.
    Boundary cuts keep to sections (headings of level 2) and leave out their heading lines and the title's. Within a
    section, paragraphs are joined while they fit the budget together, a paragraph over the budget is cut at the ends
    of sentences, and a sentence over the budget stays whole. Where the whole document is the passage nothing is cut;
    with its title as header, a title line it begins with is not embedded twice.

    Args:
        document: The document, in canonical text.
        strategy: How to cut, and what to embed in front of each chunk.

    Returns:
        The chunks; none for a text of white space alone.
    """
    if strategy.cuts == "document":
        return _whole(document, strategy)
    sections = _section_headings(document.text)
    if strategy.cuts == "blind":
        starts = [heading.start for heading in sections]
        titles = ["", *(heading.title for heading in sections)]
        spans = _blind_spans(document.text, strategy.budget)
        names = [titles[bisect_right(starts, span.start)] for span in spans]
        return tuple(_chunks(document, strategy, spans, names))
    chunks: list[Chunk] = []
    for region in _regions(document.text, sections):
        spans = _boundary_spans(document.text, region, strategy.budget)
        chunks.extend(_chunks(document, strategy, spans, [region.section] * len(spans)))
    return tuple(chunks)


def _whole(document: Document, strategy: Strategy) -> tuple[Chunk, ...]:
    """The document as one chunk: its title and its text, as benchmarks of whole documents join them."""
    text, start = document.text, 0
    heading = title_heading(text) if strategy.header else None
    if heading is not None and heading.title == document.title and not text[: heading.start].strip():
        start = heading.end
    span = _trimmed(text, _Span(start, len(text)))
    if span.start == span.end:  # a document that is its title alone: the title is then its text
        span = _trimmed(text, _Span(0, len(text)))
    if span.start == span.end:
        return ()
    content = text[span.start : span.end]
    header = document.title if strategy.header and document.title != content else ""
    embedded = f"{header}\n{content}" if header else content
    return (Chunk(document.id, "", span.start, span.end, span.start, header, embedded, content, over_budget=False),)


def _chunks(document: Document, strategy: Strategy, spans: Sequence[_Span], sections: Sequence[str]) -> Iterable[Chunk]:
    """Dress spans as chunks; each may copy its overlap from the one before it in the same sequence."""
    previous: _Span | None = None
    for span, section in zip(spans, sections, strict=True):
        overlap_start = span.start
        if strategy.overlap and previous is not None:
            overlap_start = max(previous.start, previous.end - strategy.overlap)
        header = header_of(document.title, section) if strategy.header else ""
        embedded = document.text[overlap_start : span.end]
        yield Chunk(
            document=document.id,
            section=section,
            start=span.start,
            end=span.end,
            overlap_start=overlap_start,
            header=header,
            text=f"{header}\n{embedded}" if header else embedded,
            content=document.text[span.start : span.end],
            over_budget=span.end - span.start > strategy.budget,
        )
        previous = span


def header_of(title: str, section: str) -> str:
    """What strategies with headers embed in front of a chunk: ``[Title > Section]``, empty where both are."""
    path = " > ".join(part for part in (title, section) if part)
    return f"[{path}]" if path else ""


def _section_headings(text: str) -> list[Heading]:
    return [heading for heading in headings(text) if heading.level == 2]


def _regions(text: str, sections: Sequence[Heading]) -> list[_Region]:
    """The text without its section headings and title line, in the order of the text."""
    title = title_heading(text)
    # The title opens no section: what follows it stays in the section it stands in, usually the unnamed first.
    lines = sorted([*sections, title] if title else sections, key=lambda heading: heading.start)
    regions = []
    section, start = "", 0
    for line in lines:
        regions.append(_Region(section, start, line.start))
        section = section if line is title else line.title
        start = line.end
    regions.append(_Region(section, start, len(text)))
    return regions


def _blind_spans(text: str, budget: int) -> list[_Span]:
    slices = (_Span(start, min(start + budget, len(text))) for start in range(0, len(text), budget))
    return [span for span in slices if not text[span.start : span.end].isspace()]


def _boundary_spans(text: str, region: _Region, budget: int) -> list[_Span]:
    """Spans of a region's chunks, trimmed.

    The budget is measured before trimming: the white space a paragraph or sentence ends with belongs to it and counts,
    as in the worked cases; blank lines count only between paragraphs that are joined.
    """
    spans: list[_Span] = []
    fitting: list[_Span] = []
    for paragraph in _paragraphs(text, region):
        if paragraph.end - paragraph.start <= budget:
            fitting.append(paragraph)
            continue
        # A paragraph over the budget closes the open chunk, and its pieces join no other paragraph.
        spans += _joined(fitting, budget)
        spans += _joined(_sentences(text, paragraph), budget)
        fitting = []
    spans += _joined(fitting, budget)
    return [_trimmed(text, span) for span in spans]


def _joined(pieces: Iterable[_Span], budget: int) -> list[_Span]:
    """Join neighbours, first come first served, while the joined span is at most the budget."""
    joined: list[_Span] = []
    for piece in pieces:
        if joined and piece.end - joined[-1].start <= budget:
            joined[-1] = _Span(joined[-1].start, piece.end)
        else:
            joined.append(piece)
    return joined


def _paragraphs(text: str, region: _Region) -> Iterable[_Span]:
    """Stretches between blank lines that hold more than white space, each from the start of its first line."""
    start = region.start
    gaps = (gap.span() for gap in _BLANK_LINE.finditer(text, region.start, region.end))
    for end, following in chain(gaps, [(region.end, region.end)]):
        piece = text[start:end]
        if piece and not piece.isspace():
            indented = len(piece) - len(piece.lstrip())
            yield _Span(start + piece.rfind("\n", 0, indented) + 1, end)
        start = following


def _sentences(text: str, paragraph: _Span) -> Iterable[_Span]:
    """Sentences of a paragraph: up to and including a run of ``.``, ``!`` or ``?`` and the white space after it."""
    start = paragraph.start
    for mark in _SENTENCE_END.finditer(text, paragraph.start, paragraph.end):
        yield _Span(start, mark.end())
        start = mark.end()
    if start < paragraph.end:
        yield _Span(start, paragraph.end)


def _trimmed(text: str, span: _Span) -> _Span:
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return _Span(start, start + len(piece.strip()))
