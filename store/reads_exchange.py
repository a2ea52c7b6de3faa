"""What an exchange with the ledger reads: how each combination stands, for all sweeps in two statements."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.tables import CombinationRow, DocumentRow, QueryRow, SweepRow


def combination_lines(engine: Engine, sweep_ids: Sequence[int] | None = None) -> dict[int, list[CombinationRow]]:
    """Combinations by sweep, in grid order, of every sweep when None; recorded ones without their stamps.

    A stamp is most of such a row, and the combination's own run holds it.
    """
    order = (col(CombinationRow.sweep_id), col(CombinationRow.position))
    light = (col(CombinationRow.state) == "recorded", [name for name in CombinationRow.model_fields if name != "stamp"])
    whole = (col(CombinationRow.state) != "recorded", list(CombinationRow.model_fields))
    found: list[CombinationRow] = []
    with Session(engine) as session:
        for condition, names in (light, whole):
            query = select(*(getattr(CombinationRow, name) for name in names)).where(condition)
            if sweep_ids is not None:
                query = query.where(col(CombinationRow.sweep_id).in_(sweep_ids))
            found += [
                CombinationRow(**dict(zip(names, values, strict=True)))
                for values in session.execute(query.order_by(*order))
            ]
    lines: dict[int, list[CombinationRow]] = {}
    for row in sorted(found, key=lambda one: (one.sweep_id, one.position)):
        lines.setdefault(row.sweep_id, []).append(row)
    return lines


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
