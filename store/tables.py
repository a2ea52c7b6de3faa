"""The tables of the store.

Long formats on purpose: a number is a `MeasureRow` with its interval and n, so that a trend of any number over any
number of sweeps is one SQL statement; a question set, a corpus and a text are kept once, by their hashes, however
many sweeps used them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Column, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlmodel import Field, SQLModel


class SweepRow(SQLModel, table=True):
    """All combinations measured at one commit."""

    __tablename__ = "sweep"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True, max_length=32)  # the same on every machine; MLflow carries it as a tag
    fingerprint: str = Field(index=True, max_length=64)
    state: str = Field(index=True)  # queued, running, finished, failed, cancelled, interrupted
    reason: str | None = Field(default=None, sa_column=Column(Text))
    created_at: datetime = Field(index=True)  # "newest" means by this: a pulled sweep may come later than it was made
    started_at: datetime | None = None
    finished_at: datetime | None = None
    heartbeat_at: datetime | None = None
    pid: int | None = None
    host: str | None = None
    commit: str | None = Field(default=None, index=True)
    branch: str | None = Field(default=None, index=True)
    tag: str | None = None
    author_date: datetime | None = None
    dirty: bool | None = None
    patch_hash: str | None = None
    corpus_hash: str = Field(index=True, max_length=64)
    questions_hash: str = Field(index=True, max_length=64)
    hit_rule: str
    pipeline: str
    documents: int
    needles: int
    answerable: int
    near: int
    far: int
    settings: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    versions: dict[str, str] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    stage: str | None = None
    done: int = 0
    total: int = 0
    eta_seconds: float | None = None
    cancel_requested: bool = False
    mlflow_uri: str | None = None
    mlflow_run_id: str | None = None
    mlflow_error: str | None = Field(default=None, sa_column=Column(Text))
    mlflow_record: str | None = Field(default=None, max_length=64)  # hash of what that run says, as last seen here
    pulled_from: str | None = None  # experiment at `mlflow_uri` it was read from; None for a sweep made here


class CombinationRow(SQLModel, table=True):
    """One strategy x retriever x model x scorer of a sweep."""

    __tablename__ = "combination"
    __table_args__ = (UniqueConstraint("sweep_id", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    sweep_id: int = Field(sa_column=Column(ForeignKey("sweep.id", ondelete="CASCADE"), nullable=False, index=True))
    position: int
    key: str
    strategy: str
    retriever: str
    model: str | None = None
    scorer: str | None = None  # the second model of `rerank` and `late`
    state: str  # queued, running, recorded, failed
    reason: str | None = Field(default=None, sa_column=Column(Text))
    retrieval_key: str | None = Field(default=None, index=True, max_length=64)
    measured_in: str | None = None  # key of the sweep whose retrieval was read again, else None
    stamp: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    recorded_at: datetime | None = None
    mlflow_run_id: str | None = None


class MeasureRow(SQLModel, table=True):
    """One number of a combination, with what it needs to be read honestly."""

    __tablename__ = "measure"

    combination_id: int = Field(
        sa_column=Column(ForeignKey("combination.id", ondelete="CASCADE"), primary_key=True, nullable=False)
    )
    name: str = Field(sa_column=Column(String(64), primary_key=True))
    value: float | None = None  # None where the denominator is empty
    low: float | None = None
    high: float | None = None
    hits: int | None = None  # of a proportion
    n: int


class QueryRow(SQLModel, table=True):
    """One question of a question set, as it was asked."""

    __tablename__ = "query"

    questions_hash: str = Field(primary_key=True, max_length=64)
    query_id: str = Field(primary_key=True)
    position: int
    text: str = Field(sa_column=Column(Text, nullable=False))
    phrasing: str | None = None
    stratum: str | None = None
    needle_id: str | None = None  # of what answers it: one needle, several, or relevant documents
    needle: str | None = Field(default=None, sa_column=Column(Text))  # the first; `needles` has all
    document: str | None = None
    start: int | None = None
    end: int | None = None
    # Several needles as {id, text, document, start, end}, and how many are needed: any or all. None where one is enough
    # to say what answers the question.
    needles: list[dict[str, Any]] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    require: str | None = None
    # Document-level relevance as {document, grade}; None where needles answer.
    relevant: list[dict[str, Any]] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))


class OutcomeRow(SQLModel, table=True):
    """What one combination did with one question; every threshold is read from these."""

    __tablename__ = "outcome"
    __table_args__ = (Index("ix_outcome_query", "query_id", "combination_id"),)

    combination_id: int = Field(
        sa_column=Column(ForeignKey("combination.id", ondelete="CASCADE"), primary_key=True, nullable=False)
    )
    query_id: str = Field(primary_key=True)
    rank: int | None = None
    # None: not known, of a retriever that does not show its chunks. No default of the column: it would stand for None.
    destroyed: bool | None = Field(default=False, sa_column=Column(Boolean, nullable=True))
    truncated: bool = False
    truncated_by: str | None = None  # whose window: encoder, scorer, or both; None in older records too
    quotable: bool | None = None
    nearest: float | None = None
    needle_distance: float | None = None
    chunk_distance: float | None = None
    gap: float | None = None
    scorer_score: float | None = None  # the best of the chunks the gate looks at, by the second model


class HitsRow(SQLModel, table=True):
    """The outcomes of one combination with their top hits, as the Parquet file that MLflow holds too."""

    __tablename__ = "hits"

    combination_id: int = Field(
        sa_column=Column(ForeignKey("combination.id", ondelete="CASCADE"), primary_key=True, nullable=False)
    )
    parquet: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class DocumentRow(SQLModel, table=True):
    """One document of a corpus."""

    __tablename__ = "document"

    corpus_hash: str = Field(primary_key=True, max_length=64)
    document_id: str = Field(primary_key=True)
    position: int
    title: str
    source: str
    encoding: str
    characters: int
    sections: int
    text_sha256: str = Field(sa_column=Column(ForeignKey("text.sha256"), nullable=False))
    # How its text came out of the file; None where a sweep of an older version recorded it.
    file_sha256: str | None = Field(default=None, max_length=64)
    extractor: str | None = None
    locators: list[Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    extraction: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))


class FileRow(SQLModel, table=True):
    """One file of the documents folder, and how far it has come on its way into the index.

    What it counts (characters, pages, chunks, ...) is of the last time it was indexed, and written when that was done;
    while it is extracted again, or after that failed, the older counts stay beside the newer state.
    """

    __tablename__ = "file"

    document_id: str = Field(primary_key=True)  # POSIX path relative to the documents folder
    bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
    file_sha256: str = Field(max_length=64)  # of the content it was last looked at with
    state: str = Field(index=True)  # queued, extracting, indexed, stale, failed
    kind: str | None = None  # of a failure, one word
    reason: str | None = Field(default=None, sa_column=Column(Text))
    advice: str | None = Field(default=None, sa_column=Column(Text))
    changed_at: datetime  # when it came into this state
    times: dict[str, str] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))  # of every state
    indexed_sha256: str | None = Field(default=None, max_length=64)  # of the content its counts are of
    text_sha256: str | None = Field(default=None, sa_column=Column(ForeignKey("text.sha256"), nullable=True))
    title: str | None = None
    encoding: str | None = None
    extractor: str | None = None
    pipeline: str | None = None
    stamp: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))  # of the model
    characters: int | None = None
    sections: int | None = None
    pages: int | None = None
    tables: int | None = None
    chunks: dict[str, int] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))  # by strategy
    extraction: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    locators: list[Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))


class IndexingRow(SQLModel, table=True):
    """One run of the indexer, watched through this row while it works."""

    __tablename__ = "indexing"

    id: int | None = Field(default=None, primary_key=True)
    state: str = Field(index=True)  # running, finished, failed, cancelled, interrupted
    reason: str | None = Field(default=None, sa_column=Column(Text))
    started_at: datetime
    finished_at: datetime | None = None
    heartbeat_at: datetime
    pid: int
    host: str
    stage: str | None = None
    done: int = 0  # documents
    total: int = 0
    eta_seconds: float | None = None
    cancel_requested: bool = False


class TextRow(SQLModel, table=True):
    """A canonical text, once, by its hash."""

    __tablename__ = "text"

    sha256: str = Field(primary_key=True, max_length=64)
    text: str = Field(sa_column=Column(Text, nullable=False))


class DecisionRow(SQLModel, table=True):
    """A threshold that somebody chose, with what was known at that moment.

    Rows are only ever added: the database itself refuses to change or delete one. The newest is in force; it names
    the one it supersedes. A sweep is named by its key, not by a foreign key, because a decision outlives its sweep.
    """

    __tablename__ = "decision"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True, max_length=32)  # the same on every machine; MLflow carries it as a tag
    supersedes: int | None = Field(
        default=None, sa_column=Column(ForeignKey("decision.id"), nullable=True, unique=True)
    )  # unique: a decision is superseded once
    created_at: datetime
    who: str
    reason: str = Field(sa_column=Column(Text, nullable=False))
    project: str
    sweep_id: int
    sweep_key: str = Field(max_length=32)
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    combination: str  # its key within the sweep
    strategy: str
    strategy_spec: str
    retriever: str
    retriever_settings: str | None = None  # BM25's in words; None where the retriever has none
    fusion: str | None = None  # how dense and BM25 are fused, in words; None where they are not
    model: str | None = None
    scorer: str | None = None  # the second model of `rerank` and `late`
    stamp: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))  # of the gate's model
    scorer_stamp: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column(JSON, nullable=False, server_default="{}")
    )
    threshold: float
    gate_size: int
    corpus_hash: str = Field(max_length=64)
    questions_hash: str = Field(max_length=64)
    hit_rule: str
    pipeline: str
    picked_by: str  # hand, cost or bound
    costs: dict[str, float] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    unanswerable_share: float
    target: float | None = None  # bluff rate that was to be certified; None where none was asked for
    confidence: float
    evidence: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


class SyncRow(SQLModel, table=True):
    """One exchange with the tracking server: how far it is, what came of it, and what went wrong."""

    __tablename__ = "sync"

    id: int | None = Field(default=None, primary_key=True)
    state: str  # running, finished, failed
    started_at: datetime
    heartbeat_at: datetime
    finished_at: datetime | None = None
    pid: int | None = None
    host: str | None = None
    uri: str
    stage: str | None = None
    done: int = 0
    total: int = 0
    eta_seconds: float | None = None
    counts: dict[str, int] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    faults: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
