"""Adding a question to a project's questions file: checked first, then appended; all that stood there is untouched."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.bundled import BUNDLED_QUESTIONS
from corpus.canonical import UndecodableError, canonical_text
from corpus.documents import Document
from corpus.faults import Fault
from corpus.questions import Query, Stratum, load_questions
from experiments.project import Project

_LOCK = threading.Lock()
_ATTEMPTS = 5
_WIDE = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0", "utf-32-be": b"\0\0\xfe\xff"}
_CSV_SUFFIXES = (".csv", ".tsv", ".tab")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


class QuestionRefusedError(Exception):
    """The question was not added, and the file is as it was. Carries the faults where the check found some."""

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        """Keep the faults; the message has one line each."""
        self.faults = tuple(faults)
        super().__init__("\n".join([message, *(fault.sentence for fault in faults)]))


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question to add: with a needle marked in a document, or with a stratum.

    Attributes:
        text: What is asked.
        stratum: `near` or `far` where the corpus does not answer it, else None.
        document: Id of the document that answers it, else None.
        start: First character of the needle.
        end: One past its last.
        phrasing: How it is worded, as other questions of the file say it.
        key_facts: For an unanswerable question: phrases any answer would have to contain.
    """

    text: str
    stratum: Stratum | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None
    phrasing: str | None = None
    key_facts: tuple[str, ...] = ()


def is_writable(project: Project) -> bool:
    """Whether questions may be added: the bundled set is part of the program."""
    return project.questions.resolve() != BUNDLED_QUESTIONS.resolve()


def add_question(project: Project, new: NewQuestion, documents: Sequence[Document] | None = None) -> Query:
    """Append a question to the project's questions file.

    The file is written beside itself and put into place in one step, so that a reader sees the old one or the new one.

    Args:
        project: Whose file.
        new: The question.
        documents: The corpus, where it is read already.

    Returns:
        The question as it now stands in the file, with the id it was given.

    Raises:
        QuestionRefusedError: If the file is the bundled one, the question is asked there already, the check would
            find a fault, or the file cannot be written.
    """
    if not is_writable(project):
        raise QuestionRefusedError(
            "the bundled questions are read-only: make a project of your own with "
            "`bluffline init DIR --documents FOLDER --questions FILE`"
        )
    if documents is None:
        documents = project.load_documents().documents
    path = project.questions.resolve()
    with _LOCK:
        for _ in range(_ATTEMPTS):
            added = _add(path, new, documents)
            if added is not None:
                return added
    raise QuestionRefusedError(f"{path} is being changed by somebody else; try again")


def _add(path: Path, new: NewQuestion, documents: Sequence[Document]) -> Query | None:
    """Add a question; None when somebody else changed the file in the meantime."""
    try:
        before = path.read_bytes()
        decoded = canonical_text(before)
    except UndecodableError as error:
        raise QuestionRefusedError(f"{path} cannot be read: {error.problem}. {error.advice}") from error
    except OSError as error:
        raise QuestionRefusedError(f"{path} cannot be read: {error.strerror}") from error
    known = load_questions(path, documents)
    _refuse_repetition(path, new, known.queries)
    row = _row(new, documents, _free_id(decoded.text, known.queries))
    after = _appended(path, before, decoded.text, decoded.encoding, row)
    try:
        # Beside the file and with its suffix, which decides how it is read.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".adding-", suffix=path.suffix)
    except OSError as error:
        raise QuestionRefusedError(f"{path.parent} cannot be written to: {error.strerror}") from error
    written = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        added = _checked(written, path, known.faults, str(row["id"]), documents)
        shutil.copymode(path, written)
        if path.read_bytes() != before:
            return None
        written.replace(path)
    except OSError as error:
        raise QuestionRefusedError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        written.unlink(missing_ok=True)
    return added


def _refuse_repetition(path: Path, new: NewQuestion, queries: Sequence[Query]) -> None:
    folded = " ".join(new.text.split()).casefold()
    for query in queries:
        if " ".join(query.text.split()).casefold() == folded:
            raise QuestionRefusedError(f"{path}:{query.line}: the question is there already, as {query.id}")


def _free_id(text: str, queries: Sequence[Query]) -> str:
    """The next `asked-N` that stands nowhere in the file, faulty lines included."""
    taken = {query.id for query in queries} | set(re.findall(r"asked-\d+", text))
    number = 1
    while f"asked-{number}" in taken:
        number += 1
    return f"asked-{number}"


def _row(new: NewQuestion, documents: Sequence[Document], name: str) -> dict[str, object]:
    row: dict[str, object] = {"id": name, "question": new.text.strip()}
    if new.document is not None:
        row |= _needle(new, documents)
    if new.phrasing and new.phrasing.strip():
        row["phrasing"] = new.phrasing.strip()
    if new.stratum is not None:
        row["stratum"] = new.stratum
    if new.key_facts:
        row["key_facts"] = list(new.key_facts)
    return row


def _needle(new: NewQuestion, documents: Sequence[Document]) -> Mapping[str, object]:
    """The marked range, without white space at its ends."""
    document = next((one for one in documents if one.id == new.document), None)
    if document is None:
        raise QuestionRefusedError(f"there is no document {new.document!r}")
    start, end = new.start, new.end
    if start is None or end is None or not 0 <= start < end <= len(document.text):
        raise QuestionRefusedError(
            f"{start} to {end} is no range of {document.id}, which has {len(document.text):,} characters"
        )
    marked = document.text[start:end]
    start += len(marked) - len(marked.lstrip())
    needle = marked.strip()
    if not needle:
        raise QuestionRefusedError(f"nothing but white space stands at {start} to {end} of {document.id}")
    return {"needle": needle, "document": document.id, "start": start, "end": start + len(needle)}


def _appended(path: Path, before: bytes, text: str, encoding: str, row: Mapping[str, object]) -> bytes:
    """The file with one more row; every byte of it before stays what it was."""
    newline = _newline(before, encoding)
    suffix = path.suffix.lower()
    is_csv = suffix in _CSV_SUFFIXES or (suffix not in _JSON_SUFFIXES and text.lstrip()[:1] not in ("{", "["))
    line = _csv_line(path, text, row) if is_csv else json.dumps(row, ensure_ascii=False)
    gap = "" if not text or text.endswith("\n") else newline
    try:
        return before + (gap + line.replace("\r\n", "\n").replace("\n", newline) + newline).encode(encoding)
    except UnicodeEncodeError as error:
        character = line[error.start : error.end]
        raise QuestionRefusedError(
            f"{path} is written in {encoding}, which has no {character!r}; save it as UTF-8 first"
        ) from error


def _newline(before: bytes, encoding: str) -> str:
    mark = _WIDE.get(encoding, b"")
    text = before.removeprefix(mark).decode(encoding, "replace")
    return "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"


def _csv_line(path: Path, text: str, row: Mapping[str, object]) -> str:
    hint = re.match(r"sep=(.)\n", text, re.IGNORECASE)
    body = text[hint.end() :] if hint else text
    first = body.lstrip("\n").split("\n", 1)[0]
    delimiter = hint[1] if hint else max(",;\t", key=first.count)
    header = [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter, skipinitialspace=True))]
    values = dict(row)
    missing = [name for name in values if name not in header]
    # A place only repeats what the needle says, unless the needle stands twice; the check finds that.
    if "start" in missing or "document" in missing:
        values = {name: value for name, value in values.items() if name not in ("start", "end")}
        missing = [name for name in missing if name not in ("start", "end", "document")]
    missing = [name for name in missing if name != "end"]
    if missing:
        named = " and ".join(missing)
        raise QuestionRefusedError(f"{path} has no column {named}: add {named} to its first line")
    cells = [_cell(values.get(name)) for name in header]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(cells)
    return out.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, list):
        return " | ".join(map(str, value))
    return "" if value is None else str(value)


def _checked(written: Path, path: Path, known: Sequence[Fault], name: str, documents: Sequence[Document]) -> Query:
    """The new question as the check reads it.

    Raises:
        QuestionRefusedError: With what the check would find that it did not find before.
    """
    loaded = load_questions(written, documents)
    old = {(fault.line, fault.value, fault.problem) for fault in known}
    renamed = [Fault(path.as_posix(), one.line, one.value, one.problem, one.advice) for one in loaded.faults]
    fresh = [fault for fault in renamed if (fault.line, fault.value, fault.problem) not in old]
    added = next((query for query in loaded.queries if query.id == name), None)
    if fresh or added is None:
        raise QuestionRefusedError("the question was not added, because the check would find:", fresh or renamed)
    return added
