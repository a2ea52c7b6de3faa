"""The documents, questions and chunks of the long history: the bundled corpus, once edited, and a question reworded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS
from corpus.check import check
from corpus.documents import Document
from corpus.fingerprint import corpus_hash, questions_hash
from corpus.questions import Query
from experiments.chunking import Chunk, chunk_corpus
from experiments.conditions import Strategy
from experiments.relevance import containing, quotable


class Cuts(NamedTuple):
    """One strategy's chunks of one corpus."""

    chunks: tuple[Chunk, ...]
    columns: dict[str, np.ndarray]  # of the chunks, by the name of the hit's field
    holders: tuple[np.ndarray, ...]  # chunks that contain each question's needle whole
    quoting: tuple[np.ndarray, ...]  # those whose own words do


@dataclass(frozen=True)
class Era:
    """A corpus with its questions, until either changes."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    cuts: dict[str, Cuts]
    corpus: str
    questions: str


def eras(strategies: Sequence[Strategy]) -> tuple[Era, Era, Era]:
    """The corpus as it is, with one document edited, and then with one question reworded."""
    first = _era(*_bundled(), strategies)
    edited = _era(_edited(first.documents), None, strategies, first)
    return first, edited, _reworded(edited)


def _bundled() -> tuple[tuple[Document, ...], tuple[Query, ...]]:
    report = check(BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS, strip_bibliography=BUNDLED_BIBLIOGRAPHY)
    return report.documents, report.queries


def _edited(documents: Sequence[Document]) -> tuple[Document, ...]:
    """The first document with a paragraph more in front, so that all its needles move."""
    text = "A paragraph was added here.\n\n" + documents[0].text
    return (replace(documents[0], text=text, sha256=hashlib.sha256(text.encode()).hexdigest()), *documents[1:])


def _reworded(era: Era) -> Era:
    first = era.queries[0]
    queries = (replace(first, text=first.text + " Please say exactly."), *era.queries[1:])
    return replace(era, queries=queries, questions=questions_hash(queries))


def _era(
    documents: tuple[Document, ...],
    queries: tuple[Query, ...] | None,
    strategies: Sequence[Strategy],
    before: Era | None = None,
) -> Era:
    if queries is None and before is not None:
        texts = {document.id: document.text for document in documents}
        queries = tuple(_moved(query, texts) for query in before.queries)
    asked = queries or ()
    cuts = {strategy.name: _cuts(documents, asked, strategy) for strategy in strategies}
    return Era(documents, asked, cuts, corpus_hash(documents), questions_hash(asked))


def _moved(query: Query, texts: dict[str, str]) -> Query:
    if query.needle is None:
        return query
    start = texts[query.needle.document].index(query.needle.text)
    end = start + len(query.needle.text)
    name = f"{query.needle.document}#char={start},{end}"
    return replace(query, needles=(replace(query.needle, id=name, start=start, end=end),))


def _cuts(documents: Sequence[Document], queries: Sequence[Query], strategy: Strategy) -> Cuts:
    chunks = chunk_corpus(documents, strategy)
    asked = [query.needle for query in queries if query.needle is not None]
    none = np.array([], np.intp)

    def by_query(found: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        remaining = iter(found)
        return tuple(none if query.needle is None else next(remaining) for query in queries)

    columns = {
        "document": np.array([chunk.document for chunk in chunks], object),
        "start": np.array([chunk.start for chunk in chunks]),
        "end": np.array([chunk.end for chunk in chunks]),
        "overlap_start": np.array([chunk.overlap_start for chunk in chunks]),
        "section": np.array([chunk.section for chunk in chunks], object),
        "tokens": np.array([len(chunk.text) // 4 + 1 for chunk in chunks]),
    }
    return Cuts(chunks, columns, by_query(containing(chunks, asked)), by_query(quotable(chunks, asked)))
