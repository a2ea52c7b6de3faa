"""What a whole PDF tells about one line of it: the text's font, the fonts of headings, words written with a hyphen."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus.extraction.pdf_lines import Line

LARGER = 1.13  # a heading's font by the text's
LONGEST_HEADING = 160
# Tried where a word begins only: from each of its letters, time would go by the square of its length.
_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)+")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")


class Survey(NamedTuple):
    """What one page adds, looked up while the page is at hand."""

    sizes: Mapping[float, int]  # characters by the height of their font
    compounds: frozenset[str]  # words written with a hyphen


@dataclass(frozen=True, slots=True)
class Setting:
    """What the whole document tells about one line of it."""

    body_size: float
    levels: Mapping[float, int]  # heading levels by rounded height
    outline: Mapping[str, int]  # levels of the titles in the PDF's own table of contents
    compounds: frozenset[str] = frozenset()


def survey_of(lines: Sequence[Line]) -> Survey:
    """Return what a page's lines add to the setting."""
    sizes: dict[float, int] = defaultdict(int)
    words: list[str] = []
    for line in lines:
        text = line.text
        if not line.turned:
            sizes[line.size] += len(text)
        if "-" in text:
            words += [word for word in text.split() if "-" in word]
    return Survey(sizes, frozenset(_WORD.findall("\n".join(words).casefold())))


def body_size(surveys: Iterable[Survey], without: Iterable[Line] = ()) -> float:
    """Return the height of the font most characters are set in; 0 without any."""
    sizes: dict[float, int] = defaultdict(int)
    for survey in surveys:
        for size, characters in survey.sizes.items():
            sizes[size] += characters
    for size, characters in survey_of(list(without)).sizes.items():
        sizes[size] -= characters
    return min((size for size in sizes if sizes[size]), key=lambda size: (-sizes[size], size), default=0.0)


def setting_of(
    pages: Sequence[Sequence[Line]], surveys: Sequence[Survey], body: float, outline: Mapping[str, int]
) -> Setting:
    """Return what the pages have in common.

    Args:
        pages: The lines of each page.
        surveys: Of each page.
        body: The height of the text's font.
        outline: Levels of the titles in the PDF's own table of contents.
    """
    large = LARGER * body
    larger = {
        round(line.size)
        for lines, survey in zip(pages, surveys, strict=True)
        if max(survey.sizes, default=0.0) > large
        for line in lines
        if line.size > large and may_be_heading(line)
    }
    levels = {float(size): level for level, size in enumerate(sorted(larger, reverse=True), 1)}
    return Setting(body, levels, outline, frozenset().union(*[survey.compounds for survey in surveys]))


def may_be_heading(line: Line) -> bool:
    """Tell whether a line is what headings are: short, with a letter, part of no table."""
    return (
        len(line.text) <= LONGEST_HEADING
        and not line.is_row
        and not line.turned
        and _LETTER.search(line.text) is not None
    )


def key_of(text: str) -> str:
    """Return a title without what a table of contents may leave out: numbers, signs, case."""
    return "".join(_LETTERS.findall(text)).casefold()
