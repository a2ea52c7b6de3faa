"""Files of the documents folder with their states, and the runs of the indexer that changes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import CursorResult, Engine, delete, func, select, update
from sqlalchemy.orm import defer
from sqlmodel import Session, col

from store.tables import FileRow, IndexingRow, TextRow
from store.writes import insert_missing

QUEUED, EXTRACTING, INDEXED, STALE, FAILED = "queued", "extracting", "indexed", "stale", "failed"
STATES = (QUEUED, EXTRACTING, INDEXED, STALE, FAILED)
RUNNING = "running"


class IndexingElsewhereError(Exception):
    """An indexing runs already; its row is named."""

    def __init__(self, indexing_id: int) -> None:
        """Keep which."""
        self.indexing_id = indexing_id
        super().__init__(f"indexing {indexing_id} is running; wait for it or cancel it first")


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


def files(engine: Engine) -> list[FileRow]:
    """Every known file, by id, without its locators: those of a thousand documents are megabytes."""
    query = select(FileRow).order_by(col(FileRow.document_id)).options(defer(cast("Any", FileRow.locators)))
    with Session(engine) as session:
        return list(session.execute(query).scalars())


def indexed_ids(engine: Engine) -> list[str]:
    """Ids of the files whose text the store has."""
    query = select(col(FileRow.document_id)).where(col(FileRow.text_sha256).is_not(None))
    with Session(engine) as session:
        return list(session.execute(query).scalars())


def file(engine: Engine, document_id: str) -> FileRow | None:
    """One file, or None."""
    with Session(engine) as session:
        return session.get(FileRow, document_id)


def add_files(engine: Engine, rows: Sequence[FileRow]) -> None:
    """Take note of files; what is known already stays."""
    with Session(engine) as session:
        insert_missing(session, FileRow, rows)
        session.commit()


def remove_files(engine: Engine, document_ids: Sequence[str]) -> None:
    """Forget files that are gone; texts stay, because sweeps measured them."""
    with Session(engine) as session:
        session.execute(delete(FileRow).where(col(FileRow.document_id).in_(document_ids)))
        session.commit()


def set_state(engine: Engine, document_ids: Sequence[str], state: str, **values: Any) -> None:
    """Bring files into a state, with the time of it; a reason that is not given is taken away.

    Args:
        engine: The store.
        document_ids: Which; unknown ones are passed over.
        state: One of `STATES`.
        values: Further columns, the same for all.
    """
    moment = now()
    with Session(engine) as session:
        for row in session.execute(select(FileRow).where(col(FileRow.document_id).in_(document_ids))).scalars():
            changes = {"kind": None, "reason": None, "advice": None, **values}
            for name, value in changes.items():
                setattr(row, name, value)
            row.state, row.changed_at = state, moment
            row.times = {**row.times, state: moment.isoformat()}
        session.commit()


def record_indexed(engine: Engine, document_id: str, text: TextRow, **values: Any) -> None:
    """Write all that became of a file at once, now that its chunks and vectors are there."""
    with Session(engine) as session:
        insert_missing(session, TextRow, [text])
        session.commit()
    set_state(engine, [document_id], INDEXED, text_sha256=text.sha256, **values)


def begin_indexing(engine: Engine, *, pid: int, host: str, total: int) -> int:
    """Begin a run of the indexer, unless one is running.

    Returns:
        Its id.

    Raises:
        IndexingElsewhereError: If another is running.
    """
    moment = now()
    with Session(engine) as session:
        # Whoever begins at the same moment waits here.
        session.connection().exec_driver_sql(_LOCK[engine.dialect.name])
        running = session.execute(select(func.max(IndexingRow.id)).where(col(IndexingRow.state) == RUNNING))
        other = running.scalar_one()
        if other is not None:
            raise IndexingElsewhereError(other)
        row = IndexingRow(state=RUNNING, started_at=moment, heartbeat_at=moment, pid=pid, host=host, total=total)
        session.add(row)
        session.flush()
        indexing_id = row.id or 0
        session.commit()
    return indexing_id


_LOCK = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "LOCK TABLE indexing IN EXCLUSIVE MODE"}


def latest_indexing(engine: Engine) -> IndexingRow | None:
    """The newest run of the indexer; None where there was none."""
    with Session(engine) as session:
        return session.execute(select(IndexingRow).order_by(col(IndexingRow.id).desc()).limit(1)).scalars().first()


def running_indexings(engine: Engine) -> list[IndexingRow]:
    """Runs that say they are running, whether or not their process still lives."""
    with Session(engine) as session:
        return list(session.execute(select(IndexingRow).where(col(IndexingRow.state) == RUNNING)).scalars())


def beat_indexing(
    engine: Engine, indexing_id: int, *, stage: str, done: int, total: int, eta_seconds: float | None
) -> bool:
    """Say how far a running indexing is.

    Returns:
        Whether somebody asked for it to be cancelled.
    """
    row = col(IndexingRow.id) == indexing_id
    with Session(engine) as session:
        session.execute(
            update(IndexingRow)
            .where(row)
            .values(stage=stage, done=done, total=total, eta_seconds=eta_seconds, heartbeat_at=now())
        )
        cancelled = session.execute(select(IndexingRow.cancel_requested).where(row)).scalar_one()  # type: ignore[call-overload]
        session.commit()
    return bool(cancelled)


def cancel_indexing(engine: Engine, indexing_id: int) -> bool:
    """Ask a running indexing to stop.

    Returns:
        False where it does not run.
    """
    with Session(engine) as session:
        done: CursorResult[Any] = session.execute(  # type: ignore[assignment]  # an UPDATE gives a CursorResult
            update(IndexingRow)
            .where(col(IndexingRow.id) == indexing_id, col(IndexingRow.state) == RUNNING)
            .values(cancel_requested=True)
        )
        session.commit()
        return done.rowcount == 1


def end_indexing(engine: Engine, indexing_id: int, state: str, reason: str | None = None) -> None:
    """Say that a run has ended; documents it was working on wait again."""
    with Session(engine) as session:
        session.execute(
            update(IndexingRow)
            .where(col(IndexingRow.id) == indexing_id, col(IndexingRow.state) == RUNNING)
            .values(state=state, reason=reason, finished_at=now(), eta_seconds=None, stage=None)
        )
        unfinished = session.execute(select(FileRow.document_id).where(col(FileRow.state) == EXTRACTING)).scalars()  # type: ignore[call-overload]
        ids = list(unfinished)
        session.commit()
    set_state(engine, ids, QUEUED)
