"""Relevance judgements: lines of question, document and grade, checked against what is there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import fuzz, process

from corpus.faults import Fault, shortened
from corpus.json_lines import refusal

_GRADE = re.compile(r"[+-]?\d{1,9}")
_LINE_CHARACTERS = 100_000
_CLOSEST = 100


class Line(NamedTuple):
    """One judgement as it is written."""

    number: int
    query: str
    document: str
    grade: str


class Judged(NamedTuple):
    """The judgements without fault, by question and document, and what is wrong with the others."""

    grades: Mapping[str, Mapping[str, int]]
    faults: list[Fault]


def beir_lines(path: Path) -> Iterator[Line | Fault]:
    """Yield the judgements of BEIR's TSV: query-id, corpus-id and score, usually below a header of these names."""
    for number, cells in _cells(path, "\t"):
        if number == 1 and len(cells) == 3 and not _GRADE.fullmatch(cells[2].strip()):
            continue  # the header
        if len(cells) == 3:
            yield Line(number, *(cell.strip() for cell in cells))
        else:
            problem = f"the line has {len(cells)} columns, not 3"
            yield _malformed(path, number, cells, problem, "Write query-id, corpus-id and score, with tabs between.")


def trec_lines(path: Path) -> Iterator[Line | Fault]:
    """Yield the judgements of a TREC qrels file: topic, iteration (ignored), document and grade."""
    for number, cells in _cells(path, None):
        if len(cells) == 4:
            yield Line(number, cells[0], cells[2], cells[3])
        else:
            problem = f"the line has {len(cells)} columns, not 4"
            yield _malformed(path, number, cells, problem, "Write topic, iteration, document and grade.")


def read_judgements(
    path: Path, lines: Iterator[Line | Fault], queries: Collection[str], documents: Mapping[str, str]
) -> Judged:
    """Check judgements against the questions and documents there are.

    Args:
        path: The file, for the faults.
        lines: Its judgements.
        queries: Ids of the questions.
        documents: From every name a judgement may use to the id of the document.
    """
    refused = refusal(path)
    if refused is not None:
        return Judged({}, [refused])
    grades: dict[str, dict[str, int]] = {}
    faults: list[Fault] = []
    first: dict[tuple[str, str], Line] = {}
    asked, there = _Closest(queries), _Closest(documents)
    for line in lines:
        if isinstance(line, Fault):
            faults.append(line)
            continue
        wrong = _wrong(line, path.as_posix(), queries, documents, asked, there)
        earlier = first.setdefault((line.query, documents.get(line.document, line.document)), line)
        if earlier is not line:
            same = "the same grade" if earlier.grade == line.grade else f"grade {earlier.grade}"
            problem = f"the judgement stands on line {earlier.number} already, with {same}"
            wrong.append(Fault(path.as_posix(), line.number, _named(line), problem, "Remove one of the two lines."))
        faults += wrong
        if not wrong:
            grades.setdefault(line.query, {})[documents[line.document]] = int(line.grade)
    return Judged(grades, faults)


def _wrong(
    line: Line,
    file: str,
    queries: Collection[str],
    documents: Mapping[str, str],
    asked: _Closest,
    there: _Closest,
) -> list[Fault]:
    found = []
    if line.query not in queries:
        problem = "the judgement names a question that is not there"
        found.append(Fault(file, line.number, line.query, problem, asked.advice(line.query)))
    if line.document not in documents:
        problem = "the judgement names a document that is not there"
        found.append(Fault(file, line.number, line.document, problem, there.advice(line.document)))
    if not _GRADE.fullmatch(line.grade):
        problem = "the grade is not a whole number"
        found.append(Fault(file, line.number, line.grade, problem, "Write 0 for not relevant, 1 or more for relevant."))
    elif int(line.grade) < 0:
        problem = "the grade is negative"
        advice = "Write 0: trec_eval counts it as not relevant too; with --skip-faults the line is left out."
        found.append(Fault(file, line.number, _named(line), problem, advice))
    return found


class _Closest:
    """The names that come closest to those that are not there; of the first few, since a wrong file has thousands."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = list(names)
        self.left = _CLOSEST

    def advice(self, name: str) -> str:
        self.left -= 1
        best = process.extractOne(name, self.names, scorer=fuzz.ratio) if self.left >= 0 else None
        shown = f"The closest is '{shortened(best[0], 60)}'. " if best else ""
        return f"{shown}Add it, or remove the line."


def _named(line: Line) -> str:
    return f"{line.query} {line.document} {line.grade}"


def _malformed(path: Path, number: int, cells: list[str], problem: str, advice: str) -> Fault:
    return Fault(path.as_posix(), number, " ".join(cells), problem, advice)


def _cells(path: Path, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline=None) as stream:
        number = 0
        while line := stream.readline(_LINE_CHARACTERS):
            number += 1
            if line.strip():
                yield number, line.rstrip("\n").split(separator)
