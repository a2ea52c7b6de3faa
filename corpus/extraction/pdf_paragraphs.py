"""Lines of a PDF as headings and paragraphs: words cut at line ends mended, rows of tables kept as rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from corpus.extraction.blocks import Block, Piece, plain
from corpus.extraction.pdf_lines import HYPHEN, LIGATURES, Line, without_ligatures
from corpus.extraction.pdf_order import page_pitch
from corpus.extraction.pdf_setting import LARGER, Setting, key_of, may_be_heading

_CLOSING = "\"'”’)]"
_ENDS = (".", "!", "?", ":", ";", "…")
_ITEM = re.compile(
    r"(?:[•▪◦‣●○■–—*\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf06e-]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[\d{1,4}\])\s+\S"
)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,3})*)\.?\s+[^\W\d_]")
_CUT = re.compile(rf"{HYPHEN}\s?([^\W\d_]+)?")
_LAST_LETTERS = re.compile(r"(?<![^\W\d_])[^\W\d_]+$")
_UNUSUAL = re.compile(f"[\u21b5{''.join(sign for sign in LIGATURES if sign.isprintable())}]")
_LEAST_COLUMN = 5  # lines
_LEFT, _RIGHT = attrgetter("left"), attrgetter("right")


@dataclass(slots=True)
class _Column:
    """How far the lines of a column reach."""

    left: float
    right: float


@dataclass(slots=True)
class _Open:
    """A heading or paragraph that may go on with the next line."""

    lines: list[Line]
    level: int
    reach: float  # how far right its lines come
    is_item: bool


def page_blocks(lines: Sequence[Line], setting: Setting, place: str) -> Iterator[Block]:
    """Yield the headings, paragraphs and rows of a page."""
    pitch = page_pitch(lines)
    columns = _columns(lines)
    large = LARGER * setting.body_size
    last: _Open | None = None
    before: Line | None = None
    for line in lines:
        level = 0
        is_larger = line.size > large
        if is_larger or line.bold or setting.outline:
            alone = _is_alone(before, line, pitch)
            if is_larger or alone:
                level = _level(line, setting, is_larger=is_larger, alone=alone)
        if last is not None and level == last.level and not _begins(last, line, columns, pitch):
            last.lines.append(line)
            last.reach = max(last.reach, line.right)
        else:
            if last is not None:
                yield _block(last, setting, place)
            last = _Open([line], level, line.right, _ITEM.match(line.text) is not None)
        before = line
    if last is not None:
        yield _block(last, setting, place)


def _block(whole: _Open, setting: Setting, place: str) -> Block:
    lines = whole.lines
    text = " ".join([line.text for line in lines]) if len(lines) > 1 else lines[0].text
    if HYPHEN in text:
        text = mended(text, setting.compounds)
    # Control characters are not printable, nor are blanks other than a space.
    if not text.isprintable() or (not text.isascii() and _UNUSUAL.search(text)):
        text = " ".join(plain(without_ligatures(text)).split())
    elif "  " in text:
        text = " ".join(text.split())
    return Block((Piece(text, place),), whole.level)


def mended(text: str, compounds: frozenset[str]) -> str:
    """Put words together that a line's end cut in two.

    The hyphen goes, unless the same word stands with a hyphen elsewhere in the document, or what follows does not begin
    in lower case.
    """
    if HYPHEN not in text:
        return text

    def joined(match: re.Match[str]) -> str:
        at = match.start()
        first = _LAST_LETTERS.search(text, text.rfind(" ", 0, at) + 1, at)
        if first is None:
            return f"-{match[0][1:]}"
        second = match[1] or ""
        keeps = not second[:1].islower() or f"{first[0]}-{second}".casefold() in compounds
        return f"-{second}" if keeps else second

    return _CUT.sub(joined, text)


def _level(line: Line, setting: Setting, *, is_larger: bool, alone: bool) -> int:
    """Return a line's heading level, 0 for text."""
    if not may_be_heading(line):
        return 0
    if alone and setting.outline and not line.text[0].islower():
        stated = setting.outline.get(key_of(line.text))
        if stated is not None:
            return stated + 1
    if is_larger:
        return setting.levels.get(float(round(line.size)), 0)
    if not line.bold:
        return 0
    numbered = _NUMBERED.match(line.text)
    return max(setting.levels.values(), default=0) + (1 + numbered[1].count(".") if numbered else 1)


def _is_alone(before: Line | None, line: Line, pitch: float) -> bool:
    """Tell whether a line stands apart from the one before it, as headings do."""
    return before is None or not 0 < before.top - line.top < 1.15 * pitch or before.size > 1.05 * line.size


def _columns(lines: Sequence[Line]) -> tuple[_Column, ...]:
    """Return how far the text reaches: one column, or two where enough lines stand on the right half alone."""
    text = [line for line in lines if not line.is_row]
    if not text:
        return ()
    lefts, rights = [line.left for line in text], [line.right for line in text]
    whole = _Column(min(lefts), max(rights))
    middle = (whole.left + whole.right) / 2
    in_right = [line for line in text if line.left > middle - 1]
    in_left = [line for line in text if line.right < middle + 1] if len(in_right) >= _LEAST_COLUMN else []
    if len(in_left) < _LEAST_COLUMN or len(in_right) + len(in_left) < 0.6 * len(text):
        return (whole,)
    return (
        _Column(min(map(_LEFT, in_left)), max(map(_RIGHT, in_left))),
        _Column(min(map(_LEFT, in_right)), max(map(_RIGHT, in_right))),
    )


def _column_of(line: Line, columns: Sequence[_Column]) -> _Column:
    if len(columns) == 1:
        return columns[0]
    if not columns:
        return _Column(line.left, line.right)
    first, second = columns
    if line.left >= second.left - 1:
        return second
    return first if line.right <= second.left else _Column(first.left, second.right)


def _begins(last: _Open, line: Line, columns: Sequence[_Column], pitch: float) -> bool:
    """Tell whether a line begins a paragraph, or a heading of its own, after the lines of the open one."""
    before = last.lines[-1]
    if before.is_row or line.is_row or before.turned or line.turned:
        return True
    step, size = before.end_top - line.top, before.size
    if last.level:  # the next line of the same heading, or another heading
        return not 0 < step < 1.8 * size
    sign = before.text[-1]
    if sign == HYPHEN:
        return False
    ended = not sign.isalnum() and before.text.rstrip(_CLOSING).endswith(_ENDS)
    if step <= 0 or step > 4 * size:  # another column, or below a picture
        return ended or not line.text[:1].islower()
    if (
        (step > 1.4 * pitch > 0)
        or (abs(line.size - size) > 0.1 * size and len(line.text) > 3)
        or ((ended or last.is_item) and _ITEM.match(line.text) is not None)
        or (abs(line.left - before.left) > 0.8 * line.size and _is_indented(last, line, columns))
    ):
        return True
    # Whether the line before stopped short of where the lines around it reach, as last lines do.
    column = columns[0] if len(columns) == 1 else _column_of(before, columns)
    end, width = before.right, column.right - column.left
    room = 0.06 * width if ended else 0.3 * width
    return line.right - end > room or last.reach - end > room or column.right - end > 0.5 * width


def _is_indented(last: _Open, line: Line, columns: Sequence[_Column]) -> bool:
    """Tell whether a line that begins further in or out than the one before it does not as the second line may."""
    if line.left - _column_of(line, columns).left >= 6 * line.size:
        return False
    return len(last.lines) > 1 or (line.left > last.lines[0].left and not last.is_item)
