"""Reading two sweeps side by side: ranks only, which is all a comparison needs of thousands of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.tables import CombinationRow, OutcomeRow, QueryRow


class RankRecord(NamedTuple):
    """Where one combination found one question's needle."""

    query_id: str
    rank: int | None
    destroyed: bool | None


def ranks(engine: Engine, sweep_ids: Sequence[int]) -> dict[int, dict[str, list[RankRecord]]]:
    """Ranks of all questions under all recorded combinations.

    Returns:
        By sweep and combination key, the combinations in grid order, the questions in no particular order.
    """
    query = (
        select(
            col(CombinationRow.sweep_id),
            col(CombinationRow.key),
            col(OutcomeRow.query_id),
            col(OutcomeRow.rank),
            col(OutcomeRow.destroyed),
        )
        .join(CombinationRow, col(CombinationRow.id) == col(OutcomeRow.combination_id))
        .where(col(CombinationRow.sweep_id).in_(sweep_ids), col(CombinationRow.state) == "recorded")
        .order_by(col(CombinationRow.sweep_id), col(CombinationRow.position))
    )
    found: dict[int, dict[str, list[RankRecord]]] = {sweep_id: {} for sweep_id in sweep_ids}
    with Session(engine) as session:
        for sweep_id, key, query_id, rank, destroyed in session.execute(query):
            found[sweep_id].setdefault(key, []).append(RankRecord(query_id, rank, destroyed))
    return found


def question_sets(engine: Engine, hashes: Sequence[str]) -> dict[str, list[QueryRow]]:
    """Question sets in their own order, by hash."""
    query = (
        select(QueryRow)
        .where(col(QueryRow.questions_hash).in_(hashes))
        .order_by(col(QueryRow.questions_hash), col(QueryRow.position))
    )
    found: dict[str, list[QueryRow]] = {each: [] for each in hashes}
    with Session(engine) as session:
        for row in session.execute(query).scalars():
            found[row.questions_hash].append(row)
    return found
