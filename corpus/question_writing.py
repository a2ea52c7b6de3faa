"""Writing questions as files that `load_questions` accepts again, as JSONL or as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from corpus.question_rows import COLUMNS
from corpus.questions import Needle, Query


def to_jsonl(queries: Iterable[Query]) -> str:
    """One JSON object a line; what a question does not have is left out."""
    return "".join(json.dumps(_values(query), ensure_ascii=False) + "\n" for query in queries)


def to_csv(queries: Iterable[Query]) -> str:
    """CSV with the columns of a questions file.

    Values stand as they are, also those a spreadsheet would take for a formula: an apostrophe in front, as exports of
    numbers have it, would make another question of it.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    for query in queries:
        values = _values(query)
        facts = values.get("key_facts")
        if isinstance(facts, list):
            values["key_facts"] = " | ".join(map(str, facts))
        for name in ("needles", "relevant"):
            if name in values:
                values[name] = json.dumps(values[name], ensure_ascii=False)
        writer.writerow(values)
    return out.getvalue()


def _values(query: Query) -> dict[str, object]:
    values: dict[str, object] = {"id": query.id, "question": query.text}
    if len(query.needles) == 1:
        values |= _place(query.needles[0])
    elif query.needles:
        values |= {"needles": [_place(needle) for needle in query.needles], "require": query.require}
    if query.relevant:
        values["relevant"] = dict(query.relevant)
    if query.phrasing is not None:
        values["phrasing"] = query.phrasing
    if query.stratum is not None:
        values["stratum"] = query.stratum
    if query.key_facts:
        values["key_facts"] = list(query.key_facts)
    return values


def _place(needle: Needle) -> dict[str, object]:
    return {"needle": needle.text, "document": needle.document, "start": needle.start, "end": needle.end}
