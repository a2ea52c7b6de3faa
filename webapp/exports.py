"""Tables as data: declared once, shown by a page and handed out as CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flask import Response

from experiments import sections
from experiments.verdicts.hit_rules import by_rule

Cell = str | int | float | bool | None
Format = Literal["csv", "json", "md"]

# For routes: "/sweeps/<int:sweep_id>/strategies.<any(csv, json, md):form>"
FORMATS: tuple[Format, ...] = ("csv", "json", "md")
MIMETYPES: dict[Format, str] = {"csv": "text/csv", "json": "application/json", "md": "text/markdown"}

# A spreadsheet would run text that starts like this as a formula.
_FORMULA = re.compile(r"^[\s]*[=+\-@]|^[\t\r\n]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `name` for machines, the rest for readers."""

    name: str
    label: str
    unit: str = ""
    description: str = ""


def columns_by_rule(columns: Sequence[Column], rule: str) -> tuple[Column, ...]:
    """Columns with their labels and descriptions as a hit rule has them; names stay."""
    return tuple(
        replace(one, label=by_rule(one.label, rule), description=by_rule(one.description, rule)) for one in columns
    )


@dataclass(frozen=True, slots=True)
class Table:
    """A table with declared columns.

    Attributes:
        name: File name without its ending, such as `sweep-41-strategies`.
        columns: What each cell means, in order.
        rows: One tuple per row, as long as `columns`; None where there is no value.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        """Refuse a table whose rows do not fit its columns."""
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"table {self.name!r} has a column name twice: {names}")
        for number, row in enumerate(self.rows):
            if len(row) != len(names):
                raise ValueError(f"table {self.name!r}: row {number} has {len(row)} cells, not {len(names)}")

    def csv(self) -> str:
        """RFC 4180 with a header of names; text a spreadsheet would run as a formula starts with an apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows([_csv_cell(cell) for cell in row] for row in self.rows)
        return out.getvalue()

    def json(self) -> str:
        """Columns with their meaning, and rows as objects; numbers as numbers, null where there is no value."""
        names = [column.name for column in self.columns]
        return json.dumps(
            {
                "name": self.name,
                "columns": [
                    {"name": c.name, "label": c.label, "unit": c.unit, "description": c.description}
                    for c in self.columns
                ],
                "rows": [dict(zip(names, map(_plain, row), strict=True)) for row in self.rows],
            },
            ensure_ascii=False,
            allow_nan=False,
            indent=1,
        )

    def markdown(self) -> str:
        """A table to paste into an issue or a chat; columns of numbers are right-aligned."""
        header = [c.label + (f" ({c.unit})" if c.unit else "") for c in self.columns]
        numeric = [self._is_numeric(index) for index in range(len(self.columns))]
        return sections.table(header, [[_md_cell(_plain(cell)) for cell in row] for row in self.rows], numeric)

    def _is_numeric(self, index: int) -> bool:
        cells = [cell for cell in (_plain(row[index]) for row in self.rows) if cell is not None]
        return bool(cells) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def respond(table: Table, form: Format) -> Response:
    """A table as a file of the given format."""
    body = {"csv": table.csv, "json": table.json, "md": table.markdown}[form]()
    response = Response(body, mimetype=MIMETYPES[form])
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", table.name).strip("-.") or "table"
    disposition = "attachment" if form == "csv" else "inline"
    response.headers["Content-Disposition"] = f'{disposition}; filename="{safe}.{form}"'
    return response


def _plain(cell: Cell) -> Cell:
    """Python's own scalar; NaN and infinities are no values and become None."""
    if cell is not None and hasattr(cell, "item"):  # a numpy scalar
        cell = cell.item()
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell


def _csv_cell(cell: Cell) -> Cell:
    value = _plain(cell)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and _FORMULA.match(value):
        return "'" + value
    return value


def _md_cell(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return str(cell)
