"""Keeping what was read from the ledger: a sweep whole or not at all, and taking out one that was deleted there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, func, insert, select, text, update
from sqlmodel import Session, col

from store.tables import CombinationRow, DecisionRow, HitsRow, MeasureRow, OutcomeRow, SweepRow

HALF_WRITTEN = "half-written"  # how the reason of a sweep begins whose maker has not said that it ended
_LARGEST_NUMBER = 1_000_000  # of a sweep that keeps the number it had where it was made


class PulledCombination(NamedTuple):
    """One combination with what it recorded; nothing where it recorded nothing, or is kept here already."""

    row: CombinationRow
    measures: Sequence[MeasureRow] = ()
    outcomes: Sequence[OutcomeRow] = ()
    parquet: bytes | None = None


def keep_sweep(
    engine: Engine, sweep: SweepRow, number: int | None, combinations: Sequence[PulledCombination], held: Sequence[str]
) -> int:
    """Write a sweep that was pulled, new or over what an earlier pull wrote of it.

    Args:
        engine: The store.
        sweep: The row, without a number.
        number: The number it had where it was made; it keeps that where nobody has it here.
        combinations: All of them, but for those that are held.
        held: Runs of the combinations that stay as they are.

    Returns:
        Its number here.

    Raises:
        ValueError: If a sweep of this key was made here: it is never overwritten.
    """
    values = sweep.model_dump(exclude={"id"})
    with Session(engine) as session:
        known = session.execute(select(SweepRow).where(col(SweepRow.key) == sweep.key)).scalars().first()
        if known is not None and known.pulled_from is None:
            raise ValueError(f"sweep {known.id} was made here")
        if known is None:
            sweep_id = _add(session, values, number)
        else:
            sweep_id = known.id or 0
            session.execute(update(SweepRow).where(col(SweepRow.id) == sweep_id).values(**values))
        session.execute(
            delete(CombinationRow).where(
                col(CombinationRow.sweep_id) == sweep_id,
                col(CombinationRow.mlflow_run_id).is_(None) | col(CombinationRow.mlflow_run_id).not_in(held),
            )
        )
        for one in combinations:
            _add_combination(session, sweep_id, one)
        session.commit()
    return sweep_id


def _add(session: Session, values: dict[str, Any], number: int | None) -> int:
    free = number is not None and number <= _LARGEST_NUMBER and session.get(SweepRow, number) is None
    added = {**values, "id": number} if free else values
    sweep_id = session.execute(insert(SweepRow).values(**added).returning(col(SweepRow.id))).scalar_one()
    if sweep_id is None:
        raise RuntimeError("the database gave the sweep no id")
    if free and session.get_bind().dialect.name == "postgresql":  # a number that was given does not move its counter
        session.execute(text("SELECT setval(pg_get_serial_sequence('sweep', 'id'), (SELECT max(id) FROM sweep))"))
    return int(sweep_id)


def _add_combination(session: Session, sweep_id: int, one: PulledCombination) -> None:
    values = {**one.row.model_dump(exclude={"id"}), "sweep_id": sweep_id}
    combination_id = session.execute(
        insert(CombinationRow).values(**values).returning(col(CombinationRow.id))
    ).scalar_one()
    for table, rows in ((MeasureRow, one.measures), (OutcomeRow, one.outcomes)):
        if rows:
            session.execute(insert(table), [{**row.model_dump(), "combination_id": combination_id} for row in rows])
    if one.parquet is not None:
        session.execute(insert(HitsRow).values(combination_id=combination_id, parquet=one.parquet))


def remove_pulled(engine: Engine, sweep_ids: Sequence[int]) -> int:
    """Take out sweeps that were pulled, with all they recorded; one made here is left alone.

    Returns:
        How many were taken out.
    """
    with Session(engine) as session:
        mine = select(col(SweepRow.id)).where(col(SweepRow.id).in_(sweep_ids), col(SweepRow.pulled_from).is_not(None))
        gone = [sweep_id for sweep_id in session.execute(mine).scalars() if sweep_id is not None]
        session.execute(delete(SweepRow).where(col(SweepRow.id).in_(gone)))
        session.commit()
    return len(gone)


def is_empty(engine: Engine) -> bool:
    """Whether a store holds neither a sweep nor a decision."""
    with Session(engine) as session:
        return not any(
            session.execute(select(func.count()).select_from(table)).scalar_one() for table in (SweepRow, DecisionRow)
        )
