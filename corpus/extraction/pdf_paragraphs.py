"""Lines of a PDF as headings and paragraphs: words cut at line ends mended, rows of tables kept as rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from corpus.extraction.blocks import Block, Piece, plain
from corpus.extraction.pdf_lines import HYPHEN, LIGATURES, Line, without_ligatures
from corpus.extraction.pdf_order import page_pitch

_LARGER = 1.13  # a heading's font by the text's
_CLOSING = "\"'”’)]"
_ENDS = (".", "!", "?", ":", ";", "…")
_ITEM = re.compile(
    r"(?:[•▪◦‣●○■–—*\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf06e-]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[\d{1,4}\])\s+\S"
)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,3})*)\.?\s+[^\W\d_]")
# Both are tried where a word begins only: from each of its letters, time would go by the square of its length.
_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)+")
_BROKEN = re.compile(rf"(?<![^\W\d_])([^\W\d_]+){HYPHEN}\s?([^\W\d_]+)?")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_UNUSUAL = re.compile(
    f"[\x00-\x1f\x7f-\x9f\u21b5\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff{HYPHEN}{''.join(LIGATURES)}]"
)
_LONGEST_HEADING = 160
_LEFT, _RIGHT = attrgetter("left"), attrgetter("right")


@dataclass(slots=True)
class _Column:
    """How far the lines of a column reach."""

    left: float
    right: float


@dataclass(slots=True)
class Setting:
    """What the whole document tells about one line of it."""

    body_size: float
    levels: Mapping[float, int]  # heading levels by rounded height
    outline: Mapping[str, int]  # levels of the titles in the PDF's own table of contents
    compounds: frozenset[str] = field(default_factory=frozenset)


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """Return the height of the font most characters are set in; 0 without any."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            if not line.turned:
                sizes[line.size] += len(line.text)
    return min(sizes, key=lambda size: (-sizes[size], size)) if sizes else 0.0


def setting_of(pages: Sequence[Sequence[Line]], outline: Mapping[str, int]) -> Setting:
    """Return what the pages have in common: the text's font, the fonts of headings, words written with a hyphen."""
    body = body_size(pages)
    larger = {
        round(line.size) for lines in pages for line in lines if line.size > _LARGER * body and _may_be_heading(line)
    }
    levels = {float(size): level for level, size in enumerate(sorted(larger, reverse=True), 1)}
    with_hyphen = "\n".join(
        [word for lines in pages for line in lines if "-" in line.text for word in line.text.split() if "-" in word]
    )
    return Setting(body, levels, outline, frozenset(map(str.casefold, _WORD.findall(with_hyphen))))


def page_blocks(lines: Sequence[Line], setting: Setting, place: str) -> Iterator[Block]:
    """Yield the headings, paragraphs and rows of a page."""
    pitch = page_pitch(lines)
    columns = _columns(lines)
    open_lines: list[Line] = []
    open_level = 0
    large = _LARGER * setting.body_size
    for number, line in enumerate(lines):
        may_be_heading = line.size > large or line.bold or setting.outline
        level = _level(lines, number, setting, pitch) if may_be_heading else 0
        if open_lines and (level != open_level or _begins(open_lines, line, columns, pitch, level)):
            yield _block(open_lines, open_level, setting, place)
            open_lines = []
        open_level = level
        open_lines.append(line)
    if open_lines:
        yield _block(open_lines, open_level, setting, place)


def _block(lines: Sequence[Line], level: int, setting: Setting, place: str) -> Block:
    text = lines[0].text if len(lines) == 1 else " ".join([line.text for line in lines])
    text = mended(text, setting.compounds)
    if _UNUSUAL.search(text):  # one look instead of the four of what comes now
        text = plain(without_ligatures(text))
    return Block((Piece(" ".join(text.split()), place),), level)


def mended(text: str, compounds: frozenset[str]) -> str:
    """Put words together that a line's end cut in two.

    The hyphen goes, unless the same word stands with a hyphen elsewhere in the document, or what follows does not begin
    in lower case.
    """
    if HYPHEN not in text:
        return text

    def whole(match: re.Match[str]) -> str:
        first, second = match[1], match[2] or ""
        keeps = not second or not second[0].islower() or f"{first}-{second}".casefold() in compounds
        return f"{first}-{second}" if keeps else first + second

    return _BROKEN.sub(whole, text).replace(HYPHEN, "-")


def _level(lines: Sequence[Line], number: int, setting: Setting, pitch: float) -> int:
    """Return a line's heading level, 0 for text."""
    line = lines[number]
    is_larger = line.size > _LARGER * setting.body_size
    in_outline = setting.outline and len(line.text) <= _LONGEST_HEADING and not line.text[0].islower()
    if not is_larger and not line.bold and not in_outline:
        return 0
    alone = _is_alone(lines, number, pitch)
    if (not is_larger and not alone) or not _may_be_heading(line):
        return 0
    stated = setting.outline.get(key_of(line.text)) if in_outline and alone else None
    if stated is not None:
        return stated + 1
    if is_larger:
        return setting.levels.get(float(round(line.size)), 0)
    if not line.bold:
        return 0
    numbered = _NUMBERED.match(line.text)
    return max(setting.levels.values(), default=0) + (1 + numbered[1].count(".") if numbered else 1)


def _may_be_heading(line: Line) -> bool:
    return (
        len(line.text) <= _LONGEST_HEADING
        and not line.is_row
        and not line.turned
        and _LETTER.search(line.text) is not None
    )


def key_of(text: str) -> str:
    """Return a title without what a table of contents may leave out: numbers, signs, case."""
    return "".join(_LETTERS.findall(text)).casefold()


def _is_alone(lines: Sequence[Line], number: int, pitch: float) -> bool:
    """Tell whether a line stands apart from the one before it, as headings do."""
    if not number:
        return True
    before, line = lines[number - 1], lines[number]
    return not 0 < before.top - line.top < 1.15 * pitch or before.size > 1.05 * line.size


def _columns(lines: Sequence[Line]) -> tuple[_Column, _Column] | _Column | None:
    """Return how far the text reaches: one column, or two where enough lines stand on the right half alone."""
    text = [line for line in lines if not line.is_row]
    if not text:
        return None
    whole = _Column(min(map(_LEFT, text)), max(map(_RIGHT, text)))
    middle = (whole.left + whole.right) / 2
    right = [line for line in text if line.left > middle - 1]
    left = [line for line in text if line.right < middle + 1]
    if len(right) < 5 or len(left) < 5 or len(right) + len(left) < 0.6 * len(text):
        return whole
    return (
        _Column(min(line.left for line in left), max(line.right for line in left)),
        _Column(min(line.left for line in right), max(line.right for line in right)),
    )


def _column_of(line: Line, columns: tuple[_Column, _Column] | _Column | None) -> _Column:
    if columns is None:
        return _Column(line.left, line.right)
    if isinstance(columns, _Column):
        return columns
    first, second = columns
    if line.left >= second.left - 1:
        return second
    return first if line.right <= second.left else _Column(first.left, second.right)


def _begins(
    paragraph: Sequence[Line],
    line: Line,
    columns: tuple[_Column, _Column] | _Column | None,
    pitch: float,
    level: int,
) -> bool:
    """Tell whether a line begins a paragraph, after the lines of the open one."""
    before = paragraph[-1]
    if before.is_row or line.is_row or before.turned or line.turned:
        return True
    step = before.end_top - line.top
    if level:  # the next line of the same heading, or another heading
        return not 0 < step < 1.8 * before.size
    if before.text[-1] == HYPHEN:
        return False
    ended = before.text.rstrip(_CLOSING).endswith(_ENDS)
    if step <= 0 or step > 4 * before.size:  # another column, or below a picture
        return ended or not line.text[:1].islower()
    return (
        (pitch > 0 and step > 1.4 * pitch)
        or (abs(line.size - before.size) > 0.1 * before.size and len(line.text) > 3)
        or (_ITEM.match(line.text) is not None and (ended or _ITEM.match(paragraph[0].text) is not None))
        or _is_indented(paragraph, line, columns)
        or _leaves_room(paragraph, line, _column_of(before, columns), ended=ended)
    )


def _is_indented(paragraph: Sequence[Line], line: Line, columns: tuple[_Column, _Column] | _Column | None) -> bool:
    """Tell whether a line begins further in or out than the one before it, and not as the second of a paragraph may."""
    indent = line.left - paragraph[-1].left
    if abs(indent) <= 0.8 * line.size or line.left - _column_of(line, columns).left >= 6 * line.size:
        return False
    return len(paragraph) > 1 or (indent > 0 and _ITEM.match(paragraph[0].text) is None)


def _leaves_room(paragraph: Sequence[Line], line: Line, column: _Column, *, ended: bool) -> bool:
    """Tell whether the line before stopped short of where the lines around it reach, as last lines do."""
    before = paragraph[-1]
    width = column.right - column.left
    reach = max(line.right, *map(_RIGHT, paragraph))
    return reach - before.right > (0.06 if ended else 0.3) * width or column.right - before.right > 0.5 * width
