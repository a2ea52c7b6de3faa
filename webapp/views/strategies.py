"""The strategies page: every combination of one sweep."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, request, url_for

from experiments.reading import LoadedSweep
from store import reads
from store.reads_sweeps import sweep_ids
from store.tables import SweepRow
from webapp import combinations, exports, params, rendering
from webapp.contexts import gains, strategies, strategy_table
from webapp.contexts.strategies import Filtered
from webapp.contexts.strategy_table import Choice
from webapp.dashboard import dashboard
from webapp.exports import Format
from webapp.links import shown_as, url_or_none
from webapp.report_file import report_file
from webapp.report_pages import Pages
from webapp.sweeps import get_sweep

blueprint = Blueprint("strategies", __name__)


@blueprint.get("/sweeps/<int:sweep_id>")
def page(sweep_id: int) -> Response:
    """All combinations, filtered and sorted, and two of them compared."""
    sweep = get_sweep(sweep_id)
    choice, loaded = _choice(sweep), _load(sweep)
    filtered = _filtered(loaded)
    sources = sweep_ids(dashboard().engine, {row.measured_in for row in loaded.recorded if row.measured_in})
    context = strategies.build(loaded, filtered, choice, sources, _links(sweep_id, choice.k))
    ticked = {group.name: [chip.value for chip in group.chips if chip.chosen] for group in filtered.shown.chips}
    short = params.path() + params.changed(choice.state(sweep.settings["k"]), **ticked)
    return shown_as(rendering.page("strategies", context, "strategies"), short, new=True)


@blueprint.get("/sweeps/<int:sweep_id>/strategies.<any(csv, json, md):form>")
def table(sweep_id: int, form: Format) -> Response:
    """The shown combinations as a file."""
    sweep = get_sweep(sweep_id)
    choice, loaded = _choice(sweep), _load(sweep, outcomes=False)
    filtered = _filtered(loaded)
    rows = strategies.rows_of(loaded, filtered, choice)
    return exports.respond(strategy_table.table(sweep, rows, filtered.missing), form)


@blueprint.get("/sweeps/<int:sweep_id>/gains.<any(csv, json, md):form>")
def second_models(sweep_id: int, form: Format) -> Response:
    """What second models buy and cost, as a file."""
    return exports.respond(gains.table(_load(get_sweep(sweep_id))), form)


@blueprint.get("/sweeps/<int:sweep_id>/report.html")
def report(sweep_id: int) -> Response:
    """All pages of the sweep as one file, to be kept or sent."""
    loaded = _load(get_sweep(sweep_id))
    response = Response(report_file(Pages(current_app, loaded)), mimetype="text/html")
    response.headers["Content-Disposition"] = f'attachment; filename="bluffline-sweep-{sweep_id}.html"'
    return response


def _choice(sweep: SweepRow) -> Choice:
    """The state of the page out of its address, but for the filters."""
    ks, args = sweep.settings["k"], request.args
    return Choice(
        params.integer_of(args, "k", ks, max(ks)),
        params.choice(args, "sort", strategy_table.sort_words(ks), ""),
        params.ids(args, "pick"),
    )


def _filtered(loaded: LoadedSweep) -> Filtered:
    sweep, rows = loaded.sweep, loaded.combinations
    return Filtered(combinations.shown(sweep, rows), combinations.missing(rows), combinations.notes_on(sweep, rows))


def _load(sweep: SweepRow, *, outcomes: bool = True) -> LoadedSweep:
    engine, sweep_id = dashboard().engine, sweep.id or 0
    return LoadedSweep(
        sweep,
        reads.combinations(engine, sweep_id),
        reads.measures(engine, sweep_id),
        reads.outcomes(engine, sweep_id) if outcomes else {},
    )


def _links(sweep_id: int, k: int) -> strategies.Links:
    query, pairs = params.query_string(), url_or_none("pairs.page", sweep_id=sweep_id)
    destroyed = url_or_none("queries.page", sweep_id=sweep_id, which="destroyed", strategy="")
    csv, json, md = (url_for("strategies.table", sweep_id=sweep_id, form=form) + query for form in exports.FORMATS)
    return strategies.Links(
        here=params.path(),
        csv=csv,
        json=json,
        md=md,
        pair=f"{pairs}?k={k}&a={{}}&b={{}}#pair" if pairs else None,
        clear=params.here(pick=None),
        gains=(
            url_for("strategies.second_models", sweep_id=sweep_id, form="csv"),
            url_for("strategies.second_models", sweep_id=sweep_id, form="json"),
            url_for("strategies.second_models", sweep_id=sweep_id, form="md"),
        ),
        destroyed=destroyed,
    )
