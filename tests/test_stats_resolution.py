"""What questions can resolve: brute-force searches over scipy's own test, and by hand."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.comparison import sign_test_p
from experiments.stats.resolution import (
    Resolution,
    discordant_needed,
    fewest_discordant,
    questions_needed,
    resolution,
    resolvable,
    smallest_p,
)

LEVELS = st.sampled_from([0.01, 0.05, 0.1, 0.0625])


def test_five_discordant_queries_can_never_resolve_a_pair_at_five_percent_and_six_can() -> None:
    assert smallest_p(5) == 0.0625
    assert not resolvable(5, 0.05)
    assert resolvable(6, 0.05)
    assert fewest_discordant(0.05) == 6


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 300))
def test_the_smallest_p_is_that_of_an_all_one_way_result_times_the_family(discordant: int, family: int) -> None:
    assert smallest_p(discordant, family) == pytest.approx(min(1.0, family * sign_test_p(discordant, 0)), rel=1e-12)


def test_a_larger_family_takes_more_discordant_queries() -> None:
    assert resolution(8, 0.05, family=15) == Resolution(False, 8, 15 * 2 * 0.5**8, 10)
    assert resolution(10, 0.05, family=15).resolvable
    assert resolution(0, 0.05).smallest_p == 1.0


def test_thousands_of_queries_do_not_overflow() -> None:
    assert smallest_p(5000) == 0.0
    assert resolvable(5000, 0.05, family=10**6)


@settings(deadline=None)
@given(LEVELS, st.integers(1, 500))
def test_one_discordant_query_fewer_would_not_do(alpha: float, family: int) -> None:
    needed = fewest_discordant(alpha, family)
    assert resolvable(needed, alpha, family)
    assert not resolvable(needed - 1, alpha, family)


def _first_resolved(wins: int, losses: int, alpha: float) -> int:
    ahead, total = max(wins, losses), wins + losses
    count = 1
    while True:
        leading = ahead * count // total
        if 2 * leading > count and stats.binomtest(leading, count).pvalue <= alpha:
            return count
        count += 1


@settings(deadline=None)
@given(st.integers(0, 14), st.integers(0, 6), LEVELS)
def test_the_discordant_queries_needed_equal_a_search_through_scipys_test(wins: int, losses: int, alpha: float) -> None:
    assume(wins != losses and abs(wins - losses) >= 0.2 * (wins + losses))
    assert discordant_needed(wins / (wins + losses), alpha) == _first_resolved(wins, losses, alpha)


def test_a_share_and_its_mirror_need_the_same() -> None:
    assert discordant_needed(0.75, 0.05) == discordant_needed(0.25, 0.05)
    assert discordant_needed(1.0, 0.05) == fewest_discordant(0.05)


def test_a_small_lead_takes_many_and_no_lead_has_no_answer() -> None:
    needed = discordant_needed(101 / 201, 0.05)
    assert needed is not None
    assert needed == pytest.approx((1.96 / (2 * (101 / 201 - 0.5))) ** 2, rel=0.01)
    assert discordant_needed(0.5, 0.05) is None
    assert discordant_needed(0.5 + 1e-9, 0.05) is None
    assert discordant_needed(0.501, 0.05, power=0.8) is None


@pytest.mark.parametrize(("share", "power"), [(0.7, 0.8), (0.8, 0.9), (0.95, 0.8)])
def test_the_power_asked_for_is_reached_first_at_the_number_given(share: float, power: float) -> None:
    def reached(count: int) -> float:
        wins = np.arange(count + 1)
        rejecting = np.array([stats.binomtest(int(k), count).pvalue <= 0.05 for k in wins])
        return float(stats.binom.pmf(wins, count, share)[rejecting].sum())

    needed = discordant_needed(share, 0.05, power)
    assert needed is not None
    assert reached(needed) >= power
    assert all(reached(count) < power for count in range(1, needed))


def test_a_simulated_study_of_that_size_has_that_power() -> None:
    needed = discordant_needed(0.7, 0.05, 0.8)
    assert needed is not None
    wins = np.random.default_rng(2).binomial(needed, 0.7, size=20_000)
    resolved = stats.binom.cdf(np.minimum(wins, needed - wins), needed, 0.5) * 2 <= 0.05
    assert resolved.mean() == pytest.approx(0.8, abs=0.02)


def test_further_questions_follow_the_share_and_the_rate_seen_so_far() -> None:
    # 10 : 3 needs 17 discordant queries (13 : 4 gives p = 0.049), of which 13 come with 64 questions.
    assert discordant_needed(10 / 13, 0.05) == 17
    assert questions_needed(10, 3, 64, 0.05) == -(-17 * 64 // 13) - 64 == 20


def test_a_resolved_pair_needs_no_more_and_a_tied_one_no_number() -> None:
    assert questions_needed(18, 3, 64, 0.05) == 0
    assert questions_needed(5, 5, 64, 0.05) is None
    assert questions_needed(0, 0, 64, 0.05) is None


@settings(deadline=None)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 100), LEVELS)
def test_questions_are_needed_exactly_where_a_pair_is_not_resolved(wins: int, losses: int, ties: int, a: float) -> None:
    further = questions_needed(wins, losses, wins + losses + ties, a)
    if wins == losses:
        assert further is None
    else:
        assert further is not None
        assert (further == 0) == (sign_test_p(wins, losses) <= a)
        assert further == questions_needed(losses, wins, wins + losses + ties, a)


def test_arguments_that_make_no_sense_are_named() -> None:
    with pytest.raises(ValueError, match=r"n must be at least wins \+ losses = 9, got 8"):
        questions_needed(5, 4, 8, 0.05)
    with pytest.raises(ValueError, match=r"win_share must lie between 0 and 1, got 1\.5"):
        discordant_needed(1.5, 0.05)
    with pytest.raises(ValueError, match="family must be at least 1, got 0"):
        smallest_p(3, 0)
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1, got 0"):
        resolvable(3, 0)
