"""Comma-separated values, whatever separates them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from corpus.extraction.blocks import plain, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.limits import Limits
from corpus.extraction.tables import Cell, Sheet, sheet_blocks
from corpus.extraction.text_files import decoded

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 65_536
_NUMBER = re.compile(r"[-+]?[\d.,\s%€$£]*\d[\d.,\s%€$£]*$|\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?$")
_LONGEST_FIELD = 10_000_000


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return a row a paragraph, each value beside its column's name; the file is the sheet ``1``.

    Raises:
        ExtractionError: If the bytes are no text, or the quotes of a row never end.
    """
    text, encoding = decoded(data)
    if text.startswith("sep=") and "\n" in text:  # a spreadsheet program's own first line
        text = text.split("\n", 1)[1]
    rows = _rows(text, _delimiter(text[:_SAMPLE]))
    cells = [[Cell(plain(value).strip(), not _NUMBER.match(value.strip())) for value in row] for row in rows]
    whole = rendered(list(sheet_blocks(Sheet("1", cells), named=False)))
    warnings = _uneven(rows)
    return Extracted(
        whole.text,
        None,
        whole.locators,
        Extraction(format_name, headings=whole.headings, tables=1, warnings=warnings),
        encoding,
    )


def _rows(text: str, delimiter: str, *, strict: bool = True) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return list(reader)
    except csv.Error as error:
        if strict and "unexpected end" not in str(error):  # a stray quote: read as spreadsheet programs read it
            return _rows(text, delimiter, strict=False)
        advice = "Close the quotes, or export the file anew."
        raise ExtractionError("damaged", f"the table cannot be read ({error})", advice, reader.line_num) from None
    finally:
        csv.field_size_limit(before)


def _delimiter(sample: str) -> str:
    """Return what separates values: the sign that gives most rows the same number of columns, and more than one."""

    def evenness(delimiter: str) -> tuple[float, int]:
        try:
            rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
        except csv.Error:
            return 0.0, 0
        if len(sample) == _SAMPLE:
            rows = rows[:-1]  # it was cut off
        if not rows:
            return 0.0, 0
        columns, count = Counter(map(len, rows)).most_common(1)[0]
        return (count / len(rows), columns) if columns > 1 else (0.0, 0)

    return max(_DELIMITERS, key=evenness)


def _uneven(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    widths = Counter(len(row) for row in rows if row)
    if len(widths) < 2:
        return ()
    usual = widths.most_common(1)[0][0]
    other = sum(count for width, count in widths.items() if width != usual)
    return (f"{other} of {widths.total()} rows have another number of columns than {usual}",)
