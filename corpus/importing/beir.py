"""A BEIR folder: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corpus.collection import read_collection
from corpus.documents import of_entry
from corpus.faults import Fault
from corpus.importing.judgements import beir_lines, read_judgements
from corpus.importing.material import Material
from corpus.json_lines import json_lines
from corpus.question_rows import Row

_USUAL = "test"


def read_beir(folder: Path, split: str | None = None) -> Material:
    """Read a benchmark folder: its documents, and the questions that one of its splits judges.

    Args:
        folder: As BEIR ships its data sets, unpacked.
        split: Name of the judgements' file without `.tsv`; `test` where there is one, else the only file there is.
    """
    corpus, asked = folder / "corpus.jsonl", folder / "queries.jsonl"
    qrels, faults = _qrels(folder, split)
    entries, wrong = read_collection(corpus)
    faults += wrong
    questions, wrong = _questions(asked)
    faults += wrong
    if qrels is None:
        return Material((), asked.as_posix(), (), faults)
    documents = {entry.id: entry.id for entry in entries}
    judged = read_judgements(qrels, beir_lines(qrels), questions, documents)
    faults += judged.faults
    rows = []
    for name, row in questions.items():
        grades = judged.grades.get(name)
        if not grades:
            continue
        if any(grades.values()):
            rows.append(Row(row.line, {"id": name, "question": row.values["text"], "relevant": dict(grades)}))
        else:
            problem = "no document is judged relevant to the question"
            advice = "Remove its judgements, or grade a document above 0."
            faults.append(Fault(asked.as_posix(), row.line, name, problem, advice))
    count = sum(map(len, judged.grades.values()))
    unjudged = len(questions) - len(judged.grades)
    notes = [
        f"{count:,} judgements of {len(rows):,} questions in {qrels.name}; "
        f"questions left out because they have none in it: {unjudged:,}."
    ]
    return Material([of_entry(entry, corpus) for entry in entries], asked.as_posix(), rows, faults, notes)


def _qrels(folder: Path, split: str | None) -> tuple[Path | None, list[Fault]]:
    """Return the file of judgements, or why there is none."""
    place = folder / "qrels"
    names = sorted(path.stem for path in place.glob("*.tsv"))
    wanted = split or (_USUAL if _USUAL in names else names[0] if len(names) == 1 else None)
    if wanted in names:
        return place / f"{wanted}.tsv", []
    file = place.as_posix()
    if not names:
        return None, [Fault(file, None, "", "there are no judgements (qrels/*.tsv)", "Check the path.")]
    advice = f"Choose one with --split: {', '.join(names)}."
    problem = "there is no such split" if split else "it is not clear which split is meant"
    return None, [Fault(file, None, split or "", problem, advice)]


def _questions(path: Path) -> tuple[Mapping[str, Row], list[Fault]]:
    found: dict[str, Row] = {}
    faults: list[Fault] = []
    file = path.as_posix()
    for row in json_lines(path):
        if isinstance(row, Fault):
            faults.append(row)
            continue
        name, text = row.values.get("_id", row.values.get("id")), row.values.get("text")
        if not isinstance(name, (str, int)) or not isinstance(text, str):
            advice = 'Write {"_id": "q1", "text": "What is asked?"}.'
            faults.append(Fault(file, row.line, str(name or ""), "the question has no `_id` or no `text`", advice))
        elif str(name) in found:
            problem = f"the question's id is used already on line {found[str(name)].line}"
            faults.append(Fault(file, row.line, str(name), problem, "Give every question an id of its own."))
        else:
            found[str(name)] = row
    return found, faults
