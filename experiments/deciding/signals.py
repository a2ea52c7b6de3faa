"""Which signal knows better when to say no: the nearest chunk's distance, or the first chunk's lead over the second.

Both signals are judged on the same errors, so that only the order in which they would answer differs: an unanswerable
question is wrong when answered, an answerable one when the chunks the gate looks at do not hold its needle. That is
read with no threshold; at a threshold the gate may drop a needle's chunk and keep another, which is a fault of the cut
and not of the signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.outcomes import Recorded
from experiments.resampling import RESAMPLES, question_weights
from experiments.stats.selective import RiskCoverageCurve, augrc, aurc, risk_coverage_curve
from experiments.words import interval, plural

FloatArray = NDArray[np.float64]


class Estimate(NamedTuple):
    """A number with its bootstrap interval; the ends are None where there are too few questions for one."""

    value: float
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """`0.312 [0.25, 0.38]`."""
        return f"{self.value:.3f} {interval(self.low, self.high, 3)}".rstrip()

    @property
    def sign(self) -> int:
        """-1 or 1 where the interval lies wholly on one side of 0, else 0: nothing is proven."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


class Signal(NamedTuple):
    """How well one signal orders questions: the less it errs at every coverage, the smaller its areas."""

    name: str  # distance or gap
    label: str
    curve: RiskCoverageCurve
    aurc: Estimate
    augrc: Estimate


class SignalComparison(NamedTuple):
    """Both signals of one combination on the same questions; differences are distance minus gap."""

    distance: Signal
    gap: Signal
    aurc_difference: Estimate
    augrc_difference: Estimate
    n: int
    wrong: int  # that would be answered wrongly if everything were answered
    confidence: float

    @property
    def better(self) -> Signal | None:
        """The signal with the smaller AUGRC, where the paired difference is resolved; None where it is not."""
        return {-1: self.distance, 0: None, 1: self.gap}[self.augrc_difference.sign]


def compare_signals(
    outcomes: Sequence[Recorded], *, seed: int, resamples: int = RESAMPLES, confidence: float = 0.95
) -> SignalComparison:
    """Compare the distance and the gap as signals for saying no.

    Intervals are percentiles of a bootstrap by needle (see `question_weights`); the difference is taken within each
    resample. The mix of answerable and unanswerable questions is the set's own.

    Args:
        outcomes: Of all questions of one combination.
        seed: Of the bootstrap.
        resamples: Of the bootstrap.
        confidence: Of every interval, strictly between 0 and 1.

    Raises:
        ValueError: If there are no questions.
    """
    wrong = would_be_wrong(outcomes)
    weights = question_weights(outcomes, seed=seed, resamples=resamples)
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    distance, gap = nearness(outcomes), lead(outcomes)
    near = None if weights is None else resampled_areas(distance, wrong, weights)
    led = None if weights is None else resampled_areas(gap, wrong, weights)
    first = _signal("distance", "nearest distance", risk_coverage_curve(distance, wrong), near, tails)
    second = _signal("gap", "lead over the second chunk", risk_coverage_curve(gap, wrong), led, tails)
    paired = Areas(near.aurc - led.aurc, near.augrc - led.augrc) if near is not None and led is not None else None
    return SignalComparison(
        first,
        second,
        _estimate(first.aurc.value - second.aurc.value, paired.aurc if paired else None, tails),
        _estimate(first.augrc.value - second.augrc.value, paired.augrc if paired else None, tails),
        len(wrong),
        int(wrong.sum()),
        confidence,
    )


class ScorerSignal(NamedTuple):
    """A second model's best score among the chunks the gate looks at, as a further signal for saying no."""

    signal: Signal
    aurc_difference: Estimate  # distance minus score, paired
    augrc_difference: Estimate
    n: int
    wrong: int
    scored: int  # questions for which there is a score


def scorer_signal(
    outcomes: Sequence[Recorded], label: str, *, seed: int, resamples: int = RESAMPLES, confidence: float = 0.95
) -> ScorerSignal | None:
    """Judge a second model's score as the distance is judged: on the same errors, questions and resamples.

    Args:
        outcomes: Of all questions of one combination.
        label: What the score is called.
        seed: Of the bootstrap.
        resamples: Of the bootstrap.
        confidence: Of every interval, strictly between 0 and 1.

    Returns:
        None where no question has a score: the combination has no second model.
    """
    scored = sum(outcome.scorer_score is not None for outcome in outcomes)
    if not scored:
        return None
    wrong, weights = would_be_wrong(outcomes), question_weights(outcomes, seed=seed, resamples=resamples)
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    score, distance = scorer_scores(outcomes), nearness(outcomes)
    by_score = None if weights is None else resampled_areas(score, wrong, weights)
    by_distance = None if weights is None else resampled_areas(distance, wrong, weights)
    signal = _signal("scorer", label, risk_coverage_curve(score, wrong), by_score, tails)
    paired = None
    if by_score is not None and by_distance is not None:
        paired = Areas(by_distance.aurc - by_score.aurc, by_distance.augrc - by_score.augrc)
    curve = risk_coverage_curve(distance, wrong)
    return ScorerSignal(
        signal,
        _estimate(aurc(curve) - signal.aurc.value, paired.aurc if paired else None, tails),
        _estimate(augrc(curve) - signal.augrc.value, paired.augrc if paired else None, tails),
        len(wrong),
        int(wrong.sum()),
        scored,
    )


def scorer_scores(outcomes: Sequence[Recorded]) -> FloatArray:
    """The second model's best score, shape (n,); minus infinity where nothing was scored: nothing speaks for it."""
    return np.array([-np.inf if outcome.scorer_score is None else outcome.scorer_score for outcome in outcomes], float)


def on_scorer(found: ScorerSignal | None) -> tuple[str, ...]:
    """Whether the score refuses better than the distance; nothing where there is no second model."""
    if found is None:
        return ()
    said = f"AUGRC difference {found.augrc_difference.words}"
    areas = f"AURC {found.signal.aurc.words}, AUGRC {found.signal.augrc.words}"
    basis = f"{areas}; {found.wrong:,} of {plural(found.n, 'question')} would be answered wrongly"
    name = found.signal.label
    if found.augrc_difference.low is None:
        return (f"Further signal, the {name}: there are too few questions to compare it with the distance ({basis}).",)
    verdict = {
        1: f"the {name} refuses better than the nearest distance",
        0: f"the {name} and the nearest distance cannot be told apart as signals",
        -1: f"the nearest distance refuses better than the {name}",
    }[found.augrc_difference.sign]
    return (f"Further signal, not read by the gate: {verdict} ({said}; {basis}).",)


def _signal(name: str, label: str, curve: RiskCoverageCurve, drawn: Areas | None, tails: tuple[float, float]) -> Signal:
    return Signal(
        name,
        label,
        curve,
        _estimate(aurc(curve), drawn.aurc if drawn else None, tails),
        _estimate(augrc(curve), drawn.augrc if drawn else None, tails),
    )


def would_be_wrong(outcomes: Sequence[Recorded]) -> NDArray[np.bool_]:
    """Whether answering would be an error, shape (n,)."""
    return np.array([outcome.needle_distance is None for outcome in outcomes], bool)


def nearness(outcomes: Sequence[Recorded]) -> FloatArray:
    """The nearest distance with its sign turned, shape (n,); minus infinity where nothing was returned."""
    return np.array([-np.inf if outcome.nearest is None else -outcome.nearest for outcome in outcomes], float)


def lead(outcomes: Sequence[Recorded]) -> FloatArray:
    """How much nearer the first returned chunk lies than the second, shape (n,).

    Below 0 where a retriever that ranks by something else puts a farther chunk first. Minus infinity where fewer than
    two were returned: a signal that is not there cannot speak for an answer.
    """
    return np.array([-np.inf if outcome.gap is None else outcome.gap for outcome in outcomes], float)


class Areas(NamedTuple):
    """Both areas in each resample, shape (resamples,)."""

    aurc: FloatArray
    augrc: FloatArray


def resampled_areas(confidence: FloatArray, wrong: NDArray[np.bool_], weights: FloatArray) -> Areas:
    """Both areas under the risk-coverage curve, for many resamples at once.

    The same numbers as `aurc` and `augrc` of a set in which each question stands as often as it was drawn.

    Args:
        confidence: Shape (n,). Equal ones are answered together.
        wrong: Shape (n,).
        weights: Shape (resamples, n). How often each question was drawn; each row holds at least one.
    """
    _, group = np.unique(-confidence, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    # Summing within groups first leaves one column a distinct confidence, most confident first.
    in_order = weights[:, order]
    drawn = np.add.reduceat(in_order, starts, axis=1)
    mistaken = np.add.reduceat(in_order * wrong[order], starts, axis=1).cumsum(axis=1)
    answered = drawn.cumsum(axis=1)
    total = answered[:, [-1]]
    risk = np.divide(mistaken, answered, out=np.zeros_like(mistaken), where=answered > 0)
    generalised = mistaken / total
    before = np.concatenate((np.zeros_like(total), generalised[:, :-1]), axis=1)
    share = drawn / total
    return Areas((share * risk).sum(axis=1), (share * (generalised + before) / 2).sum(axis=1))


def _estimate(value: float, drawn: FloatArray | None, tails: tuple[float, float]) -> Estimate:
    if drawn is None:
        return Estimate(value, None, None)
    low, high = np.quantile(drawn, tails)
    return Estimate(value, float(low), float(high))


def on_signals(found: SignalComparison) -> tuple[str, ...]:
    """Which signal refuses better, and the areas behind it."""
    better = found.better
    difference = f"AUGRC difference {found.augrc_difference.words}"
    if found.augrc_difference.low is None:
        headline = f"With {plural(found.n, 'question')}, there are too few to compare the two signals."
    elif better is None:
        headline = (
            f"The {found.distance.label} and the {found.gap.label} cannot be told apart as signals ({difference})."
        )
    else:
        other = found.gap if better is found.distance else found.distance
        headline = f"The {better.label} refuses better than the {other.label} ({difference})."
    areas = "; ".join(
        f"{signal.label}: AURC {signal.aurc.words}, AUGRC {signal.augrc.words}"
        for signal in (found.distance, found.gap)
    )
    return headline, f"Smaller is better. {areas}."
