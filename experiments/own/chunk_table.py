"""The chunks of a team's own retriever: a table of ids with places or texts, as JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from corpus.faults import Fault
from experiments.own.locating import Located, Locator
from experiments.own.responses import Returned

COLUMNS = ("id", "document", "start", "end", "text")
SUFFIXES = (".jsonl", ".csv", ".parquet")


class TableChunk(NamedTuple):
    """One chunk of the table."""

    id: str
    text: str
    located: Located


def read_chunks(file: Path, locator: Locator) -> tuple[dict[str, TableChunk], list[Fault]]:
    """Read a chunk table and find every chunk in the documents.

    Args:
        file: `.jsonl`, `.csv` (a header line first) or `.parquet`, with the columns `id` and either `document`, `start`
            and `end`, or `text`, or all of them.
        locator: The documents.

    Returns:
        The chunks by id, and every fault. A chunk whose text stands nowhere, or at several places, is no fault: it is
        kept without a place.
    """
    chunks: dict[str, TableChunk] = {}
    faults: list[Fault] = []
    try:
        for line, row in _rows(file):
            try:
                chunk = _chunk(row, locator)
                if chunk.id in chunks:
                    raise ValueError("this id stands there twice")
                chunks[chunk.id] = chunk
            except ValueError as error:
                faults.append(Fault(str(file), line, str(row.get("id", "")), str(error), "Correct the chunk table."))
    except (OSError, ValueError, csv.Error) as error:
        problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        faults.append(Fault(str(file), None, "", f"the chunk table cannot be read: {problem}", "Correct it."))
    if not chunks and not faults:
        faults.append(Fault(str(file), None, "", "the chunk table is empty", "Write one chunk a line."))
    return chunks, faults


def _rows(file: Path) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    suffix = file.suffix.lower()
    if suffix == ".parquet":
        try:
            table = pq.read_table(file, columns=[name for name in pq.read_schema(file).names if name in COLUMNS])
        except pa.ArrowException as error:
            raise ValueError(f"no Parquet file: {error}") from error
        yield from ((number, row) for number, row in enumerate(table.to_pylist(), 1))
    elif suffix == ".csv":
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            for row in reader:
                yield reader.line_num, {name: value or None for name, value in row.items() if name}
    elif suffix == ".jsonl":
        for number, line in enumerate(file.read_text("utf-8-sig").split("\n"), 1):
            if line.strip():
                yield number, _object(line, number)
    else:
        raise ValueError(f"its name must end in {', '.join(SUFFIXES)}")


def _object(line: str, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is no JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError(f"line {number} is no JSON object")
    return row


def _chunk(row: Mapping[str, Any], locator: Locator) -> TableChunk:
    chunk_id, text, document = row.get("id"), row.get("text"), row.get("document")
    if chunk_id is None or isinstance(chunk_id, bool) or not isinstance(chunk_id, (str, int)):
        raise ValueError("the id is missing, or no text or whole number")
    if text is not None and not isinstance(text, str):
        raise ValueError("the text is no text")
    start, end = _whole(row.get("start"), "start"), _whole(row.get("end"), "end")
    if document is not None and start is not None and end is not None:
        located = locator.at(str(document), start, end, text)
    elif text is not None:
        located = locator.find(text, None if document is None else str(document))
    else:
        raise ValueError("neither a text nor document, start and end")
    if text is None and located.place is not None:
        text = locator.text_of(located.place)
    return TableChunk(str(chunk_id), text or "", located)


def _whole(value: Any, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not str(value).strip().isdigit():
        raise ValueError(f"the {name} {value!r} is no whole number")
    return int(value)


def located(one: Returned, chunks: Mapping[str, TableChunk] | None, locator: Locator) -> tuple[str, Located]:
    """The text of one result, and where it stands.

    Its own offsets decide, then its chunk's place in the table, then its words.

    Args:
        one: The result.
        chunks: The chunk table; None where there is none.
        locator: The documents.

    Raises:
        ValueError: If what it says of itself cannot be: offsets that say something else, an id the table lacks.
    """
    if one.document is not None and one.start is not None and one.end is not None:
        found = locator.at(one.document, one.start, one.end, one.text)
        return one.text or (locator.text_of(found.place) if found.place else ""), found
    if chunks is not None and one.id is not None:
        chunk = chunks.get(one.id)
        if chunk is None and one.text is None:
            raise ValueError(f"the chunk {one.id!r} is not in the chunk table")
        if chunk is not None and (one.text is None or one.text.split() == chunk.text.split()):
            return chunk.text, chunk.located
    if one.text is None:
        raise ValueError(f"the chunk {one.id!r} came without a text, and there is no chunk table to look it up in")
    return one.text, locator.find(one.text, one.document)
