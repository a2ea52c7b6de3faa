"""Questions in a CSV or JSONL file of somebody else's columns, mapped onto ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rapidfuzz import fuzz, process

from corpus.documents import Document
from corpus.faults import Fault
from corpus.importing.material import Material
from corpus.question_rows import COLUMNS, Row, as_value, read_rows


class MappingError(ValueError):
    """A mapping that names no column of ours, or says one thing twice; the message is what to do."""


def read_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Read pairs like ``question=Frage``: our column, and theirs.

    Raises:
        MappingError: If a pair is none, names a column that is not ours, or ours is mapped twice.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        ours, sign, theirs = (part.strip() for part in pair.partition("="))
        if not sign or not ours or not theirs:
            raise MappingError(f"--map {pair!r}: write OURS=THEIRS, as in question=Frage")
        if ours not in COLUMNS:
            raise MappingError(f"--map {pair!r}: {ours!r} is no column of ours; they are {', '.join(COLUMNS)}")
        if ours in found:
            raise MappingError(f"--map {pair!r}: {ours!r} is mapped to {found[ours]!r} already")
        found[ours] = theirs
    return found


def read_table(
    path: Path, documents: Sequence[Document], mapping: Mapping[str, str], stratum: str | None = None
) -> Material:
    """Read questions; columns that are neither mapped nor named as ours are left out and named in a note.

    Args:
        path: CSV or JSONL.
        documents: The documents of the folder.
        mapping: From our columns to theirs.
        stratum: What a question without needle or documents is: near or far; None leaves that a fault.
    """
    file = path.as_posix()
    rows, faults = read_rows(path, foreign=True)
    theirs = list(dict.fromkeys(name for row in rows for name in row.values))
    faults = list(faults)
    for ours, name in mapping.items():
        if rows and name not in theirs and name.lower() not in theirs:
            best = process.extractOne(name, theirs, scorer=fuzz.ratio)
            closest = f"The closest is '{best[0]}'; " if best else ""
            problem = f"there is no column to read `{ours}` from"
            faults.append(Fault(file, 1, name, problem, f"{closest}the columns are {', '.join(theirs[:20])}."))
    if faults and any(fault.line == 1 and fault.problem.startswith("there is no column") for fault in faults):
        return Material(documents, file, (), faults, collection=False)
    mapped = [_row(row, mapping, stratum, number) for number, row in enumerate(rows, start=1)]
    used = {*mapping.values(), *(name.lower() for name in mapping.values())}
    left = [name for name in theirs if name not in used and (name not in COLUMNS or name in mapping)]
    notes = [f"Columns left out: {', '.join(left)}."] if left else []
    if any("id" not in row.values for row in rows) and "id" not in mapping:
        notes.append("Questions without an id are numbered: q1, q2, ...")
    return Material(documents, file, mapped, faults, notes, collection=False)


def _row(row: Row, mapping: Mapping[str, str], stratum: str | None, number: int) -> Row:
    values: dict[str, object] = {}
    for name in COLUMNS:
        column = mapping.get(name, name)
        value = row.values.get(column, row.values.get(column.lower()))
        if value is not None:
            values[name] = as_value(name, value) if isinstance(value, str) else value
    if "id" not in values:
        values["id"] = f"q{number}"
    if stratum and not any(name in values for name in ("needle", "needles", "relevant", "stratum")):
        values["stratum"] = stratum
    return Row(row.line, values)
