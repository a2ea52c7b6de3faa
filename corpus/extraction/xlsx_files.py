"""Workbooks: every row of every sheet with the names of its columns; values as they were saved, nothing computed."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from openpyxl import load_workbook
from openpyxl.cell.read_only import EMPTY_CELL
from openpyxl.utils.exceptions import InvalidFileException

from corpus.extraction.archives import DAMAGE, checked_archive, read_part
from corpus.extraction.blocks import Block, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.limits import MEGABYTE, Limits
from corpus.extraction.tables import Cell, Sheet, sheet_blocks

_LAST_ROW = 1_048_576  # of any sheet
_MOST_CELLS = 20_000_000  # of one sheet, the empty ones between others counted
_EMPTY = Cell("")
_ANEW = "Open it in the program it was written with and save it anew."
_SHEET_PART = re.compile(r"xl/worksheets/[^/]+\.xml$")
_DECLARATIONS = tuple("<!DOCTYPE".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))
_UNCACHED = re.compile(rb"<c\b[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return a row a paragraph, under its sheet's heading.

    Raises:
        ExtractionError: If it is damaged, encrypted or too large.
    """
    with checked_archive(data, limits) as archive:
        uncached = _uncached(archive)
    try:
        workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    except (InvalidFileException, *DAMAGE) as error:
        raise ExtractionError("damaged", f"the workbook cannot be opened ({error})", _ANEW) from None
    blocks: list[Block] = []
    hidden: list[str] = []
    partial: list[str] = []
    try:
        for sheet in workbook.worksheets:
            if sheet.sheet_state != "visible":
                hidden.append(sheet.title)
                continue
            found = list(sheet_blocks(_sheet(sheet, limits), named=True))
            blocks += found
    except ExtractionError:
        raise
    except DAMAGE as error:
        raise ExtractionError("damaged", f"a sheet cannot be read ({error})", _ANEW) from None
    finally:
        workbook.close()
    if hidden:
        partial.append(f"{len(hidden)} hidden sheet{'s' * (len(hidden) > 1)} left out: {', '.join(hidden)}")
    if uncached:
        partial.append(f"{uncached} formula{'s' * (uncached > 1)} without a saved value: nothing is computed")
    whole = rendered(blocks)
    count = len(workbook.worksheets)
    facts = Extraction(
        format_name, headings=whole.headings, pages=count, tables=count - len(hidden), partial=tuple(partial)
    )
    return Extracted(whole.text, None, whole.locators, facts)


def _uncached(archive: zipfile.ZipFile) -> int:
    """Count formulas whose value the file does not hold.

    Raises:
        ExtractionError: If a part declares entities: no program writes any, and resolving them fills the memory.
    """
    found = 0
    for name in archive.namelist():
        if not name.endswith((".xml", ".rels")):
            continue
        part = read_part(archive, name)
        if any(mark in part for mark in _DECLARATIONS):
            raise ExtractionError("damaged", "the workbook declares XML entities", _ANEW, None, name)
        if _SHEET_PART.match(name):
            found += sum(1 for _ in _UNCACHED.finditer(part))
    return found


def _sheet(sheet: Any, limits: Limits) -> Sheet:
    sheet.reset_dimensions()  # some programs write them wrong, and rows would be missing
    rows: list[list[Cell]] = []
    for row in _rows(sheet, limits.unpacked_megabytes):
        while row and not row[-1].text:
            row.pop()
        rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return Sheet(sheet.title, rows)


def _rows(sheet: Any, megabytes: int) -> Iterator[list[Cell]]:
    """Yield every row up to its last cell.

    Raises:
        ExtractionError: If a few cells far apart would fill the memory with the empty ones between them, or one long
            text that many cells share is more than `megabytes` written out.
    """
    cells = characters = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        if number > _LAST_ROW:
            problem = f"a sheet has a row below {_LAST_ROW:,}, the last one there can be"
            raise ExtractionError("damaged", problem, _ANEW, None, sheet.title)
        cells += len(row)
        if cells > _MOST_CELLS:
            problem, advice = f"a sheet reaches over more than {_MOST_CELLS:,} cells", "Remove its far-off cells."
            raise ExtractionError("too-large", problem, advice, None, sheet.title)
        shown = [_EMPTY if cell is EMPTY_CELL else _cell(cell) for cell in row]
        characters += sum(len(cell.text) for cell in shown)
        if characters > megabytes * MEGABYTE:
            problem, advice = f"the cells of a sheet hold more than {megabytes} MB of text", "Split it."
            raise ExtractionError("too-large", problem, advice, None, sheet.title)
        yield shown


def _cell(cell: Any) -> Cell:
    """Return a value as its sheet shows it, as far as that can be told."""
    value = cell.value
    match value:
        case None:
            return _EMPTY
        case bool():
            shown = "TRUE" if value else "FALSE"
        case int() | float():
            shown = _number(value, cell.number_format or "")
        case datetime.datetime():
            at_midnight = value.time() == datetime.time()
            shown = value.date().isoformat() if at_midnight else value.isoformat(" ", "seconds")
        case datetime.date() | datetime.time():
            shown = value.isoformat()
        case datetime.timedelta():
            shown = _duration(value)
        case _:
            return Cell(str(value).strip())
    return Cell(shown, is_text=False)


def _duration(value: datetime.timedelta) -> str:
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _number(value: float, shown_as: str) -> str:
    if "%" in shown_as:
        return f"{round(value * 100, 10):g}%"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)
