"""The threshold page: one combination of a sweep, read at any threshold; and the form that chooses one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Answer

from experiments.conditions import OWN
from experiments.deciding.decisions import decision_from, record
from experiments.launching import tag_decision
from experiments.outcomes import Hit, Outcome
from experiments.recording import from_parquet
from experiments.reviewing.context_size import context_sizes
from store import reads
from store.decisions import StaleDecisionError, decision_in_force
from store.reads_texts import document_texts
from webapp import exports, params, rendering, threshold_reads
from webapp.contexts import choosing, threshold, threshold_reading, threshold_tables
from webapp.contexts.choosing import Filled
from webapp.contexts.threshold import Links, Read
from webapp.contexts.threshold_reading import Bluff
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.exports import Format, Table
from webapp.links import shown_as, url_or_none
from webapp.places import document_place, locator_of
from webapp.sweeps import get_sweep

blueprint = Blueprint("threshold", __name__)

TABLES = ("sweep", "sides", "distances", "costs", "signals", "bluffs", "context")
FILES = f"any({', '.join(TABLES)}):which"


class NothingToChooseError(PageError):
    """No threshold can be chosen on this sweep."""

    status = 409
    title = "No threshold can be chosen here"


@blueprint.get("/sweeps/<int:sweep_id>/threshold")
def page(sweep_id: int) -> Response:
    """One combination at one threshold."""
    read = threshold_reads.read(get_sweep(sweep_id), request.args)
    recorded = _recorded(read)
    options = threshold.options_of(read.sweep)
    context = threshold.build(read, recorded, _bluffs(read, recorded), options, _links(read), _query_url(read))
    another = request.headers.get("HX-Target", "").endswith("#main")  # another combination: a way back to this one
    return shown_as(rendering.page("threshold", context), params.path() + read.query, new=another)


@blueprint.get(f"/sweeps/<int:sweep_id>/threshold/<{FILES}>.<any(csv, json, md):form>")
def table(sweep_id: int, which: str, form: Format) -> Response:
    """One of the page's tables as a file."""
    return exports.respond(_table(threshold_reads.read(get_sweep(sweep_id), request.args), which), form)


@blueprint.get("/sweeps/<int:sweep_id>/threshold/choose")
def choose(sweep_id: int) -> Response:
    """The form, empty."""
    read = threshold_reads.read(get_sweep(sweep_id), request.args)
    default = "hand" if read.threshold is not None else "cost"
    return _form(read, params.choice(request.args, "by", choosing.WAYS, default), Filled("", "", {}))


@blueprint.post("/sweeps/<int:sweep_id>/threshold/choose")
def decide(sweep_id: int) -> Answer:
    """Record the decision, or say what is missing."""
    form = request.form
    read = threshold_reads.read(get_sweep(sweep_id), form)
    way = params.choice(form, "by", choosing.WAYS, "hand")
    filled = Filled(form.get("who", ""), form.get("reason", ""), {})
    faults = {name: "This is required." for name in ("who", "reason") if not form.get(name, "").strip()}
    if way == "hand" and not form.get("t"):
        faults["form"] = (
            "The line is missing: a threshold by hand is one that was set, never the one a page begins with."
        )
    if faults:
        return _form(read, way, filled._replace(faults=faults), 422)
    try:
        evidence = choosing.evidence_of(read, way)
        decision = decision_from(
            evidence,
            evidence.choose(choosing.way_of(read, way)),
            who=filled.who,
            reason=filled.reason,
            project=dashboard().title,
            supersedes=params.integer(form, "supersedes", 1, 2**62, 0) or None,
        )
        recorded = record(dashboard().engine, decision)
    except StaleDecisionError as error:
        newer = replace(read, decision=decision_in_force(dashboard().engine))
        return _form(newer, way, filled._replace(faults={"form": str(error)}), 422)
    except ValueError as error:  # a decision that cannot be made, a bound that cannot be certified
        return _form(read, way, filled._replace(faults={"form": str(error)}), 422)
    if dashboard().tags_decisions:
        tag_decision(dashboard().root, has_project=dashboard().has_project)
    return redirect(f"/decisions/{recorded.id}", 303)


def _form(read: Read, way: str, filled: Filled, status: int = 200) -> Response:
    try:
        context = choosing.build(
            read,
            way,
            filled,
            action=url_for("threshold.choose", sweep_id=read.sweep.id),
            page=url_for("threshold.page", sweep_id=read.sweep.id),
        )
    except ValueError as error:
        said = str(error)
        raise NothingToChooseError(f"{said[:1].upper()}{said[1:]}.", "Go back to the threshold page.") from error
    return rendering.page("choosing", context, status=status)


def _table(read: Read, which: str) -> Table:
    outcomes, terms = read.outcomes, read.terms
    if which == "sweep":
        return threshold_tables.sweep(read.name, read.rows)
    if which == "sides":
        sides = threshold_reading.sides(outcomes, read.grid, read.threshold, terms, read.seed, read.sweep.hit_rule)
        return threshold_tables.sides(read.name, sides.rows)
    if which == "distances":
        return threshold_tables.distances(read.name, outcomes)
    if which == "costs":
        priced = threshold_reading.priced(outcomes, read.grid, read.threshold, terms, read.seed)
        return threshold_tables.costs(read.name, () if isinstance(priced, str) else priced[0].rows)
    if which == "signals":
        signals = threshold_reading.signals_of(outcomes, read.seed) if outcomes else None
        further = threshold_reading.further_of(outcomes, read.combination.retriever, read.seed)
        known = [signals.distance, signals.gap] if signals else []
        return threshold_tables.signals(read.name, [*known, *([further.signal] if further else [])])
    return _table_of_hits(read, which)


def _table_of_hits(read: Read, which: str) -> Table:
    recorded = _recorded(read)
    if which == "context":
        sizes = context_sizes(recorded, read.threshold, seed=read.seed) if recorded else []
        return threshold_tables.context(read.name, sizes)
    return threshold_tables.bluffs(read.name, _bluffs(read, recorded))


def _recorded(read: Read) -> tuple[Outcome, ...]:
    """The combination's outcomes with their hits."""
    combination_id = read.combination.id or 0
    parquet = reads.hits(dashboard().engine, [combination_id]).get(combination_id)
    return from_parquet(parquet) if parquet else ()


def _bluffs(read: Read, recorded: Sequence[Outcome]) -> tuple[Bluff, ...]:
    engine = dashboard().engine
    let_by = threshold_reading.bluffs_of(recorded, read.threshold)
    questions = {row.query_id: row.text for row in reads.queries(engine, read.sweep.questions_hash)}
    texts = document_texts(engine, read.sweep.corpus_hash, {hit.document for _, hit in let_by})

    cut = None if read.combination.strategy == OWN else read.combination.strategy

    def place_url(hit: Hit) -> str | None:
        if hit.text is not None:
            return None
        locator = locator_of(texts.get(hit.document), hit.start, hit.end)
        values = {"sweep": read.sweep.id, "cut": cut}
        return document_place(hit.document, hit.start, hit.end, locator, **values)

    return threshold_reading.bluff_lines(let_by, questions, texts, _query_url(read), place_url)


def _query_url(read: Read) -> Callable[[str], str | None]:
    """Leads to a question as this combination met it at this threshold."""
    values = {"sweep_id": read.sweep.id, "t": read.label, "open": read.combination.id}
    return lambda query_id: url_or_none("queries.query", query_id=query_id, **values)


def _links(read: Read) -> Links:
    query, sweep_id = params.query_string(), read.sweep.id
    files: dict[str, dict[str, str]] = {
        which: {
            form: url_for("threshold.table", which=which, form=form, sweep_id=sweep_id) + query
            for form in exports.FORMATS
        }
        for which in TABLES
    }
    possible = read.sweep.state == "finished" and any(one.needle_id is None for one in read.outcomes)
    choose = url_for("threshold.choose", sweep_id=sweep_id) + read.query if possible else None
    return Links(params.path(), files, choose)
