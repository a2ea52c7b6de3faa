"""The decision pages: reading what was decided, with what was known, and handing it to production."""

from __future__ import annotations

from flask import Blueprint, Response, url_for

from experiments.deciding.decision_export import export
from store import decisions as kept
from store import reads
from store.reads_sweeps import sweep_ids
from store.tables import DecisionRow
from webapp import exports, rendering
from webapp.contexts import decision_evidence, decisions
from webapp.contexts.decisions import Links
from webapp.dashboard import dashboard
from webapp.errors import PageError, shown
from webapp.exports import Format
from webapp.judging import judged
from webapp.links import url_or_none
from webapp.sweeps import remember_sweep

blueprint = Blueprint("decisions", __name__)
MOST = 500  # decisions of the list


class UnknownDecisionError(PageError):
    """A decision that is not in the store."""

    status = 404
    title = "There is no such decision"

    def __init__(self, decision_id: int) -> None:
        """Keep which was asked for."""
        super().__init__(
            f"Decision {shown(decision_id)} is not in this dashboard's store.",
            "The list of decisions holds all there are.",
        )


@blueprint.get("/decisions")
def page() -> Response:
    """All decisions, the one in force first."""
    engine = dashboard().engine
    newest = reads.latest_sweep(engine, "finished")
    remember_sweep(newest.id if newest else None)
    found = kept.decisions(engine, MOST)
    validity = judged(engine, found[0], newest) if found else None
    urls = {one.id or 0: url_for("decisions.one", decision_id=one.id) for one in found}
    threshold = url_or_none("threshold.page", sweep_id=newest.id) if newest else None
    csv, json, md = (url_for("decisions.table", form=form) for form in exports.FORMATS)
    return rendering.page("decisions", decisions.build_list(found, validity, urls, threshold, (csv, json, md)))


@blueprint.get("/decisions.<any(csv, json, md):form>")
def table(form: Format) -> Response:
    """All decisions as a file."""
    return exports.respond(decisions.table(kept.decisions(dashboard().engine, MOST)), form)


@blueprint.get("/decisions/<int:decision_id>")
def one(decision_id: int) -> Response:
    """One decision, with its evidence and whether it still holds."""
    engine, decision = dashboard().engine, get_decision(decision_id)
    newest = reads.latest_sweep(engine, "finished")
    remember_sweep(newest.id if newest else None)
    after = kept.superseding(engine, decision)
    here = sweep_ids(engine, [decision.sweep_key]).get(decision.sweep_key)
    neighbours = [each for each in (decision.supersedes, after.id if after else None) if each]
    urls = {each: url_for("decisions.one", decision_id=each) for each in neighbours}
    context = decisions.build_one(
        decision,
        after,
        judged(engine, decision, newest),
        export(decision, "toml"),
        urls,
        _links(decision, here, newest.id if newest else None),
    )
    return rendering.page("decision", context)


@blueprint.get("/decisions/<int:decision_id>.<any(toml, json):form>")
def config(decision_id: int, form: str) -> Response:
    """The decision as a production config reads it."""
    decision = get_decision(decision_id)
    is_toml = form == "toml"
    response = Response(
        export(decision, "toml" if is_toml else "json"), mimetype="application/toml" if is_toml else "application/json"
    )
    response.headers["Content-Disposition"] = f'attachment; filename="bluffline-decision-{decision_id}.{form}"'
    return response


@blueprint.get("/decisions/<int:decision_id>/<any(evidence, costs):what>.<any(csv, json, md):form>")
def file(decision_id: int, what: str, form: Format) -> Response:
    """A table of a decision's evidence as a file."""
    decision = get_decision(decision_id)
    made = decision_evidence.table(decision) if what == "evidence" else decision_evidence.cost_table(decision)
    return exports.respond(made, form)


def get_decision(decision_id: int) -> DecisionRow:
    """A decision of the store.

    Raises:
        UnknownDecisionError: If there is none with this id.
    """
    found = kept.decision(dashboard().engine, decision_id) if decision_id < 2**63 else None
    if found is None:
        raise UnknownDecisionError(decision_id)
    return found


def _links(decision: DecisionRow, here: int | None, newest: int | None) -> Links:
    def files(what: str) -> tuple[str, str, str]:
        csv, json, md = (
            url_for("decisions.file", decision_id=decision.id, what=what, form=form) for form in exports.FORMATS
        )
        return csv, json, md

    return Links(
        all=url_for("decisions.page"),
        sweep=url_or_none("strategies.page", sweep_id=here) if here else None,
        threshold=url_or_none("threshold.page", sweep_id=here) if here else None,
        newest=url_or_none("strategies.page", sweep_id=newest) if newest else None,
        toml=url_for("decisions.config", decision_id=decision.id, form="toml"),
        json=url_for("decisions.config", decision_id=decision.id, form="json"),
        evidence=files("evidence"),
        costs=files("costs"),
        ask=url_or_none("ask.page"),
    )
