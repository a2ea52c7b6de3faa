"""Locks that processes of one store share; each is let go of when its process ends, however it ends."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, text

_PATIENCE = 0.05  # seconds between two attempts


class LockedError(Exception):
    """Another process holds the lock."""


@contextmanager
def locked(engine: Engine, name: str, *, seconds: float = 0.0) -> Iterator[None]:
    """Hold a lock of a store.

    On SQLite it is a file beside the database (all who open it are on this machine), on PostgreSQL an advisory lock.

    Args:
        engine: The store.
        name: What is locked, in letters, digits and dashes.
        seconds: How long to wait for whoever holds it.

    Raises:
        LockedError: If it is still held then.
    """
    if engine.dialect.name == "postgresql":
        # Committed at once each time: a transaction held open for minutes would keep the server from tidying up.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if not _taken(connection, name, seconds):
                raise LockedError(name)
            try:
                yield
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": advisory_key(name)})
        return
    database = engine.url.database
    if not database or database == ":memory:":  # no other process can reach it
        yield
        return
    folder = Path(f"{database}.locks")
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / name, thread_local=False)
    try:
        lock.acquire(timeout=seconds, poll_interval=_PATIENCE)
    except Timeout as error:
        raise LockedError(name) from error
    try:
        yield
    finally:
        lock.release()


def advisory_key(name: str) -> int:
    """A name as the number PostgreSQL locks by: 63 bits of its hash."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) >> 1


def _taken(connection: Connection, name: str, seconds: float) -> bool:
    statement, key = text("SELECT pg_try_advisory_lock(:key)"), {"key": advisory_key(name)}
    end = time.monotonic() + seconds
    while not connection.execute(statement, key).scalar_one():
        if time.monotonic() >= end:
            return False
        time.sleep(_PATIENCE)
    return True
