"""What an exchange with the ledger reads: how each combination stands, for all sweeps in two statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.tables import CombinationRow, DocumentRow, QueryRow, SweepRow


class RecordedLine(NamedTuple):
    """A recorded combination, and the run that holds its results."""

    key: str
    position: int
    run: str | None


class CombinationLines(NamedTuple):
    """The combinations of a sweep: of the recorded ones a line, the others whole."""

    recorded: tuple[RecordedLine, ...]
    others: tuple[CombinationRow, ...]


def combination_lines(engine: Engine, sweep_ids: Sequence[int] | None = None) -> dict[int, CombinationLines]:
    """Combinations by sweep, in grid order; of every sweep when None."""
    recorded: dict[int, list[RecordedLine]] = {}
    others: dict[int, list[CombinationRow]] = {}
    order = (col(CombinationRow.sweep_id), col(CombinationRow.position))
    with Session(engine) as session:
        light = select(
            col(CombinationRow.sweep_id),
            col(CombinationRow.key),
            col(CombinationRow.position),
            col(CombinationRow.mlflow_run_id),
        ).where(col(CombinationRow.state) == "recorded")
        whole = select(CombinationRow).where(col(CombinationRow.state) != "recorded")
        if sweep_ids is not None:
            light = light.where(col(CombinationRow.sweep_id).in_(sweep_ids))
            whole = whole.where(col(CombinationRow.sweep_id).in_(sweep_ids))
        for sweep_id, key, position, run in session.execute(light.order_by(*order)):
            recorded.setdefault(sweep_id, []).append(RecordedLine(key, position, run))
        for row in session.execute(whole.order_by(*order)).scalars():
            others.setdefault(row.sweep_id, []).append(row)
    return {
        sweep_id: CombinationLines(tuple(recorded.get(sweep_id, ())), tuple(others.get(sweep_id, ())))
        for sweep_id in (*recorded, *(sweep_id for sweep_id in others if sweep_id not in recorded))
    }


def every_sweep(engine: Engine) -> list[SweepRow]:
    """All sweeps, the oldest first."""
    with Session(engine) as session:
        return list(session.execute(select(SweepRow).order_by(col(SweepRow.created_at), col(SweepRow.id))).scalars())


def has_corpus(engine: Engine, corpus_hash: str) -> bool:
    """Whether the documents of a corpus are kept here."""
    with Session(engine) as session:
        query = select(col(DocumentRow.document_id)).where(col(DocumentRow.corpus_hash) == corpus_hash).limit(1)
        return session.execute(query).first() is not None


def has_questions(engine: Engine, questions_hash: str) -> bool:
    """Whether a question set is kept here."""
    with Session(engine) as session:
        query = select(col(QueryRow.query_id)).where(col(QueryRow.questions_hash) == questions_hash).limit(1)
        return session.execute(query).first() is not None
