"""The write-ahead log: waited for where SQLite does not."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest

from store.write_ahead import write_ahead


def holding(file):
    """A connection that has the whole file for itself."""
    connection = sqlite3.connect(file, check_same_thread=False)
    connection.execute("CREATE TABLE t (x)")
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def test_a_file_that_is_locked_for_a_moment_is_waited_for(tmp_path):
    file = tmp_path / "v.db"
    holder = holding(file)
    release = threading.Timer(0.3, holder.rollback)
    with closing(holder), closing(sqlite3.connect(file, timeout=0)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("PRAGMA journal_mode = WAL")
        release.start()
        write_ahead(connection)
        release.join()
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_stays_locked_is_an_error(tmp_path):
    file = tmp_path / "v.db"
    with (
        closing(holding(file)),
        closing(sqlite3.connect(file, timeout=0)) as connection,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        write_ahead(connection, patience=0.05)


def test_a_file_that_cannot_be_written_is_an_error_at_once(tmp_path):
    file = tmp_path / "v.db"
    file.write_text("no database at all, and long enough for SQLite to see that it is none" * 20)
    with closing(sqlite3.connect(file)) as connection, pytest.raises(sqlite3.DatabaseError, match="not a database"):
        write_ahead(connection)
