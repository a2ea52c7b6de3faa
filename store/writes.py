"""Everything that changes the store. Each function is one transaction: it happens whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import CursorResult, Engine, delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlmodel import Session, SQLModel, col

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


def add_corpus(engine: Engine, documents: Iterable[DocumentRow], texts: Iterable[TextRow]) -> None:
    """Keep a corpus; what is already there stays."""
    with Session(engine) as session:
        insert_missing(session, TextRow, texts)
        insert_missing(session, DocumentRow, documents)
        session.commit()


def add_questions(engine: Engine, queries: Iterable[QueryRow]) -> None:
    """Keep a question set; what is already there stays."""
    with Session(engine) as session:
        insert_missing(session, QueryRow, queries)
        session.commit()


def add_sweep(engine: Engine, sweep: SweepRow, combinations: Sequence[CombinationRow]) -> int:
    """Begin a sweep with its combinations.

    Returns:
        The sweep's id.
    """
    with Session(engine) as session:
        session.add(sweep)
        session.flush()
        sweep_id = sweep.id
        if sweep_id is None:
            raise RuntimeError("the database gave the sweep no id")
        for combination in combinations:
            combination.sweep_id = sweep_id
            session.add(combination)
        session.commit()
    return sweep_id


def update_sweep(engine: Engine, sweep_id: int, **values: Any) -> None:
    """Set columns of a sweep."""
    with Session(engine) as session:
        session.execute(update(SweepRow).where(col(SweepRow.id) == sweep_id).values(**values))
        session.commit()


def update_combination(engine: Engine, combination_id: int, **values: Any) -> None:
    """Set columns of a combination."""
    with Session(engine) as session:
        session.execute(update(CombinationRow).where(col(CombinationRow.id) == combination_id).values(**values))
        session.commit()


def record_combination(
    engine: Engine,
    combination_id: int,
    *,
    measures: Sequence[MeasureRow],
    outcomes: Sequence[OutcomeRow],
    parquet: bytes,
    stamp: dict[str, Any],
    measured_in: str | None,
) -> None:
    """Write all of one combination's results, replacing what an interrupted attempt may have left."""
    with Session(engine) as session:
        for table in (MeasureRow, OutcomeRow, HitsRow):
            session.execute(delete(table).where(col(table.combination_id) == combination_id))
        _insert(session, MeasureRow, measures)
        _insert(session, OutcomeRow, outcomes)
        _insert(session, HitsRow, [HitsRow(combination_id=combination_id, parquet=parquet)])
        session.execute(
            update(CombinationRow)
            .where(col(CombinationRow.id) == combination_id)
            .values(state="recorded", reason=None, stamp=stamp, measured_in=measured_in, recorded_at=datetime.now(UTC))
        )
        session.commit()


def claim_sweep(engine: Engine, sweep_id: int, *, pid: int, host: str) -> bool:
    """Take over an interrupted or queued sweep, unless another process was faster.

    Returns:
        True when the sweep is now this process's.
    """
    with Session(engine) as session:
        done: CursorResult[Any] = session.execute(  # type: ignore[assignment]  # an UPDATE gives a CursorResult
            update(SweepRow)
            .where(col(SweepRow.id) == sweep_id, col(SweepRow.state).in_(("interrupted", "queued")))
            .values(state="running", pid=pid, host=host, reason=None, heartbeat_at=datetime.now(UTC))
        )
        session.commit()
        return done.rowcount == 1


def beat(engine: Engine, sweep_id: int, *, stage: str, done: int, total: int, eta_seconds: float | None) -> bool:
    """Say how far a running sweep is.

    Returns:
        Whether somebody asked for it to be cancelled.
    """
    row = col(SweepRow.id) == sweep_id
    with Session(engine) as session:
        session.execute(
            update(SweepRow)
            .where(row)
            .values(stage=stage, done=done, total=total, eta_seconds=eta_seconds, heartbeat_at=datetime.now(UTC))
        )
        cancelled = session.execute(select(SweepRow.cancel_requested).where(row)).scalar_one()  # type: ignore[call-overload]
        session.commit()
    return bool(cancelled)


def mark_interrupted(engine: Engine, sweeps: Sequence[SweepRow], reason: str) -> None:
    """Say of running sweeps that their process is gone; what they recorded stays.

    Args:
        engine: The store.
        sweeps: As they were read when their process was found to be gone. One that ended, was taken up by another
            process or gave a sign of life since then is left alone.
        reason: Why they were interrupted.
    """
    with Session(engine) as session:
        for sweep in sweeps:
            done: CursorResult[Any] = session.execute(  # type: ignore[assignment]  # an UPDATE gives a CursorResult
                update(SweepRow)
                .where(
                    col(SweepRow.id) == sweep.id,
                    col(SweepRow.state) == "running",
                    col(SweepRow.pid).is_not_distinct_from(sweep.pid),
                    col(SweepRow.host).is_not_distinct_from(sweep.host),
                    col(SweepRow.heartbeat_at).is_not_distinct_from(sweep.heartbeat_at),
                )
                .values(state="interrupted", reason=reason, pid=None, eta_seconds=None)
            )
            if done.rowcount:
                session.execute(
                    update(CombinationRow)
                    .where(col(CombinationRow.sweep_id) == sweep.id, col(CombinationRow.state) == "running")
                    .values(state="queued")
                )
        session.commit()


def _insert(session: Session, table: type[SQLModel], rows: Iterable[SQLModel]) -> None:
    values = [row.model_dump() for row in rows]
    if values:
        session.execute(insert(table), values)


def insert_missing(session: Session, table: type[SQLModel], rows: Iterable[SQLModel]) -> None:
    """Add rows to a transaction; those whose key is there already are passed over."""
    values = [row.model_dump() for row in rows]
    if not values:
        return
    dialect = session.get_bind().dialect.name
    statement = (postgresql_insert if dialect == "postgresql" else sqlite_insert)(table).on_conflict_do_nothing()
    session.execute(statement, values)
