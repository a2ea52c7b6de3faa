"""Paired tests: listed values, scipy and statsmodels as second implementations, and a simulation of the level."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from experiments.stats.comparison import (
    SignTest,
    holm,
    per_needle_sign_test,
    sign_test,
    sign_test_p,
    sign_test_p_matrix,
)

LISTED = [
    (18, 3, 0.0015, 4),
    (12, 2, 0.0129, 4),
    (10, 3, 0.092, 3),
    (10, 6, 0.454, 3),
    (9, 7, 0.804, 3),
    (8, 6, 0.791, 3),
    (2, 6, 0.289, 3),
]
PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


@pytest.mark.parametrize(("wins", "losses", "p", "digits"), LISTED)
def test_the_listed_sign_tests_are_reproduced(wins: int, losses: int, p: float, digits: int) -> None:
    assert round(sign_test_p(wins, losses), digits) == p


def test_every_small_table_agrees_with_scipy() -> None:
    wins, losses = np.mgrid[0:26, 0:26]
    p = sign_test_p_matrix(wins, losses)
    for won, lost in zip(wins.ravel(), losses.ravel(), strict=True):
        expected = stats.binomtest(int(won), int(won + lost)).pvalue if won + lost else 1.0
        assert p[won, lost] == pytest.approx(expected, rel=1e-12)
        assert sign_test_p(won, lost) == p[won, lost]


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_large_tables_agree_with_scipy_and_with_the_exact_mcnemar_test(wins: int, losses: int) -> None:
    p = sign_test_p(wins, losses)
    assert p == sign_test_p(losses, wins)
    if wins + losses:
        assert p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)
        exact = mcnemar([[0, wins], [losses, 0]], exact=True).pvalue
        assert p == pytest.approx(float(exact), rel=1e-9)


def test_a_sign_test_counts_wins_losses_and_ties_of_the_same_queries() -> None:
    test = sign_test([True, True, True, False, True], [False, False, False, True, True])
    assert test == SignTest(wins=3, losses=1, ties=1, n=5, p=0.625)
    assert test.discordant == 4


@settings(deadline=None)
@given(PAIRS)
def test_exchanging_the_sides_exchanges_wins_and_losses(pairs: list[tuple[bool, bool]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    there, back = sign_test(a, b), sign_test(b, a)
    assert (there.wins, there.losses, there.ties, there.p) == (back.losses, back.wins, back.ties, back.p)
    assert there.wins + there.losses + there.ties == there.n == len(pairs)


def test_no_queries_and_no_differences_are_no_evidence() -> None:
    assert sign_test([], []) == SignTest(0, 0, 0, 0, 1.0)
    assert sign_test([True, False], [True, False]).p == 1.0


def test_a_needle_is_won_when_it_gains_on_balance_over_its_phrasings() -> None:
    needles = ["a", "a", "b", "b", "c", "c", "d", "d", "d"]
    first = [True, True, True, False, False, False, True, True, False]
    second = [False, True, False, True, True, True, False, False, True]
    # a gains one; b is even; c loses two; d gains two and loses one.
    assert per_needle_sign_test(first, second, needles) == SignTest(2, 1, 1, 4, 1.0)


@settings(deadline=None)
@given(PAIRS)
def test_needles_asked_once_each_give_the_test_per_query(pairs: list[tuple[bool, bool]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    assert per_needle_sign_test(a, b, np.arange(len(pairs))) == sign_test(a, b)


def test_a_resolved_pair_of_strategies_that_are_equal_is_as_rare_as_alpha_says() -> None:
    rng = np.random.default_rng(17)
    a, b = rng.random((2, 4000, 64)) < 0.6
    p = sign_test_p_matrix((a & ~b).sum(axis=1), (b & ~a).sum(axis=1))
    assert (p <= 0.05).mean() <= 0.05


def test_testing_dependent_phrasings_as_queries_overstates_and_testing_needles_does_not() -> None:
    rng = np.random.default_rng(19)
    a, b = rng.random((2, 1500, 32)) < 0.5
    needles = np.repeat(np.arange(32), 2)
    per_query = [sign_test(np.repeat(x, 2), np.repeat(y, 2)).p <= 0.05 for x, y in zip(a, b, strict=True)]
    per_needle = [
        per_needle_sign_test(np.repeat(x, 2), np.repeat(y, 2), needles).p <= 0.05 for x, y in zip(a, b, strict=True)
    ]
    assert np.mean(per_query) > 0.08
    assert np.mean(per_needle) <= 0.05


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([True], [True, False], "lengths differ: a 1, b 2"),
        ([1, 0], [True, False], "a must be boolean, got dtype int64"),
        ([[True]], [[True]], r"1 dimension\(s\), got shape \(1, 1\)"),
    ],
)
def test_sides_that_cannot_be_compared_are_named(a: list[bool], b: list[bool], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sign_test(a, b)


def test_negative_counts_and_shapes_that_differ_are_named() -> None:
    with pytest.raises(ValueError, match="losses must be at least 0, got -2"):
        sign_test_p(1, -2)
    with pytest.raises(ValueError, match=r"shapes differ: wins \(2,\), losses \(3,\)"):
        sign_test_p_matrix([1, 2], [1, 2, 3])


@pytest.mark.parametrize("seed", range(12))
def test_holm_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Rounded and cubed, so that there are ties, zeros and small values.
    p = np.round(rng.random(int(rng.integers(1, 60))) ** 3, 2)
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=40))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert ((adjusted >= np.array(p)) & (adjusted <= 1)).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_holm_by_hand_and_of_nothing() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([]).shape == (0,)


@pytest.mark.parametrize(("p", "message"), [([0.1, float("nan")], "nan at index 1"), ([1.2], r"got 1\.2")])
def test_holm_refuses_what_is_no_p_value(p: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        holm(p)
