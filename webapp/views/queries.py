"""The questions of a sweep: all of them, and each by itself."""

from __future__ import annotations

from flask import Blueprint, Response, request, url_for

from experiments.conditions import OWN
from webapp import combinations, exports, params, question_material, question_reads, rendering
from webapp.contexts import queries, query_hits, query_parts, query_tables
from webapp.contexts import query as one
from webapp.contexts.queries import Links
from webapp.contexts.query import Material
from webapp.exports import Format
from webapp.files import files
from webapp.places import document_place
from webapp.question_reads import Read
from webapp.sweeps import strip_of

blueprint = Blueprint("queries", __name__)


@blueprint.get("/sweeps/<int:sweep_id>/queries")
def page(sweep_id: int) -> Response:
    """A row for each question."""
    read = question_reads.read(sweep_id)
    count = queries.pages_of(read.found.chosen)
    number = params.integer(request.args, "page", 1, count, 1)
    links = _links(read, number, count)
    against = read.others.against  # resolved here, so that a question's page need not look for it
    query = params.changed(request.args.items(multi=True), page=None, t=read.cut.value, against=against)
    context = queries.build(
        read.sweep,
        read.shown,
        combinations.notes_on(read.sweep, read.rows),
        read.outcomes,
        read.queries,
        read.found,
        read.state,
        read.cut,
        read.others,
        number,
        strip_of(read.sweep, csv_url=links.files.csv, json_url=links.files.json),
        links,
        lambda query_id: url_for("queries.query", sweep_id=sweep_id, query_id=query_id) + query,
        lambda which: params.here(which=None if which == "all" else which, page=None),
    )
    return rendering.page("queries", context, "queries")


@blueprint.get("/sweeps/<int:sweep_id>/queries.<any(csv, json, md):form>")
def table(sweep_id: int, form: Format) -> Response:
    """The shown questions as a file."""
    read = question_reads.read(sweep_id)
    return exports.respond(
        query_tables.table(sweep_id, read.shown, read.outcomes, read.found.chosen, read.cut.threshold), form
    )


@blueprint.get("/sweeps/<int:sweep_id>/queries/<whole:query_id>")
def query(sweep_id: int, query_id: str) -> Response:
    """One question."""
    read = question_reads.read(sweep_id, offered=False)
    found = question_material.material(read, query_id)
    strip = strip_of(read.sweep)
    context = one.build(read, found, strip, _carried(), _question_links(read, found), _urls(read, found))
    return rendering.page("query", context, "query")


@blueprint.get("/sweeps/<int:sweep_id>/hits.<any(csv, json, md):form>")
def hits(sweep_id: int, form: Format) -> Response:
    """The hits of one question under the opened combinations, as a file."""
    read = question_reads.read(sweep_id, offered=False)
    found = question_material.material(read, params.text(request.args, "query"))
    heads = [head for head in read.shown.heads if head.id in found.opened]
    query_id = found.entry.query.query_id
    return exports.respond(query_hits.table(sweep_id, query_id, heads, found.outcomes, read.cut.threshold), form)


def _links(read: Read, number: int, count: int) -> Links:
    return Links(
        params.path(),
        files("queries.table", params.query_string(), sweep_id=read.sweep.id),
        previous_page=params.here(page=number - 1) if number > 1 else "",
        next_page=params.here(page=number + 1) if number < count else "",
    )


def _question_links(read: Read, found: Material) -> one.Links:
    sweep_id, query_id = read.sweep.id, found.entry.query.query_id
    place = query_parts.neighbours(read.found.chosen, query_id)
    urls = _urls(read, found)
    opened = ",".join(str(combination) for combination in found.opened)
    kept = params.changed(request.args.items(multi=True), query=query_id, open=opened, t=read.cut.value)
    return one.Links(
        params.path(),
        files("queries.hits", kept, sweep_id=sweep_id),
        back=url_for("queries.page", sweep_id=sweep_id) + params.changed(request.args.items(multi=True), open=None),
        previous=urls.question(place.previous) if place.previous else "",
        following=urls.question(place.following) if place.following else "",
    )


def _urls(read: Read, found: Material) -> one.Urls:
    sweep_id = read.sweep.id
    query = params.query_string()

    def toggle(combination: int) -> str:
        opened = [other for other in found.opened if other != combination]
        if combination not in found.opened:
            opened = [*opened[-(one.MOST_OPEN - 1) :], combination]
        return params.here(open=",".join(str(other) for other in opened) or question_material.NONE)

    def place(strategy: str, document: str, start: int, end: int, locator: str) -> str:
        cut = strategy if strategy != OWN else ""  # a team's own chunks are on no page of ours
        return document_place(document, start, end, locator, sweep=sweep_id, cut=cut or None) or ""

    return one.Urls(
        lambda query_id: url_for("queries.query", sweep_id=sweep_id, query_id=query_id) + query, toggle, place
    )


def _carried() -> tuple[tuple[str, str], ...]:
    """What the list was asked for, which the filters of a question's page keep."""
    own = {"t", "strategy", "retriever", "model"}
    return tuple((name, value) for name, value in request.args.items(multi=True) if name not in own and value)
