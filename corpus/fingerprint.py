"""Fingerprints: two corpora or question sets with the same hash give the same results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from corpus.documents import Document
from corpus.questions import Query


def corpus_hash(documents: Sequence[Document]) -> str:
    """Return a SHA-256 hex digest over the ids, titles (they go into chunk headers) and text hashes.

    The order of the documents does not matter, and neither does where the folder lies.
    """
    return _digest("corpus 1", ([item.id, item.title, item.sha256] for item in documents))


def questions_hash(queries: Sequence[Query]) -> str:
    """Return a SHA-256 hex digest over everything about the queries that a result can depend on.

    The order of the queries does not matter; line numbers and key facts change no result and are left out. What only
    some sets have (several needles, relevant documents) is added only there: the hash of the others stays as it was.
    """
    return _digest("questions 1", (_row(query) for query in queries))


def wording_hash(queries: Sequence[Query]) -> str:
    """Return a SHA-256 hex digest over the queries without the places of their needles.

    An edited document moves needles that nobody touched: the set then has another hash and the same wording.
    """
    return _digest("wording 1", (_wording(query) for query in queries))


def _wording(query: Query) -> list[object]:
    needles = sorted([needle.document, needle.text] for needle in query.needles)
    judged = [list(judgement) for judgement in query.relevant]
    return [query.id, query.text, query.phrasing, query.stratum, query.require, needles, judged]


def _row(query: Query) -> list[object]:
    needle = query.needle
    place = [None, None] if needle is None else [needle.id, needle.text]
    row: list[object] = [query.id, query.text, query.phrasing, query.stratum, *place]
    if len(query.needles) > 1:
        row += [query.require, [[one.id, one.text] for one in query.needles[1:]]]
    if query.relevant:
        row += ["relevant", [list(judgement) for judgement in query.relevant]]
    return row


def _digest(kind: str, rows: Iterable[Sequence[object]]) -> str:
    lines = sorted(json.dumps(row, ensure_ascii=True) for row in rows)
    return hashlib.sha256("\n".join([kind, *lines]).encode("ascii")).hexdigest()
