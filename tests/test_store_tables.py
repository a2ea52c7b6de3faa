from datetime import UTC, datetime, timedelta, timezone

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, SQLModel, select
from worlds import combination_row, filled, sweep_row

from store import reads, writes
from store.engine import MIGRATIONS
from store.tables import CombinationRow, HitsRow, MeasureRow, OutcomeRow, SweepRow


def test_a_migrated_store_is_exactly_what_the_tables_say(engine):
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, SQLModel.metadata) == []


def test_what_the_comparison_does_not_see_is_the_same_too(engine):
    """Alembic compares neither primary keys nor what a deleted row takes with it."""
    found = inspect(engine)
    for table in SQLModel.metadata.sorted_tables:
        assert found.get_pk_constraint(table.name)["constrained_columns"] == [key.name for key in table.primary_key]
        wanted = {(key.parent.name, key.target_fullname, key.ondelete) for key in table.foreign_keys}
        assert wanted == {
            (key["constrained_columns"][0], f"{key['referred_table']}.id", key["options"].get("ondelete"))
            if key["referred_table"] != "text"
            else ("text_sha256", "text.sha256", None)
            for key in found.get_foreign_keys(table.name)
        }


def test_migrations_form_one_line():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1


def test_times_come_back_as_the_same_moment_in_utc(engine):
    athens = datetime(2026, 1, 1, 14, 30, 5, 123456, tzinfo=timezone(timedelta(hours=2)))
    sweep_id = writes.add_sweep(engine, sweep_row(created_at=athens), [])
    read = reads.sweep(engine, sweep_id)
    assert read is not None
    assert read.created_at == datetime(2026, 1, 1, 12, 30, 5, 123456, tzinfo=UTC)
    assert read.created_at.utcoffset() == timedelta(0)


def test_a_combination_stands_once_in_its_sweep(engine):
    twins = [combination_row("A", "dense"), combination_row("A", "dense", 1)]
    with pytest.raises(IntegrityError):
        writes.add_sweep(engine, sweep_row(), twins)
    assert reads.sweeps(engine) == []


def test_two_sweeps_never_share_a_key(engine):
    writes.add_sweep(engine, sweep_row(key="same"), [])
    with pytest.raises(IntegrityError):
        writes.add_sweep(engine, sweep_row(key="same"), [])


def test_deleting_a_sweep_takes_everything_measured_in_it_along(engine):
    gone, stays = filled(engine), filled(engine, key="another")
    with Session(engine) as session:
        session.delete(session.get_one(SweepRow, gone))
        session.commit()
        left = {row.sweep_id for row in session.exec(select(CombinationRow))}
        ids = {row.id for row in session.exec(select(CombinationRow))}
        for table in (MeasureRow, OutcomeRow, HitsRow):
            assert {row.combination_id for row in session.exec(select(table))} == ids
    assert left == {stays}
