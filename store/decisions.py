"""Decisions: added, read, and never changed. The newest is in force."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Engine, Select, case, null, select
from sqlalchemy.orm import aliased, defer
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import Session, col

from store.engine import StoreError
from store.sharing import shared
from store.tables import DecisionRow, SweepRow

# In force is what was decided last, by the moment and not by the number: one that was pulled may come later than it
# was made.
NEWEST_FIRST = (col(DecisionRow.created_at).desc(), col(DecisionRow.id).desc())


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
        newest = session.execute(select(col(DecisionRow.id)).order_by(*NEWEST_FIRST).limit(1)).scalar_one_or_none()
        if newest != decision.supersedes:
            raise StaleDecisionError(newest, decision.supersedes)
        session.add(decision)
        session.commit()
    return decision


def add_pulled(engine: Engine, decisions: Sequence[DecisionRow]) -> list[DecisionRow]:
    """Record decisions that were made elsewhere; those that are here already stay as they are.

    Each supersedes the one that was in force when it was made. Where another made here has superseded that one
    already, it stands between the two by its moment alone: rows are never changed.

    Args:
        engine: The store.
        decisions: Without numbers.

    Returns:
        Those that were new here.
    """
    added = []
    with Session(engine, expire_on_commit=False) as session:
        session.connection().exec_driver_sql(_LOCK[engine.dialect.name])
        known = set(session.execute(select(col(DecisionRow.key))).scalars())
        for one in sorted(decisions, key=lambda row: (row.created_at, row.key)):
            if one.key in known:
                continue
            newest = session.execute(select(DecisionRow).order_by(*NEWEST_FIRST).limit(1)).scalars().first()
            later = newest is not None and newest.created_at <= one.created_at
            one.supersedes = newest.id if newest is not None and later else None
            session.add(one)
            session.flush()
            added.append(one)
            known.add(one.key)
        session.commit()
    return added


def _as_it_stands() -> Select[tuple[DecisionRow, int | None, int | None]]:
    """Decisions, newest first, each with its sweep's number in this store and that of the decision before it.

    Where it was made the sweep may have another number, and the decision before may have been another one.
    """
    earlier = aliased(DecisionRow)
    moment, place = col(DecisionRow.created_at), col(DecisionRow.id)
    before = (
        select(col(earlier.id))
        .where((col(earlier.created_at) < moment) | ((col(earlier.created_at) == moment) & (col(earlier.id) < place)))
        .order_by(col(earlier.created_at).desc(), col(earlier.id).desc())
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(DecisionRow, col(SweepRow.id), before)
        .join(SweepRow, col(SweepRow.key) == col(DecisionRow.sweep_key), isouter=True)
        .order_by(*NEWEST_FIRST)
    )


def _read(session: Session, statement: Select[tuple[DecisionRow, int | None, int | None]]) -> list[DecisionRow]:
    found = session.execute(statement).all()
    session.expunge_all()  # what is set below is for whoever reads, never for the table
    for decision, sweep_id, before in found:
        decision.supersedes = before
        if sweep_id is not None:
            decision.sweep_id = sweep_id
    return [decision for decision, _, _ in found]


def decision(engine: Engine, decision_id: int) -> DecisionRow | None:
    """One decision, or None."""
    with Session(engine) as session:
        found = _read(session, _as_it_stands().where(col(DecisionRow.id) == decision_id))
    return found[0] if found else None


@shared
def decision_in_force(engine: Engine) -> DecisionRow | None:
    """The decision made last; None when nothing was decided yet."""
    with Session(engine) as session:
        found = _read(session, _as_it_stands().limit(1))
    return found[0] if found else None


def decisions(engine: Engine, limit: int = 100) -> list[DecisionRow]:
    """The newest decisions first."""
    with Session(engine) as session:
        return _read(session, _as_it_stands().limit(limit))


class Line(NamedTuple):
    """What a history shows of a decision: everything but its evidence."""

    id: int
    created_at: datetime
    threshold: float
    combination: str
    who: str
    reason: str
    sweep_key: str
    commit: str | None


class Standing(NamedTuple):
    """The decision in force with the ones before it."""

    decision: DecisionRow
    sweep_is_here: bool  # whether the sweep it stands on is in this store
    history: list[Line]  # the newest decisions, this one the last


def standing(engine: Engine, limit: int = 200) -> Standing | None:
    """The decision in force and the history before it, in one statement; None when nothing was decided yet."""
    newest = select(col(DecisionRow.id)).order_by(*NEWEST_FIRST).limit(1).scalar_subquery()
    evidence = case((col(DecisionRow.id) == newest, col(DecisionRow.evidence)), else_=null())  # that of the others: MBs
    heavy = defer(cast("Any", DecisionRow.evidence))
    with Session(engine) as session:
        rows = session.execute(_as_it_stands().add_columns(evidence).options(heavy).limit(limit)).all()
        session.expunge_all()
    if not rows:
        return None
    decision, sweep_id, before, whole = rows[0]
    set_committed_value(decision, "evidence", whole)
    decision.supersedes = before
    decision.sweep_id = decision.sweep_id if sweep_id is None else sweep_id
    lines = [Line._make(getattr(row[0], name) for name in Line._fields) for row in reversed(rows)]
    return Standing(decision, sweep_id is not None, lines)


def superseding(engine: Engine, decision: DecisionRow) -> DecisionRow | None:
    """The decision that was made next after this one; None where this one is in force."""
    moment, place = col(DecisionRow.created_at), col(DecisionRow.id)
    later = (moment > decision.created_at) | ((moment == decision.created_at) & (place > (decision.id or 0)))
    with Session(engine) as session:
        found = _read(session, _as_it_stands().where(later).order_by(None).order_by(moment, place).limit(1))
    return found[0] if found else None


def decision_keys(engine: Engine) -> dict[int, str]:
    """Keys of all decisions by number, the oldest first."""
    with Session(engine) as session:
        query = select(col(DecisionRow.id), col(DecisionRow.key)).order_by(col(DecisionRow.created_at))
        return {number: key for number, key in session.execute(query).all() if number is not None}


_LOCK = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "LOCK TABLE decision IN EXCLUSIVE MODE"}
