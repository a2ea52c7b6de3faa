"""The documents a sweep measured, and each of them with the cuts of a strategy laid over it."""

from __future__ import annotations

from flask import Blueprint, Response, request, url_for

from store import reads
from store.tables import SweepRow
from webapp import combinations, document_reads, exports, params, rendering
from webapp.contexts import document as sheets
from webapp.contexts import documents
from webapp.contexts.document import Sheet
from webapp.dashboard import dashboard
from webapp.exports import Format
from webapp.files import files
from webapp.filters import short_hash
from webapp.sweeps import strip_of

blueprint = Blueprint("documents", __name__)


@blueprint.get("/documents")
def page() -> Response:
    """The corpus of a sweep."""
    sweep, newest = _sweep()
    rows = reads.combinations(dashboard().engine, sweep.id or 0)
    corpus = document_reads.corpus_of(sweep, newest, rows)
    query = params.query_string()
    shown = params.changed(request.args.items(multi=True), check=None)
    handed = files("documents.table", query)
    context = documents.build(
        corpus,
        combinations.notes_on(sweep, rows),
        tuple((str(one.id), _named(one)) for one in reads.sweeps(dashboard().engine)),
        strip_of(sweep, csv_url=handed.csv, json_url=handed.json),
        documents.Links(params.path(), handed),
        lambda document_id: url_for("documents.document", document_id=document_id) + shown,
    )
    return rendering.page("documents", context, "documents")


@blueprint.get("/documents.<any(csv, json, md):form>")
def table(form: Format) -> Response:
    """The documents as a file."""
    sweep, newest = _sweep()
    corpus = document_reads.corpus_of(sweep, newest, reads.combinations(dashboard().engine, sweep.id or 0))
    return exports.respond(documents.table(corpus), form)


@blueprint.get("/documents/<path:document_id>")
def document(document_id: str) -> Response:
    """One document."""
    sweep, _ = _sweep()
    sheet = document_reads.sheet(sweep, document_id)
    links = _links(document_id)
    strip = strip_of(sweep, csv_url=links.files.csv, json_url=links.files.json)
    return rendering.page("document", sheets.build(sheet, strip, _carried(), links, _urls(sweep, sheet)), "document")


@blueprint.get("/chunks.<any(csv, json, md):form>")
def chunks(form: Format) -> Response:
    """The chunks of one document as a file."""
    sweep, _ = _sweep()
    return exports.respond(sheets.table(document_reads.sheet(sweep, params.text(request.args, "document"))), form)


def _sweep() -> tuple[SweepRow, SweepRow | None]:
    sweep, newest = document_reads.sweep_asked_for()
    if sweep is None:
        raise document_reads.NoCorpusError
    return sweep, newest


def _named(sweep: SweepRow) -> str:
    parts = [f"sweep {sweep.id}", short_hash(sweep.commit) if sweep.commit else "", sweep.branch or ""]
    return " ".join(part for part in parts if part)


def _carried() -> tuple[tuple[str, str], ...]:
    """What the form that chooses the cuts keeps: the sweep, and the place shown."""
    return tuple((name, request.args[name]) for name in ("sweep", "char", "part") if request.args.get(name))


def _links(document_id: str) -> sheets.Links:
    query = params.changed(request.args.items(multi=True), document=document_id, char=None, part=None)
    return sheets.Links(
        params.path(),
        url_for("documents.page") + params.changed(request.args.items(multi=True), char=None, part=None, cut=None),
        files("documents.chunks", query),
    )


def _urls(sweep: SweepRow, sheet: Sheet) -> sheets.Urls:
    own = [(name, value) for name, value in request.args.items(multi=True) if name not in ("char", "part")]
    shared = params.changed(own)

    def char(start: int, end: int) -> str:
        return f"{params.changed(own, char=f'{start},{end}')}#char={start},{end}"

    return sheets.Urls(
        document=lambda document_id: url_for("documents.document", document_id=document_id) + shared,
        question=lambda query_id: url_for("queries.query", sweep_id=sweep.id, query_id=query_id),
        char=char,
        section=lambda number, part: f"{params.changed(own, part=part) if part else ''}#s-{number}",
        part=lambda part: params.changed(own, part=part),
    )
