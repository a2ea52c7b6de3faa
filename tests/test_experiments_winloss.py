import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import found, unanswerable

from experiments.pairs import compare
from experiments.reviewing.winloss import by_found, compare_all, discordant, place


def ranked(*ranks, needles=None):
    return [found(f"q{i}", f"n{i if needles is None else needles[i]}", rank) for i, rank in enumerate(ranks)]


tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.one_of(st.none(), st.integers(1, 12)), min_size=k, max_size=k), min_size=1, max_size=24
    )
)


@given(tables, st.integers(1, 8))
def test_the_matrix_says_of_every_pair_what_comparing_the_pairs_one_by_one_says(rows, k):
    outcomes = {
        f"c{column}": [found(f"q{i}", f"n{i // 2}", row[column]) for i, row in enumerate(rows)]
        for column in range(len(rows[0]))
    }
    all_of_it = compare_all(outcomes, k, "question", alpha=0.05, seed=1)
    by_needle = compare_all(outcomes, k, "needle", alpha=0.05, seed=1)
    assert all_of_it is not None and by_needle is not None
    for pair in compare(outcomes, k, 0.05):
        mine = all_of_it.pairing(pair.first, pair.second)
        assert (mine.wins, mine.losses, mine.n) == (pair.wins, pair.losses, pair.n)
        assert (mine.p, mine.holm_p) == pytest.approx((pair.p, pair.holm_p))
        assert (mine.resolved, mine.resolvable) == (pair.resolved, pair.resolvable)
        assert (mine.discordant_needed, mine.more_needed) == (pair.discordant_needed, pair.more_questions)
        needle = by_needle.pairing(pair.first, pair.second)
        assert (needle.wins, needle.losses, needle.n) == (
            pair.by_needle.wins,
            pair.by_needle.losses,
            pair.by_needle.n,
        )


@given(tables)
def test_a_pair_seen_from_the_other_side_has_wins_and_losses_exchanged(rows):
    outcomes = {f"c{column}": ranked(*(row[column] for row in rows)) for column in range(len(rows[0]))}
    winloss = compare_all(outcomes, 4, "question", alpha=0.05, seed=1)
    assert winloss is not None
    one, other = winloss.pairing("c0", "c1"), winloss.pairing("c1", "c0")
    assert (one.wins, one.losses, one.p, one.resolved) == (other.losses, other.wins, other.p, other.resolved)
    assert one.discordant == other.discordant


def test_the_discordant_questions_of_a_pair_are_as_many_as_its_wins_and_losses():
    rng = np.random.default_rng(4)
    draws = rng.integers(1, 12, (2, 40))
    outcomes = {
        key: ranked(*map(int, row), needles=[i // 2 for i in range(40)]) for key, row in zip("ab", draws, strict=True)
    }
    for unit in ("question", "needle"):
        winloss = compare_all(outcomes, 4, unit, alpha=0.05, seed=1)
        assert winloss is not None
        won, lost = discordant(outcomes["a"], outcomes["b"], 4, unit)
        pairing = winloss.pairing("a", "b")
        assert (len(won), len(lost)) == (pairing.wins, pairing.losses)


def test_a_needle_comes_with_all_its_phrasings_also_those_both_find():
    first = ranked(1, 1, needles=[0, 0])
    second = ranked(1, 9, needles=[0, 0])
    won, lost = discordant(first, second, 4, "needle")
    assert lost == []
    assert [(one.first_found, one.second_found) for one in won[0]] == [(True, True), (True, False)]
    assert len(discordant(first, second, 4, "question")[0][0]) == 1


def test_the_order_puts_first_what_finds_most_and_keeps_equals_as_they_are():
    outcomes = {"a": ranked(9, 9), "b": ranked(1, 9), "c": ranked(2, 9), "d": ranked(1, 1)}
    assert by_found(outcomes, 4) == ["d", "b", "c", "a"]


def test_standings_count_resolved_pairs_only_and_shares_add_up_to_one():
    best, worst, middle = [1] * 30, [None] * 30, [1] * 15 + [None] * 15
    outcomes = {"best": ranked(*best), "worst": ranked(*worst), "middle": ranked(*middle)}
    winloss = compare_all(outcomes, 4, "question", alpha=0.05, seed=1)
    assert winloss is not None
    by_key = {one.key: one for one in winloss.standings}
    assert (by_key["best"].beats, by_key["best"].beaten) == (2, 0)
    assert (by_key["worst"].beats, by_key["worst"].beaten) == (0, 2)
    assert (by_key["middle"].beats, by_key["middle"].beaten) == (1, 1)
    assert by_key["best"].best_share == 1.0
    assert sum(one.best_share for one in winloss.standings) == pytest.approx(1)
    assert winloss.family == len(winloss.pairings()) == 3


def test_there_is_nothing_to_compare_without_combinations_or_answerable_questions():
    assert compare_all({}, 4, "question", alpha=0.05, seed=1) is None
    assert compare_all({"a": [unanswerable("u", "near", 0.4)]}, 4, "question", alpha=0.05, seed=1) is None


def test_an_id_that_stands_for_different_questions_is_not_compared():
    with pytest.raises(ValueError, match="different questions"):
        compare_all({"a": [found("q", "n", 1)], "b": [found("q", "m", 1)]}, 4, "question", alpha=0.05, seed=1)


def test_pairs_are_judged_on_the_questions_both_gave_an_answer_to():
    a = [found("q1", "n1", 1), found("q2", "n1", 1), found("q3", "n2", None), found("q4", "n2", 2)]
    b = [found("q1", "n1", None), found("q3", "n2", 1), found("q4", "n2", None)]  # q2 failed
    by_question = compare_all({"a": a, "b": b}, 4, "question", alpha=0.05, seed=1)
    by_needle = compare_all({"a": a, "b": b}, 4, "needle", alpha=0.05, seed=1)
    assert by_question is not None
    assert by_needle is not None
    assert by_question.pairing("a", "b")[4:7] == (2, 1, 3)
    assert by_needle.pairing("a", "b")[4:7] == (1, 0, 2)  # of n2 each found one phrasing
    assert [one.found.n for one in by_question.standings] == [4, 3]
    won, lost = discordant(a, b, 4, "question")
    assert [group[0].first.query_id for group in won] == ["q1", "q4"]
    assert [group[0].first.query_id for group in lost] == ["q3"]


def test_a_combination_that_is_not_there_or_is_the_same_makes_no_pair():
    winloss = compare_all({"a": ranked(1), "b": ranked(2)}, 4, "question", alpha=0.05, seed=1)
    assert winloss is not None
    with pytest.raises(ValueError, match="'c' is not among"):
        winloss.pairing("a", "c")
    with pytest.raises(ValueError, match="'a' cannot be compared with itself"):
        winloss.pairing("a", "a")


def test_where_a_needle_stands_is_said_without_a_threshold():
    assert place(found("q", "n", 4), 4) == "found"
    assert place(found("q", "n", 5), 4) == "below"
    assert place(found("q", "n", None), 4) == "absent"
    assert place(found("q", "n", None, destroyed=True), 4) == "destroyed"
    assert place(found("q", "n", 30, truncated=True), 4) == "truncated"
