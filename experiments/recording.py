"""Between the runner's types and what is kept: rows of the store, and the Parquet file that MLflow holds too."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.documents import Document
from corpus.headings import headings
from corpus.questions import Query
from experiments.evaluation import Number
from experiments.outcomes import Hit, Outcome, RankedDocument
from store.tables import DocumentRow, MeasureRow, OutcomeRow, QueryRow, TextRow

_HIT = pa.struct(
    [
        ("document", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("overlap_start", pa.int64()),
        ("section", pa.string()),
        ("score", pa.float64()),
        ("distance", pa.float64()),
        ("tokens", pa.int64()),
        ("contains", pa.bool_()),
        ("quotable", pa.bool_()),
        ("text", pa.string()),
        ("first_rank", pa.int64()),
    ]
)
SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("needle_id", pa.string()),
        ("phrasing", pa.string()),
        ("stratum", pa.string()),
        ("rank", pa.int64()),
        ("destroyed", pa.bool_()),
        ("truncated", pa.bool_()),
        ("quotable", pa.bool_()),
        ("nearest", pa.float64()),
        ("needle_distance", pa.float64()),
        ("chunk_distance", pa.float64()),
        ("gap", pa.float64()),
        ("hits", pa.list_(_HIT)),
        ("truncated_by", pa.string()),
        ("scorer_score", pa.float64()),
    ]
)
# Outcomes of document-level relevance have two more columns; those of needles do without.
_DOCUMENT = pa.struct([("document", pa.string()), ("score", pa.float64()), ("grade", pa.int64())])
_OF_DOCUMENTS = [pa.field("documents", pa.list_(_DOCUMENT)), pa.field("grades", pa.list_(pa.int64()))]
DOCUMENT_SCHEMA = pa.schema([*SCHEMA, *_OF_DOCUMENTS])
# Fields that older files lack and that may be None; whatever else is missing or different is no file of ours.
_ADDED = {"text", "first_rank", "truncated_by", "scorer_score"}


def to_parquet(outcomes: Sequence[Outcome]) -> bytes:
    """Outcomes with their top hits as a Parquet file, one row a question."""
    schema = DOCUMENT_SCHEMA if any(outcome.grades for outcome in outcomes) else SCHEMA
    table = pa.Table.from_pylist([_values(outcome) for outcome in outcomes], schema=schema)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _values(outcome: Outcome) -> dict[str, Any]:
    # A named tuple would be written as a list.
    return {**asdict(outcome), "documents": [document._asdict() for document in outcome.documents]}


def from_parquet(data: bytes) -> tuple[Outcome, ...]:
    """The outcomes a Parquet file holds.

    Raises:
        ValueError: If it is not a file of outcomes of this version.
    """
    return _outcomes(_table(data))


def outcome_from_parquet(data: bytes, query_id: str) -> Outcome | None:
    """One question's outcome out of a Parquet file, without making objects of the others; None where it is not there.

    Raises:
        ValueError: If it is not a file of outcomes of this version.
    """
    table = _table(data)
    place = pc.index(table.column("query_id"), query_id).as_py()
    return _outcomes(table.slice(place, 1))[0] if place >= 0 else None


def _table(data: bytes) -> pa.Table:
    try:
        # In this thread: a page reads dozens of small files, and a pool costs more than it saves.
        table = pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)
    except pa.ArrowInvalid as error:
        raise ValueError(f"not a Parquet file of outcomes: {error}") from error
    if not _known(table.schema):  # casting would fill fields that a hit lacks with nulls
        columns = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise ValueError(f"the file holds no outcomes of this version, its columns are {columns}")
    return table


def _known(schema: pa.Schema) -> bool:
    """Whether a file's columns are this version's, or an older one's of which only added fields are missing."""
    try:
        of_hits = [field.name for field in schema.field("hits").type.value_type]
    except (KeyError, AttributeError, TypeError):  # no such column, no list, or a list of something else
        return False
    hit = pa.struct([field for field in _HIT if field.name in of_hits or field.name not in _ADDED])
    whole = DOCUMENT_SCHEMA if "grades" in schema.names else SCHEMA
    columns = {field.name: field.type for field in whole if field.name in schema.names or field.name not in _ADDED}
    return bool(schema.equals(pa.schema(list({**columns, "hits": pa.list_(hit)}.items()))))


def _outcomes(table: pa.Table) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(
            **{
                **row,
                "hits": tuple(Hit(**hit) for hit in row["hits"]),
                "documents": tuple(RankedDocument(**document) for document in row.get("documents", ())),
                "grades": tuple(row.get("grades", ())),
            }
        )
        for row in table.to_pylist()
    )


def measure_rows(combination_id: int, numbers: Sequence[Number]) -> list[MeasureRow]:
    """Numbers as rows."""
    return [MeasureRow(combination_id=combination_id, **number._asdict()) for number in numbers]


def outcome_rows(combination_id: int, outcomes: Sequence[Outcome]) -> list[OutcomeRow]:
    """The scalars of outcomes as rows; what the question set knows stays there."""
    kept = [field.name for field in fields(Outcome) if field.name in OutcomeRow.model_fields]
    return [
        OutcomeRow(combination_id=combination_id, **{name: getattr(outcome, name) for name in kept})
        for outcome in outcomes
    ]


def query_rows(queries: Sequence[Query], questions_hash: str) -> list[QueryRow]:
    """A question set as rows."""
    return [
        QueryRow(
            questions_hash=questions_hash,
            query_id=query.id,
            position=position,
            text=query.text,
            phrasing=query.phrasing,
            stratum=query.stratum,
            needle_id=query.answer_id,
            needle=query.needle.text if query.needle else None,
            document=query.needle.document if query.needle else None,
            start=query.needle.start if query.needle else None,
            end=query.needle.end if query.needle else None,
            needles=[asdict(needle) for needle in query.needles] if len(query.needles) > 1 else None,
            require=query.require if len(query.needles) > 1 else None,
            relevant=[judgement._asdict() for judgement in query.relevant] or None,
        )
        for position, query in enumerate(queries)
    ]


def document_rows(documents: Sequence[Document], corpus_hash: str) -> tuple[list[DocumentRow], list[TextRow]]:
    """A corpus as rows: its documents, and their texts by hash."""
    rows = [
        DocumentRow(
            corpus_hash=corpus_hash,
            document_id=document.id,
            position=position,
            title=document.title,
            source=document.source,
            encoding=document.encoding,
            characters=len(document.text),
            sections=sum(heading.level == 2 for heading in headings(document.text)),
            text_sha256=document.sha256,
            file_sha256=document.file_sha256 or None,
            extractor=document.extractor or None,
            locators=[list(one) for one in document.locators],
            extraction=document.extraction.as_json(),
        )
        for position, document in enumerate(documents)
    ]
    texts = {document.sha256: document.text for document in documents}
    return rows, [TextRow(sha256=sha256, text=text) for sha256, text in texts.items()]
