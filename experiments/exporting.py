"""A sweep as files for other tools: TREC runs and qrels, Parquet, and every number as JSON.

The pages' own tables and the report are handed out by `webapp.exporting`, which shows what the dashboard shows.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Engine

from corpus.documents import Document
from experiments.chunking import Chunk, chunk_corpus
from experiments.conditions import strategy_from_spec
from experiments.outcomes import Outcome
from experiments.reading import LoadedSweep
from experiments.recording import from_parquet
from experiments.relevance import containing
from experiments.report import report
from store import reads
from store.needle_spans import needle_spans
from store.tables import CombinationRow, QueryRow, SweepRow

DESTROYED = "destroyed"  # stands in a qrels for a needle that no chunk holds, so that it counts as never found
_TAG = "bluffline"


def trec_files(engine: Engine, loaded: LoadedSweep) -> Iterator[tuple[str, str]]:
    """A run for each recorded combination, and the qrels to judge it by.

    What is retrieved is a chunk, named ``document#char=start,end`` by its own words, so qrels belong to a strategy; a
    chunk is relevant (1) when its embedded text holds a needle of the question whole. Of document-level relevance it
    is the document, ranked by its best chunk, with the grade it was given, and all runs share one qrels. White space
    and ``%`` in ids are percent-encoded. Scores count down from the depth of the list: they keep the order, ties
    included, which the recorded scores cannot; those stand in the Parquet files.

    Args:
        engine: The store.
        loaded: The sweep.

    Yields:
        Name and content of each file.
    """
    queries = reads.queries(engine, loaded.sweep.questions_hash)
    stored = reads.hits(engine, [row.id or 0 for row in loaded.recorded])
    if any(query.relevant for query in queries):
        yield "documents.qrels", "".join(relevant_documents(queries))
    else:
        yield from _qrels_of_chunks(engine, loaded, queries)
    for row in loaded.recorded:
        outcomes = from_parquet(stored[row.id or 0])
        yield f"{file_name(row.key)}.run", "".join(line for outcome in outcomes for line in _run_lines(outcome))


def relevant_documents(queries: Sequence[QueryRow]) -> Iterator[str]:
    """The judgements of document-level relevance as lines of a qrels file."""
    for query in queries:
        for judged in query.relevant or ():
            yield _qrel(query.query_id, judged["document"], judged["grade"])


def _qrels_of_chunks(engine: Engine, loaded: LoadedSweep, queries: Sequence[QueryRow]) -> Iterator[tuple[str, str]]:
    specs: Mapping[str, str] = loaded.sweep.settings["strategies"]
    documents = corpus_of(engine, loaded.sweep)
    for name in dict.fromkeys(row.strategy for row in loaded.recorded):
        if name in specs:  # a retriever of one's own has passages of its own, known only where they were returned
            chunks = chunk_corpus(documents, strategy_from_spec(name, specs[name]))
            yield f"{file_name(name)}.qrels", "".join(_chunk_qrels(queries, chunks))


def _chunk_qrels(queries: Sequence[QueryRow], chunks: Sequence[Chunk]) -> Iterator[str]:
    for query in queries:
        spans = needle_spans(query)
        found = sorted({int(index) for holders in containing(chunks, spans) for index in holders})
        for index in found:
            yield _qrel(query.query_id, _chunk_id(chunks[index].document, chunks[index].start, chunks[index].end), 1)
        if spans and not found:
            yield _qrel(query.query_id, DESTROYED, 1)


def _run_lines(outcome: Outcome) -> Iterator[str]:
    names = (
        [ranked.document for ranked in outcome.documents]
        if outcome.documents
        else [_chunk_id(hit.document, hit.start, hit.end) for hit in outcome.hits]
    )
    for rank, name in enumerate(names, start=1):
        yield f"{_id(outcome.query_id)} Q0 {_id(name)} {rank} {len(names) - rank + 1} {_TAG}\n"


def _qrel(query: str, name: str, grade: int) -> str:
    return f"{_id(query)} 0 {_id(name)} {grade}\n"


def _chunk_id(document: str, start: int, end: int) -> str:
    return f"{document}#char={start},{end}"


def _id(name: str) -> str:
    """An id without white space, which separates columns in these files."""
    return re.sub(r"[\s%]", lambda found: quote(found[0]), name)


def corpus_of(engine: Engine, sweep: SweepRow) -> list[Document]:
    """The documents a sweep measured, as the store keeps them."""
    rows = reads.documents(engine, sweep.corpus_hash)
    texts = reads.texts(engine, [row.text_sha256 for row in rows])
    return [
        Document(row.document_id, row.title, texts[row.text_sha256], row.source, row.text_sha256, row.encoding)
        for row in rows
    ]


def parquet_files(engine: Engine, loaded: LoadedSweep) -> Iterator[tuple[str, bytes]]:
    """Every outcome with its hits, one file a combination, and the numbers, questions and documents as tables."""
    stored = reads.hits(engine, [row.id or 0 for row in loaded.recorded])
    for row in loaded.recorded:
        yield f"outcomes-{file_name(row.key)}.parquet", stored[row.id or 0]
    yield "numbers.parquet", _parquet(list(_numbers(loaded)))
    queries = reads.queries(engine, loaded.sweep.questions_hash)
    yield "questions.parquet", _parquet([_flat(row.model_dump()) for row in queries])
    yield (
        "documents.parquet",
        _parquet([_flat(row.model_dump()) for row in reads.documents(engine, loaded.sweep.corpus_hash)]),
    )


def _numbers(loaded: LoadedSweep) -> Iterator[dict[str, Any]]:
    for row in loaded.recorded:
        for number in loaded.measures.get(row.id or 0, {}).values():
            yield {**_combination(row), **number.model_dump(exclude={"combination_id"})}


def _combination(row: CombinationRow) -> dict[str, Any]:
    kept = ("key", "strategy", "retriever", "model", "scorer")
    return {f"combination_{name}" if name == "key" else name: getattr(row, name) for name in kept}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose nested values are JSON: a column of a table has one type."""
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
        for name, value in values.items()
    }


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer, compression="zstd")
    return buffer.getvalue()


def json_file(loaded: LoadedSweep) -> str:
    """Every number of the sweep, as `bluffline show --json` prints them."""
    return json.dumps(report(loaded), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def file_name(key: str) -> str:
    """A combination's key as part of a file name, on any system."""
    return re.sub(r"[^\w.=+-]+", "_", key).strip("._") or "_"
