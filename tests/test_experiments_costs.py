"""Costs worked by hand, the bootstrap against a plain loop, and how often the truly cheapest threshold is in reach."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import outcome, question_set

from experiments.deciding.costs import CostCurve, cheapest_threshold, cost_curve, on_costs
from experiments.outcomes import Outcome
from experiments.stats.intervals import cluster_weights
from experiments.stats.selective import Costs

GRID = tuple(round(0.3 + 0.05 * step, 2) for step in range(11))
SMALL = [
    outcome("a1", 0.2, needle="a", kept=0.2),
    outcome("a2", 0.4, needle="a", kept=0.6),
    outcome("b1", 0.5, needle="b", kept=None),
    outcome("b2", 0.7, needle="b", kept=0.7),
    outcome("u", 0.3, stratum="near"),
    outcome("v", 0.9, stratum="far"),
]


def test_costs_are_those_worked_out_by_hand() -> None:
    curve = cost_curve(SMALL, [0.25, 0.45, None], Costs(10, 6, 1), 0.5, seed=1)
    # 0.25: one right, three refused; no bluff.                  1000 (0.5 * 3/4 + 0.5 * 0)
    # 0.45: one right, one wrong, two refused; one bluff of two. 1000 (0.5 * (6 + 2)/4 + 0.5 * 10/2)
    # none: three right, one wrong; both bluff.                  1000 (0.5 * 6/4 + 0.5 * 10)
    assert [row.cost for row in curve.rows] == pytest.approx([375, 3500, 5750])
    assert curve.cheapest.threshold == 0.25
    assert [row.excess for row in curve.rows] == pytest.approx([0, 3125, 5375])
    assert curve.refusing_everything == 500


def _loop(outcomes: list[Outcome], cut: float, costs: Costs, share: float) -> float:
    of_answerable, of_unanswerable = [], []
    for one in outcomes:
        answered = one.nearest is not None and one.nearest < cut
        if one.needle_id is None:
            of_unanswerable.append(costs.bluff if answered else 0)
        elif one.needle_distance is not None and one.needle_distance < cut:
            of_answerable.append(0.0)
        else:
            of_answerable.append(costs.wrong if answered else costs.refusal)
    return 1000 * ((1 - share) * float(np.mean(of_answerable)) + share * float(np.mean(of_unanswerable)))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_the_curve_equals_a_loop_over_questions(seed: int, share: float) -> None:
    outcomes, costs = question_set(seed, needles=8, near=4, far=3), Costs(7, 3, 2)
    curve = cost_curve(outcomes, GRID, costs, share, seed=3, resamples=50)
    assert [row.cost for row in curve.rows] == pytest.approx([_loop(outcomes, cut, costs, share) for cut in GRID])
    assert curve.cheapest.threshold == cheapest_threshold(outcomes, GRID, costs, share)
    assert curve.cheapest.cost == min(row.cost for row in curve.rows)
    assert curve.cheapest.alike and curve.cheapest.excess_low == curve.cheapest.excess_high == 0


def test_the_bootstrap_equals_drawing_needles_and_unanswerable_questions_one_by_one() -> None:
    outcomes, costs, share = question_set(5, needles=6, near=3, far=2), Costs(10, 6, 1), 0.3
    curve = cost_curve(outcomes, GRID, costs, share, seed=9, resamples=200)
    needles = sorted({one.needle_id for one in outcomes if one.needle_id})
    others = sorted((one for one in outcomes if one.needle_id is None), key=lambda one: one.query_id)
    drawn = []
    for of_needles, of_others in zip(
        cluster_weights(6, seed=9, resamples=200), cluster_weights(5, seed=10, resamples=200), strict=True
    ):
        resample = [
            one
            for needle, times in zip(needles, of_needles, strict=True)
            for _ in range(int(times))
            for one in outcomes
            if one.needle_id == needle
        ] + [one for one, times in zip(others, of_others, strict=True) for _ in range(int(times))]
        drawn.append([_loop(resample, cut, costs, share) for cut in GRID])
    costs_drawn = np.array(drawn)
    best = GRID.index(curve.cheapest.threshold)
    low, high = np.quantile(costs_drawn, [0.025, 0.975], axis=0)
    apart_low, apart_high = np.quantile(costs_drawn - costs_drawn[:, [best]], [0.025, 0.975], axis=0)
    assert [row.low for row in curve.rows] == pytest.approx(low)
    assert [row.high for row in curve.rows] == pytest.approx(high)
    assert [row.excess_low for row in curve.rows] == pytest.approx(apart_low)
    assert [row.excess_high for row in curve.rows] == pytest.approx(apart_high)


def test_of_equally_cheap_thresholds_the_strictest_is_named() -> None:
    assert cost_curve(SMALL, [0.35, 0.31, 0.38], seed=1).cheapest.threshold == 0.31


def test_when_all_distances_are_equal_every_threshold_below_costs_the_same() -> None:
    outcomes = [outcome(f"q{n}", 0.5, needle=f"n{n}", kept=0.5) for n in range(4)]
    outcomes += [outcome(f"u{n}", 0.5, stratum="near") for n in range(4)]
    curve = cost_curve(outcomes, [0.3, 0.4, 0.5, 0.6], Costs(10, 6, 1), 0.2, seed=1)
    assert [row.cost for row in curve.rows] == [800, 800, 800, 2000]
    assert [row.alike for row in curve.rows] == [True, True, True, False]
    assert any("strictest" in sentence for sentence in on_costs(curve))


def test_one_needle_gives_costs_without_an_interval_and_nothing_is_told_apart() -> None:
    curve = cost_curve([*SMALL[:2], *SMALL[4:]], [0.25, 0.45], seed=1)
    assert curve.cheapest.low is None
    assert all(row.alike for row in curve.rows)
    assert "too few for an interval" in on_costs(curve)[1]


def test_a_share_without_unanswerable_questions_is_refused_and_without_a_share_they_are_not_needed() -> None:
    with pytest.raises(ValueError, match="needs unanswerable questions, and there are 0"):
        cost_curve(SMALL[:4], [0.5], seed=1)
    assert cost_curve(SMALL[:4], [0.5], unanswerable_share=0.0, seed=1).unanswerable == 0


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_outside_0_and_1_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=f"{share}"):
        cost_curve(SMALL, [0.5], unanswerable_share=share, seed=1)


def test_a_negative_cost_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="bluff must be a number of at least 0, got -1"):
        cost_curve(SMALL, [0.5], Costs(-1, 6, 1), seed=1)


def _holds(curve: CostCurve, threshold: float) -> bool:
    row = curve.at(threshold)
    return row is not None and row.alike


def test_the_truly_cheapest_threshold_is_hardly_ever_declared_more_expensive() -> None:
    # The truth is taken from a set so large that its own error does not matter.
    truth = cost_curve(question_set(1, needles=20_000, near=14_000, far=6_000), GRID, seed=1, resamples=1)
    cheapest = truth.cheapest.threshold
    assert cheapest is not None
    sets = [cost_curve(question_set(seed), GRID, seed=seed, resamples=400) for seed in range(100, 300)]
    assert sum(_holds(curve, cheapest) for curve in sets) >= 0.93 * len(sets)


@pytest.mark.parametrize("threshold", [0.45, 0.6, 0.75])
def test_the_interval_of_a_cost_holds_the_true_cost_about_as_often_as_it_says(threshold: float) -> None:
    truth = cost_curve(question_set(1, needles=20_000, near=14_000, far=6_000), [threshold], seed=1, resamples=1)
    rows = [cost_curve(question_set(seed), [threshold], seed=seed, resamples=400).cheapest for seed in range(300)]
    covered = sum((row.low or 0) <= truth.cheapest.cost <= (row.high or 0) for row in rows)
    assert 0.9 * len(rows) <= covered <= 0.98 * len(rows)


def test_where_no_bluff_was_measured_it_is_said_what_the_interval_leaves_out() -> None:
    outcomes = question_set(3)
    said = on_costs(cost_curve(outcomes, [0.1], Costs(10, 6, 1), 0.2, seed=1))
    # Wilson's upper end for 0 of 30 is 0.1135, and 1000 * 0.2 * 10 * 0.1135 is 227.
    assert any("0 of 30" in sentence and "227 more" in sentence for sentence in said)
