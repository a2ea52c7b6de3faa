"""The pattern page: every piece of the interface once, with invented numbers."""

from __future__ import annotations

from flask import Blueprint, Response, request, url_for

from webapp import exports, params
from webapp.contexts import patterns
from webapp.exports import Format
from webapp.rendering import page

blueprint = Blueprint("patterns", __name__)


@blueprint.get("/patterns")
def show() -> Response:
    """All components."""
    sort = params.choice(request.args, "sort", patterns.SORTS, "-r20")
    cut = params.decimal(request.args, "cut", 0.4, 0.8, 0.625)
    context = patterns.build(
        sort,
        cut or 0.0,
        csv_url=url_for("patterns.table", form="csv"),
        json_url=url_for("patterns.table", form="json"),
        md_url=url_for("patterns.table", form="md"),
    )
    return page("patterns", context, "strategies", "readout")


@blueprint.get("/patterns/table.<any(csv, json, md):form>")
def table(form: Format) -> Response:
    """The sample table as a file."""
    return exports.respond(patterns.sample_table(), form)
