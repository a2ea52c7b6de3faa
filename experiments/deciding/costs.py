"""What a threshold costs: a price on each kind of error, and which thresholds cannot be told from the cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.outcomes import Recorded, judges_documents
from experiments.resampling import RESAMPLES, question_weights
from experiments.stats.intervals import Proportion, wilson
from experiments.stats.selective import Costs, ThresholdCounts, expected_cost, threshold_counts
from experiments.thresholds import nearest_distances, needle_distances
from experiments.verdicts.hit_rules import DOCUMENT_LEVEL
from experiments.words import NOTHING, counted, interval, listed, plural

# Only the ratios matter, so the costs have no unit: a refusal, after which somebody asks a colleague, is 1. A wrong
# answer misleads, but stands on the corpus and can be checked against what it cites: 6. A bluff answers what the
# corpus does not know, so that nothing it cites could ever put it right: 10.
DEFAULT_COSTS = Costs(bluff=10.0, wrong=6.0, refusal=1.0)
# A question set says nothing about traffic: it holds as many unanswerable questions as its intervals need. One question
# in five stands in until the team counts its own, and is named beside every cost.
DEFAULT_UNANSWERABLE_SHARE = 0.2


class CostRow(NamedTuple):
    """The expected cost of 1,000 questions at one threshold, and how far it lies over the cheapest."""

    threshold: float | None  # None: no threshold, everything is answered
    cost: float
    low: float | None  # None where there are too few questions for an interval
    high: float | None
    excess: float  # over the cheapest, at least 0
    excess_low: float | None
    excess_high: float | None
    alike: bool  # cannot be told from the cheapest: the interval of the excess holds 0, or there is none
    bluffs: Proportion  # unanswerable: answered

    @property
    def label(self) -> str:
        """`0.675`, or `none`."""
        return "none" if self.threshold is None else f"{self.threshold:g}"


class CostCurve(NamedTuple):
    """The expected cost over the threshold.

    Attributes:
        rows: One a threshold, in the order given.
        cheapest: The row of least cost; of equal ones the strictest.
        costs: The price of each kind of error.
        unanswerable_share: Share of the traffic that the corpus does not answer.
        confidence: Of every interval.
        answerable: Answerable questions it rests on.
        needles: Needles they ask for, which are what is resampled.
        unanswerable: Unanswerable questions it rests on.
    """

    rows: tuple[CostRow, ...]
    cheapest: CostRow
    costs: Costs
    unanswerable_share: float
    confidence: float
    answerable: int
    needles: int
    unanswerable: int

    @property
    def refusing_everything(self) -> float:
        """What 1,000 questions cost when none is answered: no estimate, only the price of a refusal."""
        return 1000 * (1 - self.unanswerable_share) * self.costs.refusal

    def at(self, threshold: float | None) -> CostRow | None:
        """The row of a threshold; None where it was not among those given."""
        return next((row for row in self.rows if row.threshold == threshold), None)

    @property
    def runs(self) -> tuple[tuple[CostRow, ...], ...]:
        """Neighbouring thresholds that cannot be told from the cheapest, one run or several."""
        ordered = sorted(self.rows, key=_cut)
        return tuple(tuple(run) for alike, run in groupby(ordered, key=lambda row: row.alike) if alike)


def cost_curve(
    outcomes: Sequence[Recorded],
    thresholds: Sequence[float | None],
    costs: Costs = DEFAULT_COSTS,
    unanswerable_share: float = DEFAULT_UNANSWERABLE_SHARE,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> CostCurve:
    """Price every threshold.

    Intervals are percentiles of a bootstrap by needle (see `question_weights`). The excess over the cheapest is
    paired: both thresholds are priced on the same resample, so what moves them together does not blur the difference.
    The cheapest is picked on the same questions, which makes the others look a little worse than they are. Where no
    bluff was measured, no resample has one, and the interval is too narrow; `on_costs` says by how much.

    Args:
        outcomes: Of all questions of one combination.
        thresholds: Cosine distances; None for no threshold.
        costs: Of one bluff, one wrong answer, one refusal of an answerable question.
        unanswerable_share: Share of the traffic that the corpus does not answer, in [0, 1].
        seed: Of the bootstrap.
        resamples: Of the bootstrap.
        confidence: Of every interval, strictly between 0 and 1.

    Raises:
        ValueError: If there are no thresholds, a cost is negative, the share is out of range, or it asks for a kind of
            question the set does not have.
    """
    if not thresholds:
        raise ValueError("thresholds must hold at least one threshold, got 0")
    cuts = np.array([_cut_of(threshold) for threshold in thresholds])
    counts = _counts(outcomes, cuts)
    expected = expected_cost(counts, costs, unanswerable_share)
    best = _cheapest(expected, cuts)
    answerable = np.array([outcome.needle_id is not None for outcome in outcomes], bool)
    nearest, needle = nearest_distances(outcomes), needle_distances(outcomes)
    each = _cost_of_each(nearest, needle, answerable, cuts, costs)
    weights = question_weights(outcomes, seed=seed, resamples=resamples)
    drawn = None if weights is None else _drawn_costs(weights, each, answerable, unanswerable_share)
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    around = _intervals(drawn, tails, len(cuts))
    apart = _intervals(None if drawn is None else drawn - drawn[:, [best]], tails, len(cuts))
    rows = tuple(
        CostRow(
            threshold,
            cost=float(expected[place]),
            low=around[place].low,
            high=around[place].high,
            excess=float(expected[place] - expected[best]),
            excess_low=apart[place].low,
            excess_high=apart[place].high,
            alike=apart[place].holds_zero,
            bluffs=wilson(int(counts.bluffs[place]), counts.n_unanswerable),
        )
        for place, threshold in enumerate(thresholds)
    )
    needles = {outcome.needle_id for outcome in outcomes if outcome.needle_id is not None}
    return CostCurve(
        rows,
        rows[best],
        costs,
        unanswerable_share,
        confidence,
        counts.n_answerable,
        0 if judges_documents(outcomes) else len(needles),
        counts.n_unanswerable,
    )


def cheapest_threshold(
    outcomes: Sequence[Recorded], thresholds: Sequence[float], costs: Costs, unanswerable_share: float
) -> float:
    """The threshold of least expected cost, of equal ones the strictest; no intervals, so it costs next to nothing.

    Raises:
        ValueError: As `cost_curve`.
    """
    if not thresholds:
        raise ValueError("thresholds must hold at least one threshold, got 0")
    cuts = np.array(thresholds, float)
    return float(cuts[_cheapest(expected_cost(_counts(outcomes, cuts), costs, unanswerable_share), cuts)])


def _counts(outcomes: Sequence[Recorded], cuts: NDArray[np.float64]) -> ThresholdCounts:
    answerable = np.array([outcome.needle_id is not None for outcome in outcomes], bool)
    none = np.zeros(len(outcomes), bool)  # a bluff costs the same near and far
    return threshold_counts(
        nearest_distances(outcomes), needle_distances(outcomes), answerable, cuts, near=none, far=none
    )


def _cheapest(expected: NDArray[np.float64], cuts: NDArray[np.float64]) -> int:
    # Rounded, because equal costs can come out of sums that differ in the last digit.
    return min(range(len(cuts)), key=lambda place: (round(float(expected[place]), 9), cuts[place]))


def _cost_of_each(
    nearest: NDArray[np.float64],
    needle: NDArray[np.float64],
    answerable: NDArray[np.bool_],
    cuts: NDArray[np.float64],
    costs: Costs,
) -> NDArray[np.float64]:
    """What each question costs at each threshold, shape (n_questions, n_thresholds)."""
    answered = nearest[:, np.newaxis] < cuts
    kept = needle[:, np.newaxis] < cuts
    of_answerable = np.where(kept, 0.0, np.where(answered, costs.wrong, costs.refusal))
    return np.where(answerable[:, np.newaxis], of_answerable, np.where(answered, costs.bluff, 0.0))


def _drawn_costs(
    weights: NDArray[np.float64], each: NDArray[np.float64], answerable: NDArray[np.bool_], share: float
) -> NDArray[np.float64]:
    """Expected cost of 1,000 questions in each resample, shape (resamples, n_thresholds)."""
    drawn = np.zeros((len(weights), each.shape[1]))
    for kind, part in ((answerable, 1 - share), (~answerable, share)):
        if part and kind.any():
            drawn += 1000 * part * (weights[:, kind] @ each[kind]) / weights[:, kind].sum(axis=1, keepdims=True)
    return drawn


class _Interval(NamedTuple):
    low: float | None
    high: float | None

    @property
    def holds_zero(self) -> bool:
        # A hair's breadth, because the same cost can come out of two sums that differ in the last digit.
        return self.low is None or self.high is None or (self.low <= 1e-9 and self.high >= -1e-9)


def _intervals(drawn: NDArray[np.float64] | None, tails: tuple[float, float], count: int) -> list[_Interval]:
    if drawn is None:
        return [_Interval(None, None)] * count
    low, high = np.quantile(drawn, tails, axis=0)
    return [_Interval(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def _cut_of(threshold: float | None) -> float:
    return float("inf") if threshold is None else threshold


def _cut(row: CostRow) -> float:
    return _cut_of(row.threshold)


def on_costs(curve: CostCurve) -> tuple[str, ...]:
    """The cheapest threshold, what cannot be told from it, and what both rest on."""
    best, costs = curve.cheapest, curve.costs
    around = f" {interval(best.low, best.high, 0)}" if best.low is not None else ""
    said = [
        f"Cheapest is {_named(best)}: {best.cost:,.0f}{around} per 1,000 questions, if a bluff costs {costs.bluff:g}, "
        f"a wrong answer {costs.wrong:g} and a refusal of an answerable question {costs.refusal:g}, and "
        f"{100 * curve.unanswerable_share:.3g} % of the questions have no answer.",
        _alike(curve),
        *_against_refusing(curve),
        *_unmeasured_bluffs(curve),
    ]
    ordered = sorted(curve.rows, key=_cut)
    if len(ordered) > 1 and best in (ordered[0], ordered[-1]) and best.threshold is not None:
        side, way = ("strictest", "stricter") if best == ordered[0] else ("loosest", "looser")
        said.append(f"It is the {side} threshold that was priced: a {way} one may be cheaper still.")
    return tuple(said)


def _alike(curve: CostCurve) -> str:
    over = f"over {plural(curve.needles, 'needle')}" if curve.needles else f"by {DOCUMENT_LEVEL}"
    basis = (
        f"{plural(curve.answerable, 'answerable question')} {over} and "
        f"{plural(curve.unanswerable, 'unanswerable question')}"
    )
    if curve.cheapest.low is None:
        return f"With {basis}, no threshold can be told from another: there are too few for an interval."
    if sum(row.alike for row in curve.rows) == 1:
        return f"Every other threshold costs more, with {basis}."
    spans = [
        run[0].label if len(run) == 1 else f"{run[0].label} to {run[-1].label}" for run in curve.runs
    ]  # at least the cheapest's own
    return f"With {basis}, it cannot be told from {listed(spans) or NOTHING}."


def _against_refusing(curve: CostCurve) -> list[str]:
    """A threshold is worth having only where it beats saying no to everybody."""
    nothing, best = curve.refusing_everything, curve.cheapest
    if best.high is not None and best.high < nothing:
        return []
    how = "less than the cheapest" if nothing < best.cost else "which cannot be told from the cheapest"
    return [f"Refusing every question would cost {nothing:,.0f}, {how}."]


def _unmeasured_bluffs(curve: CostCurve) -> list[str]:
    """What a resample of no bluffs cannot know."""
    seen = curve.cheapest.bluffs
    if seen.hits or seen.high is None or curve.cheapest.low is None:
        return []
    more = 1000 * curve.unanswerable_share * curve.costs.bluff * seen.high
    return [
        f"No bluff was measured there ({counted(seen)}), so its interval leaves out bluffs that are merely rare: as "
        f"many as these questions allow would cost {more:,.0f} more."
    ]


def _named(row: CostRow) -> str:
    return "no threshold" if row.threshold is None else row.label
