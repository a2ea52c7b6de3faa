"""Intervals: listed values, statsmodels as second implementation, properties, and simulated coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from experiments.stats import intervals
from experiments.stats.intervals import (
    MeanInterval,
    Proportion,
    clopper_pearson_upper,
    cluster_bootstrap_mean,
    cluster_weights,
    questions_for_bound,
    wilson,
)

COUNTS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("hits", "low", "high"), [(38, 0.471, 0.705), (53, 0.718, 0.901)])
def test_the_listed_wilson_intervals_are_reproduced(hits: int, low: float, high: float) -> None:
    interval = wilson(hits, 64)
    assert (round(interval.low or 0, 3), round(interval.high or 0, 3)) == (low, high)
    assert interval.estimate == hits / 64


@settings(deadline=None)
@given(COUNTS, st.floats(0.5, 0.999))
def test_wilson_agrees_with_statsmodels(counts: tuple[int, int], confidence: float) -> None:
    interval = wilson(*counts, confidence)
    expected = proportion_confint(*counts, alpha=1 - confidence, method="wilson")
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(COUNTS)
def test_a_wilson_interval_holds_its_estimate_within_zero_and_one(counts: tuple[int, int]) -> None:
    interval = wilson(*counts)
    assert interval.low is not None and interval.high is not None and interval.estimate is not None
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    assert interval.low < interval.high


def test_no_trials_give_no_estimate_and_never_a_zero() -> None:
    nothing = wilson(0, 0)
    assert nothing == Proportion(0, 0, None, None)
    assert nothing.estimate is None


def test_numpy_integers_are_counts_and_come_back_as_python_numbers() -> None:
    interval = wilson(np.int64(3), np.int32(7))
    assert [type(part) for part in interval] == [int, int, float, float]
    assert interval is wilson(3, 7)


@pytest.mark.parametrize(
    ("hits", "n", "confidence", "message"),
    [
        (5, 4, 0.95, "got 5 of 4"),
        (-1, 4, 0.95, "at least 0, got -1"),
        (1.0, 4, 0.95, r"integer, got 1\.0"),
        (1, 4, 1.0, r"got 1\.0"),
        (1, 4, float("nan"), "got nan"),
    ],
)
def test_impossible_counts_and_levels_are_named(hits: int, n: int, confidence: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson(hits, n, confidence)
    with pytest.raises(ValueError, match=message):
        clopper_pearson_upper(hits, n, confidence)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.94])
def test_wilson_intervals_cover_the_true_share_about_as_often_as_they_say(share: float) -> None:
    drawn = np.random.default_rng(11).binomial(64, share, size=4000)
    bounds = np.array([wilson(int(hits), 64)[2:] for hits in drawn], dtype=float)
    covered = np.mean((bounds[:, 0] <= share) & (share <= bounds[:, 1]))
    assert 0.93 <= covered <= 0.98


def test_the_bootstrap_equals_a_loop_over_the_same_draws() -> None:
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 9, size=40)
    values = rng.random(40)
    names, codes = np.unique(clusters, return_inverse=True)
    drawn = np.random.default_rng(5).integers(len(names), size=(500, len(names)))
    means = [np.concatenate([values[codes == cluster] for cluster in draw]).mean() for draw in drawn]
    interval = cluster_bootstrap_mean(values, clusters, seed=5, resamples=500, confidence=0.9)
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(means, [0.05, 0.95])))
    assert interval.mean == pytest.approx(values.mean())
    assert (interval.n, interval.clusters) == (40, 9)


def test_the_same_seed_gives_the_same_interval_in_any_order_of_input() -> None:
    rng = np.random.default_rng(1)
    values, needles = rng.random(64) < 0.6, np.repeat([f"needle {i}" for i in range(32)], 2)
    order = rng.permutation(64)
    first = cluster_bootstrap_mean(values, needles, seed=7)
    assert cluster_bootstrap_mean(values[order], needles[order], seed=7) == first
    assert cluster_bootstrap_mean(values, needles, seed=8) != first


def test_clusters_that_agree_within_widen_the_interval() -> None:
    outcome = np.arange(32) % 2 == 0
    together = cluster_bootstrap_mean(np.repeat(outcome, 2), np.repeat(np.arange(32), 2), seed=0)
    apart = cluster_bootstrap_mean(np.repeat(outcome, 2), np.arange(64), seed=0)
    assert (together.high or 0) - (together.low or 0) > 1.25 * ((apart.high or 0) - (apart.low or 0))


def test_one_cluster_has_a_mean_but_no_interval_and_none_has_neither() -> None:
    assert cluster_bootstrap_mean([True, False], ["a", "a"], seed=0) == MeanInterval(0.5, None, None, 2, 1)
    assert cluster_bootstrap_mean([], [], seed=0) == MeanInterval(None, None, None, 0, 0)


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [
        ([1.0, float("nan")], [0, 1], "values holds nan at index 1"),
        ([1.0, 2.0], [0], r"clusters must have shape \(2,\), got \(1,\)"),
        ([1.0, 2.0], ["a", None], "none missing"),
        ([1.0, 2.0], [0.0, float("nan")], "none missing"),
        (["x", "y"], [0, 1], "must be numbers"),
        ([[1.0]], [0], "1 dimension"),
    ],
)
def test_values_a_bootstrap_cannot_use_are_named(values: list[float], clusters: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cluster_bootstrap_mean(values, clusters, seed=0)


def test_cluster_intervals_cover_the_true_mean_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(23)
    needles = np.repeat(np.arange(32), 2)
    covered = 0
    for trial in range(600):
        # Both phrasings of a needle share its difficulty, so they are strongly dependent.
        hits = rng.random(64) < np.repeat(rng.beta(0.6, 0.4, size=32), 2)
        interval = cluster_bootstrap_mean(hits, needles, seed=trial, resamples=400)
        covered += (interval.low or 0) <= 0.6 <= (interval.high or 0)
    assert 0.91 <= covered / 600 <= 0.975


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 10**6), st.integers(1, 50))
def test_every_resample_draws_as_many_clusters_as_there_are(count: int, seed: int, resamples: int) -> None:
    weights = cluster_weights(count, seed=seed, resamples=resamples)
    assert weights.shape == (resamples, count)
    assert (weights.sum(axis=1) == count).all()
    assert not weights.flags.writeable


def test_weights_too_large_to_keep_are_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = cluster_weights(12, seed=4, resamples=30)
    monkeypatch.setattr(intervals, "CACHED_CELLS", 0)
    assert (cluster_weights(12, seed=4, resamples=30) == kept).all()


@settings(deadline=None)
@given(COUNTS, st.floats(0.5, 0.999))
def test_the_exact_upper_bound_agrees_with_scipy_and_statsmodels(counts: tuple[int, int], confidence: float) -> None:
    bound = clopper_pearson_upper(*counts, confidence)
    one_sided = stats.binomtest(*counts, alternative="less").proportion_ci(confidence, method="exact")
    two_sided = proportion_confint(*counts, alpha=2 * (1 - confidence), method="beta")
    assert bound == pytest.approx(one_sided.high, abs=1e-9)
    assert bound == pytest.approx(two_sided[1] if counts[0] < counts[1] else 1.0, abs=1e-9)


def test_the_exact_upper_bound_is_the_rule_of_three_without_hits() -> None:
    assert clopper_pearson_upper(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert clopper_pearson_upper(0, 0) == 1.0
    assert clopper_pearson_upper(4, 4) == 1.0


@pytest.mark.parametrize("share", [0.03, 0.1, 0.5])
def test_the_exact_upper_bound_covers_at_least_as_often_as_it_says(share: float) -> None:
    hits = np.arange(31)
    covering = [clopper_pearson_upper(int(count), 30) >= share for count in hits]
    assert stats.binom.pmf(hits, 30, share)[covering].sum() >= 0.95


@pytest.mark.parametrize(("target", "hits", "needed"), [(0.05, 0, 59), (0.05, 1, 93), (0.1, 0, 29), (0.01, 0, 299)])
def test_the_known_numbers_of_questions_for_a_bound_are_found(target: float, hits: int, needed: int) -> None:
    assert questions_for_bound(target, 0.95, hits) == needed


@settings(deadline=None)
@given(st.floats(0.02, 0.95), st.floats(0.5, 0.99), st.integers(0, 12))
def test_one_question_fewer_would_miss_the_bound(target: float, confidence: float, hits: int) -> None:
    needed = questions_for_bound(target, confidence, hits)
    assert needed > hits
    assert clopper_pearson_upper(hits, needed, confidence) <= target
    assert needed == hits + 1 or clopper_pearson_upper(hits, needed - 1, confidence) > target


@pytest.mark.parametrize("target", [0.0, 1.0, -0.1])
def test_a_target_that_bounds_nothing_is_refused(target: float) -> None:
    with pytest.raises(ValueError, match="target must lie strictly between 0 and 1"):
        questions_for_bound(target, 0.95)
