"""Sentences of a text: Markdown lists, code, abbreviations, decimals and citations included.

Not the cutting rule of chunks, which is fixed by its worked cases; this one serves to say which sentence of an answer
lacks its citation, and which sentence of a passage holds an annotated answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from corpus.overlap import STOP_WORDS

Kind = Literal["sentence", "heading", "lead-in"]

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_MARKER = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•][ \t]+|\(?(?:\d{1,3}|[A-Za-z])[.)][ \t]+)?")
_LIST_LINE = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]")
_HEADING_LINE = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_TABLE_LINE = re.compile(r"[ \t]*\|")
# A run of end marks, what closes behind it, and citations that are written after the full stop.
_END = re.compile(r"(?:[.!?…]+|[。！？]+)[\"'”’»)\]*_]*(?:\s*\[\s*\d[\d\s,;–-]*\])*")
_NEVER_ENDS = re.compile(r"(?<![^\W_])(?:e\.g|i\.e|cf|vs|viz|resp|dr|mr|mrs|ms|prof|incl)\.$", re.IGNORECASE)
_BEFORE_NUMBERS = re.compile(
    r"(?<![^\W_])(?:figs?|eqs?|secs?|ch|chap|nos?|vol|pp?|refs?|tab|approx|ca)\.$", re.IGNORECASE
)
_BEFORE_CAPITALS = re.compile(r"(?<![^\W_])(?:etc|al|inc|ltd|co|jr|sr|a\.m|p\.m|u\.s)\.$", re.IGNORECASE)
_INITIAL = re.compile(r"(?<![^\W_])[A-Z]\.$")
_WORD = re.compile(r"[^\W\d_]+")


class Sentence(NamedTuple):
    """A range of the text, without white space and list marks at its ends.

    Attributes:
        start: First character.
        end: One past the last.
        kind: A heading claims nothing; a lead-in ends with a colon before a list, whose items are sentences.
    """

    start: int
    end: int
    kind: Kind


def code_spans(text: str) -> list[tuple[int, int]]:
    """Ranges of fenced blocks (fences included, an open one to the end) and of inline code, in order."""
    fenced = _fenced(text)
    inline = []
    for start, end in _gaps(fenced, len(text)):
        # Inline code may run over one line break, never over a blank line.
        for paragraph in re.finditer(r"(?:.+(?:\n(?![ \t]*\n))?)+", text[start:end]):
            inline += [
                (start + paragraph.start() + match.start(), start + paragraph.start() + match.end())
                for match in _INLINE_CODE.finditer(paragraph.group())
            ]
    return sorted(fenced + inline)


def split_sentences(text: str, whole: Sequence[tuple[int, int]] = ()) -> list[Sentence]:
    """Split an answer into sentences.

    Fenced code is no sentence. A list item, a table row and a heading begin a new one; a line break inside a
    paragraph does not. A full stop inside a number or behind an abbreviation ends nothing, and a citation written
    behind the full stop belongs to the sentence before it.

    Args:
        text: Markdown or plain text.
        whole: Ranges nothing is split inside of, such as quotations; inline code never is.

    Returns:
        The sentences in order; their ranges do not overlap.
    """
    fenced = _fenced(text)
    protected = sorted([*code_spans(text), *whole])
    blocks = [block for start, end in _gaps(fenced, len(text)) for block in _blocks(text, start, end)]
    sentences: list[Sentence] = []
    for place, (start, end, kind) in enumerate(blocks):
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        pieces = list(_pieces(text, start, end, protected)) if kind != "heading" else [(start, end)]
        for piece in pieces:
            trimmed = _trimmed(text, *piece)
            if trimmed is not None:
                sentences.append(Sentence(*trimmed, "heading" if kind == "heading" else "sentence"))
        before_list = following is not None and following[2] == "item"
        if before_list and sentences and start <= sentences[-1].start and text[: sentences[-1].end].endswith(":"):
            sentences[-1] = sentences[-1]._replace(kind="lead-in")
    return sentences


def _fenced(text: str) -> list[tuple[int, int]]:
    spans, opened, fence = [], 0, ""
    start = 0
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if not fence and mark and "`" not in line[mark.end() :]:
            opened, fence = start, mark[1]
        elif (
            fence and mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line[mark.end() :].strip()
        ):
            spans.append((opened, start + len(line)))
            fence = ""
        start += len(line)
    return [*spans, (opened, len(text))] if fence else spans


def _gaps(spans: Sequence[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    start = 0
    for begin, end in spans:
        if begin > start:
            yield start, begin
        start = max(start, end)
    if start < length:
        yield start, length


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Stretches that no sentence crosses: paragraphs, list items, table rows and headings."""
    opened: tuple[int, str] | None = None
    place = start
    for line in text[start:end].splitlines(keepends=True):
        heading, item = bool(_HEADING_LINE.match(line)), bool(_LIST_LINE.match(line))
        row = bool(_TABLE_LINE.match(line))
        if opened is not None and (not line.strip() or heading or item or row or opened[1] in ("heading", "row")):
            yield opened[0], place, opened[1]
            opened = None
        if line.strip() and opened is None:
            opened = place, "heading" if heading else "row" if row else "item" if item else "paragraph"
        place += len(line)
    if opened is not None:
        yield opened[0], place, opened[1]


def _pieces(text: str, start: int, end: int, protected: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    marker = _MARKER.match(text, start, end)
    begin = marker.end() if marker and _LIST_LINE.match(text, start, end) else start
    for mark in _END.finditer(text, begin, end):
        if any(low < mark.end() - 1 < high - 1 and mark.start() >= low for low, high in protected):
            continue
        if _ends(text, mark, end):
            yield begin, mark.end()
            begin = mark.end()
    yield begin, end


def _ends(text: str, mark: re.Match[str], limit: int) -> bool:
    """Whether a run of end marks ends a sentence."""
    if mark.end() >= limit or mark.group()[0] in "。！？":
        return True
    following = text[mark.end() : limit]
    if not following[0].isspace():
        return False
    stripped = following.lstrip()
    if mark.group()[0] == "." and not mark.group().startswith(".."):
        return _full_stop_ends(text[max(mark.start() - 12, 0) : mark.start() + 1], stripped)
    return not stripped[:1].islower()


def _full_stop_ends(before: str, following: str) -> bool:
    """Whether a full stop ends a sentence, or only an abbreviation."""
    first = following[:1]
    if _NEVER_ENDS.search(before) or (_INITIAL.search(before) and _is_initial(following)):
        return False
    if _BEFORE_NUMBERS.search(before):
        return not (first.isdigit() or first in "([{$" or first.islower())
    return first.isupper() if _BEFORE_CAPITALS.search(before) else not first.islower()


def _is_initial(following: str) -> bool:
    """Whether a capital with a full stop is a person's initial: `J. Smith`, but not `the matrix A. The`."""
    word = _WORD.match(following)
    if word is None or not word.group()[0].isupper():
        return False
    return len(word.group()) == 1 or word.group().lower() not in STOP_WORDS


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    # Rules, table borders and lone marks say nothing.
    return (start, end) if any(character.isalnum() for character in text[start:end]) else None
