"""Signals for saying no: areas of many resamples against one at a time, and which signal is called better."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import outcome, question_set
from worlds import found, unanswerable

from experiments.deciding.signals import (
    compare_signals,
    lead,
    nearness,
    on_scorer,
    on_signals,
    resampled_areas,
    scorer_signal,
    would_be_wrong,
)
from experiments.resampling import question_weights
from experiments.stats.selective import augrc, aurc, risk_coverage_curve


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=1, max_size=12).filter(
        lambda rows: any(times for _, _, times in rows)
    )
)
def test_weighted_areas_are_those_of_a_set_in_which_each_question_stands_as_often_as_drawn(
    rows: list[tuple[int, bool, int]],
) -> None:
    confidence = np.array([row[0] for row in rows], float)
    wrong = np.array([row[1] for row in rows], bool)
    times = np.array([row[2] for row in rows])
    areas = resampled_areas(confidence, wrong, times[np.newaxis].astype(float))
    curve = risk_coverage_curve(np.repeat(confidence, times), np.repeat(wrong, times))
    assert areas.aurc[0] == pytest.approx(aurc(curve))
    assert areas.augrc[0] == pytest.approx(augrc(curve))


def test_an_answer_is_wrong_without_a_needle_among_the_chunks_the_gate_sees() -> None:
    outcomes = [
        outcome("kept", 0.2, needle="n", kept=0.3),
        outcome("lost", 0.2, needle="m", kept=None),
        outcome("unanswerable", 0.2, stratum="near"),
    ]
    assert would_be_wrong(outcomes).tolist() == [False, True, True]


def test_a_signal_that_is_not_there_speaks_for_refusing() -> None:
    outcomes = [outcome("nothing", None, stratum="far", gap=None), outcome("one", 0.9, stratum="far", gap=None)]
    assert nearness(outcomes).tolist() == [-np.inf, -0.9]
    assert lead(outcomes).tolist() == [-np.inf, -np.inf]


def test_areas_of_four_questions_are_those_worked_out_by_hand() -> None:
    # In order of distance: right, wrong, right, wrong. Risks at the four coverages: 0, 1/2, 1/3, 1/2.
    outcomes = [
        outcome("a", 0.1, needle="n", kept=0.1, gap=0.4),
        outcome("u", 0.2, stratum="near", gap=0.1),
        outcome("b", 0.3, needle="m", kept=0.3, gap=0.3),
        outcome("v", 0.4, stratum="far", gap=0.2),
    ]
    found = compare_signals(outcomes, seed=1, resamples=100)
    assert found.distance.aurc.value == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    # In order of the gap: right, right, wrong, wrong: no order is better.
    assert found.gap.aurc.value == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    # Generalised risk 0, 0, 0, 1/4, 2/4 at coverages 0, 1/4 ... 1, by trapezoids of width 1/4.
    assert found.gap.augrc.value == pytest.approx((1 / 8 + 3 / 8) / 4)
    assert found.aurc_difference.value == pytest.approx(found.distance.aurc.value - found.gap.aurc.value)
    assert (found.n, found.wrong) == (4, 2)


def test_the_signal_that_orders_by_error_is_called_better_and_the_other_is_not() -> None:
    rng = np.random.default_rng(4)
    outcomes = []
    for number in range(60):
        right = number % 2 == 0
        distance = 0.3 + 0.3 * (not right) + float(rng.normal(0, 0.1))
        gap = float(rng.normal(0, 0.1))
        made = {"needle": f"n{number}", "kept": distance} if right else {"stratum": "near"}
        outcomes.append(outcome(f"q{number}", distance, gap=gap, **made))
    found = compare_signals(outcomes, seed=1)
    assert found.better is found.distance
    assert found.augrc_difference.high is not None and found.augrc_difference.high < 0
    assert on_signals(found)[0].startswith("The nearest distance refuses better than the lead over the second chunk")
    # With each signal in the other's place the verdict turns round.
    turned = [replace(one, nearest=-(one.gap or 0), gap=-(one.nearest or 0)) for one in outcomes]
    assert compare_signals(turned, seed=1).better is not None
    assert on_signals(compare_signals(turned, seed=1))[0].startswith("The lead over the second chunk refuses better")


def test_signals_that_say_nothing_are_called_different_at_most_about_one_time_in_twenty() -> None:
    rng = np.random.default_rng(8)
    called, runs = 0, 300
    for run in range(runs):
        outcomes = [
            outcome(f"q{number}", float(rng.random()), gap=float(rng.random()),
                    **({"needle": f"n{number}", "kept": 1.0} if number % 2 else {"stratum": "near"}))
            for number in range(60)
        ]  # fmt: skip
        called += compare_signals(outcomes, seed=run, resamples=300).better is not None
    assert called / runs <= 0.09


def test_when_all_distances_and_gaps_are_equal_the_signals_cannot_be_told_apart() -> None:
    outcomes = [outcome(f"q{n}", 0.5, needle=f"n{n}", kept=0.5, gap=0.0) for n in range(3)]
    outcomes += [outcome(f"u{n}", 0.5, stratum="near", gap=0.0) for n in range(3)]
    found = compare_signals(outcomes, seed=1)
    assert found.better is None
    assert found.distance.augrc.value == pytest.approx(0.25)  # half the share of errors: the signal says nothing
    assert "cannot be told apart" in on_signals(found)[0]


def test_too_few_questions_give_areas_without_intervals_and_no_verdict() -> None:
    found = compare_signals([outcome("q", 0.5, needle="n", kept=0.5), outcome("u", 0.6, stratum="near")], seed=1)
    assert found.distance.aurc.low is None
    assert found.better is None
    assert "too few" in on_signals(found)[0]


def test_needles_are_drawn_whole_and_the_two_kinds_apart() -> None:
    outcomes = question_set(1, needles=5, near=4, far=1)
    weights = question_weights(outcomes, seed=3, resamples=50)
    assert weights is not None
    assert (weights[:, 0:10:2] == weights[:, 1:10:2]).all()  # both phrasings of a needle
    assert (weights[:, :10].sum(axis=1) == 10).all()
    assert (weights[:, 10:].sum(axis=1) == 5).all()
    assert not (weights[:, 0:10:2] == weights[:, 10:]).all(axis=1).any()  # not the same draws twice


def test_two_thousand_resamples_are_drawn_together_and_not_one_by_one() -> None:
    outcomes = question_set(1)
    compare_signals(outcomes, seed=1)  # draws are kept from here on, as they are for every further combination
    compare_signals(outcomes, seed=1, resamples=2)
    many = min(_timed(outcomes, 2000) for _ in range(3))
    assert many < 500 * min(_timed(outcomes, 2) for _ in range(3)) + 1  # one by one they would take 1,000 times


def _timed(outcomes: list, resamples: int) -> float:
    begin = time.process_time()
    compare_signals(outcomes, seed=1, resamples=resamples)
    return time.process_time() - begin


def scored_outcomes(scores):
    """Twenty answerable questions, half of them kept, and ten unanswerable ones, with a score each."""
    answered = [found(f"a{n}", f"n{n}", 1 if n < 10 else None, 0.5) for n in range(20)]
    refused = [unanswerable(f"u{n}", "near", 0.5) for n in range(10)]
    return [replace(one, scorer_score=score) for one, score in zip([*answered, *refused], scores, strict=True)]


def test_a_second_models_score_is_judged_on_the_same_errors_as_the_distance():
    outcomes = scored_outcomes([5.0 + n / 10 if n < 10 else -5.0 - n / 10 for n in range(30)])
    judged = scorer_signal(outcomes, "best cross-encoder score", seed=1)
    assert (judged.n, judged.wrong, judged.scored) == (30, 20, 30)
    assert judged.augrc_difference.sign == 1  # it parts right from wrong where all distances are alike
    (said,) = on_scorer(judged)
    assert said.startswith("Further signal, not read by the gate: the best cross-encoder score refuses better than")
    assert "20 of 30 questions would be answered wrongly" in said


def test_a_score_that_says_what_the_distance_says_cannot_be_told_from_it():
    judged = scorer_signal(scored_outcomes([1.0] * 30), "score", seed=1)
    assert judged.augrc_difference.value == 0
    assert "cannot be told apart as signals" in on_scorer(judged)[0]


def test_without_a_second_model_nothing_is_said_of_one():
    assert scorer_signal(scored_outcomes([None] * 30), "score", seed=1) is None
    assert on_scorer(None) == ()
