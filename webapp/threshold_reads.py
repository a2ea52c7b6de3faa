"""Reading the threshold page's state and what it is about: from an address, or from the form that chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments import measures
from experiments.conditions import retrievers_in, strategies_in
from experiments.deciding.costs import cheapest_threshold
from experiments.outcomes import Recorded
from experiments.stats.selective import Costs
from store import reads
from store.decisions import decision_in_force
from store.reads_sweeps import values
from store.tables import CombinationRow, DecisionRow, SweepRow
from webapp import params
from webapp.contexts.threshold import Read, scorers_of
from webapp.contexts.threshold_reading import DEFAULT_TERMS, Terms
from webapp.dashboard import dashboard
from webapp.errors import PageError

DEAREST = 1e6
LARGEST = 2.0  # a cosine distance
Args = Mapping[str, str]


class NothingToReadError(PageError):
    """The chosen combination has no numbers."""

    status = 404
    title = "This combination has no numbers"


def read(sweep: SweepRow, args: Args) -> Read:
    """The combination, the threshold and the terms, and what was measured of the combination.

    Raises:
        BadParameterError: If a parameter cannot be read.
        NothingToReadError: If no combination that fits has numbers.
    """
    engine, sweep_id, terms = dashboard().engine, sweep.id or 0, terms_of(args)
    asked = given(args)
    decision = decision_in_force(engine)
    combination = _combination(sweep, reads.combinations(engine, sweep_id), decision, args)
    outcomes = tuple(reads.outcomes(engine, sweep_id, [combination.id or 0]).get(combination.id or 0, ()))
    threshold = asked[0] if asked else _first(sweep, combination, outcomes, terms, decision)
    return Read(sweep, combination, outcomes, threshold, terms, decision)


def terms_of(args: Args) -> Terms:
    """Costs, and shares in percent."""
    plain = DEFAULT_TERMS
    costs = (params.decimal(args, name, 0, DEAREST, cost) or 0.0 for name, cost in plain.costs._asdict().items())
    return Terms(
        Costs(*costs),
        (params.decimal(args, "share", 0, 100, 100 * plain.share) or 0.0) / 100,
        (params.decimal(args, "most", 0.1, 99, 100 * plain.most) or 0.0) / 100,
    )


def given(args: Args) -> tuple[float | None] | None:
    """The threshold that was asked for, to three places; None where the address leaves it open."""
    if args.get("t") == "none":
        return (None,)
    cut = params.decimal(args, "t", 0, LARGEST, None)
    return None if cut is None else (round(cut, 3),)


def _combination(
    sweep: SweepRow, rows: Sequence[CombinationRow], decision: DecisionRow | None, args: Args
) -> CombinationRow:
    """The one asked for; where that leaves it open the decided one, else the one that finds most."""
    settings = sweep.settings
    strategy = params.choice(args, "strategy", strategies_in(settings), "")
    retriever = params.choice(args, "retriever", retrievers_in(settings), "")
    model = params.choice(args, "model", settings["models"], "")
    scorer = params.choice(args, "scorer", scorers_of(settings), "")
    fitting = [
        row
        for row in rows
        if strategy in ("", row.strategy)
        and retriever in ("", row.retriever)
        # One without a model or scorer belongs to every one of them.
        and (not model or row.model in (None, model))
        and (not scorer or row.scorer in (None, scorer))
    ]
    recorded = [row for row in fitting if row.state == "recorded"]
    if not recorded:
        raise _nothing(sweep, rows, fitting)
    decided = next((row for row in recorded if decision and row.key == decision.combination), None)
    if decided or len(recorded) == 1:
        return decided or recorded[0]
    found = values(dashboard().engine, sweep.id or 0, measures.recall(max(settings["k"])).name)
    return max(recorded, key=lambda row: found.get(row.id or 0, -1.0))  # max keeps the first of equals


def _nothing(sweep: SweepRow, rows: Sequence[CombinationRow], fitting: Sequence[CombinationRow]) -> NothingToReadError:
    if not any(row.state == "recorded" for row in rows):
        reason = f": {sweep.reason}" if sweep.reason else ""
        return NothingToReadError(
            f"Sweep {sweep.id} is {sweep.state}{reason}. None of its {len(rows)} combinations is recorded yet.",
            "Load the page again when one is, or measure them with `bluffline run`.",
        )
    said = [f"{row.key} is {row.state}{': ' + row.reason if row.reason else ''}." for row in fitting[:3]]
    return NothingToReadError(
        f"In sweep {sweep.id}, {' '.join(said) or 'there is no such combination.'}",
        "Choose another one, or measure it again with `bluffline run`.",
    )


def _first(
    sweep: SweepRow,
    combination: CombinationRow,
    outcomes: Sequence[Recorded],
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
