"""The threshold page: one combination of a sweep, read at any threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flask import Blueprint, Response, request, url_for

from experiments import measures
from experiments.costs import cheapest_threshold
from experiments.outcomes import Hit
from experiments.recording import from_parquet
from experiments.stats.selective import Costs
from store import reads
from store.decisions import decision_in_force
from store.reads_sweeps import values
from store.reads_texts import document_texts
from store.tables import CombinationRow, DecisionRow, SweepRow
from webapp import exports, params, rendering
from webapp.contexts import threshold, threshold_reading, threshold_tables
from webapp.contexts.threshold import Links, Read
from webapp.contexts.threshold_reading import DEFAULT_TERMS, Bluff, Terms
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.exports import Format, Table
from webapp.links import url_or_none
from webapp.sweeps import get_sweep

blueprint = Blueprint("threshold", __name__)

TABLES = ("sweep", "sides", "distances", "costs", "signals", "bluffs")
DEAREST = 1e6


class NothingToReadError(PageError):
    """The chosen combination has no numbers."""

    status = 404
    title = "This combination has no numbers"


@blueprint.get("/sweeps/<int:sweep_id>/threshold")
def page(sweep_id: int) -> Response:
    """One combination at one threshold."""
    read = _read(get_sweep(sweep_id))
    context = threshold.build(read, _bluffs(read), threshold.options_of(read.sweep), _links(read), _query_url(read))
    return rendering.page("threshold", context)


@blueprint.get(f"/sweeps/<int:sweep_id>/threshold/<any({', '.join(TABLES)}):which>.<any(csv, json, md):form>")
def table(sweep_id: int, which: str, form: Format) -> Response:
    """One of the page's tables as a file."""
    return exports.respond(_table(_read(get_sweep(sweep_id)), which), form)


def _table(read: Read, which: str) -> Table:
    outcomes, terms = read.outcomes, read.terms
    if which == "sweep":
        return threshold_tables.sweep(read.name, read.rows)
    if which == "sides":
        sides = threshold_reading.sides(outcomes, read.grid, read.threshold, terms, read.seed)
        return threshold_tables.sides(read.name, sides.rows)
    if which == "distances":
        return threshold_tables.distances(read.name, outcomes)
    if which == "costs":
        return threshold_tables.costs(
            read.name, threshold_reading.curve_of(outcomes, (*read.grid, None), terms, read.seed)
        )
    if which == "signals":
        return threshold_tables.signals(read.name, threshold_reading.signals_of(outcomes, read.seed))
    return threshold_tables.bluffs(read.name, _bluffs(read))


def _read(sweep: SweepRow) -> Read:
    """The combination, the threshold and the terms out of the address, and what was measured of it."""
    engine, args = dashboard().engine, request.args
    decision = decision_in_force(engine)
    combination = _combination(sweep, reads.combinations(engine, sweep.id or 0), decision)
    outcomes = tuple(reads.outcomes(engine, sweep.id or 0, [combination.id or 0]).get(combination.id or 0, ()))
    terms = _terms()
    if args.get("t") == "none":
        return Read(sweep, combination, outcomes, None, terms)
    cut = params.decimal(args, "t", 0, 2, None)
    if cut is None:
        cut = _first_threshold(sweep, combination, outcomes, terms, decision)
    return Read(sweep, combination, outcomes, round(cut, 3), terms)


def _terms() -> Terms:
    """Costs, and shares in percent."""
    args, plain = request.args, DEFAULT_TERMS
    costs = (params.decimal(args, name, 0, DEAREST, cost) or 0.0 for name, cost in plain.costs._asdict().items())
    return Terms(
        Costs(*costs),
        (params.decimal(args, "share", 0, 100, 100 * plain.share) or 0.0) / 100,
        (params.decimal(args, "most", 0.1, 99, 100 * plain.most) or 0.0) / 100,
    )


def _combination(sweep: SweepRow, rows: Sequence[CombinationRow], decision: DecisionRow | None) -> CombinationRow:
    """The one asked for; where the address leaves it open the decided one, else the one that finds most."""
    args, settings = request.args, sweep.settings
    strategy = params.choice(args, "strategy", list(settings["strategies"]), "")
    retriever = params.choice(args, "retriever", settings["retrievers"], "")
    model = params.choice(args, "model", settings["models"], "")
    fitting = [
        row
        for row in rows
        if strategy in ("", row.strategy)
        and retriever in ("", row.retriever)
        and (not model or row.model in (None, model))
    ]
    recorded = [row for row in fitting if row.state == "recorded"]
    if not recorded:
        raise _nothing(sweep, fitting)
    decided = next((row for row in recorded if decision and row.key == decision.combination), None)
    if decided:
        return decided
    name = measures.recall(max(settings["k"])).name
    found = values(dashboard().engine, sweep.id or 0, name)
    return max(recorded, key=lambda row: found.get(row.id or 0, -1.0))  # max keeps the first of equals


def _nothing(sweep: SweepRow, fitting: Sequence[CombinationRow]) -> NothingToReadError:
    said = [f"{row.key} is {row.state}{': ' + row.reason if row.reason else ''}." for row in fitting[:3]]
    return NothingToReadError(
        f"In sweep {sweep.id}, {' '.join(said) or 'there is no such combination.'}",
        "Choose another one, or measure it again with `bluffline run`.",
    )


def _first_threshold(
    sweep: SweepRow,
    combination: CombinationRow,
    outcomes: Sequence[reads.OutcomeRecord],
    terms: Terms,
    decision: DecisionRow | None,
) -> float:
    """Where the line stands at first: where it was decided to be, else at the cheapest threshold."""
    if decision and decision.combination == combination.key:
        return decision.threshold
    grid = sorted(sweep.settings["thresholds"])
    try:
        return cheapest_threshold(outcomes, grid, terms.costs, terms.share)
    except ValueError:  # a kind of question is missing, so nothing can be priced
        return float(grid[len(grid) // 2])


def _bluffs(read: Read) -> tuple[Bluff, ...]:
    engine, combination_id = dashboard().engine, read.combination.id or 0
    parquet = reads.hits(engine, [combination_id]).get(combination_id)
    let_by = threshold_reading.bluffs_of(from_parquet(parquet) if parquet else (), read.threshold)
    questions = {row.query_id: row.text for row in reads.queries(engine, read.sweep.questions_hash)}
    texts = document_texts(engine, read.sweep.corpus_hash, {hit.document for _, hit in let_by})

    def place_url(hit: Hit) -> str | None:
        url = url_or_none("documents.document", document_id=hit.document)
        return url + hit.locator if url else None

    return threshold_reading.bluff_lines(let_by, questions, texts, _query_url(read), place_url)


def _query_url(read: Read) -> Callable[[str], str | None]:
    return lambda query_id: url_or_none("queries.query", sweep_id=read.sweep.id, query_id=query_id)


def _links(read: Read) -> Links:
    query, sweep_id = params.query_string(), read.sweep.id
    files: dict[str, dict[str, str]] = {
        which: {
            form: url_for("threshold.table", which=which, form=form, sweep_id=sweep_id) + query
            for form in exports.FORMATS
        }
        for which in TABLES
    }
    return Links(
        request.path,
        files,
        url_or_none("threshold.choose", sweep_id=sweep_id),
        url_for("strategies.page", sweep_id=sweep_id),
    )
