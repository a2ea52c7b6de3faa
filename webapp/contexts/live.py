"""What is being measured right now: progress, state of each combination, and what became of a start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from experiments.launching import Launched
from experiments.naming import short_model
from experiments.own.responses import CANNOT_BE_JUDGED
from store.reads_history import CombinationState
from store.tables import SweepRow
from webapp.contexts.sync_panel import SyncPanel
from webapp.filters import duration, utc

SILENT = 120.0  # seconds without a sign of life after which that is said
WORDS = {
    "recorded": "recorded",
    "running": "running",
    "queued": "waiting",
    "failed": "failed",
    CANNOT_BE_JUDGED: CANNOT_BE_JUDGED,
}


class StateCell(NamedTuple):
    """One combination of the grid."""

    kind: str  # recorded, running, queued, failed; empty where the grid has none
    words: str
    reason: str


class StateRow(NamedTuple):
    """One strategy of the grid."""

    strategy: str
    cells: tuple[StateCell, ...]


class Running(NamedTuple):
    """A sweep at work."""

    sweep_id: int
    commit: str | None
    branch: str | None
    dirty: bool | None
    label: str
    done: int
    total: int
    facts: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]
    cancelling: bool
    columns: tuple[str, ...]
    rows: tuple[StateRow, ...]


class Live(NamedTuple):
    """The panel that renews itself while something is at work.

    Attributes:
        running: Sweeps at work.
        starting: A sweep was started and has not begun yet.
        refused: What a started process said before it ended without beginning a sweep; empty where none did so.
        poll_url: Where it asks for itself again; None when nothing is at work, which ends the asking.
        start_url: Where a sweep is started.
        cancel_urls: Where each sweep is cancelled.
        sync: The exchange with MLflow; None on a page of older sweeps.
    """

    running: tuple[Running, ...]
    starting: bool
    refused: tuple[str, ...]
    poll_url: str | None
    start_url: str
    cancel_urls: Mapping[int, str]
    sync: SyncPanel | None
    measures: str


def at_work(sweeps: Sequence[SweepRow]) -> list[SweepRow]:
    """The sweeps that run."""
    return [sweep for sweep in sweeps if sweep.state == "running"]


def is_starting(launch: Launched | None, sweeps: Sequence[SweepRow]) -> bool:
    """Whether a sweep was started and neither began nor ended."""
    return launch is not None and launch.lives and not _began(launch, sweeps)


def refusal(launch: Launched | None, sweeps: Sequence[SweepRow]) -> tuple[str, ...]:
    """What a start that led to nothing said; empty where there is none to tell of."""
    if launch is None or launch.lives or _began(launch, sweeps):
        return ()
    return launch.words or ("the process ended without a word",)


def _began(launch: Launched, sweeps: Sequence[SweepRow]) -> bool:
    """Whether a sweep gave a sign of life after the start; an interrupted one that is taken up is older than it."""
    return any(utc(sweep.heartbeat_at or sweep.created_at) >= launch.since for sweep in sweeps)


def running(sweep: SweepRow, states: Sequence[CombinationState], now: datetime | None = None) -> Running:
    """One sweep at work."""
    moment = now or datetime.now(UTC)
    counts = [(WORDS[kind], sum(one.state == kind for one in states)) for kind in WORDS]
    columns, rows = _grid(states)
    return Running(
        sweep_id=sweep.id or 0,
        commit=sweep.commit,
        branch=sweep.branch,
        dirty=sweep.dirty,
        label=sweep.stage or "reading documents, questions and earlier sweeps",
        done=sweep.done,
        total=sweep.total,
        facts=tuple(_facts(sweep, moment)),
        counts=tuple((words, count) for words, count in counts if count),
        cancelling=sweep.cancel_requested,
        columns=columns,
        rows=rows,
    )


def _facts(sweep: SweepRow, now: datetime) -> list[str]:
    began, heard = utc(sweep.started_at or sweep.created_at), utc(sweep.heartbeat_at or sweep.created_at)
    facts = []
    if sweep.eta_seconds is not None:
        facts.append(f"about {duration(sweep.eta_seconds)} left")
    facts.append(f"running for {duration(max((now - began).total_seconds(), 0.0))}")
    silent = (now - heard).total_seconds()
    if silent > SILENT:
        facts.append(f"no sign of life for {duration(silent)}" + (f" from {sweep.host}" if sweep.host else ""))
    return facts


def _grid(states: Sequence[CombinationState]) -> tuple[tuple[str, ...], tuple[StateRow, ...]]:
    several = len({one.model for one in states if one.model}) > 1
    scorers = {(one.retriever, one.scorer) for one in states if one.scorer}
    of_one_kind = Counter(retriever for retriever, _ in scorers)

    def column(one: CombinationState) -> str:
        model = [short_model(one.model)] if several and one.model else []
        scorer = [short_model(one.scorer)] if one.scorer and of_one_kind[one.retriever] > 1 else []
        return " ".join([one.retriever, *model, *scorer])

    columns = tuple(dict.fromkeys(column(one) for one in states))
    found = {(one.strategy, column(one)): one for one in states}
    rows = []
    for strategy in dict.fromkeys(one.strategy for one in states):
        cells = [found.get((strategy, name)) for name in columns]
        rows.append(
            StateRow(
                strategy,
                tuple(
                    StateCell(one.state, WORDS.get(one.state, one.state), one.reason or "")
                    if one
                    else StateCell("", "", "")
                    for one in cells
                ),
            )
        )
    return columns, tuple(rows)
