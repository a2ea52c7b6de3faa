"""What pages and commands read: a few statements each, whole tables of one sweep at a time, no row at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import Engine, Row, Select, func, select
from sqlalchemy.orm import defer
from sqlmodel import Session, col

from store.sharing import shared, shared_by_key
from store.tables import (
    CombinationRow,
    DocumentRow,
    HitsRow,
    MeasureRow,
    OutcomeRow,
    QueryRow,
    SweepRow,
    TextRow,
)

NEWEST_FIRST = (col(SweepRow.created_at).desc(), col(SweepRow.id).desc())
_PARAMETERS = 10_000  # of one statement; SQLite takes 32,766 and PostgreSQL 65,535 at most


class RecordedRetrieval(NamedTuple):
    """A retrieval as an earlier sweep recorded it."""

    sweep_key: str
    measured_in: str | None
    stamp: dict[str, Any]
    parquet: bytes


@shared
def sweeps(engine: Engine, limit: int = 100) -> list[SweepRow]:
    """The newest sweeps first: those made last, whenever they came into this store."""
    with Session(engine) as session:
        return list(session.execute(select(SweepRow).order_by(*NEWEST_FIRST).limit(limit)).scalars())


@shared
def sweep(engine: Engine, sweep_id: int) -> SweepRow | None:
    """One sweep, or None."""
    with Session(engine) as session:
        return session.get(SweepRow, sweep_id)


def latest_sweep(engine: Engine, *states: str) -> SweepRow | None:
    """The newest sweep in one of the given states (any when none is given)."""
    query = select(SweepRow).order_by(*NEWEST_FIRST).limit(1)
    if states:
        query = query.where(col(SweepRow.state).in_(states))
    with Session(engine) as session:
        return session.execute(query).scalars().first()


def running_sweeps(engine: Engine) -> list[SweepRow]:
    """Sweeps that say they are running, whether or not their process still lives."""
    with Session(engine) as session:
        return list(session.execute(select(SweepRow).where(col(SweepRow.state) == "running")).scalars())


def interrupted_sweep(engine: Engine, fingerprint: str, commit: str | None, patch_hash: str | None) -> SweepRow | None:
    """The newest interrupted sweep made here of the same inputs, settings and code."""
    query = (
        select(SweepRow)
        .where(
            col(SweepRow.state) == "interrupted",
            col(SweepRow.pulled_from).is_(None),  # another machine's may still be running there
            col(SweepRow.fingerprint) == fingerprint,
            col(SweepRow.commit).is_not_distinct_from(commit),
            col(SweepRow.patch_hash).is_not_distinct_from(patch_hash),
        )
        .order_by(*NEWEST_FIRST)
        .limit(1)
    )
    with Session(engine) as session:
        return session.execute(query).scalars().first()


@shared
def combinations(engine: Engine, sweep_id: int) -> list[CombinationRow]:
    """A sweep's combinations in grid order."""
    query = (
        select(CombinationRow).where(col(CombinationRow.sweep_id) == sweep_id).order_by(col(CombinationRow.position))
    )
    with Session(engine) as session:
        return list(session.execute(query).scalars())


@shared
def measures(engine: Engine, sweep_id: int) -> dict[int, dict[str, MeasureRow]]:
    """All numbers of a sweep: combination id -> measure name -> row."""
    query = (
        select(MeasureRow)
        .join(CombinationRow, col(CombinationRow.id) == col(MeasureRow.combination_id))
        .where(col(CombinationRow.sweep_id) == sweep_id)
    )
    found: dict[int, dict[str, MeasureRow]] = {}
    with Session(engine) as session:
        for row in session.execute(query).scalars():
            found.setdefault(row.combination_id, {})[row.name] = row
    return found


class OutcomeRecord(NamedTuple):
    """An outcome with the facts of its query, as one joined row."""

    combination_id: int
    query_id: str
    needle_id: str | None
    phrasing: str | None
    stratum: str | None
    rank: int | None
    destroyed: bool | None
    truncated: bool
    quotable: bool | None
    nearest: float | None
    needle_distance: float | None
    chunk_distance: float | None
    gap: float | None
    truncated_by: str | None = None
    scorer_score: float | None = None


def with_questions(columns: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Join a statement for outcomes to their combinations, sweeps and questions."""
    return (
        columns.join(CombinationRow, col(CombinationRow.id) == col(OutcomeRow.combination_id))
        .join(SweepRow, col(SweepRow.id) == col(CombinationRow.sweep_id))
        .join(
            QueryRow,
            (col(QueryRow.questions_hash) == col(SweepRow.questions_hash))
            # Joined to nothing, so that SQLite does not begin with the questions: it would then read what every
            # sweep ever recorded of them, and a page would take longer with each sweep.
            & (col(QueryRow.query_id) == col(OutcomeRow.query_id).concat("")),
        )
    )


def outcomes_of(sweep_id: int) -> Select[*tuple[Any, ...]]:
    """The statement for a sweep's outcomes: the columns of `OutcomeRecord`, in the order of the question set."""
    columns = select(
        col(OutcomeRow.combination_id),
        col(OutcomeRow.query_id),
        col(QueryRow.needle_id),
        col(QueryRow.phrasing),
        col(QueryRow.stratum),
        col(OutcomeRow.rank),
        col(OutcomeRow.destroyed),
        col(OutcomeRow.truncated),
        col(OutcomeRow.quotable),
        col(OutcomeRow.nearest),
        col(OutcomeRow.needle_distance),
        col(OutcomeRow.chunk_distance),
        col(OutcomeRow.gap),
        col(OutcomeRow.truncated_by),
        col(OutcomeRow.scorer_score),
    )
    return (
        with_questions(columns)
        .where(col(CombinationRow.sweep_id) == sweep_id)
        .order_by(col(OutcomeRow.combination_id), col(QueryRow.position))
    )


@shared
def outcomes(
    engine: Engine, sweep_id: int, combination_ids: Sequence[int] | None = None
) -> dict[int, list[OutcomeRecord]]:
    """Outcomes by combination, in the order of the question set.

    Args:
        engine: The store.
        sweep_id: The sweep.
        combination_ids: Only these; all recorded ones when None.
    """
    query = outcomes_of(sweep_id)
    if combination_ids is not None:
        query = query.where(col(OutcomeRow.combination_id).in_(combination_ids))
    found: dict[int, list[OutcomeRecord]] = {}
    with Session(engine) as session:
        rows: Sequence[Row[Any]] = session.execute(query).all()  # SQLAlchemy types at most ten columns
    for row in rows:
        record = OutcomeRecord._make(row)
        found.setdefault(record.combination_id, []).append(record)
    return found


@shared_by_key
def hits(engine: Engine, combination_ids: Sequence[int]) -> dict[int, bytes]:
    """The Parquet files of combinations."""
    query = select(HitsRow).where(col(HitsRow.combination_id).in_(combination_ids))
    with Session(engine) as session:
        return {row.combination_id: row.parquet for row in session.execute(query).scalars()}


def recorded_retrievals(engine: Engine, retrieval_keys: Sequence[str]) -> dict[str, RecordedRetrieval]:
    """Retrievals of the same inputs that earlier sweeps recorded, the newest of each."""
    newest = (
        select(func.max(col(CombinationRow.id)))
        .where(col(CombinationRow.state) == "recorded", col(CombinationRow.retrieval_key).in_(retrieval_keys))
        .group_by(col(CombinationRow.retrieval_key))
    )
    query = (
        select(CombinationRow, col(SweepRow.key), col(HitsRow.parquet))
        .join(SweepRow, col(SweepRow.id) == col(CombinationRow.sweep_id))
        .join(HitsRow, col(HitsRow.combination_id) == col(CombinationRow.id))
        .where(col(CombinationRow.id).in_(newest))
    )
    with Session(engine) as session:
        return {
            str(row.retrieval_key): RecordedRetrieval(key, row.measured_in, row.stamp, parquet)
            for row, key, parquet in session.execute(query).all()
        }


@shared
def queries(engine: Engine, questions_hash: str) -> list[QueryRow]:
    """A question set in its own order."""
    query = select(QueryRow).where(col(QueryRow.questions_hash) == questions_hash).order_by(col(QueryRow.position))
    with Session(engine) as session:
        return list(session.execute(query).scalars())


def documents(engine: Engine, corpus_hash: str) -> list[DocumentRow]:
    """A corpus's documents, without their texts."""
    query = select(DocumentRow).where(col(DocumentRow.corpus_hash) == corpus_hash).order_by(col(DocumentRow.position))
    with Session(engine) as session:
        return list(session.execute(query).scalars())


def document_heads(engine: Engine, corpus_hash: str) -> list[DocumentRow]:
    """A corpus's documents without locators and facts of extraction, which of a thousand documents are megabytes."""
    heavy = [defer(cast("Any", column)) for column in (DocumentRow.locators, DocumentRow.extraction)]
    query = select(DocumentRow).where(col(DocumentRow.corpus_hash) == corpus_hash).order_by(col(DocumentRow.position))
    with Session(engine) as session:
        return list(session.execute(query.options(*heavy)).scalars())


def document(engine: Engine, corpus_hash: str, document_id: str) -> DocumentRow | None:
    """One document of a corpus, whole; None where it has none of this id."""
    with Session(engine) as session:
        return session.get(DocumentRow, (corpus_hash, document_id))


@shared_by_key
def texts(engine: Engine, hashes: Sequence[str]) -> dict[str, str]:
    """Canonical texts by their hashes; what is not there is left out."""
    found = {}
    with Session(engine) as session:
        for start in range(0, len(hashes), _PARAMETERS):
            query = select(TextRow).where(col(TextRow.sha256).in_(hashes[start : start + _PARAMETERS]))
            found.update({row.sha256: row.text for row in session.execute(query).scalars()})
    return found
