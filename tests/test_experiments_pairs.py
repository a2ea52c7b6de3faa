import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from worlds import found, unanswerable

from experiments.pairs import compare

ALPHA = 0.05


def asked(hits, phrasings=1, depth=20):
    """Outcomes of questions found (1) or not (0)."""
    return [found(f"q{number}", f"n{number // phrasings}", 1 if hit else depth + 1) for number, hit in enumerate(hits)]


def against(wins, losses, ties=0):
    """Two sides with so many wins, losses and ties."""
    return {
        "one": asked([1] * wins + [0] * losses + [1] * ties),
        "two": asked([0] * wins + [1] * losses + [1] * ties),
    }


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(18, 3, 0.0015), (12, 2, 0.0129), (10, 3, 0.092), (10, 6, 0.454), (9, 7, 0.804), (8, 6, 0.791), (2, 6, 0.289)],
)
def test_pairs_have_the_reference_p_values(wins, losses, p):
    (pair,) = compare(against(wins, losses, 64 - wins - losses), 20, ALPHA)
    assert (pair.first, pair.second, pair.wins, pair.losses, pair.n) == ("one", "two", wins, losses, 64)
    assert pair.p == pytest.approx(p, abs=5e-5 if p < 0.05 else 5e-4)
    assert pair.holm_p == pair.p  # a family of one
    assert pair.resolved is (p <= ALPHA)


@given(st.lists(st.lists(st.booleans(), min_size=16, max_size=16), min_size=1, max_size=5))
@settings(max_examples=40)
def test_the_family_is_what_scipy_and_statsmodels_find(hits):
    sides = {f"side {number}": asked(side) for number, side in enumerate(hits)}
    pairs = compare(sides, 4, ALPHA)
    names = list(sides)
    assert [(pair.first, pair.second) for pair in pairs] == [
        (names[row], names[column]) for row in range(len(names)) for column in range(row + 1, len(names))
    ]
    for pair in pairs:
        one, two = hits[names.index(pair.first)], hits[names.index(pair.second)]
        assert pair.wins == sum(a and not b for a, b in zip(one, two, strict=True))
        assert pair.losses == sum(b and not a for a, b in zip(one, two, strict=True))
        discordant = pair.wins + pair.losses
        assert pair.p == pytest.approx(binomtest(pair.wins, discordant).pvalue if discordant else 1)
    if pairs:
        theirs = multipletests([pair.p for pair in pairs], ALPHA, method="holm")[1]
        assert [pair.holm_p for pair in pairs] == pytest.approx(theirs.tolist())
        assert [pair.resolved for pair in pairs] == [p <= ALPHA for p in [pair.holm_p for pair in pairs]]
        assert all(pair.resolvable for pair in pairs if pair.resolved)


def test_five_discordant_questions_can_resolve_nothing_and_six_can():
    (five,) = compare(against(5, 0, 59), 20, ALPHA)
    assert (five.resolvable, five.resolved, five.discordant_needed) == (False, False, 6)
    (six,) = compare(against(6, 0, 58), 20, ALPHA)
    assert (six.resolvable, six.resolved, six.p) == (True, True, 0.03125)


def test_the_further_questions_a_pair_would_need_follow_its_pace():
    (level,) = compare(against(5, 5, 54), 20, ALPHA)
    assert level.more_questions is None
    (proven,) = compare(against(18, 3, 43), 20, ALPHA)
    assert proven.more_questions == 0
    (close,) = compare(against(10, 3, 51), 20, ALPHA)
    assert close.more_questions is not None
    assert 0 < close.more_questions < 64


def test_phrasings_of_one_needle_count_once_by_needle():
    sides = {"one": asked([1, 1, 1, 0, 0, 0], phrasings=2), "two": asked([0, 0, 0, 1, 0, 0], phrasings=2)}
    (pair,) = compare(sides, 20, ALPHA)
    assert (pair.wins, pair.losses) == (3, 1)
    assert (pair.by_needle.wins, pair.by_needle.losses, pair.by_needle.n) == (1, 0, 3)  # n1 is one each


def test_a_reversed_pair_is_what_comparing_the_other_way_gives():
    sides = {"one": asked([1, 1, 1, 0, 0, 0, 1], phrasings=2), "two": asked([0, 0, 0, 1, 0, 0, 1], phrasings=2)}
    (pair,) = compare(sides, 20, ALPHA)
    (other,) = compare(dict(reversed(sides.items())), 20, ALPHA)
    assert pair.reversed == other
    assert pair.reversed.reversed == pair


def test_only_what_is_found_in_the_top_k_counts():
    sides = {"one": [found("q", "n", 4)], "two": [found("q", "n", 5)]}
    assert [(pair.wins, pair.losses) for pair in compare(sides, 4, ALPHA)] == [(1, 0)]
    assert [(pair.wins, pair.losses) for pair in compare(sides, 5, ALPHA)] == [(0, 0)]


def test_unanswerable_questions_take_no_part():
    sides = {name: [*outcomes, unanswerable("u", "near", 0.1)] for name, outcomes in against(3, 1).items()}
    (pair,) = compare(sides, 20, ALPHA)
    assert pair.n == 4


def test_an_id_that_stands_for_different_questions_is_not_compared():
    with pytest.raises(ValueError, match="different questions"):
        compare({"one": [found("q", "n", 1)], "two": [found("q", "m", 1)]}, 20, ALPHA)


def test_a_question_that_one_side_gave_no_answer_to_counts_for_neither():
    one, two, three = asked([1, 1, 0, 1]), asked([0, 0, 1, 0]), asked([0, 0, 0, 1])
    pairs = compare({"one": one, "two": [two[0], *two[2:]], "three": three[:3]}, 20, ALPHA)
    assert [(pair.first, pair.second, pair.wins, pair.losses, pair.n) for pair in pairs] == [
        ("one", "two", 2, 1, 3),
        ("one", "three", 2, 0, 3),
        ("two", "three", 1, 0, 2),
    ]
    alone = compare({"one": [one[0], *one[2:]], "two": [two[0], *two[2:]]}, 20, ALPHA)[0]
    assert (pairs[0].p, pairs[0].by_needle) == (alone.p, alone.by_needle)


def test_nothing_to_compare_is_no_pairs():
    assert compare({}, 20, ALPHA) == []
    assert compare({"one": asked([1])}, 20, ALPHA) == []
    assert compare({"one": [unanswerable("u", "far", 0.1)], "two": [unanswerable("u", "far", 0.2)]}, 20, ALPHA) == []
