"""TREC topics and qrels over a folder of documents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from corpus.documents import Document
from corpus.faults import Fault
from corpus.importing.judgements import read_judgements, trec_lines
from corpus.importing.material import Material
from corpus.json_lines import refusal
from corpus.question_rows import Row

FIELDS = ("title", "desc", "narr")
_MOST_MEGABYTES = 50
_TOPIC = re.compile(r"<top>(.*?)(?=<top>|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(num|title|desc|narr)>(.*?)(?=<(?:num|title|desc|narr|/top|top)>|\Z)", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_CLOSING = re.compile(r"</\w+>")


class _Topic(NamedTuple):
    line: int
    id: str
    text: str


def read_trec(topics: Path, qrels: Path, documents: Sequence[Document], field: str = "title") -> Material:
    """Read topics and their judgements; a judged document is one of the folder, by its name with or without suffix.

    Args:
        topics: Topics in TREC's SGML (`<top>`, `<num>`, `<title>`, ...), or lines of id, tab and text.
        qrels: Lines of topic, iteration, document and grade.
        documents: The documents of the folder.
        field: Which field of an SGML topic is asked: title, desc or narr.
    """
    file = topics.as_posix()
    faults = [fault for fault in (refusal(topics, _MOST_MEGABYTES), refusal(qrels)) if fault is not None]
    if faults:
        return Material(documents, file, (), faults, collection=False)
    found, faults = _topics(topics, field)
    judged = read_judgements(qrels, trec_lines(qrels), found, _names(documents))
    faults += judged.faults
    rows = []
    for name, topic in found.items():
        grades = judged.grades.get(name)
        if grades and any(grades.values()):
            rows.append(Row(topic.line, {"id": name, "question": topic.text, "relevant": dict(grades)}))
        elif grades:
            problem = "no document is judged relevant to the topic"
            advice = "Remove its judgements, or grade a document above 0."
            faults.append(Fault(file, topic.line, name, problem, advice))
    notes = [f"{len(rows):,} of {len(found):,} topics are judged in {qrels.name}; the others are left out."]
    return Material(documents, file, rows, faults, notes, collection=False)


def _names(documents: Sequence[Document]) -> Mapping[str, str]:
    """The names a judgement may call a document by: its id, or its file's name without suffix where that is its own."""
    stems: dict[str, list[str]] = {}
    for document in documents:
        path = PurePosixPath(document.id)
        for name in {path.name, path.stem, str(path.with_suffix(""))}:
            stems.setdefault(name, []).append(document.id)
    alone = {name: ids[0] for name, ids in stems.items() if len(ids) == 1}
    return {**alone, **{document.id: document.id for document in documents}}


def _topics(path: Path, field: str) -> tuple[dict[str, _Topic], list[Fault]]:
    text = path.read_text("utf-8-sig", errors="replace")
    file = path.as_posix()
    sgml = "<top>" in text.lower()
    read, faults = _sgml(text, field, file) if sgml else _lines(text, file)
    found: dict[str, _Topic] = {}
    for topic in read:
        earlier = found.setdefault(topic.id, topic)
        if earlier is not topic:
            problem = f"the topic's number is used already on line {earlier.line}"
            faults.append(Fault(file, topic.line, topic.id, problem, "Give every topic a number of its own."))
    return found, faults


def _sgml(text: str, field: str, file: str) -> tuple[list[_Topic], list[Fault]]:
    topics, faults = [], []
    for match in _TOPIC.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        values = {
            name.lower(): " ".join(_LABEL.sub("", _CLOSING.sub("", value), count=1).split())
            for name, value in _FIELD.findall(match[1])
        }
        name, asked = values.get("num", ""), values.get(field, "")
        if name and asked:
            topics.append(_Topic(line, name, asked))
        else:
            missing = "<num>" if not name else f"<{field}>"
            advice = "Write it, or choose another field with --field."
            faults.append(Fault(file, line, name, f"the topic has no {missing}", advice))
    return topics, faults


def _lines(text: str, file: str) -> tuple[list[_Topic], list[Fault]]:
    topics, faults = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        name, tab, asked = line.partition("\t")
        if tab and name.strip() and asked.strip():
            topics.append(_Topic(number, name.strip(), " ".join(asked.split())))
        elif line.strip():
            problem = "the line is no topic: its number, a tab and its words"
            faults.append(Fault(file, number, line, problem, "Or write TREC's <top> ... </top>."))
    return topics, faults
