"""Small reads of a sweep: its id by its key, one number of all its combinations."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.tables import CombinationRow, MeasureRow, SweepRow


class Reranking(NamedTuple):
    """A combination with a cross-encoder, as a sweep of this store measured it."""

    sweep_id: int
    scorer: str
    settings: dict[str, Any]  # of the sweep
    stamp: dict[str, Any]


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


def rerankings(engine: Engine, scorers: Collection[str], limit: int = 500) -> list[Reranking]:
    """What was reranked by these cross-encoders, the newest sweep first.

    Only what this store's own sweeps scored: what is pulled was timed on another machine, and what was read from an
    earlier sweep was timed in that one.
    """
    query = (
        select(col(SweepRow.id), col(CombinationRow.scorer), col(SweepRow.settings), col(CombinationRow.stamp))
        .join(SweepRow, col(SweepRow.id) == col(CombinationRow.sweep_id))
        .where(
            col(CombinationRow.retriever) == "rerank",
            col(CombinationRow.state) == "recorded",
            col(CombinationRow.scorer).in_(sorted(scorers)),
            col(CombinationRow.measured_in).is_(None),
            col(SweepRow.pulled_from).is_(None),
        )
        .order_by(col(SweepRow.created_at).desc(), col(SweepRow.id).desc(), col(CombinationRow.position))
        .limit(limit)
    )
    with Session(engine) as session:
        return [Reranking(*row) for row in session.execute(query).all()]


def recorded_keys(engine: Engine, retrieval_keys: Collection[str]) -> set[str]:
    """Which of these retrievals are recorded already."""
    query = select(col(CombinationRow.retrieval_key)).where(
        col(CombinationRow.state) == "recorded", col(CombinationRow.retrieval_key).in_(sorted(retrieval_keys))
    )
    with Session(engine) as session:
        return {str(key) for key in session.execute(query).scalars()}
