"""Rows of a table as lines a person can read: each value beside the name of its column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from corpus.extraction.blocks import Block, heading, paragraph
from corpus.locators import column_name

_HEADER_ROWS = 20  # how far down a header is looked for


class Cell(NamedTuple):
    """A value as it is shown."""

    text: str
    is_text: bool = True  # not a number, a date or a truth value


class Sheet(NamedTuple):
    """One sheet; `rows` begins at `first_row` and `first_column`, both counted from 1."""

    name: str
    rows: Sequence[Sequence[Cell]]
    first_row: int = 1
    first_column: int = 1


def sheet_blocks(sheet: Sheet, *, named: bool) -> Iterator[Block]:
    """Yield a sheet's heading and one paragraph for each row with values; nothing for a sheet without any.

    A row of different words with values below it names the columns; rows above it, titles mostly, stay as they are.

    Args:
        sheet: The sheet.
        named: Whether its name is a heading.
    """
    place = f"sheet={quote(sheet.name, safe='')}"
    filled = [number for number, row in enumerate(sheet.rows) if any(cell.text for cell in row)]
    if not filled:
        return
    if named:
        yield heading(2, sheet.name, place)
    header = _header(sheet.rows, filled)
    names = [cell.text for cell in sheet.rows[header]] if header is not None else []
    for number in filled:
        row = sheet.rows[number]
        used = [column for column, cell in enumerate(row) if cell.text]
        at = f"{place}&range={_range(sheet, number, used[0], used[-1])}"
        with_names = header is not None and number > header
        yield paragraph(" | ".join(_value(row[column], names, column, with_names) for column in used), at)


def _value(cell: Cell, names: Sequence[str], column: int, with_names: bool) -> str:
    text = " ".join(cell.text.split())
    name = " ".join(names[column].split()) if with_names and column < len(names) else ""
    return f"{name}: {text}" if name else text


def _range(sheet: Sheet, row: int, first: int, last: int) -> str:
    number = sheet.first_row + row
    cells = [f"{column_name(sheet.first_column + column)}{number}" for column in (first, last)]
    return cells[0] if first == last else ":".join(cells)


def _header(rows: Sequence[Sequence[Cell]], filled: Sequence[int]) -> int | None:
    """Return the row that names the columns: the first as wide as the table, of words alone, all different."""
    widest = max(sum(1 for cell in rows[number] if cell.text) for number in filled)
    for number in filled[:_HEADER_ROWS]:
        cells = [cell for cell in rows[number] if cell.text]
        if len(cells) * 2 <= widest or (len(cells) == 1 and len(filled) > 1 and widest > 1):
            continue
        texts = [cell.text for cell in cells]
        is_header = number != filled[-1] and len(set(texts)) == len(texts) and all(_is_name(cell) for cell in cells)
        return number if is_header else None
    return None


def _is_name(cell: Cell) -> bool:
    return cell.is_text and any(character.isalpha() for character in cell.text) and len(cell.text) <= 100
