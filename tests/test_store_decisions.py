"""Decisions in the store: only ever added, one after the other, whoever has the database open."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, delete, text, update
from sqlalchemy.exc import DatabaseError
from sqlmodel import Session, SQLModel, col

from store.decisions import (
    StaleDecisionError,
    add_decision,
    decision,
    decision_in_force,
    decisions,
    superseding,
)
from store.engine import open_store
from store.tables import DecisionRow

REFUSAL = "never changed or deleted"


def _row(key: str, supersedes: int | None = None) -> DecisionRow:
    return DecisionRow(
        key=key,
        supersedes=supersedes,
        created_at=datetime(2026, 5, 4, 12, tzinfo=UTC),
        who="Ada",
        reason="bluffs cost more than refusals",
        project="handbook",
        sweep_id=7,
        sweep_key="s" * 32,
        combination="E/dense/m",
        strategy="E",
        strategy_spec="cuts=boundaries;header=true;overlap=0;budget=512",
        retriever="dense",
        model="m",
        stamp={"files": "f" * 64},
        threshold=0.55,
        gate_size=4,
        corpus_hash="c" * 64,
        questions_hash="q" * 64,
        hit_rule="rule/1",
        pipeline="1",
        picked_by="cost",
        costs={"bluff": 10.0, "wrong": 6.0, "refusal": 1.0},
        unanswerable_share=0.2,
        confidence=0.95,
        evidence={"text": "κόστος"},
    )


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_store(f"sqlite:///{tmp_path / 'store.db'}")


def test_a_new_store_has_no_decision_in_force(engine: Engine) -> None:
    assert decision_in_force(engine) is None
    assert decisions(engine) == []
    assert decision(engine, 1) is None


def test_the_newest_decision_is_in_force_and_the_one_before_says_what_superseded_it(engine: Engine) -> None:
    first = add_decision(engine, _row("a"))
    second = add_decision(engine, _row("b", supersedes=first.id))
    in_force = decision_in_force(engine)
    assert in_force is not None and in_force.key == "b" and in_force.supersedes == first.id
    assert [row.key for row in decisions(engine)] == ["b", "a"]
    later = superseding(engine, first)
    assert later is not None and later.id == second.id
    assert superseding(engine, second) is None


def test_everything_comes_back_as_it_was_recorded(engine: Engine) -> None:
    add_decision(engine, _row("a"))
    found = decision(engine, 1)
    assert found is not None
    given = _row("a").model_dump(exclude={"id", "created_at"})
    assert found.model_dump(exclude={"id", "created_at"}) == given
    assert found.created_at.replace(tzinfo=UTC) == datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_who_has_not_seen_the_decision_in_force_is_refused(engine: Engine) -> None:
    first = add_decision(engine, _row("a"))
    add_decision(engine, _row("b", supersedes=first.id))
    with pytest.raises(StaleDecisionError, match="decision 2 is in force, not 1"):
        add_decision(engine, _row("c", supersedes=first.id))
    with pytest.raises(StaleDecisionError, match="decision 2 is in force, not none"):
        add_decision(engine, _row("d"))
    assert [row.key for row in decisions(engine)] == ["b", "a"]


def test_of_two_people_who_decide_at_the_same_moment_one_is_refused(engine: Engine) -> None:
    together = Barrier(2)

    def decide(key: str) -> bool:
        row = _row(key)
        together.wait()
        try:
            add_decision(engine, row)
        except StaleDecisionError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(decide, ["a", "b"])) == [False, True]
    assert len(decisions(engine)) == 1


def test_the_database_refuses_to_change_a_decision(engine: Engine) -> None:
    add_decision(engine, _row("a"))
    with Session(engine) as session, pytest.raises(DatabaseError, match=REFUSAL):
        session.execute(update(DecisionRow).values(threshold=0.9))
    found = decision(engine, 1)
    assert found is not None and found.threshold == 0.55


def test_the_database_refuses_to_delete_a_decision(engine: Engine) -> None:
    add_decision(engine, _row("a"))
    with Session(engine) as session, pytest.raises(DatabaseError, match=REFUSAL):
        session.execute(delete(DecisionRow).where(col(DecisionRow.id) == 1))
    assert len(decisions(engine)) == 1


@pytest.mark.parametrize("statement", ["UPDATE decision SET reason = 'x'", "DELETE FROM decision"])
def test_another_program_that_opens_the_file_is_refused_too(engine: Engine, statement: str) -> None:
    add_decision(engine, _row("a"))
    file = engine.url.database
    assert file is not None
    with sqlite3.connect(file) as connection, pytest.raises(sqlite3.IntegrityError, match=REFUSAL):
        connection.execute(statement)
    connection.close()


def test_insert_or_replace_is_no_way_around_it(engine: Engine) -> None:
    add_decision(engine, _row("a"))
    columns = [name for name in DecisionRow.model_fields if name not in ("id", "threshold")]
    copied = ", ".join(f'"{name}"' for name in columns)
    statement = text(
        f"INSERT OR REPLACE INTO decision (id, threshold, {copied}) SELECT id, 0.9, {copied} FROM decision"
    )
    with engine.connect() as connection, pytest.raises(DatabaseError, match=REFUSAL):
        connection.execute(statement)


def test_the_migrations_make_the_tables_that_the_code_describes(engine: Engine) -> None:
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), SQLModel.metadata) == []
