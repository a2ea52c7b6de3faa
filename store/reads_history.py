"""Reading many sweeps at once: a page about a history takes a few statements, however long it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine, or_, select, true
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from store.reads import NEWEST_FIRST, with_questions
from store.tables import CombinationRow, MeasureRow, OutcomeRow, QueryRow, SweepRow


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


class Wanted(NamedTuple):
    """One measure of many sweeps: of one combination, or of all recorded ones when `key` is None."""

    sweep_ids: Sequence[int]
    name: str
    key: str | None = None


def numbers(engine: Engine, *wanted: Wanted) -> list[dict[int, list[NumberRecord]]]:
    """Measures of many sweeps, in one statement.

    Returns:
        For each that is wanted: by sweep, the combinations in grid order; what was not measured is left out.
    """
    conditions = [
        col(CombinationRow.sweep_id).in_(one.sweep_ids)
        & (col(MeasureRow.name) == one.name)
        & (true() if one.key is None else col(CombinationRow.key) == one.key)
        for one in wanted
    ]
    query = (
        select(
            col(MeasureRow.name),
            col(CombinationRow.sweep_id),
            col(CombinationRow.key),
            col(MeasureRow.value),
            col(MeasureRow.low),
            col(MeasureRow.high),
            col(MeasureRow.hits),
            col(MeasureRow.n),
        )
        .join(CombinationRow, col(CombinationRow.id) == col(MeasureRow.combination_id))
        .where(col(CombinationRow.state) == "recorded", or_(*conditions))
        .order_by(col(CombinationRow.sweep_id), col(CombinationRow.position))
    )
    found: list[dict[int, list[NumberRecord]]] = [{} for _ in wanted]
    ids = [set(one.sweep_ids) for one in wanted]
    with Session(engine) as session:
        for name, *values in session.execute(query):
            record = NumberRecord._make(values)
            for one, its_ids, into in zip(wanted, ids, found, strict=True):
                if name == one.name and record.sweep_id in its_ids and one.key in (None, record.key):
                    into.setdefault(record.sweep_id, []).append(record)
    return found


class DistanceRecord(NamedTuple):
    """What the gate reads of one outcome."""

    sweep_id: int
    query_id: str
    needle_id: str | None
    stratum: str | None
    nearest: float | None
    needle_distance: float | None


def distances(engine: Engine, sweep_ids: Sequence[int], key: str) -> dict[int, list[DistanceRecord]]:
    """One combination's outcomes in many sweeps as the gate reads them, in one statement, by sweep."""
    columns = select(
        col(CombinationRow.sweep_id),
        col(OutcomeRow.query_id),
        col(QueryRow.needle_id),
        col(QueryRow.stratum),
        col(OutcomeRow.nearest),
        col(OutcomeRow.needle_distance),
    )
    query = with_questions(columns).where(
        col(CombinationRow.sweep_id).in_(sweep_ids),
        col(CombinationRow.key) == key,
        col(CombinationRow.state) == "recorded",
    )
    found: dict[int, list[DistanceRecord]] = {}
    with Session(engine) as session:
        for row in session.execute(query):
            found.setdefault(row.sweep_id, []).append(DistanceRecord._make(row))
    return found


def combination(engine: Engine, sweep_id: int, key: str) -> CombinationRow | None:
    """One combination of a sweep by its key, or None."""
    query = select(CombinationRow).where(col(CombinationRow.sweep_id) == sweep_id, col(CombinationRow.key) == key)
    with Session(engine) as session:
        return session.execute(query).scalars().first()
