"""What is known about one combination when a threshold is chosen for it, and how that is kept with the decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.deciding.certification import STRATA, Bound, bounds_at, certify, on_certifications
from experiments.deciding.choosing import AtMost, Choice, Side, Way, choose, on_choice
from experiments.deciding.costs import (
    DEFAULT_COSTS,
    DEFAULT_UNANSWERABLE_SHARE,
    CostCurve,
    CostRow,
    cost_curve,
    on_costs,
)
from experiments.deciding.signals import SignalComparison, compare_signals, on_signals
from experiments.outcomes import Recorded
from experiments.reading import LoadedSweep
from experiments.report import share
from experiments.reviewing.wordings import WORDING
from experiments.stats.calibration import Certification
from experiments.stats.intervals import Proportion
from experiments.stats.selective import Costs
from experiments.thresholds import Extremes, ThresholdRow, extremes, read_thresholds
from experiments.words import interval
from store.tables import CombinationRow, SweepRow

DEFAULT_TARGET = 0.1  # shown where nobody asked for another


class DecisionError(ValueError):
    """A threshold cannot be chosen; the message says why and what there is instead."""


class Terms(NamedTuple):
    """What is asked of a threshold."""

    costs: Costs = DEFAULT_COSTS
    unanswerable_share: float = DEFAULT_UNANSWERABLE_SHARE
    target: float | None = None  # bluff rate to be certified; None where none was asked for
    confidence: float = 0.95
    strata: tuple[str, ...] = STRATA  # that the target is about


class Evidence(NamedTuple):
    """One combination of one finished sweep, read for choosing a threshold."""

    sweep: SweepRow
    combination: CombinationRow
    outcomes: Sequence[Recorded]
    terms: Terms
    rows: list[ThresholdRow]  # no threshold first, then from the strictest
    curve: CostCurve
    certifications: dict[str, Certification]
    signals: SignalComparison
    extremes: Extremes

    @property
    def grid(self) -> list[float]:
        """The thresholds that were laid down with the sweep, before anything was measured."""
        return sorted(self.sweep.settings["thresholds"])

    @property
    def sentences(self) -> tuple[str, ...]:
        """Costs, bounds and signals, in plain words."""
        return (*on_costs(self.curve), *on_certifications(self.certifications), *on_signals(self.signals))

    def choose(self, way: Way) -> Choice:
        """Pick a threshold honestly (see `experiments.deciding.choosing`)."""
        return choose(self.outcomes, self.grid, way, seed=self.sweep.settings["seed"])


def consider(loaded: LoadedSweep, combination: CombinationRow, terms: Terms, also: Sequence[float] = ()) -> Evidence:
    """Read everything a choice rests on.

    Args:
        loaded: A finished sweep.
        combination: One of its recorded combinations.
        terms: Costs, traffic and bound.
        also: Thresholds to read and price beside those of the sweep, such as one given by hand.

    Raises:
        DecisionError: If the sweep is not finished, has no unanswerable questions, or a threshold is no distance.
        ValueError: If a cost, share, target or confidence is out of range.
    """
    sweep = loaded.sweep
    if sweep.state != "finished":
        raise DecisionError(
            f"sweep {sweep.id} is {sweep.state}, and a threshold is chosen on a finished one; "
            "`bluffline run` finishes it or makes another"
        )
    outcomes = loaded.outcomes.get(combination.id or 0, [])
    if not any(outcome.needle_id is None for outcome in outcomes):
        raise DecisionError(
            f"sweep {sweep.id} has no unanswerable questions, so nothing is known about bluffs; add questions with a "
            'stratum, "near" or "far", instead of a needle, and run again'
        )
    for threshold in also:
        if not 0 <= threshold <= 2:
            raise DecisionError(f"a cosine distance lies between 0 and 2, got {threshold:g}")
    grid = sorted(sweep.settings["thresholds"])
    seed = sweep.settings["seed"]
    cuts: list[float | None] = [None, *sorted({*grid, *also})]
    target = DEFAULT_TARGET if terms.target is None else terms.target
    return Evidence(
        sweep,
        combination,
        outcomes,
        terms,
        read_thresholds(outcomes, cuts),
        cost_curve(outcomes, cuts, terms.costs, terms.unanswerable_share, seed=seed),
        certify(outcomes, grid, target, terms.confidence),
        compare_signals(outcomes, seed=seed),
        extremes(outcomes),
    )


def evidence_record(evidence: Evidence, choice: Choice) -> dict[str, Any]:
    """Everything that was known at the moment of choosing, of JSON's types only.

    What each question did at the threshold is kept too, so that a later sweep can be compared in pairs even when the
    sweep that was decided on is gone.
    """
    threshold = choice.threshold
    whole = read_thresholds(evidence.outcomes, [threshold])[0]
    chosen = evidence.curve.at(threshold)
    bounds = bounds_at(evidence.outcomes, threshold, evidence.terms.confidence)
    return {
        "sentences": list(sentences_on(evidence, choice)),
        "choice": {
            "method": choice.method,
            "seed": choice.seed,
            "way": {"kind": type(choice.way).__name__, **_plain(choice.way._asdict())},
            "calibration": _side(choice.calibration),
            "evaluation": _side(choice.evaluation),
            "folds": [pick._asdict() for pick in choice.folds],
        },
        "gate": row_record(whole),
        "extremes": {**evidence.extremes._asdict(), "separable": evidence.extremes.separable},
        "strata": list(evidence.terms.strata),
        "certification": {name: found._asdict() for name, found in evidence.certifications.items()},
        "bounds": {name: _bound(bound) for name, bound in bounds.items()},
        "costs": {
            "refusing_everything": evidence.curve.refusing_everything,
            "chosen": _cost(chosen) if chosen else None,
            "cheapest": _cost(evidence.curve.cheapest),
            "curve": [_cost(row) for row in evidence.curve.rows],
        },
        "signals": _signals(evidence.signals),
        "outcomes": at_threshold(evidence.outcomes, threshold),
        "versions": dict(evidence.sweep.versions),
        WORDING: evidence.sweep.settings.get(WORDING),
        "alpha": evidence.sweep.settings["alpha"],
    }


def sentences_on(evidence: Evidence, choice: Choice) -> tuple[str, ...]:
    """Everything there is to say about a choice: what it does, what it costs, what it promises, what was known."""
    cost, curve = evidence.curve.at(choice.threshold), evidence.curve
    said = list(on_choice(choice))
    if cost is not None and cost.threshold != curve.cheapest.threshold:
        around, over = interval(cost.low, cost.high, 0), interval(cost.excess_low, cost.excess_high, 0)
        told = "which cannot be told from it" if cost.alike else "which is more than these questions leave to chance"
        said.append(
            f"It costs {cost.cost:,.0f} {around} per 1,000 questions, {cost.excess:,.0f} {over} over the cheapest, "
            f"{told}."
        )
    if not isinstance(choice.way, AtMost):
        bounds = bounds_at(evidence.outcomes, choice.threshold, evidence.terms.confidence).values()
        said += [f"Had it been fixed before these questions were measured: {bound.sentence}" for bound in bounds]
    return (*said, *evidence.sentences)


def at_threshold(outcomes: Sequence[Recorded], threshold: float) -> dict[str, dict[str, bool]]:
    """What each question did at a threshold: whether its needle was kept, or whether it was bluffed on.

    Returns:
        `kept` of the answerable and `bluffed` of the unanswerable questions, by question id.
    """
    kept, bluffed = {}, {}
    for outcome in outcomes:
        if outcome.needle_id is None:
            bluffed[outcome.query_id] = outcome.nearest is not None and outcome.nearest < threshold
        else:
            kept[outcome.query_id] = outcome.needle_distance is not None and outcome.needle_distance < threshold
    return {"kept": kept, "bluffed": bluffed}


def row_record(row: ThresholdRow) -> dict[str, Any]:
    """A threshold's row; every share with hits, n, value and interval."""
    return {name: share(value) if isinstance(value, Proportion) else value for name, value in row._asdict().items()}


def _side(side: Side) -> dict[str, Any]:
    return {**side._asdict(), "row": row_record(side.row)}


def _cost(row: CostRow) -> dict[str, Any]:
    return {**row._asdict(), "bluffs": share(row.bluffs)}


def _bound(bound: Bound) -> dict[str, Any]:
    return {**bound._asdict(), "sentence": bound.sentence}


def _signals(found: SignalComparison) -> dict[str, Any]:
    return {
        **{
            signal.name: {"label": signal.label, "aurc": signal.aurc._asdict(), "augrc": signal.augrc._asdict()}
            for signal in (found.distance, found.gap)
        },
        "aurc_difference": found.aurc_difference._asdict(),
        "augrc_difference": found.augrc_difference._asdict(),
        "better": found.better.name if found.better else None,
        "n": found.n,
        "wrong": found.wrong,
    }


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value._asdict() if isinstance(value, Costs) else list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
    }
