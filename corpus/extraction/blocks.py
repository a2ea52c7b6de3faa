"""Headings and paragraphs of any format as one canonical text in the form of Markdown, with its locators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from corpus.locators import Locator

DEEPEST = 6
CELLS = "\t"  # between the cells of a row that stand without the names of their columns
# Signs that would make a heading or a block of code of a line that is none. Behind a line of words, dashes alone would.
_MARKS = re.compile(r"^(?= {0,3}(?:#{1,6}(?:[ \t]|$)|`{3,}|~{3,}|(?:=+|-+)[ \t]*$))", re.MULTILINE)
_FIRST_MARKS = frozenset("#`~=-")
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff\ud800-\udfff]")
_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class Piece(NamedTuple):
    """Words and the place they came from (see `corpus.locators.Locator`); an empty place is nowhere in particular."""

    text: str
    place: str = ""


class Block(NamedTuple):
    """A heading or a paragraph.

    Attributes:
        pieces: Its words; several where it goes on over pages or cues.
        level: 0 for a paragraph, else the heading's level in the file, 1 to 6 or deeper.
    """

    pieces: tuple[Piece, ...]
    level: int = 0

    @property
    def text(self) -> str:
        """All its words."""
        return self.pieces[0].text if len(self.pieces) == 1 else "".join([piece.text for piece in self.pieces])


class Rendered(NamedTuple):
    """A canonical text and where it came from."""

    text: str
    locators: tuple[Locator, ...]
    headings: int  # how many, the title included


def paragraph(text: str, place: str = "") -> Block:
    """Return a paragraph that stands in one place; blank lines in it become line breaks."""
    return Block((Piece(_BLANK_LINES.sub("\n", plain(text).strip()), place),))


def heading(level: int, text: str, place: str = "") -> Block:
    """Return a heading; its words come on one line."""
    return Block((Piece(" ".join(plain(text).split()), place),), level)


def plain(text: str) -> str:
    r"""Return text without control characters, its line ends as ``\n``."""
    return _CONTROLS.sub("", _ENDS.sub("\n", text))


def rendered(blocks: Sequence[Block], title: str | None = None) -> Rendered:
    """Put blocks together: ``# `` before the title, ``## `` before sections, blank lines between paragraphs.

    Whatever levels the file's headings have, the highest become sections, so that a chunker sees them. A first
    heading of a level of its own above all others is the title where none is given.

    Args:
        blocks: In the order of the text; those without words are left out.
        title: Stands in front unless the first block says it.
    """
    blocks = [block for block in blocks if block.text.strip()]
    levels = _levels(blocks, title)
    if title and not (blocks and blocks[0].level and _same(blocks[0].text, title)):
        first_place = next((piece.place for block in blocks for piece in block.pieces if piece.place), "")
        blocks = [heading(1, title, first_place), *blocks]
        levels = [1, *levels]
    parts: list[str] = []
    spans: list[Locator] = []
    length = 0
    for block, level in zip(blocks, levels, strict=True):
        if parts:
            parts.append("\n\n")
            length += 2
        if level:
            parts.append(f"{'#' * level} ")
        start = length
        length += level + 1 if level else 0
        for piece in block.pieces if level else _escaped(block.pieces):
            if not piece.text:
                continue
            if not spans or spans[-1].place != piece.place:  # what lies between two places belongs to the first
                spans.append(Locator(start, start, piece.place))
            parts.append(piece.text)
            start = length = length + len(piece.text)
    if parts:
        parts.append("\n")
        length += 1
    return Rendered("".join(parts), _closed(spans, length), sum(1 for level in levels if level))


def _escaped(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Put a backslash before signs that would make something else of a line than the words it is."""
    whole = pieces[0].text if len(pieces) == 1 else "".join([piece.text for piece in pieces])
    if whole.lstrip(" ")[:1] not in _FIRST_MARKS and "\n" not in whole:
        return pieces
    marks = [match.start() for match in _MARKS.finditer(whole)]
    if not marks:
        return pieces
    found, start = [], 0
    for piece in pieces:
        end = start + len(piece.text)
        text = piece.text
        for mark in reversed([mark - start for mark in marks if start <= mark < end]):
            text = f"{text[:mark]}\\{text[mark:]}"
        found.append(Piece(text, piece.place))
        start = end
    return tuple(found)


def _levels(blocks: Sequence[Block], title: str | None) -> list[int]:
    """Return the level each block is written with, 0 for paragraphs."""
    own = [block.level for block in blocks]
    found = [level for level in own if level]
    if not found:
        return own
    opens = blocks[0].level > 0 and (
        _same(blocks[0].text, title) if title else own[0] == min(found) and found.count(own[0]) == 1 and len(found) > 1
    )
    others = found[1:] if opens else found
    shift = 2 - min(others) if others else 0
    levels = [min(level + shift, DEEPEST) if level else 0 for level in own]
    if opens:
        levels[0] = 1
    return levels


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _closed(spans: Sequence[Locator], length: int) -> tuple[Locator, ...]:
    starts = [*(span.start for span in spans), length]
    return tuple(span._replace(end=end) for span, end in zip(spans, starts[1:], strict=True) if span.place)
