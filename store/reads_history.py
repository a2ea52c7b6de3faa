"""Reading many sweeps at once: a page about a history takes a few statements, however long it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine, select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from store.reads import NEWEST_FIRST
from store.tables import CombinationRow, MeasureRow, SweepRow


class CombinationState(NamedTuple):
    """How far one combination is."""

    sweep_id: int
    key: str
    strategy: str
    retriever: str
    model: str | None
    scorer: str | None
    state: str
    reason: str | None


class NumberRecord(NamedTuple):
    """One number of one recorded combination."""

    sweep_id: int
    key: str
    value: float | None
    low: float | None
    high: float | None
    hits: int | None
    n: int


def sweeps_before(engine: Engine, before: int | None = None, limit: int = 100) -> list[SweepRow]:
    """The newest sweeps first; only those older than sweep `before` where it is given and still there."""
    query = select(SweepRow).order_by(*NEWEST_FIRST).limit(limit)
    if before is not None:
        than = aliased(SweepRow)
        moment = select(col(than.created_at)).where(col(than.id) == before).scalar_subquery()
        query = query.where(
            moment.is_(None)
            | (col(SweepRow.created_at) < moment)
            | ((col(SweepRow.created_at) == moment) & (col(SweepRow.id) < before))
        )
    with Session(engine) as session:
        return list(session.execute(query).scalars())


def combination_states(engine: Engine, sweep_ids: Sequence[int]) -> dict[int, list[CombinationState]]:
    """The combinations of sweeps in grid order, without their stamps."""
    query = (
        select(
            col(CombinationRow.sweep_id),
            col(CombinationRow.key),
            col(CombinationRow.strategy),
            col(CombinationRow.retriever),
            col(CombinationRow.model),
            col(CombinationRow.scorer),
            col(CombinationRow.state),
            col(CombinationRow.reason),
        )
        .where(col(CombinationRow.sweep_id).in_(sweep_ids))
        .order_by(col(CombinationRow.sweep_id), col(CombinationRow.position))
    )
    found: dict[int, list[CombinationState]] = {}
    with Session(engine) as session:
        for row in session.execute(query):
            found.setdefault(row.sweep_id, []).append(CombinationState._make(row))
    return found


def numbers(
    engine: Engine, sweep_ids: Sequence[int], name: str, key: str | None = None
) -> dict[int, list[NumberRecord]]:
    """One measure of many sweeps.

    Args:
        engine: The store.
        sweep_ids: The sweeps.
        name: The measure.
        key: Only of this combination; of all recorded ones when None.

    Returns:
        By sweep, the combinations in grid order; what was not measured is left out.
    """
    query = (
        select(
            col(CombinationRow.sweep_id),
            col(CombinationRow.key),
            col(MeasureRow.value),
            col(MeasureRow.low),
            col(MeasureRow.high),
            col(MeasureRow.hits),
            col(MeasureRow.n),
        )
        .join(CombinationRow, col(CombinationRow.id) == col(MeasureRow.combination_id))
        .where(
            col(CombinationRow.sweep_id).in_(sweep_ids),
            col(CombinationRow.state) == "recorded",
            col(MeasureRow.name) == name,
        )
        .order_by(col(CombinationRow.sweep_id), col(CombinationRow.position))
    )
    if key is not None:
        query = query.where(col(CombinationRow.key) == key)
    found: dict[int, list[NumberRecord]] = {}
    with Session(engine) as session:
        for row in session.execute(query):
            found.setdefault(row[0], []).append(NumberRecord._make(row))
    return found


def combination(engine: Engine, sweep_id: int, key: str) -> CombinationRow | None:
    """One combination of a sweep by its key, or None."""
    query = select(CombinationRow).where(col(CombinationRow.sweep_id) == sweep_id, col(CombinationRow.key) == key)
    with Session(engine) as session:
        return session.execute(query).scalars().first()
