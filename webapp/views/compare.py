"""The Compare page: two sweeps side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, request, url_for

from experiments import comparison_report
from webapp import compare_reads, exports, params, rendering
from webapp.contexts import compare, compare_bluffs, compare_tables
from webapp.contexts.compare import Choice, Links, NothingContext
from webapp.exports import Format
from webapp.links import url_or_none

blueprint = Blueprint("compare", __name__)


@blueprint.get("/compare")
def page() -> Response:
    """Two sweeps compared; what there is to say when there are not two."""
    sweeps = compare_reads.choosable()
    if len(sweeps) < 2:
        return rendering.page("compare_nothing", NothingContext(compare_reads.why_not(sweeps)))
    facts, choice = compare_reads.read(sweeps)
    return rendering.page("compare", compare.build(facts, choice, sweeps, _links(choice)), "compare")


@blueprint.get("/compare/<any(combinations, questions, bluffs):what>.<any(csv, json, md):form>")
def table(what: str, form: Format) -> Response:
    """A table of the comparison as a file."""
    facts, choice = compare_reads.read(compare_reads.choosable())
    name = f"compare-{choice.a}-{choice.b}-at-{choice.k}"
    if what == "questions":
        return exports.respond(compare_tables.flip_table(facts.flips, f"{name}-questions"), form)
    if what == "bluffs":
        return exports.respond(compare_bluffs.table(facts.comparison, f"{name}-bluffs"), form)
    return exports.respond(compare_tables.table(compare.lines_of(facts, choice), choice.k, name), form)


@blueprint.get("/compare/report.<any(json, md):form>")
def report(form: Format) -> Response:
    """The whole comparison: verdict, what differs, tables."""
    facts, _ = compare_reads.read(compare_reads.choosable())
    if form == "md":
        return Response(comparison_report.markdown(facts.comparison), mimetype=exports.MIMETYPES["md"])
    record = comparison_report.record(facts.comparison)
    body = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    return Response(body, mimetype=exports.MIMETYPES["json"])


def _flipped(choice: Choice) -> str | None:
    """The same questions on the later sweep's own page; None where this dashboard has none."""
    url = url_or_none("queries.page", sweep_id=choice.b)
    return f"{url}?which=flipped&against={choice.a}" if url else None


def _links(choice: Choice) -> Links:
    def files(endpoint: str, forms: Sequence[str], **values: Any) -> tuple[str, ...]:
        query = params.changed(request.args.items(multi=True), a=choice.a, b=choice.b)
        return tuple(url_for(endpoint, form=form, **values) + query for form in forms)

    here = url_for("compare.page")
    swapped = params.changed(request.args.items(multi=True), a=choice.b, b=choice.a)
    combinations = files("compare.table", exports.FORMATS, what="combinations")
    questions = files("compare.table", exports.FORMATS, what="questions")
    bluffs = files("compare.table", exports.FORMATS, what="bluffs")
    markdown, as_json = files("compare.report", ("md", "json"))
    return Links(
        here=here,
        swap=here + swapped,
        sweep_a=url_for("strategies.page", sweep_id=choice.a),
        sweep_b=url_for("strategies.page", sweep_id=choice.b),
        combinations=(combinations[0], combinations[1], combinations[2]),
        questions=(questions[0], questions[1], questions[2]),
        bluffs=(bluffs[0], bluffs[1], bluffs[2]),
        flipped=_flipped(choice),
        report=markdown,
        report_json=as_json,
    )
