"""Results that were retrieved elsewhere: JSON lines, one question a line, or a TREC run of chunk ids.

JSON lines: `{"query_id": "q1", "results": ["a text", {"id": "c7", "text": "...", "score": 0.8}]}`; an empty list says
that nothing was returned. A TREC run (`q1 Q0 c7 1 0.8 tag`) cannot say so, and a question that is missing from either
is an error of that question, never a miss.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from corpus.faults import Fault
from experiments.own.responses import Answer, Returned, answered, returned_from

_RUN_COLUMNS = 6
_NO_SCORE = "query-id Q0 chunk-id rank score tag"


def read_results(file: Path, queries: Sequence[str], k: int) -> tuple[list[Answer], list[Fault]]:
    """Read a file of results.

    Args:
        file: `.jsonl`, or a TREC run under any other name.
        queries: Ids of the questions.
        k: How many results of each are looked at.

    Returns:
        One answer a question, and the faults of the file. A faulty line makes its question an error.
    """
    faults: list[Fault] = []
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        faults.append(Fault(str(file), None, "", f"the results cannot be read: {problem}", "Correct the path."))
        return [Answer("error", reason="the results cannot be read")] * len(queries), faults
    read = _json_lines if file.suffix.lower() == ".jsonl" else _run
    found = read(file, text, set(queries), k, faults)
    missing = Answer("error", reason=f"the question is not in {file.name}")
    return [found.get(query, missing) for query in queries], faults


def _json_lines(file: Path, text: str, queries: Collection[str], k: int, faults: list[Fault]) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        name = ""
        try:
            name, results = _object(line)
            if name not in queries:
                raise ValueError("there is no such question")
            if name in found:
                raise ValueError("this question stands there twice")
            returned = [returned_from(one, place) for place, one in enumerate(results, 1)]
            found[name] = answered(returned[:k], None)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(str(file), number, name, str(error), "Correct the line."))
            if name in queries:
                found[name] = Answer("error", reason=f"line {number}: {error}")
    return found


def _object(line: str) -> tuple[str, list[Any]]:
    row = json.loads(line)
    if not isinstance(row, dict) or not isinstance(row.get("query_id"), (str, int)):
        raise ValueError("not an object with query_id and results")
    if not isinstance(row.get("results"), list):
        raise ValueError("results is no list; an empty list says that nothing was returned")
    return str(row["query_id"]), row["results"]


def _run(file: Path, text: str, queries: Collection[str], k: int, faults: list[Fault]) -> dict[str, Answer]:
    rows: dict[str, list[tuple[float, int, str]]] = {}
    unknown: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            if len(parts) != _RUN_COLUMNS:
                raise ValueError(f"{len(parts)} columns; a TREC run has six, {_NO_SCORE}")
            query, _, chunk, rank, score, _ = parts
            if query not in queries:
                if query not in unknown:
                    unknown.add(query)
                    faults.append(Fault(str(file), number, query, "there is no such question", "Correct the line."))
                continue
            rows.setdefault(query, []).append((-float(score), int(rank), chunk))
        except ValueError as error:
            faults.append(Fault(str(file), number, line, str(error), "Correct the line."))
    # As trec_eval reads it: by score, and by rank where scores are equal.
    return {
        query: answered([Returned(None, chunk, -score) for score, _, chunk in sorted(ranked)[:k]], None)
        for query, ranked in rows.items()
    }
