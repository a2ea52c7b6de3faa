"""Reading two sweeps side by side: ranks and nearest distances, all a comparison needs of thousands of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine, or_, select
from sqlmodel import Session, col

from store.reads import NEWEST_FIRST
from store.tables import CombinationRow, OutcomeRow, QueryRow, SweepRow


class RankRecord(NamedTuple):
    """Where one combination found one question's needle, and how near anything came to it."""

    query_id: str
    rank: int | None
    destroyed: bool | None
    nearest: float | None = None  # smallest distance the gate saw; under the threshold the question is answered


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
            col(OutcomeRow.nearest),
        )
        .join(CombinationRow, col(CombinationRow.id) == col(OutcomeRow.combination_id))
        .where(col(CombinationRow.sweep_id).in_(sweep_ids), col(CombinationRow.state) == "recorded")
        .order_by(col(CombinationRow.sweep_id), col(CombinationRow.position))
    )
    found: dict[int, dict[str, list[RankRecord]]] = {sweep_id: {} for sweep_id in sweep_ids}
    with Session(engine) as session:
        for sweep_id, key, *record in session.execute(query):
            found[sweep_id].setdefault(key, []).append(RankRecord._make(record))
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


def combinations_of(engine: Engine, sweep_ids: Sequence[int]) -> dict[int, list[CombinationRow]]:
    """The combinations of sweeps, each in grid order."""
    query = (
        select(CombinationRow)
        .where(col(CombinationRow.sweep_id).in_(sweep_ids))
        .order_by(col(CombinationRow.sweep_id), col(CombinationRow.position))
    )
    found: dict[int, list[CombinationRow]] = {sweep_id: [] for sweep_id in sweep_ids}
    with Session(engine) as session:
        for row in session.execute(query).scalars():
            found[row.sweep_id].append(row)
    return found


def sweeps_named(engine: Engine, name: str, *, number: int | None, prefix: str | None) -> list[SweepRow]:
    """Every sweep that a name could mean, newest first.

    Args:
        engine: The store.
        name: A tag or branch, in full.
        number: Its id, where the name is one.
        prefix: The beginning of its commit or key, where the name is one.
    """
    could_be = [col(SweepRow.tag) == name, col(SweepRow.branch) == name]
    if number is not None:
        could_be.append(col(SweepRow.id) == number)
    if prefix is not None:
        could_be += [col(SweepRow.commit).startswith(prefix), col(SweepRow.key).startswith(prefix)]
    with Session(engine) as session:
        return list(session.execute(select(SweepRow).where(or_(*could_be)).order_by(*NEWEST_FIRST)).scalars())
