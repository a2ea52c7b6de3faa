"""Opening a store: SQLite with a write-ahead log by default, any SQLAlchemy URL otherwise, migrated to this version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.exc import DatabaseError, OperationalError

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
        StoreError: If the place cannot be opened or written, is not a store, or was written by a newer Bluffline.
    """
    place = make_url(url)
    shown = place.render_as_string(hide_password=True)
    if place.get_backend_name() == "sqlite" and place.database:
        try:
            Path(place.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the store's folder cannot be made: {error}") from error
    engine = create_engine(place)
    if place.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _sqlite_settings)
    try:
        _migrate(engine, shown)
    except (OperationalError, DatabaseError) as error:
        raise StoreError(f"the store {shown} cannot be opened: {error.orig}") from error
    return engine


def _sqlite_settings(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 30000")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _migrate(engine: Engine, shown: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        now = MigrationContext.configure(connection).get_current_revision()
    if now == script.get_current_head():
        return
    if now is not None and now not in {revision.revision for revision in script.walk_revisions()}:
        raise StoreError(
            f"the store {shown} was written by a newer Bluffline (its version is {now}, this one knows up to "
            f"{script.get_current_head()}); upgrade Bluffline or point [store] url at another file"
        )
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        raise StoreError(f"the store {shown} cannot be migrated: {error}") from error
