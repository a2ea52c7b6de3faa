"""Decisions: added, read, and never changed. The newest is in force."""

from __future__ import annotations

from sqlalchemy import Engine, func, select
from sqlmodel import Session, col

from store.engine import StoreError
from store.tables import DecisionRow


class StaleDecisionError(StoreError):
    """Somebody else decided in the meantime; nothing was recorded."""

    def __init__(self, newest: int | None, seen: int | None) -> None:
        """Name the decision in force and the one that was taken for it."""
        now = "no decision is in force" if newest is None else f"decision {newest} is in force"
        super().__init__(
            f"{now}, not {'none' if seen is None else seen}: it was recorded in the meantime. "
            "Nothing was recorded now; look at it, then decide again"
        )


def add_decision(engine: Engine, decision: DecisionRow) -> DecisionRow:
    """Record a decision. There is no function that changes or deletes one, and the database allows neither.

    Args:
        engine: The store.
        decision: With `supersedes` naming the decision in force that whoever decided has seen, None for the first.

    Returns:
        The decision with its id.

    Raises:
        StaleDecisionError: If another decision is in force by now.
    """
    with Session(engine, expire_on_commit=False) as session:
        # Whoever decides at the same moment waits here, so that "newest" stays true until this one is recorded.
        session.connection().exec_driver_sql(_LOCK[engine.dialect.name])
        newest = session.execute(select(func.max(col(DecisionRow.id)))).scalar_one()
        if newest != decision.supersedes:
            raise StaleDecisionError(newest, decision.supersedes)
        session.add(decision)
        session.commit()
    return decision


_LOCK = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "LOCK TABLE decision IN EXCLUSIVE MODE"}


def decision(engine: Engine, decision_id: int) -> DecisionRow | None:
    """One decision, or None."""
    with Session(engine) as session:
        return session.get(DecisionRow, decision_id)


def decision_in_force(engine: Engine) -> DecisionRow | None:
    """The newest decision; None when nothing was decided yet."""
    with Session(engine) as session:
        return session.execute(select(DecisionRow).order_by(col(DecisionRow.id).desc()).limit(1)).scalars().first()


def decisions(engine: Engine, limit: int = 100) -> list[DecisionRow]:
    """The newest decisions first."""
    with Session(engine) as session:
        return list(session.execute(select(DecisionRow).order_by(col(DecisionRow.id).desc()).limit(limit)).scalars())


def superseding(engine: Engine, decision_id: int) -> DecisionRow | None:
    """The decision that superseded this one; None where it is in force or there is no such decision."""
    with Session(engine) as session:
        return session.execute(select(DecisionRow).where(col(DecisionRow.supersedes) == decision_id)).scalars().first()
