"""The outcomes of an earlier sweep, found by the combinations' keys instead of their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row
from sqlmodel import Session, col

from store.reads import OutcomeRecord, outcomes_of
from store.tables import CombinationRow


def outcomes_by_key(engine: Engine, sweep_id: int, keys: Sequence[str]) -> dict[str, list[OutcomeRecord]]:
    """Outcomes by combination key, of those of the keys that the sweep recorded; one statement.

    Args:
        engine: The store.
        sweep_id: The sweep; one that is not there has no outcomes.
        keys: Combinations.
    """
    query = outcomes_of(sweep_id).add_columns(col(CombinationRow.key)).where(col(CombinationRow.key).in_(keys))
    found: dict[str, list[OutcomeRecord]] = {}
    with Session(engine) as session:
        rows: Sequence[Row[Any]] = session.execute(query).all()
    for row in rows:
        found.setdefault(row[-1], []).append(OutcomeRecord._make(row[:-1]))
    return found
