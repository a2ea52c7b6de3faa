"""Reading a questions file: JSONL or CSV to rows of named values, whatever a spreadsheet did to it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import fuzz, process

from corpus.canonical import UndecodableError, canonical_text
from corpus.extraction.extracted import ExtractionError
from corpus.extraction.limits import Limits
from corpus.extraction.reading import read_limited
from corpus.faults import Fault

COLUMNS = (
    *("id", "question", "needle", "document", "start", "end", "phrasing", "stratum", "key_facts"),
    *("needles", "require", "relevant"),
)
_DELIMITERS = (",", ";", "\t")
_SEPARATOR_HINT = re.compile(r"sep=(.)\n", re.IGNORECASE)
_CSV_SUFFIXES = (".csv", ".tsv", ".tab")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


class Row(NamedTuple):
    """One question as it stands in the file: the line it begins on and its values, blank ones left out."""

    line: int
    values: Mapping[str, object]


def read_rows(path: Path, *, foreign: bool = False) -> tuple[list[Row], list[Fault]]:
    """Read the rows of a JSONL or CSV file and every fault of its form.

    The suffix decides between the two; with any other suffix the first character does.

    Args:
        path: The file.
        foreign: Whether its columns are somebody else's: any are then allowed, and no value is interpreted.
    """
    file = path.as_posix()
    if not path.is_file():
        problem = "the questions file is not a file" if path.exists() else "the questions file does not exist"
        return [], [Fault(file, None, "", problem, "Check the path.")]
    try:
        text = canonical_text(read_limited(path, Limits())).text
    except (UndecodableError, ExtractionError) as error:
        return [], [Fault(file, error.line, error.value, error.problem, error.advice)]
    except OSError as error:
        return [], [Fault(file, None, "", f"the file cannot be read ({error.strerror})", "Check its permissions.")]
    if not text.strip():
        advice = "Write one JSON object a line, or a CSV with a header."
        return [], [Fault(file, None, "", "the questions file is empty", advice)]
    suffix = path.suffix.lower()
    is_csv = suffix in _CSV_SUFFIXES or (suffix not in _JSON_SUFFIXES and text.lstrip()[0] not in "{[")
    return _Csv(file, text, foreign).read() if is_csv else _read_json_lines(file, text)


def unknown_name(name: str) -> str:
    """Return the advice for a name that is no column: the allowed ones, and the closest."""
    closest = process.extractOne(name.lower(), COLUMNS, scorer=fuzz.ratio, score_cutoff=60)
    meant = f"Did you mean '{closest[0]}'? " if closest else ""
    return f"{meant}Allowed are {', '.join(COLUMNS)}."


def _read_json_lines(file: str, text: str) -> tuple[list[Row], list[Fault]]:
    if text.lstrip().startswith("["):
        problem = "the file is one JSON array"
        return [], [Fault(file, 1, "[", problem, "Write one JSON object a line, without brackets and commas around.")]
    rows: list[Row] = []
    faults: list[Fault] = []
    # Only \n ends a line: U+2028 and its like may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        entry = parse_object(file, number, line)
        if isinstance(entry, Row):
            rows.append(entry)
        else:
            faults.append(entry)
    return rows, faults


class _DuplicateKeyError(ValueError):
    """A key that stands twice in one JSON object."""


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in pairs:
        if key in values:
            raise _DuplicateKeyError(key)
        values[key] = value
    return values


def parse_object(file: str, number: int, line: str) -> Row | Fault:
    """Return the object that stands on a line, without its blank values, or what is wrong with the line."""
    try:
        values = json.loads(line, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        problem = f"the line is not JSON ({error.msg.lower()} at column {error.colno})"
        around = line[max(error.pos - 20, 0) : error.pos + 20]
        return Fault(file, number, around, problem, "Write one JSON object on the line.")
    except _DuplicateKeyError as error:
        return Fault(file, number, str(error), "the key stands twice in the object", "Remove one of them.")
    except (RecursionError, ValueError) as error:
        problem = "the line cannot be read as JSON"
        return Fault(file, number, line, problem, f"Python says: {str(error).split(';')[0]}.")
    if not isinstance(values, dict):
        return Fault(file, number, line, "the line is not a JSON object", 'Write {"id": ..., ...}.')
    return Row(number, {key: value for key, value in values.items() if not _is_blank(value)})


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


class _Csv:
    """One CSV text: finds the delimiter by the header, then reads record by record."""

    def __init__(self, file: str, text: str, foreign: bool) -> None:
        self.foreign = foreign
        hint = _SEPARATOR_HINT.match(text)
        self.file = file
        self.lines_before = 1 if hint else 0
        self.text = text[hint.end() :] if hint else text
        self.delimiter = hint[1] if hint else self._sniffed()
        self.faults: list[Fault] = []

    def read(self) -> tuple[list[Row], list[Fault]]:
        records = self._records()
        line, header = next(records, (1, []))
        names = [name.strip() if self.foreign else name.strip().lower() for name in header]
        self._check_header(line, names)
        rows = []
        for line, record in records:
            if any(cell.strip() for cell in record):
                if any(cell.strip() for cell in record[len(names) :]):
                    advice = f"Put quotes around a value that holds '{self.delimiter}' or a line break."
                    problem = f"the row has {len(record)} values and the header {len(names)}"
                    self._fault(line, self.delimiter.join(record), problem, advice)
                    continue
                cells = zip(names, record, strict=False)
                rows.append(Row(line, {name: self._value(name, cell) for name, cell in cells if cell.strip() and name}))
        if self.foreign:
            return rows, self.faults
        # The header has spoken about unknown columns; each row need not.
        return [Row(row.line, {k: v for k, v in row.values.items() if k in COLUMNS}) for row in rows], self.faults

    def _value(self, name: str, cell: str) -> object:
        return cell if self.foreign else as_value(name, cell)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    def _sniffed(self) -> str:
        """Return the delimiter that finds the most of our columns in the header, or the most cells."""

        def found(delimiter: str) -> tuple[int, int]:
            reader = csv.reader(io.StringIO(self.text.lstrip("\n")), delimiter=delimiter, skipinitialspace=True)
            try:
                cells = [cell.strip().lower() for cell in next(reader, [])]
            except csv.Error:
                cells = []
            return len(set(cells) & set(COLUMNS)), len(cells)

        return max(_DELIMITERS, key=found)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield every record that is not blank with the line it begins on; a broken one is a fault."""
        text = io.StringIO(self.text, newline="")
        reader = csv.reader(text, delimiter=self.delimiter, skipinitialspace=True, strict=True)
        while True:
            line = reader.line_num + 1 + self.lines_before
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                start = self._lines[line - self.lines_before - 1]
                problem = f"the row is not CSV ({error})"
                self._fault(line, start, problem, "Close every quote; write a quote inside quotes twice.")
                continue
            if record:
                yield line, record

    def _check_header(self, line: int, names: list[str]) -> None:
        for name, count in Counter(names).items():
            if name and name not in COLUMNS and not self.foreign:
                self._fault(line, name, "unknown column", unknown_name(name))
            elif name and count > 1:
                self._fault(line, name, "the column stands twice in the header", "Remove one of them.")
        for name in () if self.foreign else ("id", "question"):
            if name not in names:
                self._fault(line, name, "the column is missing in the header", f"Allowed are {', '.join(COLUMNS)}.")

    def _fault(self, line: int, value: str, problem: str, advice: str) -> None:
        self.faults.append(Fault(self.file, line, value, problem, advice))


def as_value(name: str, cell: str) -> object:
    """Return what a cell of one of our columns means: a number, a list, what stands in it as JSON, or its text."""
    if name in ("start", "end") and re.fullmatch(r"[0-9]{1,15}", cell.strip()):
        return int(cell)
    if name in ("needles", "relevant"):  # what a cell cannot hold stands in it as JSON
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    if name == "key_facts":
        return [fact.strip() for fact in cell.split("|") if fact.strip()]
    return cell
