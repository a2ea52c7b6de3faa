"""The win/loss page: every combination of one sweep against every other."""

from __future__ import annotations

from typing import NamedTuple

from flask import Blueprint, Response, request, url_for

from experiments.evaluation import answerable
from experiments.reviewing.winloss import Unit
from store import reads
from store.reads import OutcomeRecord
from store.tables import CombinationRow, SweepRow
from webapp import combinations, exports, params, rendering
from webapp.combinations import Shown
from webapp.contexts import pair_cards, pair_tables, pairs
from webapp.contexts.pairs import Choice, Links
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.exports import Format
from webapp.files import files
from webapp.sweeps import get_sweep, strip_of

blueprint = Blueprint("pairs", __name__)


class NoSuchPairError(PageError):
    """A pair whose combinations are not both shown."""

    status = 404
    title = "There is no such pair here"


class Read(NamedTuple):
    """What every address of this page needs."""

    sweep: SweepRow
    rows: list[CombinationRow]
    shown: Shown
    choice: Choice
    outcomes: dict[int, list[OutcomeRecord]]


@blueprint.get("/sweeps/<int:sweep_id>/pairs")
def page(sweep_id: int) -> Response:
    """The matrix, the pair of the chosen cell, the order and all pairs."""
    sweep, rows, shown, choice, outcomes = _read(sweep_id)
    links = _links(sweep_id)
    context = pairs.build(
        sweep,
        shown,
        combinations.notes_on(sweep, rows),
        outcomes,
        reads.queries(dashboard().engine, sweep.questions_hash) if choice.first is not None else (),
        choice,
        strip_of(sweep, csv_url=links.pairs.csv, json_url=links.pairs.json),
        links,
        lambda query_id: _question_url(sweep_id, query_id, choice),
    )
    return rendering.page("pairs", context, "winloss", "pair")


@blueprint.get("/sweeps/<int:sweep_id>/pairs.<any(csv, json, md):form>")
def table(sweep_id: int, form: Format) -> Response:
    """All pairs as a file."""
    sweep, _, shown, choice, outcomes = _read(sweep_id)
    return exports.respond(pair_tables.table(sweep_id, pairs.compared(outcomes, shown, choice, sweep.settings)), form)


@blueprint.get("/sweeps/<int:sweep_id>/pairs/order.<any(csv, json, md):form>")
def order(sweep_id: int, form: Format) -> Response:
    """The order of the combinations as a file."""
    sweep, _, shown, choice, outcomes = _read(sweep_id)
    return exports.respond(
        pair_tables.order_table(sweep_id, pairs.compared(outcomes, shown, choice, sweep.settings)), form
    )


@blueprint.get("/sweeps/<int:sweep_id>/pairs/discordant.<any(csv, json, md):form>")
def discordant(sweep_id: int, form: Format) -> Response:
    """The questions on which one pair differs, as a file."""
    sweep, _, shown, choice, outcomes = _read(sweep_id)
    found = pairs.compared(outcomes, shown, choice, sweep.settings)
    if found is None or choice.first is None or choice.second is None:
        raise params.BadParameterError("a", request.args.get("a", ""), "the id of a combination, and b that of another")
    first, second = shown.by_id[choice.first], shown.by_id[choice.second]
    questions = reads.queries(dashboard().engine, sweep.questions_hash)
    mine, other = (answerable(outcomes.get(one.id, ())) for one in (first, second))
    pairing = found.pairing(first.key, second.key)
    return exports.respond(pair_cards.table(sweep_id, pairing, mine, other, questions), form)


def _read(sweep_id: int) -> Read:
    engine, sweep = dashboard().engine, get_sweep(sweep_id)
    rows = reads.combinations(engine, sweep_id)
    shown = combinations.shown(sweep, rows)
    choice = _choice(sweep, rows, shown)
    return Read(sweep, rows, shown, choice, reads.outcomes(engine, sweep_id, shown.ids))


def _choice(sweep: SweepRow, rows: list[CombinationRow], shown: Shown) -> Choice:
    ks, args = sweep.settings["k"], request.args
    per: Unit = "needle" if params.choice(args, "per", ("question", "needle"), "question") == "needle" else "question"
    first, second = _cell(rows, shown)
    order = params.choice(args, "order", ("found", "grid"), "found")
    return Choice(params.integer_of(args, "k", ks, max(ks)), per, order, first, second)


def _cell(rows: list[CombinationRow], shown: Shown) -> tuple[int | None, int | None]:
    """The chosen cell; none where the filters have taken one of its combinations away."""
    first, second = (params.integer(request.args, name, 1, 2**62, 0) for name in ("a", "b"))
    if not first and not second:
        return None, None
    if not first or not second or first == second:
        name = "b" if first else "a"
        raise params.BadParameterError(name, request.args.get(name, ""), "the id of another combination")
    missing = [str(one) for one in (first, second) if one not in {row.id for row in rows}]
    if missing:
        raise NoSuchPairError(
            f"This sweep has no combination {' and '.join(missing)}.", "Choose a cell of its matrix instead."
        )
    return (first, second) if {first, second} <= shown.by_id.keys() else (None, None)


def _question_url(sweep_id: int, query_id: str, choice: Choice) -> str:
    return url_for("queries.query", sweep_id=sweep_id, query_id=query_id, open=f"{choice.first},{choice.second}")


def _links(sweep_id: int) -> Links:
    query = params.query_string()
    addresses = (files(f"pairs.{name}", query, sweep_id=sweep_id) for name in ("table", "order", "discordant"))
    return Links(params.path(), tuple(request.args.items(multi=True)), *addresses)
