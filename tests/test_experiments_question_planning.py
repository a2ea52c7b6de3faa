"""How many questions a difference takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from worlds import found

from experiments.reviewing.question_planning import ASSUMED, discordance, needed_rows
from experiments.stats.resolution import questions_for_difference


def outcomes(*hits: bool):
    return [found(f"q{number}", f"n{number}", 3 if hit else None) for number, hit in enumerate(hits)]


def test_discordance_is_the_share_of_questions_two_combinations_differ_on() -> None:
    sweep = {
        "a": outcomes(True, True, True, True, True),
        "b": outcomes(True, True, True, True, False),
        "c": outcomes(True, False, False, True, True),
    }
    seen = discordance(sweep, 4)
    assert seen is not None
    assert (seen.low, seen.median, seen.high) == (pytest.approx(0.3), 0.4, 0.5)  # of 0.2, 0.4 and 0.6
    assert (seen.pairs, seen.n, seen.k) == (3, 5, 4)
    nobody = discordance(sweep, 2)
    assert nobody is not None
    assert nobody.high == 0


def test_without_two_combinations_nothing_is_observed_and_shares_are_assumed() -> None:
    assert discordance({"a": outcomes(True)}, 4) is None
    assert discordance({"a": [], "b": []}, 4) is None
    rows = needed_rows(0.15, None, 0.05, 10)
    assert [row.discordant_share for row in rows] == list(ASSUMED)
    assert [row.what for row in rows] == ["assumed"] * 3
    assert rows[0].alone is None  # they cannot be 15 points apart and differ on 10 % of the questions


def test_more_tests_take_more_questions_and_so_do_smaller_differences() -> None:
    for row in needed_rows(0.1, None, 0.05, 100)[1:]:
        assert row.alone is not None
        assert row.family is not None
        assert row.alone < row.family
    assert questions_for_difference(0.05, 0.2, 0.05, 0.8) > questions_for_difference(0.1, 0.2, 0.05, 0.8)


@pytest.mark.parametrize(("difference", "share"), [(0.1, 0.2), (0.2, 0.2), (0.1, 0.4), (0.05, 0.05)])
def test_so_many_questions_do_find_the_difference_about_as_often_as_promised(difference: float, share: float) -> None:
    needed = questions_for_difference(difference, share, 0.05, 0.8)
    assert needed is not None
    rng, win = np.random.default_rng(7), (1 + difference / share) / 2
    resolved = 0
    for _ in range(1000):
        discordant = rng.binomial(needed, share)
        wins = rng.binomial(discordant, win)
        resolved += discordant > 0 and binomtest(wins, discordant).pvalue <= 0.05
    assert 0.77 <= resolved / 1000 <= 0.86


@pytest.mark.parametrize(("difference", "share"), [(0.0, 0.2), (0.3, 0.2), (0.1, 1.2)])
def test_impossible_differences_are_refused(difference: float, share: float) -> None:
    with pytest.raises(ValueError, match=r"difference|discordant_share"):
        questions_for_difference(difference, share, 0.05, 0.8)
