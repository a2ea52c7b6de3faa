"""Choosing honestly: what is kept apart, what is reported, and that the out-of-fold row does not flatter."""

from collections.abc import Sequence

import numpy as np
import pytest
from made_outcomes import outcome, question_set

from experiments.deciding.choosing import AtMost, ByHand, Cheapest, NotCertifiableError, choose, on_choice, pooled
from experiments.deciding.costs import cheapest_threshold
from experiments.outcomes import Outcome
from experiments.stats.calibration import calibration_split, folds
from experiments.stats.selective import Costs
from experiments.thresholds import read_thresholds

GRID = tuple(round(0.3 + 0.025 * step, 3) for step in range(21))
WAY = Cheapest(Costs(10, 6, 1), 0.2)


def _large(seed: int) -> list[Outcome]:
    return question_set(seed, needles=60, near=30, far=20)


def test_with_a_hundred_questions_the_threshold_is_picked_on_one_half_and_reported_on_the_other() -> None:
    outcomes = _large(1)
    choice = choose(outcomes, GRID, WAY, seed=7)
    ids = [f"needle {one.needle_id}" if one.needle_id else f"question {one.query_id}" for one in outcomes]
    strata = ["answerable" if one.needle_id else one.stratum or "" for one in outcomes]
    first = calibration_split(ids, 7, strata=strata)
    calibration = [one for one, there in zip(outcomes, first, strict=True) if there]
    evaluation = [one for one, there in zip(outcomes, first, strict=True) if not there]
    assert choice.method == "split"
    assert choice.threshold == cheapest_threshold(calibration, GRID, *WAY)
    assert choice.calibration.row == read_thresholds(calibration, [choice.threshold])[0]
    assert choice.evaluation.row == read_thresholds(evaluation, [choice.threshold])[0]
    assert {one.needle_id for one in calibration} & {one.needle_id for one in evaluation} == {None}


def test_both_sides_have_half_of_the_needles_and_half_of_each_stratum() -> None:
    choice = choose(_large(2), GRID, WAY, seed=7)
    for side in (choice.calibration, choice.evaluation):
        assert (side.needles, side.answerable, side.near, side.far) == (30, 60, 15, 10)


def test_with_fewer_questions_every_fold_is_read_at_a_threshold_picked_without_it() -> None:
    outcomes = question_set(3)
    choice = choose(outcomes, GRID, WAY, seed=7)
    ids = [f"needle {one.needle_id}" if one.needle_id else f"question {one.query_id}" for one in outcomes]
    strata = ["answerable" if one.needle_id else one.stratum or "" for one in outcomes]
    fold_of = folds(ids, 5, 7, strata=strata)
    right = bluffs = 0
    for pick in choice.folds:
        inside = [one for one, fold in zip(outcomes, fold_of, strict=True) if fold == pick.fold]
        others = [one for one, fold in zip(outcomes, fold_of, strict=True) if fold != pick.fold]
        assert pick.threshold == cheapest_threshold(others, GRID, *WAY)
        assert pick.questions == len(inside)
        right += sum((one.needle_distance or 9) < (pick.threshold or 0) for one in inside)
        bluffs += sum(one.needle_id is None and (one.nearest or 9) < (pick.threshold or 0) for one in inside)
    assert choice.method == "folds" and len(choice.folds) == 5
    assert (choice.evaluation.row.right.hits, choice.evaluation.row.right.n) == (right, 64)
    assert (choice.evaluation.row.bluffs.hits, choice.evaluation.row.bluffs.n) == (bluffs, 30)
    assert (choice.evaluation.row.bluffs_near.n, choice.evaluation.row.bluffs_far.n) == (21, 9)


def test_the_final_threshold_of_a_cross_fit_is_picked_on_all_questions() -> None:
    outcomes = question_set(3)
    choice = choose(outcomes, GRID, WAY, seed=7)
    assert choice.threshold == cheapest_threshold(outcomes, GRID, *WAY)
    assert choice.calibration.row == read_thresholds(outcomes, [choice.threshold])[0]


@pytest.mark.parametrize("outcomes", [question_set(4), _large(4)])
def test_the_order_of_the_questions_changes_nothing(outcomes: list[Outcome]) -> None:
    turned = list(reversed(outcomes))
    assert choose(turned, GRID, WAY, seed=1) == choose(outcomes, GRID, WAY, seed=1)
    assert choose(outcomes, GRID, WAY, seed=1).evaluation != choose(outcomes, GRID, WAY, seed=2).evaluation


def _cost(row_of: Sequence[int], costs: Costs, share: float) -> float:
    wrong, refused, answerable, bluffs, unanswerable = row_of
    return 1000 * ((1 - share) * (costs.wrong * wrong + refused) / answerable + share * 10 * bluffs / unanswerable)


def test_the_out_of_fold_row_does_not_flatter_as_the_row_it_was_picked_on_does() -> None:
    # With a population this large the true cost of any threshold is known.
    truth = question_set(1, needles=10_000, near=7_000, far=3_000)
    true_rows = {row.threshold: row for row in read_thresholds(truth, GRID)}
    seen, out_of_fold, true = [], [], []
    for seed in range(120):
        choice = choose(question_set(seed + 50, needles=16, near=11, far=5), GRID, WAY, seed=seed)
        for row, costs in (
            (choice.calibration.row, seen),
            (choice.evaluation.row, out_of_fold),
            (true_rows[choice.threshold], true),
        ):
            counts = (row.wrong.hits, row.refused.hits, row.right.n, row.bluffs.hits, row.bluffs.n)
            costs.append(_cost(counts, WAY.costs, WAY.unanswerable_share))
    flattery, error = np.array(true) - np.array(seen), np.array(out_of_fold) - np.array(true)
    assert flattery.mean() > 3 * flattery.std() / len(flattery) ** 0.5  # the calibration row looks too good
    assert error.mean() > -2 * error.std() / len(error) ** 0.5  # the out-of-fold row does not


def test_a_threshold_given_by_hand_is_shown_on_both_halves_however_few_questions_there_are() -> None:
    outcomes = question_set(5)
    choice = choose(outcomes, GRID, ByHand(0.511), seed=7)
    assert choice.threshold == 0.511 and choice.method == "split"
    whole = read_thresholds(outcomes, [0.511])[0]
    assert choice.calibration.row.right.hits + choice.evaluation.row.right.hits == whole.right.hits
    assert choice.calibration.row.bluffs.n + choice.evaluation.row.bluffs.n == 30
    assert "both rows flatter it" in on_choice(choice)[-1]


@pytest.mark.parametrize("threshold", [-0.1, 2.1, float("nan"), float("inf")])
def test_a_threshold_that_is_no_cosine_distance_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 2"):
        choose(question_set(1), GRID, ByHand(threshold), seed=1)


def test_a_bound_is_certified_on_all_questions_and_reported_over_folds() -> None:
    outcomes = question_set(6, needles=40, near=60, far=60)
    choice = choose(outcomes, GRID, AtMost(0.2), seed=7)
    assert choice.method == "folds"
    assert choice.calibration.near == 60  # none is kept back: that would weaken the promise
    assert choice.evaluation.row.bluffs.n == 120
    assert "certified to be at most 20 %" in on_choice(choice)[0]


def test_a_bound_that_cannot_be_certified_is_an_error_that_says_how_many_questions_it_takes() -> None:
    with pytest.raises(NotCertifiableError, match="about 29") as caught:
        choose(question_set(7), GRID, AtMost(0.1), seed=7)
    assert caught.value.certifications["far"].n == 9


def test_folds_without_which_nothing_is_certified_are_left_out_and_not_counted_as_refused() -> None:
    far = [outcome(f"far{n}", 0.9, stratum="far") for n in range(9)]
    near = [outcome(f"near{n}", 0.9, stratum="near") for n in range(21)]
    asked = [outcome(f"q{n}", 0.4, needle=f"n{n}", kept=0.4) for n in range(20)]
    choice = choose([*asked, *near, *far], GRID, AtMost(0.3), seed=7)  # 9 far questions certify 28.3 %, 8 do not
    assert choice.threshold == GRID[-1]
    assert all(pick.threshold is None for pick in choice.folds)
    assert choice.evaluation.row.right.n == 0 and choice.evaluation.row.right.estimate is None
    assert any("cannot be judged out of fold" in sentence for sentence in on_choice(choice))


def test_a_set_without_unanswerable_questions_says_how_to_add_some() -> None:
    asked = [outcome(f"q{n}", 0.4, needle=f"n{n}", kept=0.4) for n in range(20)]
    with pytest.raises(ValueError, match='add questions with a stratum, "near" or "far"'):
        choose(asked, GRID, ByHand(0.5), seed=7)


def test_a_set_too_small_to_be_divided_is_refused() -> None:
    tiny = [outcome("q", 0.4, needle="n", kept=0.4), outcome("u", 0.5, stratum="near")]
    for way in (WAY, ByHand(0.5)):
        with pytest.raises(ValueError, match="too small"):
            choose(tiny, GRID, way, seed=7)


def test_pooling_the_rows_of_parts_gives_the_row_of_the_whole() -> None:
    outcomes = question_set(8)
    parts = [outcomes[0:30], outcomes[30:70], outcomes[70:]]
    rows = [read_thresholds(part, [0.5])[0] for part in parts]
    assert pooled(rows, 0.5) == read_thresholds(outcomes, [0.5])[0]
