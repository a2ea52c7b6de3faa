"""Outcomes at thresholds against a plain loop, and risk-coverage areas against their definitions."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.selective import (
    Costs,
    RiskCoverageCurve,
    ThresholdCounts,
    augrc,
    aurc,
    expected_cost,
    risk_coverage_curve,
    threshold_counts,
)


class Distances(NamedTuple):
    """Made-up distances of a question set."""

    nearest: np.ndarray
    needle: np.ndarray
    answerable: np.ndarray
    near: np.ndarray
    far: np.ndarray


def _distances(seed: int, n: int = 60) -> Distances:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, size=n)
    # Few distinct values, so that distances often equal a threshold.
    nearest = rng.integers(1, 12, size=n) / 10
    answerable = kind < 2
    needle = np.where(answerable & (rng.random(n) < 0.7), nearest + rng.integers(0, 3, size=n) / 10, np.inf)
    return Distances(nearest, needle, answerable, kind == 2, kind == 3)


def _counts(data: Distances, thresholds: list[float]) -> ThresholdCounts:
    return threshold_counts(data.nearest, data.needle, data.answerable, thresholds, near=data.near, far=data.far)


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_every_column_equals_a_loop_over_queries_and_thresholds(seed: int) -> None:
    data, cuts = _distances(seed), [0.5, 0.0, float("inf"), 0.7, 2.0]
    counts = _counts(data, cuts)
    for place, cut in enumerate(cuts):
        tally = dict.fromkeys(ThresholdCounts._fields[1:9], 0)
        for nearest, needle, answerable, near, far in zip(*data, strict=True):
            if not answerable:
                tally["bluffs" if nearest < cut else "correctly_refused"] += 1
                tally["near_bluffs"] += near and nearest < cut
                tally["far_bluffs"] += far and nearest < cut
            elif nearest >= cut:
                tally["refused"] += 1
                tally["refused_could_answer"] += bool(np.isfinite(needle))
            else:
                tally["answered_right" if needle < cut else "answered_wrong"] += 1
        assert {name: int(getattr(counts, name)[place]) for name in tally} == tally


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_columns_sum_to_the_questions_and_move_one_way_with_the_threshold(seed: int) -> None:
    counts = _counts(_distances(seed), [*np.linspace(0, 2, 30), float("inf")])
    answerable = counts.answered_right + counts.answered_wrong + counts.refused
    assert (answerable == counts.n_answerable).all()
    assert (counts.bluffs + counts.correctly_refused == counts.n_unanswerable).all()
    assert (counts.near_bluffs + counts.far_bluffs == counts.bluffs).all()
    assert counts.n_near + counts.n_far == counts.n_unanswerable
    for rising in (counts.bluffs, counts.answered_right, -counts.refused, -counts.refused_could_answer):
        assert (np.diff(rising) >= 0).all()


def test_a_distance_equal_to_the_threshold_is_refused() -> None:
    data = Distances(
        *(np.array(column) for column in ([0.5, 0.5], [0.5, np.inf], [True, False], [False, True], [False, False]))
    )
    counts = _counts(data, [0.5, 0.500001])
    assert counts.answered_right.tolist() == [0, 1]
    assert counts.refused_could_answer.tolist() == [1, 0]
    assert counts.bluffs.tolist() == [0, 1]


def test_no_threshold_bluffs_on_everything_that_retrieves_anything() -> None:
    nothing_found = float("inf")
    counts = threshold_counts(
        [0.9, 0.4, nothing_found],
        [np.inf, np.inf, np.inf],
        [False, False, False],
        [float("inf")],
        near=[True, False, True],
        far=[False, True, False],
    )
    assert counts.bluffs.tolist() == [2]
    assert counts.correctly_refused.tolist() == [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nearest": [float("nan"), 0.5]}, "nearest holds nan at index 0"),
        ({"needle_distance": [0.1, np.inf]}, r"needle_distance is under nearest: 0\.1 at index 0"),
        ({"needle_distance": [0.4, 0.9]}, r"an unanswerable query has a needle_distance: 0\.9 at index 1"),
        ({"far": [False, True]}, "both near and far: True at index 1"),
        ({"far": [True, False]}, "an answerable query has a stratum: True at index 0"),
        ({"near": [False]}, "lengths differ"),
    ],
)
def test_distances_that_contradict_each_other_are_named(change: dict[str, list[float]], message: str) -> None:
    arguments: dict[str, Any] = {
        "nearest": [0.4, 0.5],
        "needle_distance": [0.4, np.inf],
        "answerable": [True, False],
        "thresholds": [0.5],
        "near": [False, True],
        "far": [False, False],
    }
    with pytest.raises(ValueError, match=message):
        threshold_counts(**(arguments | change))


def test_equal_confidences_are_answered_together() -> None:
    curve = risk_coverage_curve([0.9, 0.5, 0.5, 0.1], [False, True, False, True])
    assert curve.thresholds.tolist() == [0.9, 0.5, 0.1]
    assert curve.coverages.tolist() == [0.25, 0.75, 1.0]
    assert curve.risks == pytest.approx([0.0, 1 / 3, 0.5])


QUERIES = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30)


@settings(deadline=None)
@given(QUERIES)
def test_each_point_is_what_answering_from_its_threshold_on_gives(queries: list[tuple[int, bool]]) -> None:
    confidence, wrong = (np.array(column) for column in zip(*queries, strict=True))
    curve = risk_coverage_curve(confidence, wrong)
    assert sorted(set(confidence.tolist()), reverse=True) == curve.thresholds.tolist()
    for threshold, coverage, risk in zip(*curve, strict=True):
        assert coverage == pytest.approx((confidence >= threshold).mean())
        assert risk == pytest.approx(wrong[confidence >= threshold].mean())
    assert curve.coverages[-1] == 1.0


@settings(deadline=None)
@given(QUERIES)
def test_the_aurc_is_the_mean_risk_at_each_querys_own_threshold(queries: list[tuple[int, bool]]) -> None:
    confidence, wrong = (np.array(column) for column in zip(*queries, strict=True))
    expected = np.mean([wrong[confidence >= own].mean() for own in confidence])
    assert aurc(risk_coverage_curve(confidence, wrong)) == pytest.approx(expected)


@settings(deadline=None)
@given(QUERIES)
def test_the_augrc_follows_from_the_auroc_and_the_accuracy(queries: list[tuple[int, bool]]) -> None:
    confidence, wrong = (np.array(column) for column in zip(*queries, strict=True))
    accuracy = 1 - wrong.mean()
    expected = (1 - accuracy) ** 2 / 2
    if 0 < accuracy < 1:
        right, mistaken = confidence[~wrong], confidence[wrong]
        auroc = (
            stats.mannwhitneyu(right, mistaken, method="asymptotic").statistic / (right.size * mistaken.size)
            if np.unique(confidence).size > 1
            else 0.5
        )
        expected += (1 - auroc) * accuracy * (1 - accuracy)
    assert augrc(risk_coverage_curve(confidence, wrong)) == pytest.approx(expected)


def test_areas_by_hand() -> None:
    curve = RiskCoverageCurve(np.array([2.0, 1.0]), np.array([0.5, 1.0]), np.array([0.0, 0.5]))
    assert aurc(curve) == pytest.approx(0.25)
    assert augrc(curve) == pytest.approx(0.125)


def test_a_confidence_that_knows_the_errors_has_the_least_areas_of_all_orders() -> None:
    wrong = np.array([False, False, True, False, True])
    areas = [
        (aurc(curve), augrc(curve))
        for order in itertools.permutations(range(5))
        for curve in [risk_coverage_curve(np.array(order, dtype=float), wrong)]
    ]
    knowing = risk_coverage_curve([5.0, 4.0, 1.0, 3.0, 0.0], wrong)
    assert aurc(knowing) == pytest.approx(min(area for area, _ in areas))
    assert augrc(knowing) == pytest.approx(min(area for _, area in areas))
    assert np.mean([area for _, area in areas]) == pytest.approx(0.4 / 2)


def test_nothing_retrieved_is_the_least_confidence_and_nan_is_none() -> None:
    assert risk_coverage_curve([-0.4, -np.inf], [False, True]).thresholds.tolist() == [-0.4, -np.inf]
    with pytest.raises(ValueError, match="confidence holds nan at index 0"):
        risk_coverage_curve([float("nan")], [True])
    with pytest.raises(ValueError, match="at least one query, got 0"):
        risk_coverage_curve([], [])
    with pytest.raises(ValueError, match="lengths differ: confidence 2, wrong 1"):
        risk_coverage_curve([0.1, 0.2], [True])


def test_the_expected_cost_by_hand() -> None:
    data = Distances(
        *(
            np.array(column)
            for column in (
                [0.2, 0.3, 0.6, 0.4, 0.3, 0.9],
                [0.2, np.inf, 0.6, 0.7, np.inf, np.inf],
                [True, True, True, True, False, False],
                [False, False, False, False, True, False],
                [False, False, False, False, False, True],
            )
        )
    )
    counts = _counts(data, [0.5])
    # Of four answerable, 2 wrong and 1 refused; of two unanswerable, 1 bluff; a fifth of the traffic unanswerable.
    expected = 1000 * (0.8 * (2 * 3 + 1 * 1) / 4 + 0.2 * 10 / 2)
    assert expected_cost(counts, Costs(bluff=10, wrong=3, refusal=1), 0.2).tolist() == pytest.approx([expected])


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.tuples(*[st.floats(0, 50)] * 3))
def test_the_expected_cost_is_the_mean_cost_of_a_question_of_the_traffic(
    seed: int, share: float, prices: tuple[float, float, float]
) -> None:
    data, costs = _distances(seed), Costs(*prices)
    counts = _counts(data, [0.6])
    own = np.where(
        data.answerable,
        np.where(data.nearest >= 0.6, costs.refusal, np.where(data.needle < 0.6, 0.0, costs.wrong)),
        np.where(data.nearest < 0.6, costs.bluff, 0.0),
    )
    expected = 1000 * ((1 - share) * own[data.answerable].mean() + share * own[~data.answerable].mean())
    assert expected_cost(counts, costs, share)[0] == pytest.approx(expected)


def test_costs_that_cannot_be_are_named_and_missing_questions_are_not_free() -> None:
    counts = _counts(_distances(0), [0.5])
    with pytest.raises(ValueError, match="the cost bluff must be a number of at least 0, got -1"):
        expected_cost(counts, Costs(-1, 1, 1), 0.2)
    with pytest.raises(ValueError, match=r"unanswerable_share must lie between 0 and 1, got 1\.2"):
        expected_cost(counts, Costs(1, 1, 1), 1.2)
    only_answerable = threshold_counts([0.4], [0.4], [True], [0.5], near=[False], far=[False])
    assert expected_cost(only_answerable, Costs(1, 1, 1), 0.0).tolist() == [0.0]
    with pytest.raises(ValueError, match=r"unanswerable_share 0\.2 needs unanswerable questions"):
        expected_cost(only_answerable, Costs(1, 1, 1), 0.2)
    only_unanswerable = threshold_counts([0.4], [np.inf], [False], [0.5], near=[True], far=[False])
    with pytest.raises(ValueError, match=r"unanswerable_share 0\.2 needs answerable questions"):
        expected_cost(only_unanswerable, Costs(1, 1, 1), 0.2)
