"""The exchange with the tracking server: when it was last done, what came of it, and whether it is at work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from experiments.launching import Launched
from experiments.words import listed, plural
from store.tables import SyncRow
from webapp.filters import duration, utc

SHOWN = 20  # lines of what went wrong


class SyncPanel(NamedTuple):
    """What the overview says of the exchange.

    Attributes:
        words: How the last one went.
        at: When it ended; None before the first.
        faults: What went wrong, a line each.
        more: How many lines more there are.
        failed: Whether it ended before it was done.
        running: Whether one is at work or about to be.
        label: What it is doing.
        done: How much of that is done.
        total: Of how much; 0 where that is not known.
        facts: How long the rest takes.
        every: How often it is done by itself; empty where only on request.
        url: Where one is started.
    """

    words: str
    at: datetime | None
    faults: tuple[str, ...]
    more: int
    failed: bool
    running: bool
    label: str
    done: int
    total: int
    facts: tuple[str, ...]
    every: str
    url: str


def build(row: SyncRow | None, lives: bool, launch: Launched | None, minutes: float | None, url: str) -> SyncPanel:
    """The panel.

    Args:
        row: The exchange that began last; None before the first.
        lives: Whether the process of that row is still there.
        launch: The last one that was started from this dashboard.
        minutes: Between two that are started by themselves; None where none is.
        url: Where one is started.
    """
    at_work = row is not None and row.state == "running" and lives
    silent = launch is not None and (row is None or utc(row.started_at) < launch.since)  # it has no row of its own
    starting = silent and launch is not None and launch.lives
    faults: tuple[str, ...] = ()
    failed = False
    if row is not None and not at_work:
        failed = row.state != "finished"
        faults = tuple(row.faults) or (("its process ended before it was finished",) if failed else ())
    if silent and launch is not None and not launch.lives:
        failed, faults = True, launch.words or ("its process ended without a word",)
    return SyncPanel(
        words=_words(row, failed),
        at=row.finished_at if row is not None and not at_work else None,
        faults=faults[:SHOWN],
        more=max(0, len(faults) - SHOWN),
        failed=failed,
        running=at_work or starting,
        label=(row.stage or "beginning") if at_work and row is not None else "beginning",
        done=row.done if at_work and row is not None else 0,
        total=row.total if at_work and row is not None else 0,
        facts=(f"about {duration(row.eta_seconds)} left",) if at_work and row and row.eta_seconds is not None else (),
        every="" if minutes is None else f"every {minutes:g} min",
        url=url,
    )


def _words(row: SyncRow | None, failed: bool) -> str:
    if failed:
        return "The last exchange with MLflow was not finished; what it did is kept, the next one goes on."
    if row is None:
        return "Not yet exchanged with MLflow."
    return f"Exchanged with MLflow: {_counted(row.counts)}."


def _counted(counts: Mapping[str, int]) -> str:
    words = [
        words
        for name, words in (
            ("pushed", f"{plural(counts.get('pushed', 0), 'sweep')} logged"),
            ("decisions_pushed", f"{plural(counts.get('decisions_pushed', 0), 'decision')} logged"),
            ("new", f"{plural(counts.get('new', 0), 'new sweep')} read"),
            ("updated", f"{plural(counts.get('updated', 0), 'changed sweep')} read"),
            ("removed", f"{plural(counts.get('removed', 0), 'deleted sweep')} taken out"),
            ("decisions", f"{plural(counts.get('decisions', 0), 'decision')} read"),
        )
        if counts.get(name)
    ]
    others = counts.get("others", 0)
    alone = f"; {plural(others, 'run')} of other programs left alone" if others else ""
    return (listed(words) or "nothing was new") + alone
