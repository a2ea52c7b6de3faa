"""A collection: many documents in one JSONL file, one object with `id`, `title` and `text` a line.

What benchmarks come in, and the quick way for thousands of short texts. A text is taken as it is: nothing is front
matter, and its title stands beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from corpus.characters import unusable
from corpus.faults import Fault
from corpus.json_lines import MOST_MEGABYTES, json_lines
from corpus.question_rows import Row

SUFFIXES = (".jsonl", ".ndjson")
_ADVICE = 'Write {"id": "a", "title": "A title", "text": "The text."} on each line.'


class Entry(NamedTuple):
    """One document of a collection, in canonical text."""

    line: int
    id: str
    title: str
    text: str

    @property
    def sha256(self) -> str:
        """Hex digest of the text in UTF-8."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


def is_collection(path: Path) -> bool:
    """Whether a path is one file of many documents."""
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def read_collection(path: Path, most_megabytes: int = MOST_MEGABYTES) -> tuple[list[Entry], list[Fault]]:
    """Read a collection and everything that is wrong with it; of two documents of one id the first counts."""
    file = path.as_posix()
    entries: list[Entry] = []
    faults: list[Fault] = []
    first: dict[str, int] = {}
    for row in json_lines(path, most_megabytes):
        if isinstance(row, Fault):
            faults.append(row)
            continue
        wrong = list(_wrong(row, file))
        faults += wrong
        if wrong:
            continue
        entry = _entry(row)
        earlier = first.setdefault(entry.id, row.line)
        if earlier != row.line:
            problem = f"the document's id is used already on line {earlier}"
            faults.append(Fault(file, row.line, entry.id, problem, "Give every document an id of its own."))
        else:
            entries.append(entry)
    if not entries and not faults:
        faults.append(Fault(file, None, "", "the file holds no documents", _ADVICE))
    return entries, faults


def plain(text: str) -> str:
    r"""Return a text as it is counted in: no byte order mark, line ends as ``\n``."""
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _entry(row: Row) -> Entry:
    values = row.values
    title = " ".join(str(values.get("title", "")).split())
    # Benchmarks hold documents that are a title alone: it is then all there is to find.
    text = plain(str(values.get("text", ""))) or title
    return Entry(row.line, _id(values), title, text)


def _id(values: Mapping[str, object]) -> str:
    return str(values.get("id", values.get("_id", ""))).strip()


def _wrong(row: Row, file: str) -> Iterator[Fault]:
    values = row.values
    name = values.get("id", values.get("_id"))
    if name is None or isinstance(name, bool) or not isinstance(name, (str, int)):
        yield Fault(file, row.line, str(name or ""), "the document has no `id` (or `_id`) that is a text", _ADVICE)
    elif any(not character.isprintable() for character in str(name).strip()):
        yield Fault(file, row.line, str(name), "the id holds a character that cannot be seen", "Remove it.")
    for key in ("title", "text"):
        value = values.get(key)
        if value is not None and not isinstance(value, str):
            yield Fault(file, row.line, str(value), f"`{key}` is not a text", _ADVICE)
        elif value is not None and (wrong := unusable(value)) is not None:
            yield Fault(file, row.line, value, f"`{key}` {wrong.problem}", wrong.advice)
    if "text" not in values and "title" not in values:
        yield Fault(file, row.line, _id(values), "the document has neither text nor title", "Remove the line.")
