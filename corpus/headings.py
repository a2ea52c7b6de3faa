"""Headings of a Markdown text: ATX (``## Title``) and setext (a line underlined with ``===`` or ``---``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_BREAK = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_TABLE_RULE = re.compile(r"[ \t]*[|:-][|: \t-]*$")
_CONTAINER = re.compile(
    r" {0,3}(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)|<!--|</|<[A-Za-z][A-Za-z0-9-]*(?=[\s/>]|$))"
)
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)")


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading of a text.

    Attributes:
        level: 1 to 6.
        title: The words of the heading, without marks.
        start: Offset of the first character of its (first) line, in code points.
        end: Offset behind its (last) line, the line break not included.
        underlined: Whether it is a setext heading.
    """

    level: int
    title: str
    start: int
    end: int
    underlined: bool = False


def headings(text: str) -> tuple[Heading, ...]:
    """Return the ATX and setext headings that stand outside fenced code blocks, in order.

    A setext heading reaches to the end of its underline.
    """
    return tuple(_scan(text))


def title_heading(text: str) -> Heading | None:
    """Return the first heading of level 1 that has words, an underlined one only where no other is; or None."""
    underlined = None
    for heading in _scan(text):
        if heading.level == 1 and heading.title:
            if not heading.underlined:
                return heading
            underlined = underlined or heading
    return underlined


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _atx(start: int, line: str) -> Heading | None:
    marks = _ATX.match(line)
    if marks is None:
        return None
    title = line[marks.end() :].strip(" \t")
    # A closing run of # belongs to the marks only when a blank stands before it.
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":
        title = bare.rstrip(" \t")
    return Heading(len(marks[1]), title, start, start + len(line))


def _opened_fence(line: str) -> str | None:
    fence = _FENCE.match(line)
    # An info string behind backticks holds no backtick, else the line is inline code.
    if fence is None or (fence[1][0] == "`" and "`" in line[fence.end() :]):
        return None
    return fence[1]


def _closes(line: str, fence: str) -> bool:
    closing = _FENCE.match(line)
    if closing is None or line[closing.end() :].strip(" \t"):
        return False
    return closing[1][0] == fence[0] and len(closing[1]) >= len(fence)


def _opens_other_block(line: str, in_paragraph: bool) -> bool:
    """Tell whether the line begins (or turns its paragraph into) a block that no underline makes a heading."""
    if _CONTAINER.match(line) or ("|" in line and _TABLE_RULE.match(line)):
        return True
    return not in_paragraph and _INDENTED.match(line) is not None


def _scan(text: str) -> Iterator[Heading]:
    fence: str | None = None
    paragraph: int | None = None  # offset of the open top-level paragraph
    other = False  # inside a list item, quotation, table or HTML block, up to the next blank line
    for start, line in _lines(text):
        if fence is not None:
            fence = None if _closes(line, fence) else fence
            continue
        atx = _atx(start, line)
        fence = _opened_fence(line)
        if atx is not None:
            yield atx
        if atx is not None or fence is not None or not line.strip(" \t"):
            paragraph, other = None, False
        elif paragraph is not None and (underline := _UNDERLINE.match(line)):
            title = " ".join(part.strip(" \t") for part in text[paragraph : start - 1].split("\n"))
            yield Heading(1 if underline[1][0] == "=" else 2, title, paragraph, start + len(line), underlined=True)
            paragraph = None
        elif _BREAK.match(line):
            paragraph, other = None, False
        elif _opens_other_block(line, paragraph is not None or other):
            paragraph, other = None, not _INDENTED.match(line)
        elif paragraph is None and not other:
            paragraph = start
