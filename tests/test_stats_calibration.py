"""The certified bound holds at its stated rate; splits keep needles together and strata balanced."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.calibration import calibration_split, certified_threshold, folds, questions_at_rate
from experiments.stats.intervals import clopper_pearson_upper

CUTS = np.round(np.arange(0.3, 0.9, 0.025), 3)


def test_the_loosest_threshold_before_the_first_failure_is_certified() -> None:
    nearest = np.linspace(0.45, 0.95, 100)
    result = certified_threshold(CUTS, nearest, target=0.2)
    assert result.certified
    assert result.threshold is not None
    assert result.bluffs == (nearest < result.threshold).sum()
    assert result.upper == clopper_pearson_upper(result.bluffs, 100)
    assert result.upper <= 0.2
    next_looser = CUTS[np.searchsorted(CUTS, result.threshold) + 1]
    assert clopper_pearson_upper(int((nearest < next_looser).sum()), 100) > 0.2
    assert result.questions_needed is None


def test_all_thresholds_may_be_certified() -> None:
    assert certified_threshold([0.1, 0.2], np.full(100, 0.9), target=0.05).threshold == 0.2


def test_thirty_questions_cannot_certify_five_percent_and_fifty_nine_could() -> None:
    result = certified_threshold(CUTS, np.full(30, 0.95), target=0.05)
    assert not result.certified
    assert (result.threshold, result.bluffs, result.n, result.questions_needed) == (None, 0, 30, 59)
    assert result.upper == pytest.approx(1 - 0.05 ** (1 / 30))


def test_a_rate_over_the_target_is_not_certifiable_with_any_number() -> None:
    result = certified_threshold([0.5], np.full(30, 0.2), target=0.05)
    assert (result.certified, result.bluffs, result.questions_needed) == (False, 30, None)


def test_no_unanswerable_questions_certify_nothing() -> None:
    result = certified_threshold([0.5], [], target=0.05)
    assert (result.threshold, result.n, result.upper, result.questions_needed) == (None, 0, 1.0, 59)


def test_a_question_that_retrieves_nothing_is_no_bluff() -> None:
    assert certified_threshold([0.5, float("inf")], np.full(80, np.inf), target=0.05).threshold == float("inf")


@pytest.mark.parametrize(("n", "target"), [(60, 0.1), (100, 0.05), (200, 0.2)])
def test_the_certified_threshold_exceeds_its_target_at_most_as_rarely_as_stated(n: int, target: float) -> None:
    rng = np.random.default_rng(n)
    law = stats.norm(0.7, 0.12)
    broken = certified = 0
    for _ in range(2000):
        result = certified_threshold(CUTS, rng.normal(0.7, 0.12, size=n), target)
        certified += result.certified
        broken += result.threshold is not None and law.cdf(result.threshold) > target
    assert broken / 2000 <= 0.05
    assert certified > 0


def test_picking_by_the_observed_rate_instead_would_break_the_bound_often() -> None:
    rng = np.random.default_rng(5)
    law, broken = stats.norm(0.7, 0.12), 0
    for _ in range(500):
        nearest = rng.normal(0.7, 0.12, size=100)
        picked = max(cut for cut in CUTS if (nearest < cut).mean() <= 0.05)
        broken += law.cdf(picked) > 0.05
    assert broken / 500 > 0.2


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ([0.5, 0.4], r"must ascend, got 0\.4 after 0\.5"),
        ([0.4, 0.4], r"must ascend, got 0\.4 after 0\.4"),
        ([], "at least one threshold, got 0"),
        ([float("nan")], "thresholds holds nan at index 0"),
    ],
)
def test_thresholds_that_are_no_fixed_sequence_are_refused(thresholds: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certified_threshold(thresholds, [0.5], 0.05)


@settings(deadline=None)
@given(st.integers(0, 6), st.integers(10, 60), st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from([0.9, 0.95]))
def test_the_questions_at_a_rate_equal_a_search_through_all_numbers(
    bluffs: int, n: int, target: float, confidence: float
) -> None:
    assume(bluffs / n <= 0.7 * target)
    needed = 1
    while clopper_pearson_upper(-(-bluffs * needed // n), needed, confidence) > target:
        needed += 1
    assert questions_at_rate(bluffs / n, target, confidence) == needed


def test_a_rate_just_under_the_target_takes_more_questions_than_anyone_is_asked_for() -> None:
    assert questions_at_rate(0.04999, 0.05) is None
    assert questions_at_rate(0.05, 0.05) is None
    with pytest.raises(ValueError, match=r"rate must lie between 0 and 1, got 1\.5"):
        questions_at_rate(1.5, 0.05)


IDS = [f"{i:02}.md#char={i},{i + 40}" for i in range(32)]
QUERY_IDS = [name for name in IDS for _ in range(2)] + [f"u{i}" for i in range(30)]
STRATA = ["answerable"] * 64 + ["near"] * 21 + ["far"] * 9


def test_both_phrasings_of_a_needle_fall_on_one_side() -> None:
    side = calibration_split(QUERY_IDS, 7, strata=STRATA)
    assert (side[0:64:2] == side[1:64:2]).all()


def test_each_stratum_is_split_in_halves() -> None:
    side, labels = calibration_split(QUERY_IDS, 7, strata=STRATA), np.array(STRATA)
    assert [int(side[labels == name].sum()) for name in ("answerable", "near", "far")] == [32, 11, 5]
    third = calibration_split(QUERY_IDS, 7, strata=STRATA, share=1 / 3)
    assert [int(third[labels == name].sum()) for name in ("answerable", "near", "far")] == [22, 7, 3]


def test_the_split_is_the_same_on_every_machine() -> None:
    side = calibration_split([f"q{i}" for i in range(12)], 1)
    assert "".join("c" if calibrating else "e" for calibrating in side) == "eccccececeee"


def test_another_seed_gives_another_split_and_the_same_seed_the_same() -> None:
    first = calibration_split(QUERY_IDS, 1, strata=STRATA)
    assert (first == calibration_split(QUERY_IDS, 1, strata=STRATA)).all()
    assert (first != calibration_split(QUERY_IDS, 2, strata=STRATA)).any()


@settings(deadline=None)
@given(st.permutations(range(len(QUERY_IDS))), st.integers(0, 1000))
def test_the_order_of_the_queries_does_not_matter(order: list[int], seed: int) -> None:
    ids, strata = [QUERY_IDS[i] for i in order], [STRATA[i] for i in order]
    assert (
        calibration_split(ids, seed, strata=strata) == calibration_split(QUERY_IDS, seed, strata=STRATA)[order]
    ).all()
    assert (folds(ids, 5, seed, strata=strata) == folds(QUERY_IDS, 5, seed, strata=STRATA)[order]).all()


@settings(deadline=None)
@given(st.lists(st.text(max_size=5), min_size=1, max_size=40, unique=True), st.text(max_size=6), st.integers(0, 99))
def test_a_new_question_moves_at_most_one_other(ids: list[str], new: str, seed: int) -> None:
    before, after = calibration_split(ids, seed), calibration_split([*ids, new], seed)
    assert (before != after[:-1]).sum() <= 1


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(0, 1000))
def test_folds_keep_needles_together_and_are_of_equal_size(count: int, seed: int) -> None:
    fold, labels = folds(QUERY_IDS, count, seed, strata=STRATA), np.array(STRATA)
    assert (fold[0:64:2] == fold[1:64:2]).all()
    for name, phrasings in (("answerable", 2), ("near", 1), ("far", 1)):
        sizes = np.bincount(fold[labels == name], minlength=count) // phrasings
        assert sizes.max() - sizes.min() <= 1
    assert set(fold.tolist()) == set(range(count))


def test_splits_of_nothing_are_empty_and_bad_arguments_are_named() -> None:
    assert calibration_split([], 1).shape == folds([], 3, 1).shape == (0,)
    with pytest.raises(ValueError, match="'a' stands in two strata: 'near' and 'far'"):
        calibration_split(["a", "a"], 1, strata=["near", "far"])
    with pytest.raises(ValueError, match="needle_ids 2, strata 1"):
        calibration_split(["a", "b"], 1, strata=["near"])
    with pytest.raises(ValueError, match="count must be at least 2, got 1"):
        folds(["a"], 1, 1)
    with pytest.raises(ValueError, match="share must lie strictly between 0 and 1, got 1"):
        calibration_split(["a"], 1, share=1)
