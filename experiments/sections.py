"""A report as sections of sentences and tables, written for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

WIDEST = 72  # characters of a cell on a terminal


class Section(NamedTuple):
    """A heading (none for the first) with sentences, list items and a table, in this order."""

    title: str = ""
    sentences: Sequence[str] = ()
    items: Sequence[str] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def as_text(sections: Iterable[Section]) -> str:
    """For a terminal: columns are aligned, long cells shortened."""
    parts: list[str] = []
    for section in sections:
        lines = [section.title] if section.title else []
        lines += [*section.sentences, *(f"  {item}" for item in section.items)]
        if section.rows:
            lines += _columns([section.header, *section.rows])
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part) + "\n"


def as_markdown(sections: Iterable[Section], level: int = 2) -> str:
    """To paste into a review: the first title a heading of `level`, the others one below.

    Args:
        sections: The report.
        level: Number of hashes of the first heading.
    """
    parts: list[str] = []
    for place, section in enumerate(sections):
        if section.title:
            parts.append(f"{'#' * (level + (place > 0))} {escaped(section.title)}")
        parts += [escaped(sentence) for sentence in section.sentences]
        if section.items:
            parts.append("\n".join(f"- {escaped(item)}" for item in section.items))
        if section.rows:
            parts.append(table(section.header, section.rows).strip())
    return "\n\n".join(parts) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """A Markdown table; `right` says which columns are right-aligned."""
    sides = ["---:" if place < len(right) and right[place] else "---" for place in range(len(header))]
    lines = [[escaped(cell) for cell in header], sides, *([escaped(cell) for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def escaped(text: str) -> str:
    """Text on one line in which Markdown and HTML see no table, tag or break."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[_short(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    return ["  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells]  # fmt: skip


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"
