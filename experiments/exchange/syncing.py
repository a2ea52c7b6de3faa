"""One exchange with the ledger: what is missing there is pushed, what is new or changed there is pulled.

It tells how far it is through its row in the store, as a sweep does, so that a dashboard can show it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.deciding.decision_tags import DecisionLedger
from experiments.exchange.decisions import PulledDecisions, pull_decisions
from experiments.exchange.fetching import Fetcher
from experiments.exchange.pulling import Pulled, Tell, pull_sweeps
from experiments.progress import BETWEEN_WRITES
from experiments.sweep import settle_interrupted
from experiments.tracking_client import TrackingError
from store.locks import LockedError, locked
from store.syncs import beat_sync, begin_sync, end_sync

Show = Callable[[str, int, int, float | None], None]  # stage, done, total, seconds left


class Synced(NamedTuple):
    """What one exchange did.

    Everything is counted in sweeps but for the decisions, `runs`, and `others`: runs of other programs, left alone.
    """

    pushed: int = 0
    runs: int = 0
    decisions_pushed: int = 0
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    others: int = 0
    decisions: int = 0
    files: int = 0
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers by name."""
        return {name: value for name, value in self._asdict().items() if isinstance(value, int)}


def sync(
    engine: Engine, ledger: DecisionLedger, *, push: bool = True, pull: bool = True, show: Show | None = None
) -> Synced:
    """Exchange sweeps and decisions with a tracking server.

    Args:
        engine: The store.
        ledger: The server's experiment.
        push: Log what it does not hold.
        pull: Read what the store does not hold.
        show: Told how far it is.

    Returns:
        What was done, and a line for each thing that could not be.

    Raises:
        TrackingError: If the server is away, or another exchange of this store is at work.
    """
    settle_interrupted(engine)
    try:
        with locked(engine, "sync"):
            return _told(engine, ledger, push, pull, show)
    except LockedError as error:
        raise TrackingError("another sync of this store is at work; nothing was done by this one") from error


def _told(engine: Engine, ledger: DecisionLedger, push: bool, pull: bool, show: Show | None) -> Synced:
    sync_id = begin_sync(engine, ledger.uri, pid=os.getpid(), host=socket.gethostname())
    teller = _Teller(engine, sync_id, show)
    done = Synced()
    try:
        if push:
            done = _push(engine, ledger, teller.tell)
        if pull:
            done = _pull(engine, ledger, teller.tell, done)
    except BaseException as error:
        said = str(error) if isinstance(error, TrackingError) else f"ended by {type(error).__name__}: {error}"
        end_sync(engine, sync_id, "failed", done.counts, [*done.faults, said])
        raise
    end_sync(engine, sync_id, "finished", done.counts, done.faults)
    return done


def _push(engine: Engine, ledger: DecisionLedger, tell: Tell) -> Synced:
    waiting = ledger.waiting(engine)
    pushed = runs = 0
    faults: list[str] = []
    for place, sweep_id in enumerate(waiting):
        tell("logging sweeps", place, len(waiting))
        try:
            runs += ledger.push(engine, sweep_id).runs
            pushed += 1
        except TrackingError as error:
            ledger.find()  # with a server that is away there is no point in trying the others
            faults.append(f"sweep {sweep_id}: {error}")
    tell("logging decisions", 0, 0)
    return Synced(pushed=pushed, runs=runs, decisions_pushed=ledger.log(engine), faults=tuple(faults))


def _pull(engine: Engine, ledger: DecisionLedger, tell: Tell, done: Synced) -> Synced:
    found = ledger.find()
    if found is None:
        nothing = f"MLflow at {ledger.uri} has no experiment {ledger.experiment!r}: nothing was read, nothing removed"
        return done._replace(notes=(*done.notes, nothing))
    client, experiment_id = found
    fetcher = Fetcher(client, experiment_id, ledger.uri)
    sweeps: Pulled = pull_sweeps(engine, fetcher, client, (experiment_id, ledger.experiment), ledger.uri, tell)
    decisions: PulledDecisions = pull_decisions(engine, fetcher, client, experiment_id, tell)
    return done._replace(
        new=sweeps.new,
        updated=sweeps.updated,
        unchanged=sweeps.unchanged,
        removed=sweeps.removed,
        others=sweeps.others,
        decisions=decisions.new,
        files=fetcher.asked,
        faults=(*done.faults, *sweeps.faults, *decisions.faults),
        notes=(*done.notes, *sweeps.notes),
    )


class _Teller:
    """Tells how far an exchange is: to the store now and then, and to whoever watches."""

    def __init__(self, engine: Engine, sync_id: int, show: Show | None) -> None:
        self._engine, self._sync_id, self._show = engine, sync_id, show
        self._stage, self._begun, self._written = "", 0.0, 0.0

    def tell(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._begun, self._written = stage, now, 0.0
        left = (now - self._begun) / done * (total - done) if done else None
        if self._show is not None:
            self._show(stage, done, total, left)
        if now - self._written >= BETWEEN_WRITES:
            self._written = now
            beat_sync(self._engine, self._sync_id, stage=stage, done=done, total=total, eta_seconds=left)
