"""Cells of tables that have thousands of them, written at once: a template would take longer than everything else.

Whatever comes from outside is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup, escape


class Score(NamedTuple):
    """A cell of the win/loss matrix. Kinds and words are our own, addresses hold whatever the reader's did."""

    kind: str  # classes
    words: str
    small: tuple[str, ...]
    url: str  # a query string; empty for the cell that compares a combination with itself
    current: bool


class Mark(NamedTuple):
    """A cell of the queries table: classes and words."""

    kind: str
    words: str
    title: str = ""


def scores(cells: Iterable[Score], target: str) -> Markup:
    """A row of the matrix; each cell leads to its pair, by htmx into `target` or by an address with its anchor."""
    written = []
    for cell in cells:
        if not cell.url:
            written.append(f'<td class="{cell.kind}"><span aria-hidden="true">·</span></td>')
            continue
        url, current = escape(cell.url), ' aria-current="true"' if cell.current else ""
        small = "".join(f"<small>{escape(words)}</small>" for words in cell.small)
        written.append(
            f'<td class="{cell.kind}"{current}><a href="{url}#{target}" hx-get="{url}">{cell.words}{small}</a></td>'
        )
    return Markup("".join(written))  # noqa: S704 - every part is our own or escaped


def marks(cells: Iterable[Mark]) -> Markup:
    """A row of the queries table."""
    written: dict[Mark, str] = {}  # few differ
    return Markup("".join(written.get(cell) or written.setdefault(cell, _mark(cell)) for cell in cells))  # noqa: S704


def _mark(cell: Mark) -> str:
    title = f' title="{escape(cell.title)}"' if cell.title else ""
    return f'<td class="rank {cell.kind}"{title}>{escape(cell.words)}</td>'
