"""What a threshold does: outcomes at every cut, risk and coverage, expected cost.

A threshold is a reading. All functions take the distances of one retrieval and read every threshold from them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    bools,
    closed_fraction,
    floats,
    same_length,
)


class ThresholdCounts(NamedTuple):
    """Outcomes at every threshold; arrays have shape (n_thresholds,), in the order the thresholds were given.

    Attributes:
        thresholds: The cuts; infinity stands for no threshold.
        answered_right: Answerable queries answered with the needle kept.
        answered_wrong: Answerable queries answered without the needle.
        refused: Answerable queries refused.
        refused_could_answer: Those of the refused whose needle would have been kept with no threshold.
        correctly_refused: Unanswerable queries refused.
        bluffs: Unanswerable queries answered.
        near_bluffs: Bluffs among the near ones.
        far_bluffs: Bluffs among the far ones.
        n_answerable: Answerable queries.
        n_unanswerable: Unanswerable queries.
        n_near: Unanswerable queries in the topic's neighbourhood.
        n_far: Unanswerable queries far from it.
    """

    thresholds: FloatArray
    answered_right: IntArray
    answered_wrong: IntArray
    refused: IntArray
    refused_could_answer: IntArray
    correctly_refused: IntArray
    bluffs: IntArray
    near_bluffs: IntArray
    far_bluffs: IntArray
    n_answerable: int
    n_unanswerable: int
    n_near: int
    n_far: int


class RiskCoverageCurve(NamedTuple):
    """Selective risk over coverage; arrays have shape (n_points,).

    Attributes:
        thresholds: Least confidence answered at each point, descending.
        coverages: Share of all queries answered, ascending, in (0, 1]; the last is 1.
        risks: Share of the answered queries that are wrong, in [0, 1].
    """

    thresholds: FloatArray
    coverages: FloatArray
    risks: FloatArray


class Costs(NamedTuple):
    """What each kind of error costs, in units of the reader's choice.

    Attributes:
        bluff: Answering a question the corpus does not answer.
        wrong: Answering an answerable question without its needle.
        refusal: Refusing an answerable question.
    """

    bluff: float
    wrong: float
    refusal: float


def threshold_counts(
    nearest: npt.ArrayLike,
    needle_distance: npt.ArrayLike,
    answerable: npt.ArrayLike,
    thresholds: npt.ArrayLike,
    *,
    near: npt.ArrayLike,
    far: npt.ArrayLike,
) -> ThresholdCounts:
    """Count every outcome at every threshold.

    At threshold t a query is answered when `nearest < t`, and its needle is kept when `needle_distance < t`.

    Args:
        nearest: Shape (n_queries,). Distance of the nearest chunk the gate would see; infinity where there is none.
        needle_distance: Shape (n_queries,). Distance of the nearest of those chunks that contains the needle;
            infinity where there is none, and for unanswerable queries.
        answerable: Shape (n_queries,). True where the query has a needle.
        thresholds: Shape (n_thresholds,). Cuts in any order; infinity for no threshold.
        near: Shape (n_queries,). True for unanswerable queries of the near stratum.
        far: Shape (n_queries,). True for unanswerable queries of the far stratum.

    Returns:
        All counts; for every threshold the answerable columns sum to n_answerable, the others to n_unanswerable.

    Raises:
        ValueError: If lengths differ, a distance is NaN, a needle lies nearer than the nearest chunk, an
            unanswerable query has a needle distance, or an answerable one or one of both strata is marked.
    """
    first, kept = floats("nearest", nearest, finite=False), floats("needle_distance", needle_distance, finite=False)
    asked, cuts = bools("answerable", answerable), floats("thresholds", thresholds, finite=False)
    is_near, is_far = bools("near", near), bools("far", far)
    same_length(nearest=first, needle_distance=kept, answerable=asked, near=is_near, far=is_far)
    _require(~(kept < first), "needle_distance is under nearest", kept)
    _require(asked | np.isinf(kept), "an unanswerable query has a needle_distance", kept)
    _require(~(is_near & is_far), "a query is both near and far", is_near)
    _require(~asked | ~(is_near | is_far), "an answerable query has a stratum", asked)
    reachable = asked & np.isfinite(kept)
    right, answered = _under(kept[asked], cuts), _under(first[asked], cuts)
    bluffs, n_answerable = _under(first[~asked], cuts), int(asked.sum())
    return ThresholdCounts(
        thresholds=cuts,
        answered_right=right,
        answered_wrong=answered - right,
        refused=n_answerable - answered,
        refused_could_answer=int(reachable.sum()) - _under(first[reachable], cuts),
        correctly_refused=asked.size - n_answerable - bluffs,
        bluffs=bluffs,
        near_bluffs=_under(first[is_near], cuts),
        far_bluffs=_under(first[is_far], cuts),
        n_answerable=n_answerable,
        n_unanswerable=asked.size - n_answerable,
        n_near=int(is_near.sum()),
        n_far=int(is_far.sum()),
    )


def _under(distances: FloatArray, cuts: FloatArray) -> IntArray:
    """Count the distances strictly under each cut."""
    return np.searchsorted(np.sort(distances), cuts, side="left").astype(np.int64)


def _require(holds: BoolArray, problem: str, values: FloatArray | BoolArray) -> None:
    if not holds.all():
        query = int(np.argmin(holds))
        raise ValueError(f"{problem}: {values[query]} at index {query}")


def risk_coverage_curve(confidence: npt.ArrayLike, wrong: npt.ArrayLike) -> RiskCoverageCurve:
    """Return the selective risk at every coverage a threshold can reach.

    Equal confidences are answered together, because no threshold can separate them.

    Args:
        confidence: Shape (n_queries,). Higher means more willing to answer; a distance enters with its sign turned.
            Infinities are allowed.
        wrong: Shape (n_queries,). True where answering would be an error.

    Returns:
        One point per distinct confidence, from the most confident on.

    Raises:
        ValueError: If the arrays are empty, differ in length, or contain NaN.

    References:
        Geifman and El-Yaniv, "Selective classification for deep neural networks", NeurIPS 2017.
    """
    sureness, errors = floats("confidence", confidence, finite=False), bools("wrong", wrong)
    n = same_length(confidence=sureness, wrong=errors)
    if n == 0:
        raise ValueError("confidence must hold at least one query, got 0")
    distinct, group = np.unique(-sureness, return_inverse=True)
    answered = np.cumsum(np.bincount(group))
    mistaken = np.cumsum(np.bincount(group, weights=errors))
    return RiskCoverageCurve(-distinct, answered / n, mistaken / answered)


def aurc(curve: RiskCoverageCurve) -> float:
    """Return the area under the risk-coverage curve: the mean selective risk over the queries' own thresholds.

    Each query contributes the risk at the threshold that just lets it in. Lower is better; the least value a
    confidence can reach depends on the share of errors, so compare it on the same queries only.

    References:
        Geifman, Uziel and El-Yaniv, "Bias-reduced uncertainty estimation for deep neural classifiers", ICLR 2019.
    """
    return float(np.sum(np.diff(curve.coverages, prepend=0.0) * curve.risks))


def augrc(curve: RiskCoverageCurve) -> float:
    """Return the area under the generalised risk-coverage curve.

    The generalised risk is the share of *all* queries that are answered and wrong, so errors at low coverage are
    not weighted up as in the AURC. By the trapezoidal rule from (0, 0) the area equals
    (1 - AUROC) * accuracy * (1 - accuracy) + (1 - accuracy)^2 / 2. It is half the share of errors for a confidence
    that says nothing.

    References:
        Traub et al., "Overcoming common flaws in the evaluation of selective classification systems", NeurIPS 2024.
    """
    coverages = np.concatenate(([0.0], curve.coverages))
    generalised = np.concatenate(([0.0], curve.coverages * curve.risks))
    return float(np.trapezoid(generalised, coverages))


def expected_cost(counts: ThresholdCounts, costs: Costs, unanswerable_share: float) -> FloatArray:
    """Return the expected cost of 1,000 questions at every threshold.

    The question set has its own mix of answerable and unanswerable questions; `unanswerable_share` replaces it by
    the mix of the traffic.

    Args:
        counts: Outcomes at every threshold.
        costs: Cost of one bluff, one wrong answer, one refusal of an answerable question.
        unanswerable_share: Share of the traffic that the corpus does not answer, in [0, 1].

    Returns:
        Shape (n_thresholds,).

    Raises:
        ValueError: If a cost is negative or not finite, the share is out of range, or the share asks for a kind
            of question the set does not have.
    """
    share = closed_fraction("unanswerable_share", unanswerable_share)
    for name, cost in costs._asdict().items():
        if not (np.isfinite(cost) and cost >= 0):
            raise ValueError(f"the cost {name} must be a number of at least 0, got {cost!r}")
    if share < 1 and counts.n_answerable == 0:
        raise ValueError(f"unanswerable_share {share} needs answerable questions, and there are 0")
    if share > 0 and counts.n_unanswerable == 0:
        raise ValueError(f"unanswerable_share {share} needs unanswerable questions, and there are 0")
    errors = costs.wrong * counts.answered_wrong + costs.refusal * counts.refused
    per_answerable = errors / max(1, counts.n_answerable)
    per_unanswerable = costs.bluff * counts.bluffs / max(1, counts.n_unanswerable)
    expected: FloatArray = 1000.0 * ((1.0 - share) * per_answerable + share * per_unanswerable)
    return expected
