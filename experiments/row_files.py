"""Rows of the store as files and back: every column there is, so that a column added tomorrow is carried too.

A file says which format it has. A column that the reader does not know, or one it cannot do without and does not find,
is refused by name: half a row would look like a whole one.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from pydantic import ValidationError
from sqlmodel import SQLModel

FORMAT = 1  # raised when a file of this version would be misread, not merely be incomplete, by an older one
_FORMAT_KEY = b"bluffline.format"

Row = TypeVar("Row", bound=SQLModel)


class UnreadableFileError(ValueError):
    """A file that is damaged, or was written by another version; the message says which and what to do."""


def columns(table: type[SQLModel], without: Collection[str] = ()) -> dict[str, sa.Column[Any]]:
    """A table's columns by name."""
    found = sa.inspect(table).local_table.columns
    return {column.name: column for column in found if column.name not in without}


def values(row: SQLModel, without: Collection[str] = ()) -> dict[str, Any]:
    """A row as JSON's types, moments in UTC."""
    return {name: _plain(value) for name, value in row.model_dump(exclude=set(without)).items()}


def row_from(table: type[Row], written: Mapping[str, Any], without: Collection[str] = (), **local: Any) -> Row:
    """Make a row again.

    Args:
        table: Its table.
        written: What `values` gave.
        without: Columns that are not written.
        local: Values for those of them that must not be empty here.

    Raises:
        UnreadableFileError: If a column is unknown, missing, or holds what it cannot hold.
    """
    if not isinstance(written, Mapping):
        raise UnreadableFileError(f"a row of {table.__tablename__} is no object")
    unknown = sorted(set(written) - set(columns(table, without)))
    if unknown:
        raise UnreadableFileError(
            f"it holds {', '.join(unknown)}, which this version does not know: a newer Bluffline wrote it, upgrade"
        )
    try:
        return table.model_validate({**written, **local})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UnreadableFileError(f"{table.__tablename__} {place}: {first['msg'].lower()}") from error


def to_json(content: Mapping[str, Any]) -> bytes:
    """A file of one object, with its format; keys stay in their order, which is that of a grid or of stages at times.

    Raises:
        TypeError: If a value has no place in JSON.
    """
    written = {"format": FORMAT, **content}
    return json.dumps(written, indent=1, ensure_ascii=False, default=_no_place).encode()


def from_json(data: bytes) -> dict[str, Any]:
    """The object that `to_json` wrote, without its format.

    Raises:
        UnreadableFileError: If it is damaged or of another format.
    """
    try:
        found = json.loads(data)
    except ValueError as error:
        raise UnreadableFileError(f"it is damaged: {error}") from error
    if not isinstance(found, dict):
        raise UnreadableFileError("it is damaged: it holds no object")
    _require_format(found.pop("format", None))
    return found


def to_parquet(table: type[SQLModel], rows: Sequence[SQLModel], without: Collection[str] = ()) -> bytes:
    """A file of rows, one column for each of the table's; what is JSON there is JSON's text here."""
    kept = columns(table, without)
    schema = pa.schema([(name, _arrow(column)) for name, column in kept.items()], {_FORMAT_KEY: str(FORMAT).encode()})
    texts = {name for name, column in kept.items() if isinstance(_plain_type(column), sa.JSON)}
    written = [
        {name: json.dumps(value) if name in texts else value for name, value in row.items()}
        for row in (values(row, without) for row in rows)
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(written, schema=schema), buffer, compression="zstd")
    return buffer.getvalue()


def from_parquet(table: type[Row], data: bytes, without: Collection[str] = (), **local: Any) -> list[Row]:
    """The rows of a file.

    Raises:
        UnreadableFileError: If it is damaged, of another format, or has columns this version does not know.
    """
    try:
        found = pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFileError(f"it is damaged: {' '.join(str(error).split())}") from error
    metadata = found.schema.metadata or {}
    try:
        _require_format(int(metadata[_FORMAT_KEY]) if _FORMAT_KEY in metadata else None)
        texts = {name for name, column in columns(table, without).items() if isinstance(_plain_type(column), sa.JSON)}
        return [
            row_from(table, {name: json.loads(value) if name in texts and value is not None else value
                             for name, value in row.items()}, without, **local)
            for row in found.to_pylist()
        ]  # fmt: skip
    except UnreadableFileError:
        raise
    except ValueError as error:
        raise UnreadableFileError(f"it is damaged: {error}") from error


def _require_format(found: object) -> None:
    if found == FORMAT:
        return
    if isinstance(found, int) and found > FORMAT:
        raise UnreadableFileError(f"its format is {found}, this version reads up to {FORMAT}: upgrade Bluffline")
    raise UnreadableFileError(
        "an older Bluffline wrote it, which did not write everything down; `bluffline sync` on the machine that "
        "made it writes it anew"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)).isoformat()
    return value


def _no_place(value: object) -> str:
    raise TypeError(f"{type(value).__name__} has no place in a JSON file")


def _plain_type(column: sa.Column[Any]) -> Any:
    return column.type.impl if isinstance(column.type, sa.TypeDecorator) else column.type


def _arrow(column: sa.Column[Any]) -> pa.DataType:
    kind = _plain_type(column)
    for sql, arrow in (
        (sa.Boolean, pa.bool_()),
        (sa.Integer, pa.int64()),
        (sa.Float, pa.float64()),
        (sa.LargeBinary, pa.binary()),
    ):
        if isinstance(kind, sql):
            return arrow
    return pa.string()
