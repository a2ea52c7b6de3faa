"""What the overview shows: the decision in force, what runs, the last sweeps, a number across commits, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.deciding.validity import Validity
from experiments.launching import Launched
from experiments.own.responses import CANNOT_BE_JUDGED
from experiments.reviewing.document_states import FailedDocument
from experiments.reviewing.trends import Measured, TrendPoint, trend
from experiments.verdicts.documents import on_failed as on_failed_documents
from experiments.verdicts.overview import on_failed, on_undecided
from store.decisions import Line
from store.reads_history import CombinationState, NumberRecord
from store.tables import DecisionRow, SweepRow
from webapp.contexts import decided, in_force, live, sweep_list
from webapp.contexts import trend as trends
from webapp.contexts.decided import Decided
from webapp.contexts.in_force import InForce
from webapp.contexts.live import Live
from webapp.contexts.sweep_list import Ended, FailedLine, SweepLine
from webapp.contexts.sync_panel import SyncPanel
from webapp.contexts.trend import Trend, TrendChoice
from webapp.exports import Column


class Choice(NamedTuple):
    """The state of the page."""

    k: int
    length: int
    trend: TrendChoice
    before: int | None


class Facts(NamedTuple):
    """What was read: sweeps newest first, their combinations and numbers."""

    sweeps: Sequence[SweepRow]
    newest: SweepRow | None  # that finished
    states: Mapping[int, Sequence[CombinationState]]
    recalls: Mapping[int, Sequence[NumberRecord]]  # R@k by sweep
    trend: Mapping[int, Sequence[Measured]]  # the chosen measure by sweep
    decision: DecisionRow | None
    validity: Validity | None
    launch: Launched | None
    sync: SyncPanel | None = None
    history: Sequence[Line] = ()  # decisions, the oldest first
    sweep_gone: bool = False  # the one the decision stands on


class Links(NamedTuple):
    """Addresses; None for a page that does not exist."""

    here: str
    start: str
    poll: str
    compare: str | None
    older: str | None
    newest: str | None
    sweeps: Mapping[int, str]
    cancel: Mapping[int, str]
    decision: str | None
    decisions: str | None
    thresholds: str | None
    list_exports: tuple[str, str, str]
    trend_exports: tuple[str, str, str]
    failed_exports: tuple[str, str, str]
    documents: str | None  # of the newest sweep
    documents_exports: tuple[str, str, str]
    decided: Mapping[int, str]  # each decision's page
    decided_exports: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class OverviewContext:
    """Everything `templates/overview/page.html` uses."""

    verdict: str
    verdict_kind: str
    asides: tuple[str, ...]
    decision: InForce | None
    thresholds_url: str | None
    live: Live
    ended: tuple[Ended, ...]
    incomplete: str
    measured: bool
    k: int
    ks: tuple[tuple[int, str], ...]
    length: int
    lengths: tuple[tuple[int, str], ...]
    sweeps: tuple[SweepLine, ...]
    reference: float | None
    columns: tuple[Column, ...]
    trend: Trend
    trend_columns: tuple[Column, ...]
    decided: Decided | None
    decided_columns: tuple[Column, ...]
    failed: tuple[FailedLine, ...]
    failed_documents: tuple[FailedDocument, ...]
    documents_words: str
    links: Links


def build(facts: Facts, choice: Choice, links: Links, measures_what: str) -> OverviewContext:
    """The page.

    Args:
        facts: What was read.
        choice: What to show of it.
        links: Addresses.
        measures_what: What a sweep started now would measure, in words.
    """
    sweeps = facts.sweeps
    newest = facts.newest
    states = facts.states.get(newest.id or 0, ()) if newest else ()
    undecided = on_undecided(newest.id if newest else None)
    lines = sweep_list.lines(
        sweeps,
        facts.states,
        facts.recalls,
        choice.k,
        urls=links.sweeps,
        compare_url=links.compare,
        length=choice.length,
    )
    points = points_of(facts, choice)
    unread = sweep_list.documents_left_out(sweeps)
    keys = list(dict.fromkeys(one.key for sweep in sweeps for one in facts.states.get(sweep.id or 0, ())))
    return OverviewContext(
        verdict=in_force.headline(facts.decision, facts.validity) if facts.decision else undecided.headline,
        verdict_kind=in_force.line_kind(facts.validity) if facts.decision else "open",
        asides=() if facts.decision else undecided.asides,
        decision=(
            in_force.in_force(facts.decision, facts.validity, links.decision, sweep_gone=facts.sweep_gone)
            if facts.decision
            else None
        ),
        thresholds_url=links.thresholds,
        live=live_panel(facts, links, measures_what),
        ended=sweep_list.unfinished(sweeps, facts.states, links.sweeps),
        incomplete=on_failed(
            sum(one.state == "failed" for one in states),
            len(states),
            sum(one.state == CANNOT_BE_JUDGED for one in states),
        ),
        measured=bool(sweeps),
        k=choice.k,
        ks=tuple((k, str(k)) for k in depths(sweeps)),
        length=choice.length,
        lengths=tuple((length, str(length)) for length in sweep_list.LENGTHS),
        sweeps=lines,
        reference=max((line.best.value for line in lines if line.best and line.best.value is not None), default=None),
        columns=sweep_list.COLUMNS,
        trend=trends.build(points, choice.trend, sweeps, keys, links.sweeps),
        trend_columns=trends.COLUMNS,
        decided=decided.build(facts.history, sweeps[0].created_at if sweeps else None, links.decided),
        decided_columns=decided.COLUMNS,
        failed=sweep_list.failures(sweeps, facts.states),
        failed_documents=unread,
        documents_words=on_failed_documents(len(unread), sweeps[0].id if sweeps else None),
        links=links,
    )


def newest_finished(sweeps: Sequence[SweepRow]) -> SweepRow | None:
    """The newest sweep that finished, None where none did."""
    return next((sweep for sweep in sweeps if sweep.state == "finished"), None)


def points_of(facts: Facts, choice: Choice) -> list[TrendPoint]:
    """The chosen trend, oldest first."""
    shown = [sweep for sweep in facts.sweeps if choice.trend.branch in ("", sweep.branch)]
    return trend(shown[::-1], facts.trend, choice.trend.measure, choice.trend.key)


def depths(sweeps: Sequence[SweepRow]) -> tuple[int, ...]:
    """Every k some sweep measured at."""
    return tuple(sorted({int(k) for sweep in sweeps for k in sweep.settings.get("k", ())})) or (20,)


def live_panel(facts: Facts, links: Links, measures_what: str) -> Live:
    """What runs now."""
    running = tuple(live.running(sweep, facts.states.get(sweep.id or 0, ())) for sweep in live.at_work(facts.sweeps))
    starting = live.is_starting(facts.launch, facts.sweeps)
    return Live(
        running=running,
        starting=starting,
        refused=live.refusal(facts.launch, facts.sweeps),
        poll_url=links.poll if running or starting or (facts.sync is not None and facts.sync.running) else None,
        start_url=links.start,
        cancel_urls=links.cancel,
        measures=measures_what,
        sync=facts.sync,
    )
