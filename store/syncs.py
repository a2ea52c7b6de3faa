"""Exchanges with the tracking server, one row each: begun, told how far they are, ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Engine, delete, select, update
from sqlmodel import Session, col

from store.tables import SyncRow

_KEPT = 100  # rows


def begin_sync(engine: Engine, uri: str, *, pid: int, host: str) -> int:
    """Add the row of an exchange that begins now; what an earlier one left unfinished is said to have failed.

    Whoever calls holds the store's `sync` lock, so that no other exchange runs.

    Returns:
        Its id.
    """
    now = datetime.now(UTC)
    with Session(engine) as session:
        session.execute(
            update(SyncRow)
            .where(col(SyncRow.state) == "running")
            .values(state="failed", finished_at=now, faults=["its process ended before it was finished"])
        )
        row = SyncRow(state="running", started_at=now, heartbeat_at=now, uri=uri, pid=pid, host=host)
        session.add(row)
        session.flush()
        sync_id = row.id or 0
        session.execute(delete(SyncRow).where(col(SyncRow.id) <= sync_id - _KEPT))
        session.commit()
    return sync_id


def beat_sync(engine: Engine, sync_id: int, *, stage: str, done: int, total: int, eta_seconds: float | None) -> None:
    """Say how far an exchange is."""
    with Session(engine) as session:
        session.execute(
            update(SyncRow)
            .where(col(SyncRow.id) == sync_id)
            .values(stage=stage, done=done, total=total, eta_seconds=eta_seconds, heartbeat_at=datetime.now(UTC))
        )
        session.commit()


def end_sync(engine: Engine, sync_id: int, state: str, counts: dict[str, int], faults: Sequence[str]) -> None:
    """Say how an exchange ended: `finished` or `failed`."""
    now = datetime.now(UTC)
    with Session(engine) as session:
        session.execute(
            update(SyncRow)
            .where(col(SyncRow.id) == sync_id)
            .values(state=state, counts=counts, faults=list(faults), finished_at=now, heartbeat_at=now, stage=None,
                    eta_seconds=None)
        )  # fmt: skip
        session.commit()


def latest_sync(engine: Engine) -> SyncRow | None:
    """The exchange that began last; None before the first."""
    with Session(engine) as session:
        return session.execute(select(SyncRow).order_by(col(SyncRow.id).desc()).limit(1)).scalars().first()
