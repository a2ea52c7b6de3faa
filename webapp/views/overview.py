"""The overview: what is decided, what runs, what was measured; and starting and cancelling a sweep."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from sqlalchemy import Engine

from experiments import launching, measures
from experiments.launching import AlreadyRunningError
from experiments.processes import lives
from experiments.reviewing import readings
from experiments.reviewing.readings import Reading
from experiments.reviewing.trends import Measured
from experiments.sweep import settle_interrupted
from store import reads, reads_history
from store.decisions import standing
from store.reads_history import Wanted
from store.syncs import latest_sync
from store.tables import DecisionRow, SweepRow
from webapp import exports, params, rendering, threshold_reads
from webapp.contexts import decided, overview, sweep_list, sync_panel
from webapp.contexts import trend as trends
from webapp.contexts.live import Live
from webapp.contexts.overview import Choice, Facts, Links
from webapp.contexts.sync_panel import SyncPanel
from webapp.contexts.trend import BEST, TrendChoice
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.exports import Format, Table
from webapp.judging import judged
from webapp.links import url_or_none
from webapp.params import BadParameterError
from webapp.sweeps import get_sweep, remember_sweep

blueprint = Blueprint("overview", __name__)
SHOWN = 100  # sweeps of a page's history
RECENT = 10  # of them that may be running


class BusyError(PageError):
    """A sweep runs already."""

    status = 409
    title = "A sweep is running already"

    def __init__(self, error: AlreadyRunningError) -> None:
        """Say which."""
        which = "A sweep was started a moment ago" if error.sweep_id is None else f"Sweep {error.sweep_id} is running"
        super().__init__(
            f"{which}, and two at once would only slow each other down: nothing was started.",
            "Go back to the overview: wait there until it has finished, or cancel it.",
        )


class NotRunningError(PageError):
    """A sweep that cannot be cancelled because it does not run."""

    status = 409
    title = "This sweep does not run"

    def __init__(self, sweep_id: int, state: str) -> None:
        """Say what became of it."""
        super().__init__(f"Sweep {sweep_id} is {state}: there is nothing to cancel.", "Go back to the overview.")


@blueprint.get("/")
def page() -> Response:
    """The whole overview, or one of its fragments."""
    context = _context()
    return rendering.page("overview", context, "overview", "live")


@blueprint.get("/live")
def live() -> Response:
    """The panel of what runs; once nothing does any more, the overview around it, which then asks no longer."""
    if request.headers.get("HX-Request") != "true":
        return make_response(redirect(url_for("overview.page") + params.query_string()))
    panel = _live()
    if panel.poll_url:
        return make_response(render_template("overview/_live.html", live=panel))
    response = rendering.fragment("overview", "overview", _context())
    response.headers["HX-Retarget"] = "#overview"
    return response


@blueprint.post("/sweeps")
def start() -> Response:
    """Start a sweep of the project in a process of its own."""
    here = dashboard()
    try:
        launching.start_sweep(here.engine, here.root, has_project=here.has_project)
    except AlreadyRunningError as error:
        raise BusyError(error) from error
    return make_response(redirect(url_for("overview.page") + "#live", 303))


@blueprint.post("/sweeps/<int:sweep_id>/cancel")
def cancel(sweep_id: int) -> Response:
    """Ask a running sweep to stop."""
    sweep = get_sweep(sweep_id)
    if sweep.state != "running":
        raise NotRunningError(sweep_id, sweep.state)
    launching.request_cancel(dashboard().engine, sweep_id)
    return make_response(redirect(url_for("overview.page") + "#live", 303))


@blueprint.post("/sync")
def sync() -> Response:
    """Exchange sweeps and decisions with MLflow, in a process of its own."""
    here = dashboard()
    launching.start_sync(here.root, has_project=here.has_project)
    return make_response(redirect(url_for("overview.page") + "#sync", 303))


@blueprint.get("/overview/<any(sweeps, trend, failed, documents, thresholds):what>.<any(csv, json, md):form>")
def table(what: str, form: Format) -> Response:
    """A table of the overview as a file."""
    facts, choice = _read()
    made: dict[str, Table] = {
        "sweeps": sweep_list.table(facts.sweeps[: choice.length], facts.states, facts.recalls, choice.k),
        "trend": trends.table(overview.points_of(facts, choice), choice.trend),
        "failed": sweep_list.failed_table(sweep_list.failures(facts.sweeps, facts.states)),
        "thresholds": decided.table(facts.history),
        "documents": sweep_list.failed_documents_table(facts.sweeps),
    }
    return exports.respond(made[what], form)


def _context() -> overview.OverviewContext:
    facts, choice = _read()
    return overview.build(
        facts, choice, _links(facts.sweeps, facts.decision, choice.before, [one.id for one in facts.history]), _what()
    )


def _live() -> Live:
    """What runs now, in three statements: a page that is open asks for it every second."""
    engine = dashboard().engine
    sweeps = _settled(engine, RECENT)
    running = [sweep.id or 0 for sweep in sweeps if sweep.state == "running"]
    states = reads_history.combination_states(engine, running) if running else {}
    facts = Facts(sweeps, None, states, {}, {}, None, None, launching.launched(dashboard().root), _sync())
    return overview.live_panel(facts, _links(sweeps, None, None), _what())


def _read() -> tuple[Facts, Choice]:
    """What the page shows, in at most eight statements."""
    engine = dashboard().engine
    before = params.integer(request.args, "before", 1, 2**53, 0) or None
    length = params.integer_of(request.args, "show", sweep_list.LENGTHS, sweep_list.LENGTHS[0])
    sweeps = reads_history.sweeps_before(engine, before, SHOWN) if before else _settled(engine, SHOWN)
    newest = reads.latest_sweep(engine, "finished") if before else overview.newest_finished(sweeps)
    remember_sweep(newest.id if newest else None)
    listed = list(dict.fromkeys(sweep.id or 0 for sweep in [*sweeps[:length], *([newest] if newest else [])]))
    stands = standing(engine)
    decision = stands.decision if stands else None
    choice = _choice(sweeps, decision, length, before)
    recall, wanted = measures.recall(choice.k).name, choice.trend
    everything = [sweep.id or 0 for sweep in sweeps]
    trend: Mapping[int, Sequence[Measured]]
    if wanted.at_threshold:
        (recalls,) = reads_history.numbers(engine, Wanted(listed, recall))
        trend = _readings(everything, wanted)
    else:
        trend, recalls = reads_history.numbers(
            engine, Wanted(everything, wanted.measure.name, wanted.key), Wanted(listed, recall)
        )
    facts = Facts(
        sweeps,
        newest,
        reads_history.combination_states(engine, listed),
        recalls,
        trend,
        decision,
        judged(engine, decision, newest) if decision else None,
        launching.launched(dashboard().root),
        None if before else _sync(),
        stands.history if stands else [],
        stands is not None and not stands.sweep_is_here,
    )
    return facts, choice


def _readings(swept: Sequence[int], wanted: TrendChoice) -> dict[int, list[Reading]]:
    """A number of each sweep at the chosen threshold; none without a combination, whose scale it is."""
    if wanted.key is None:
        return {}
    outcomes = reads_history.distances(dashboard().engine, swept, wanted.key)
    return readings.read(outcomes, wanted.key, wanted.measure.name, wanted.threshold)


def _settled(engine: Engine, count: int) -> list[SweepRow]:
    """The newest sweeps, none of which is said to run while its process is gone; what runs is among them."""
    sweeps = reads_history.sweeps_before(engine, None, count)
    return reads_history.sweeps_before(engine, None, count) if settle_interrupted(engine, sweeps) else sweeps


def _sync() -> SyncPanel:
    here = dashboard()
    row = latest_sync(here.engine)
    alive = (
        row is not None
        and row.pid is not None
        and (row.host != socket.gethostname() or lives(row.pid, row.heartbeat_at))
    )
    return sync_panel.build(
        row, alive, launching.launched(here.root, launching.SYNC), here.sync_every, url_for("overview.sync")
    )


def _choice(sweeps: Sequence[SweepRow], decision: DecisionRow | None, length: int, before: int | None) -> Choice:
    """The state of the page out of its address; by default the combination that was decided on is followed."""
    args, ks = request.args, overview.depths(sweeps)
    k = params.integer_of(args, "k", ks, max(ks))
    known = trends.measures_of(sweeps)
    measure = known[params.choice(args, "measure", list(known), measures.recall(k).name)]
    key = params.text(args, "combination") or (decision.combination if decision else BEST)
    decided = decision.threshold if decision and decision.combination == key else None
    given = threshold_reads.given(args) if measure.name in readings.SHARES else None
    threshold = given[0] if given else decided
    if key == BEST and measure.higher_is_better is None:
        raise BadParameterError("measure", measure.name, "one of which more or less is better, or choose a combination")
    branches = [sweep.branch for sweep in sweeps if sweep.branch]
    branch = params.choice(args, "branch", branches, "")
    if measure.name in readings.SHARES:
        measure = readings.at(measure, threshold)
    typed = params.text(args, "t") if given else ""
    trend = TrendChoice(measure, None if key == BEST else key, branch, threshold, decided, typed)
    return Choice(k, length, trend, before)


def _links(
    sweeps: Sequence[SweepRow], decision: DecisionRow | None, before: int | None, decisions: Sequence[int] = ()
) -> Links:
    here, query = url_for("overview.page"), params.query_string()
    newest = next((sweep.id for sweep in sweeps if sweep.state == "finished"), None)
    oldest = sweeps[-1].id if len(sweeps) == SHOWN else None

    def files(what: str) -> tuple[str, str, str]:
        csv, json, md = (url_for("overview.table", what=what, form=form) + query for form in exports.FORMATS)
        return csv, json, md

    return Links(
        here=here,
        start=url_for("overview.start"),
        poll=url_for("overview.live") + query,
        compare=url_or_none("compare.page"),
        older=here + params.changed(request.args.items(multi=True), before=oldest) if oldest else None,
        newest=here + params.changed(request.args.items(multi=True), before=None) if before else None,
        sweeps={sweep.id or 0: url_for("strategies.page", sweep_id=sweep.id) for sweep in sweeps},
        cancel={sweep.id or 0: url_for("overview.cancel", sweep_id=sweep.id) for sweep in sweeps},
        decision=url_or_none("decisions.one", decision_id=decision.id) if decision else None,
        decisions=url_or_none("decisions.page"),
        thresholds=url_or_none("threshold.page", sweep_id=newest) if newest else None,
        list_exports=files("sweeps"),
        trend_exports=files("trend"),
        failed_exports=files("failed"),
        documents=url_or_none("documents.page", sweep=sweeps[0].id) if sweeps else None,
        documents_exports=files("documents"),
        decided={one: url_for("decisions.one", decision_id=one) for one in decisions},
        decided_exports=files("thresholds"),
    )


def _what() -> str:
    """What a sweep started now would measure, in words."""
    here = dashboard()
    return f"the project in {here.root}" if here.has_project else "the bundled corpus"
