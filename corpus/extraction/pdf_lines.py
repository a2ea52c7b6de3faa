"""The lines of a PDF page as they stand on it: words, box, and what their look says.

PDFium gives a page's characters in the order they were drawn in, with breaks between lines. A few characters of each
line are asked for their boxes: asking all would take longer than reading the page.
"""

from __future__ import annotations

import re
import sys
from ctypes import byref
from math import hypot
from typing import Any, NamedTuple

from pypdfium2 import raw as pdfium

HYPHEN = "\u00ad"  # stands for a hyphen at a line's end, which may or may not belong to the word
_LINES = re.compile(r"[^\r\n\u00ad]+\u00ad?")
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
_SPACES = re.compile(r"[ \xa0]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNTOLD = re.compile("[\ufffe\x02]")
_HYPHEN_OR_SPACE = HYPHEN + " "
_box_of = pdfium.FPDFText_GetLooseCharBox
_NO_END = frozenset(".,;:")  # of a heading; looked at first because the pattern takes long
_MAY_BE_HEADING = re.compile(r"(?:\d+(?:\.\d+)*\.?\s+)?[^\W\d_a-zß-ÿ].{0,78}[^\s.,;:]$")


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
        self._box = pdfium.FS_RECTF()
        self._ref = byref(self._box)
        self._matrix = pdfium.FS_MATRIX()
        self._matrix_ref = byref(self._matrix)
        self._sizes: dict[float, float] = {}
        self.unknown = 0  # characters the fonts give no meaning to

    def lines(self) -> list[Line]:
        """Return the lines in the order they were drawn in, blank ones left out."""
        found = []
        for match in _LINES.finditer(self._text()):
            line = self._line(match[0], match.start())
            if line is not None:
                found.append(line)
        return self._with_gaps(found)

    def _text(self) -> str:
        """Return all characters, one place for each that PDFium counts."""
        count = pdfium.FPDFText_CountChars(self._page)
        if count <= 0:
            return ""
        buffer = (pdfium.c_ushort * (count + 1))()
        written = pdfium.FPDFText_GetText(self._page, 0, count, buffer)
        text = bytes(buffer).decode("utf-16-le", "surrogatepass")[: max(0, written - 1)]
        if len(text) != count:  # characters of two units shift the places, or some were left out
            codes = (pdfium.FPDFText_GetUnicode(self._page, place) for place in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else "\ufffe" for code in codes)
        return self._settled(text) if "\ufffe" in text or "\x02" in text else text

    def _settled(self, text: str) -> str:
        """Tell hyphens at line ends from characters without meaning: PDFium writes one sign for both."""

        def told(match: re.Match[str]) -> str:
            if match[0] == "\x02" or pdfium.FPDFText_GetUnicode(self._page, match.start()) == 2:
                return HYPHEN
            self.unknown += 1
            return "\ufffd"

        return _UNTOLD.sub(told, text)

    def _line(self, written: str, start: int) -> Line | None:
        text = written.strip(" \xa0\t")
        bare = text.rstrip(_HYPHEN_OR_SPACE)
        if not bare:
            return None
        if text[0] != written[0]:
            start += written.index(text[0])
        length = len(bare)
        page, box, ref = self._page, self._box, self._ref
        _box_of(page, start, ref)
        left, bottom, top = box.left, box.bottom, box.top
        _box_of(page, start + length - 1, ref)
        right, end_top = box.right, box.top
        height = top - bottom
        size = self._sizes.get(height)
        if size is None:
            size = self._sizes[height] = self._size(start, height)
        width = right - left
        bold = (
            length <= 90
            and not text[0].islower()
            and text[-1] not in _NO_END
            and _MAY_BE_HEADING.match(text) is not None
            and pdfium.FPDFText_GetFontWeight(page, start + length // 2) >= _BOLD
        )
        if width < _NARROW * size * length and length > 3 and abs(end_top - top) > size:
            return Line(text, left, bottom, right, top, size, start, bold, (), False, end_top, True)
        if width > _WIDE * size * length and size > 0 and " " in bare:
            gaps = self._gaps(text, start, size)
            return Line(text, left, bottom, right, top, size, start, bold, gaps, bool(gaps), end_top)
        return Line(text, left, bottom, right, top, size, start, bold, (), False, end_top)

    def _size(self, at: int, height: float) -> float:
        """Return the size of a character's font as it is shown: the boxes of two fonts of one size differ in height.

        Fonts of size 1 are common, enlarged by the matrix of the text.
        """
        size = pdfium.FPDFText_GetFontSize(self._page, at)
        if pdfium.FPDFText_GetMatrix(self._page, at, self._matrix_ref):
            size *= hypot(self._matrix.c, self._matrix.d)
        return round(size, 1) if size > 0 else height

    def _middle_gaps(self, line: Line) -> tuple[Gap, ...]:
        """Return the gaps in the middle of a line, where gutters are."""
        third = len(line.text) // 3
        return line.gaps or self._gaps(line.text, line.at, line.size, third, len(line.text) - third)

    def _gaps(self, text: str, start: int, size: float, first: int = 0, end: int = sys.maxsize) -> tuple[Gap, ...]:
        """Return the spaces of a line, or of a part of it, that are much wider than a space."""
        page, box, ref = self._page, self._box, self._ref
        found = []
        for match in _SPACES.finditer(text, first, end):
            _box_of(page, start + match.start() - 1, ref)
            before = box.right
            _box_of(page, start + match.end(), ref)
            if box.left - before > _GAP * size:
                found.append(Gap(before, box.left, match.start()))
        return tuple(found)

    def _with_gaps(self, lines: list[Line]) -> list[Line]:
        """Where wide lines of a page have a gap in one place, look into all: columns drawn across look like that."""
        wide = [
            (line.left - line.right, place)
            for place, line in enumerate(lines)
            if len(line.text) > 40 and not line.turned
        ]
        if len(wide) < 6:
            return lines
        wide.sort()
        first = self._middle_gaps(lines[wide[0][1]])
        second = self._middle_gaps(lines[wide[1][1]]) if first else ()
        if not any(one.left < other.right and other.left < one.right for one in first for other in second):
            return lines
        return [line if line.gaps else line._replace(gaps=self._gaps(line.text, line.at, line.size)) for line in lines]


def without_ligatures(text: str) -> str:
    """Return text with ligatures as the letters they stand for, and characters of two units as one."""
    if _SURROGATES.search(text):  # PDFium counts units of UTF-16, so lines do
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ARROW.sub("ff", _LIGATURE.sub(lambda match: LIGATURES[match[0]], text))
