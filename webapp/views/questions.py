"""The Questions page: the question set, what it can show, and its check."""

from __future__ import annotations

from flask import Blueprint, Response, url_for

from corpus import question_writing
from webapp import exports, params, question_set_reads, rendering
from webapp.contexts import question_tables, questions
from webapp.contexts.questions import Links
from webapp.exports import Format
from webapp.links import url_or_none
from webapp.question_set_reads import Read

blueprint = Blueprint("questions", __name__)


@blueprint.get("/questions")
def page() -> Response:
    """The set of a sweep; of the project's files where nothing was measured yet."""
    read = question_set_reads.read()
    context = questions.build(
        read.queries,
        read.sweep,
        read.sweeps,
        read.choice,
        read.checked,
        read.observed,
        question_set_reads.what(),
        _links(read),
    )
    return rendering.page("questions", context, "check", "planning", "bounds")


@blueprint.get(f"/questions/<any({', '.join(question_tables.TABLES)}):which>.<any(csv, json, md):form>")
def table(which: str, form: Format) -> Response:
    """A table of the page as a file."""
    read = question_set_reads.read(always_check=which == "faults")
    table = question_tables.table(which, read.queries, read.sweep, read.choice, read.checked, read.observed)
    return exports.respond(table, form)


@blueprint.get("/questions/<any(measured, project):which>.<any(csv, jsonl):form>")
def file(which: str, form: str) -> Response:
    """The questions as a file that the check accepts again: as a sweep measured them, or as the project has them."""
    queries, name = question_set_reads.whole_set(which)
    text = question_writing.to_csv(queries) if form == "csv" else question_writing.to_jsonl(queries)
    response = Response(text, mimetype="text/csv" if form == "csv" else "application/jsonl")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


def _links(read: Read) -> Links:
    query = params.query_string()
    sweep = read.sweep.id if read.sweep else None

    def files(which: str) -> tuple[str, str, str]:
        csv, json, md = (url_for("questions.table", which=which, form=form) + query for form in exports.FORMATS)
        return csv, json, md

    here = url_for("questions.page")
    return Links(
        here=here,
        check=params.here(check=1),
        sweep=url_or_none("queries.page", sweep_id=read.sweep.id) if read.sweep else None,
        csv=url_for("questions.file", which="measured", form="csv", sweep=sweep),
        jsonl=url_for("questions.file", which="measured", form="jsonl", sweep=sweep),
        project_csv=url_for("questions.file", which="project", form="csv"),
        project_jsonl=url_for("questions.file", which="project", form="jsonl"),
        tables={which: files(which) for which in question_tables.TABLES},
    )
