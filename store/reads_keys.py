"""Rows by the keys that are the same on every machine."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.tables import SweepRow


def sweep_ids(engine: Engine, keys: Collection[str]) -> dict[str, int]:
    """Ids of sweeps by their keys; a sweep that is not in this store is left out."""
    if not keys:
        return {}
    query = select(col(SweepRow.key), col(SweepRow.id)).where(col(SweepRow.key).in_(sorted(keys)))
    with Session(engine) as session:
        return {key: sweep_id for key, sweep_id in session.execute(query).all() if sweep_id is not None}
