"""Small reads of a sweep: its id by its key, one number of all its combinations."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.tables import CombinationRow, MeasureRow, SweepRow


def sweep_ids(engine: Engine, keys: Collection[str]) -> dict[str, int]:
    """Ids of sweeps by their keys; a sweep that is not in this store is left out."""
    if not keys:
        return {}
    query = select(col(SweepRow.key), col(SweepRow.id)).where(col(SweepRow.key).in_(sorted(keys)))
    with Session(engine) as session:
        return {key: sweep_id for key, sweep_id in session.execute(query).all() if sweep_id is not None}


def values(engine: Engine, sweep_id: int, name: str) -> dict[int, float]:
    """One measure of all recorded combinations of a sweep, by combination id; what has no value is left out."""
    query = (
        select(col(MeasureRow.combination_id), col(MeasureRow.value))
        .join(CombinationRow, col(CombinationRow.id) == col(MeasureRow.combination_id))
        .where(col(CombinationRow.sweep_id) == sweep_id, col(MeasureRow.name) == name)
    )
    with Session(engine) as session:
        return {found: value for found, value in session.execute(query).all() if value is not None}
