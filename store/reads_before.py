"""The outcomes of an earlier sweep, found by the combinations' keys instead of their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, select
from sqlmodel import Session, col

from store.reads import OutcomeRecord
from store.tables import CombinationRow, OutcomeRow, QueryRow, SweepRow


def outcomes_by_key(engine: Engine, sweep_id: int, keys: Sequence[str]) -> dict[str, list[OutcomeRecord]]:
    """Outcomes by combination key, of those of the keys that the sweep recorded; one statement.

    Args:
        engine: The store.
        sweep_id: The sweep; one that is not there has no outcomes.
        keys: Combinations.
    """
    query = (
        select(
            col(CombinationRow.key),
            col(OutcomeRow.combination_id),
            col(OutcomeRow.query_id),
            col(QueryRow.needle_id),
            col(QueryRow.phrasing),
            col(QueryRow.stratum),
            col(OutcomeRow.rank),
            col(OutcomeRow.destroyed),
            col(OutcomeRow.truncated),
            col(OutcomeRow.quotable),
            col(OutcomeRow.nearest),
            col(OutcomeRow.needle_distance),
            col(OutcomeRow.chunk_distance),
            col(OutcomeRow.gap),
        )
        .join(CombinationRow, col(CombinationRow.id) == col(OutcomeRow.combination_id))
        .join(SweepRow, col(SweepRow.id) == col(CombinationRow.sweep_id))
        .join(
            QueryRow,
            (col(QueryRow.questions_hash) == col(SweepRow.questions_hash))
            # Joined to nothing for the reason given in `reads.outcomes`.
            & (col(QueryRow.query_id) == col(OutcomeRow.query_id).concat("")),
        )
        .where(col(CombinationRow.sweep_id) == sweep_id, col(CombinationRow.key).in_(keys))
        .order_by(col(OutcomeRow.combination_id), col(QueryRow.position))
    )
    found: dict[str, list[OutcomeRecord]] = {}
    with Session(engine) as session:
        rows: Sequence[Row[Any]] = session.execute(query).all()
    for row in rows:
        found.setdefault(row[0], []).append(OutcomeRecord._make(row[1:]))
    return found
