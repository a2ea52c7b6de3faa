"""Building a store anew from the ledger alone. What was there before is kept as a copy beside it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Engine, make_url

from experiments.deciding.decision_tags import DecisionLedger
from experiments.exchange.syncing import Show, Synced, sync
from experiments.words import plural
from store import reads
from store.addresses import without_password
from store.decisions import decision_keys
from store.engine import StoreError, open_store
from store.reads_exchange import every_sweep
from store.writes_exchange import is_empty


class Rebuilt(NamedTuple):
    """A store made anew.

    Attributes:
        synced: What was read.
        copy: Where the store that was there before is kept; None where there was none or it was empty.
        only_there: Sweeps and decisions that were in it and are not on the server.
    """

    synced: Synced
    copy: Path | None = None
    only_there: int = 0


def rebuild(url: str, ledger: DecisionLedger, *, force: bool, show: Show | None = None) -> Rebuilt:
    """Read everything the ledger holds into a new store, and put it where `url` says.

    An SQLite store that holds something is copied aside first; dashboards that have it open see the new one at once.
    Any other database has to be empty.

    Args:
        url: The store.
        ledger: What to read.
        force: Whether a store that holds something may be replaced.
        show: Told how far it is.

    Raises:
        StoreError: If the store holds something and may not be replaced, or a sweep is running in it.
        TrackingError: If the server is away; the store is as it was.
    """
    engine = open_store(url)
    try:
        if is_empty(engine):
            return Rebuilt(_filled(engine, ledger, show))
        place = make_url(url)
        if place.get_backend_name() != "sqlite" or not place.database:
            raise StoreError(
                f"the store {without_password(url)} holds {_held(engine)}: nothing was changed; "
                "make an empty database and name it as [store] url"
            )
        if not force:
            raise StoreError(
                f"the store {place.database} holds {_held(engine)}: nothing was changed; with --force it is copied "
                "beside itself and written anew"
            )
        if reads.running_sweeps(engine):
            raise StoreError(f"a sweep is running in {place.database}: nothing was changed; wait for it, or cancel it")
        before = _keys(engine)
        return _replaced(Path(place.database), ledger, before, show)
    finally:
        engine.dispose()


def _replaced(file: Path, ledger: DecisionLedger, before: set[str], show: Show | None) -> Rebuilt:
    fresh = file.with_name(f"{file.name}.rebuilding-{os.getpid()}")
    copy = file.with_name(f"{file.name}.replaced-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    engine = open_store(f"sqlite:///{fresh}")
    try:
        synced = _filled(engine, ledger, show)
        only_there = len(before - _keys(engine))
        if is_empty(engine):
            raise StoreError(f"MLflow at {ledger.uri} holds nothing to build a store from: {file} was not touched")
        if synced.faults:
            raise StoreError(
                "\n".join([*synced.faults, f"{file} was not touched, because not everything could be read"])
            )
        engine.dispose()
        _write_over(file, copy)
        _write_over(fresh, file)
    finally:
        engine.dispose()
        _remove(fresh)
    return Rebuilt(synced, copy, only_there)


def _filled(engine: Engine, ledger: DecisionLedger, show: Show | None) -> Synced:
    return sync(engine, ledger, push=False, show=show)


def _write_over(source: Path, target: Path) -> None:
    """Copy one SQLite database over another, in one step for everybody who has it open."""
    with closing(sqlite3.connect(source, timeout=30)) as one, closing(sqlite3.connect(target, timeout=30)) as other:
        one.backup(other)


def _remove(file: Path) -> None:
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        file.with_name(name).unlink(missing_ok=True)
    locks = file.with_name(f"{file.name}.locks")
    if locks.is_dir():
        for lock in locks.iterdir():
            lock.unlink()
        locks.rmdir()


def _held(engine: Engine) -> str:
    return f"{plural(len(every_sweep(engine)), 'sweep')} and {plural(len(decision_keys(engine)), 'decision')}"


def _keys(engine: Engine) -> set[str]:
    return {row.key for row in every_sweep(engine)} | set(decision_keys(engine).values())
