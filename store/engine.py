"""Opening a store: SQLite with a write-ahead log by default, any SQLAlchemy URL otherwise, migrated to this version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError

from store.addresses import without_password
from store.locks import advisory_key
from store.write_ahead import write_ahead

MIGRATIONS = Path(__file__).parent / "migrations"


class StoreError(Exception):
    """The store cannot be used; the message says why and what to do."""


def open_store(url: str) -> Engine:
    """Open the store at `url`, creating or migrating it.

    Args:
        url: SQLAlchemy URL, such as `sqlite:////srv/bluffline/var/bluffline.db`.

    Returns:
        An engine whose database has this version's tables.

    Raises:
        StoreError: If the URL names no known database, the place cannot be opened or written, is not a store, or was
            written by a newer Bluffline.
    """
    try:
        place = make_url(url)
    except (ArgumentError, ValueError) as error:  # a port that is no number is a ValueError
        shown = without_password(url)
        raise StoreError(f"the store's URL {shown!r} cannot be read; write sqlite:///FILE or another") from error
    shown = without_password(url)
    if place.get_backend_name() == "sqlite" and place.database:
        try:
            Path(place.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the store's folder cannot be made: {error}") from error
    try:
        engine = create_engine(place)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(f"the store {shown} cannot be opened: its database driver is missing ({error})") from error
    if place.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _sqlite_settings)
    try:
        _migrate(engine, shown)
    except DatabaseError as error:
        engine.dispose()
        reason = without_password(str(error.orig))
        if "readonly" in reason or "unable to open" in reason:
            reason += "; Bluffline writes beside what it reads: make the file and its folder writable, or copy them"
        raise StoreError(f"the store {shown} cannot be opened: {reason}") from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def _sqlite_settings(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 30000")
    write_ahead(connection)
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _migrate(engine: Engine, shown: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        if _is_current(connection, script, shown):
            return
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                # Python's driver begins no transaction for CREATE TABLE by itself: without this line a migration that
                # is killed leaves half its tables, and two processes that open a new store get in each other's way.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif engine.dialect.name == "postgresql":  # until the transaction ends; else both would make the tables
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": advisory_key("migrate")})
            if not _is_current(connection, script, shown):  # another process may have been faster
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
    except CommandError as error:
        raise StoreError(f"the store {shown} cannot be migrated: {error}") from error


def _is_current(connection: Connection, script: ScriptDirectory, shown: str) -> bool:
    """Whether the database has this version's tables already; refuses what a migration could only spoil."""
    now = MigrationContext.configure(connection).get_current_revision()
    if now is not None and now not in {revision.revision for revision in script.walk_revisions()}:
        raise StoreError(
            f"the store {shown} was written by a newer Bluffline or another program (its version is {now}, this "
            f"Bluffline knows up to {script.get_current_head()}); upgrade Bluffline or point [store] url elsewhere"
        )
    return now == script.get_current_head()
