"""Two combinations picked out of all pairs of a sweep."""

import numpy as np
import pytest
from web_worlds import DENSE_A, DENSE_E, KEYS, outcomes_of
from worlds import found

from experiments.duel import family
from experiments.pairs import compare

OUTCOMES = {key: outcomes_of(key) for key in KEYS}


@pytest.mark.parametrize("k", [1, 4, 20])
def test_a_pair_read_from_the_family_is_the_one_that_comparing_all_gives(k):
    relatives = family(OUTCOMES, k, 0.05)
    for pair in compare(OUTCOMES, k, 0.05):
        assert relatives.duel(pair.first, pair.second, 7).pair == pair
        assert relatives.duel(pair.second, pair.first, 7).pair == pair.reversed
        assert relatives.holm_p(pair.first, pair.second) == pair.holm_p
    assert relatives.pairs == 10


def test_the_difference_is_that_of_the_two_shares_and_its_questions_are_the_discordant_ones():
    duel = family(OUTCOMES, 20, 0.05).duel(DENSE_E, DENSE_A, 7)
    first, second = (np.array([one.rank is not None and one.rank <= 20 for one in OUTCOMES[key] if one.needle_id])
                     for key in (DENSE_E, DENSE_A))  # fmt: skip
    assert duel.difference.mean == pytest.approx(first.mean() - second.mean())
    assert duel.difference.low < duel.difference.mean < duel.difference.high
    asked = [one.query_id for one in OUTCOMES[DENSE_E] if one.needle_id]
    assert duel.won == tuple(name for name, a, b in zip(asked, first, second, strict=True) if a and not b)
    assert (len(duel.won), len(duel.lost)) == (duel.pair.wins, duel.pair.losses)


def test_there_is_no_family_where_nothing_was_asked():
    assert family({}, 4, 0.05) is None
    assert family({"A": [one for one in OUTCOMES[DENSE_A] if one.needle_id is None]}, 4, 0.05) is None


def test_combinations_that_were_asked_different_questions_are_no_family():
    with pytest.raises(ValueError, match="different questions"):
        family({"A": [found("q1", "n1", 1)], "B": [found("q2", "n1", 1)]}, 4, 0.05)
