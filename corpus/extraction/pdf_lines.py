"""The lines of a PDF page as they stand on it: words, box, and what their look says.

PDFium gives a page's characters in the order they were drawn in, with breaks between lines. A few characters of each
line are asked for their boxes: asking all would take longer than reading the page.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import deque
from collections.abc import Sequence
from ctypes import PYFUNCTYPE, c_double, c_int, c_void_p, cast
from itertools import count, repeat
from math import hypot
from typing import Any, NamedTuple

from pypdfium2 import raw as pdfium

HYPHEN = "\u00ad"  # stands for a hyphen at a line's end, which may or may not belong to the word
_BLANKS = " \xa0\t"
LIGATURES = {
    **{
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb05": "st",
        "\ufb06": "st",
    },
    # Bullets of the fonts Symbol and Wingdings.
    **{"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf076": "❖", "\uf06e": "■"},
    # Fonts of TeX that say nothing of what their codes mean.
    **{"\x0b": "ff", "\x0c": "fi", "\x0e": "ffi", "\x0f": "ffl"},
}
_LIGATURE = re.compile("[" + "".join(LIGATURES) + "]")
_ARROW = re.compile(r"(?<=[^\W\d_])\u21b5")  # what some programs write for "ff" in fonts of TeX
_WIDE = 0.75  # a line's width by character and size: above, there are gaps in it
_NARROW = 0.15  # below, it is turned
_GAP = 1.3  # by size: a space wider than that is a gap
_BOLD = 600
_LONGEST_BOLD = 90
_SPACES = re.compile(r"[ \xa0]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_HYPHEN_CODE = 2  # what PDFium keeps for one it found at a line's end
_UNTOLD = re.compile("\ufffe")
_BOX = 16  # bytes of four numbers: left, top, right, bottom
_NO_END = frozenset(".,;:")  # of a heading; looked at first because the pattern takes long
_MAY_BE_HEADING = re.compile(r"(?:\d+(?:\.\d+)*\.?\s+)?[^\W\d_a-zß-ÿ].{0,78}[^\s.,;:]$")


def _plainly(function: Any, gives: type, *takes: type) -> Any:
    """Return a function of PDFium that takes addresses as numbers, which halves the time of a call."""
    return PYFUNCTYPE(gives, c_void_p, *takes)(cast(function, c_void_p).value or 0)


_write_text = _plainly(pdfium.FPDFText_GetText, c_int, c_int, c_int, c_void_p)
_write_box = _plainly(pdfium.FPDFText_GetLooseCharBox, c_int, c_int, c_void_p)
_write_matrix = _plainly(pdfium.FPDFText_GetMatrix, c_int, c_int, c_void_p)
_font_size = _plainly(pdfium.FPDFText_GetFontSize, c_double, c_int)
_font_weight = _plainly(pdfium.FPDFText_GetFontWeight, c_int, c_int)


class Gap(NamedTuple):
    """A wide space in a line."""

    left: float
    right: float
    at: int  # its place in the line's text


class Line(NamedTuple):
    """One line; coordinates in points from the page's lower left corner."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float  # height of its font
    at: int = 0  # place of its first character in the page
    bold: bool = False
    gaps: tuple[Gap, ...] = ()
    is_row: bool = False  # of a table
    end_top: float = 0.0  # top of its last character: PDFium sometimes runs two lines into one
    turned: bool = False  # it runs up or down the margin

    @property
    def hyphenated(self) -> bool:
        """Whether it ends in the middle of a word."""
        return self.text.endswith(HYPHEN)


class PageText:
    """The text layer of one page; to be used while the page is open."""

    def __init__(self, raw_text_page: Any) -> None:
        """Take a page's text as PDFium has loaded it."""
        self._page = raw_text_page
        self._address = cast(raw_text_page, c_void_p).value
        self._matrix = array("f", bytes(24))
        self.unknown = 0  # characters the fonts give no meaning to

    def lines(self) -> list[Line]:
        """Return the lines in the order they were drawn in, blank ones left out."""
        page = self._text()
        texts: list[str] = []
        firsts: list[int] = []  # places of their first and last signs in the page
        lasts: list[int] = []
        end = -1
        for written in page.replace("\r\n", " \n").replace("\r", "\n").replace(HYPHEN, "\n").split("\n"):
            begin = end + 1
            end = begin + len(written)
            words = written.strip(_BLANKS)
            if words:
                if written[0] in _BLANKS:
                    begin += written.index(words[0])
                firsts.append(begin)
                lasts.append(begin + len(words) - 1)
                texts.append(words if page[end : end + 1] != HYPHEN else page[begin : end + 1])
        return self._with_gaps(self._lines(texts, firsts, lasts))

    def _text(self) -> str:
        """Return all characters, one place for each that PDFium counts."""
        count = pdfium.FPDFText_CountChars(self._page)
        if count <= 0:
            return ""
        units = array("H", bytes(2 * (count + 1)))
        written = _write_text(self._address, 0, count, units.buffer_info()[0])
        text = units.tobytes().decode("utf-16-le", "surrogatepass")[: max(0, written - 1)]
        if len(text) != count:  # characters of two units shift the places, or some were left out
            codes = (pdfium.FPDFText_GetUnicode(self._page, place) for place in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else "\ufffe" for code in codes)
        text = text.replace("\x02", HYPHEN)
        return _UNTOLD.sub(self._told, text) if "\ufffe" in text else text

    def _told(self, match: re.Match[str]) -> str:
        """Tell a hyphen at a line's end from a character without meaning: PDFium writes one sign for both."""
        if pdfium.FPDFText_GetUnicode(self._page, match.start()) == _HYPHEN_CODE:
            return HYPHEN
        self.unknown += 1
        return "\ufffd"

    def _lines(self, texts: Sequence[str], firsts: Sequence[int], lasts: Sequence[int]) -> list[Line]:
        lefts, tops, _, bottoms = self._boxes(firsts)
        _, end_tops, rights, _ = self._boxes(lasts)
        found = []
        sizes: dict[float, float] = {}
        for text, first, last, left, bottom, right, top, end_top in zip(
            texts, firsts, lasts, lefts, bottoms, rights, tops, end_tops, strict=True
        ):
            height = top - bottom
            size = sizes.get(height) or sizes.setdefault(height, self._size(first, height))
            length = last - first + 1
            bold = length <= _LONGEST_BOLD and not text[0].islower() and self._is_bold(text, first + length // 2)
            line = Line(text, left, bottom, right, top, size, first, bold, (), False, end_top)
            usual = _NARROW * size * length < right - left < _WIDE * size * length
            found.append(line if usual else self._odd(line, length))
        return found

    def _odd(self, line: Line, length: int) -> Line:
        """Return a line of unusual width as what it is: turned, or with gaps in it."""
        unit = line.size * length
        width = line.right - line.left
        if width < _NARROW * unit and length > 3 and abs(line.end_top - line.top) > line.size:
            return line._replace(turned=True)
        if width > _WIDE * unit and line.size > 0 and " " in line.text:
            gaps = self._gaps(line.text, line.at, line.size)
            return line._replace(gaps=gaps, is_row=bool(gaps))
        return line

    def _boxes(self, places: Sequence[int]) -> tuple[array[float], ...]:
        """Return the left, top, right and bottom edges of the characters in some places."""
        boxes = array("f", bytes(_BOX * len(places)))
        start, _ = boxes.buffer_info()
        deque(map(_write_box, repeat(self._address), places, count(start, _BOX)), 0)
        return tuple(boxes[edge::4] for edge in range(4))

    def _is_bold(self, text: str, middle: int) -> bool:
        """Tell whether a line that may be a heading is set in bold letters."""
        return (
            text[-1] not in _NO_END
            and _font_weight(self._address, middle) >= _BOLD
            and _MAY_BE_HEADING.match(text) is not None
        )

    def _size(self, at: int, height: float) -> float:
        """Return the size of a character's font as it is shown: the boxes of two fonts of one size differ in height.

        Fonts of size 1 are common, enlarged by the matrix of the text.
        """
        size: float = _font_size(self._address, at)
        if _write_matrix(self._address, at, self._matrix.buffer_info()[0]):
            size *= hypot(self._matrix[2], self._matrix[3])
        return round(size, 1) if size > 0 else height

    def _middle_gaps(self, line: Line) -> tuple[Gap, ...]:
        """Return the gaps in the middle of a line, where gutters are."""
        third = len(line.text) // 3
        return line.gaps or self._gaps(line.text, line.at, line.size, third, len(line.text) - third)

    def _gaps(self, text: str, start: int, size: float, first: int = 0, end: int = sys.maxsize) -> tuple[Gap, ...]:
        """Return the spaces of a line, or of a part of it, that are much wider than a space."""
        box = array("f", bytes(_BOX))
        at, _ = box.buffer_info()
        found = []
        for match in _SPACES.finditer(text, first, end):
            begin, after = match.span()
            _write_box(self._address, start + begin - 1, at)
            left = box[2]
            _write_box(self._address, start + after, at)
            right = box[0]
            if right - left > _GAP * size:
                found.append(Gap(left, right, begin))
        return tuple(found)

    def _with_gaps(self, lines: list[Line]) -> list[Line]:
        """Where wide lines of a page have a gap in one place, look into all: columns drawn across look like that."""
        wide = [line for line in lines if len(line.text) > 40 and not line.turned]
        if len(wide) < 6:
            return lines
        widest = min(wide, key=_minus_width)
        first = self._middle_gaps(widest)
        if not first:
            return lines
        second = self._middle_gaps(min([line for line in wide if line is not widest], key=_minus_width))
        if not any(one.left < other.right and other.left < one.right for one in first for other in second):
            return lines
        return [line if line.gaps else line._replace(gaps=self._gaps(line.text, line.at, line.size)) for line in lines]


def _minus_width(line: Line) -> float:
    return line.left - line.right


def without_ligatures(text: str) -> str:
    """Return text with ligatures as the letters they stand for, and characters of two units as one."""
    if _SURROGATES.search(text):  # PDFium counts units of UTF-16, so lines do
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ARROW.sub("ff", _LIGATURE.sub(lambda match: LIGATURES[match[0]], text))
