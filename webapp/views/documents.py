"""The documents a sweep measured, and each of them with the cuts of a strategy laid over it."""

from __future__ import annotations

from flask import Blueprint, Response, request, url_for

from store import reads
from store.tables import SweepRow
from webapp import combinations, document_reads, exports, file_reads, params, places, rendering
from webapp.contexts import document as sheets
from webapp.contexts import documents
from webapp.contexts.document import Sheet
from webapp.contexts.document_place import PlaceUrls
from webapp.dashboard import dashboard
from webapp.exports import Format
from webapp.files import files
from webapp.filters import short_hash
from webapp.sweeps import strip_of

blueprint = Blueprint("documents", __name__)


@blueprint.get("/documents")
def page() -> Response:
    """The files of the folder with their states, and the corpus of a sweep."""
    sweeps = reads.sweeps(dashboard().engine)
    sweep, newest = document_reads.sweep_asked_for(sweeps)
    panel = file_reads.files_panel()
    if sweep is None:
        nothing = documents.NothingMeasuredContext(panel)
        if rendering.asked_fragment(("files",)):
            return rendering.fragment("documents", "files", nothing)
        return rendering.page("documents_nothing", nothing)
    rows = reads.combinations(dashboard().engine, sweep.id or 0)
    corpus = document_reads.corpus_of(sweep, newest, rows)
    query = params.query_string()
    shown = params.changed(request.args.items(multi=True), check=None)
    handed = files("documents.table", query)
    context = documents.build(
        corpus,
        panel,
        combinations.notes_on(sweep, rows),
        tuple((str(one.id), _named(one)) for one in sweeps),
        strip_of(sweep, csv_url=handed.csv, json_url=handed.json),
        documents.Links(params.path(), handed),
        lambda document_id: url_for("documents.document", document_id=document_id) + shown,
    )
    return rendering.page("documents", context, "documents", "files")


@blueprint.get("/documents.<any(csv, json, md):form>")
def table(form: Format) -> Response:
    """The documents as a file."""
    sweep, newest = _sweep()
    corpus = document_reads.corpus_of(sweep, newest, reads.combinations(dashboard().engine, sweep.id or 0))
    return exports.respond(documents.table(corpus), form)


@blueprint.get("/documents/<path:document_id>")
def document(document_id: str) -> Response:
    """One document."""
    sweep, _ = document_reads.sweep_asked_for()
    sheet = document_reads.sheet(sweep, document_id)
    links = _links(sheet)
    strip = strip_of(sweep, csv_url=links.files.csv, json_url=links.files.json) if sweep and sheet.measured else None
    context = sheets.build(
        sheet, strip, _carried(), links, _urls(sweep, sheet), file_reads.recording_of(sheet), _anchor()
    )
    return rendering.page("document", context, "document")


@blueprint.get("/chunks.<any(csv, json, md):form>")
def chunks(form: Format) -> Response:
    """The chunks of one document as a file."""
    sweep, _ = document_reads.sweep_asked_for()
    return exports.respond(sheets.table(document_reads.sheet(sweep, params.exact(request.args, "document"))), form)


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
    return tuple((name, request.args[name]) for name in ("sweep", *places.NAMES, "part") if request.args.get(name))


def _anchor() -> str:
    """The id of the stretch asked for, as a fragment names it; a page has its own."""
    names = [name for name in ("t", "sheet", "range") if request.args.get(name)]
    return "&".join(f"{name}={request.args[name]}" for name in names)


def _links(sheet: Sheet) -> sheets.Links:
    args, elsewhere = list(request.args.items(multi=True)), dict.fromkeys((*places.NAMES, "part"))
    document_id = sheet.row.document_id
    raw = file_reads.raw_url(document_id)
    if raw and sheet.page:
        raw += f"#page={sheet.page}"
    return sheets.Links(
        params.path(),
        url_for("documents.page") + params.changed(args, **{**elsewhere, "cut": None}),
        files("documents.chunks", params.changed(args, **{**elsewhere, "document": document_id})),
        raw,
    )


def _urls(sweep: SweepRow | None, sheet: Sheet) -> sheets.Urls:
    own = [(n, value) for n, value in request.args.items(multi=True) if n not in (*places.NAMES, "part")]
    shared = params.changed(own)
    is_pdf = (sheet.row.extraction or {}).get("format") == "pdf" and file_reads.raw_url(sheet.row.document_id)

    def char(start: int, end: int) -> str:
        return f"{params.changed(own, char=f'{start},{end}')}#char={start},{end}"

    def question(query_id: str) -> str:
        return url_for("queries.query", sweep_id=sweep.id, query_id=query_id) if sweep else ""

    def image(number: int) -> str:
        return url_for("files.page_image", number=number, document_id=sheet.row.document_id)

    return sheets.Urls(
        document=lambda document_id: url_for("documents.document", document_id=document_id) + shared,
        question=question,
        char=char,
        section=lambda number, part: f"{params.changed(own, part=part) if part else ''}#s-{number}",
        part=lambda part: params.changed(own, part=part),
        place=PlaceUrls(lambda number: f"{params.changed(own, page=number)}#page={number}", image if is_pdf else None),
    )
