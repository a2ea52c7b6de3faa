import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import BLIND, SECTIONS, STRATEGIES, found, retrieved, unanswerable

from experiments.evaluation import answerable
from experiments.gate import kept
from experiments.outcomes import stage
from experiments.stats.intervals import wilson
from experiments.thresholds import extremes, nearest_distances, needle_distances, read_thresholds

tenths = st.integers(0, 20).map(lambda tenth: tenth / 10)
cuts = st.lists(st.none() | tenths, min_size=1, max_size=6)


@st.composite
def an_outcome(draw, number):
    if draw(st.booleans()):
        nearest = draw(st.none() | tenths)
        return unanswerable(f"u{number}", draw(st.sampled_from(["near", "far"])), nearest)
    rank = draw(st.none() | st.integers(1, 8))
    needle = draw(tenths)
    in_gate = rank is not None and rank <= 4
    nearest = min(draw(tenths), needle) if in_gate else draw(st.none() | tenths)
    return found(f"a{number}", f"n{number // 2}", rank, needle, nearest=nearest)


some_outcomes = st.integers(0, 12).flatmap(lambda n: st.tuples(*(an_outcome(number) for number in range(n))).map(list))


def counts(row):
    return tuple(
        share.hits
        for share in (
            row.right,
            row.wrong,
            row.refused,
            row.refused_could_answer,
            row.correctly_refused,
            row.bluffs,
            row.bluffs_near,
            row.bluffs_far,
        )
    )


BY_HAND = [
    found("near answer", "n1", 1, 0.2),
    found("wrong chunk nearer", "n2", 3, 0.6, nearest=0.3),
    found("far answer", "n3", 1, 0.8),
    found("beyond the gate", "n4", 9, 0.1, nearest=0.4),
    found("nothing returned", "n5", None, None, destroyed=True),
    unanswerable("near bluff", "near", 0.3),
    unanswerable("far bluff", "far", 0.7),
    unanswerable("nothing found", "far", None),
]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        # right, wrong, refused, could answer, correctly refused, bluffs, near, far
        (0.2, (0, 0, 5, 3, 3, 0, 0, 0)),  # strictly under: 0.2 is not
        (0.25, (1, 0, 4, 2, 3, 0, 0, 0)),
        (0.5, (1, 2, 2, 1, 2, 1, 1, 0)),
        (0.75, (2, 1, 2, 1, 1, 2, 1, 1)),
        (2.0, (3, 1, 1, 0, 1, 2, 1, 1)),
        (None, (3, 1, 1, 0, 1, 2, 1, 1)),  # nothing returned is refused even without a threshold
    ],
)
def test_columns_are_those_worked_out_by_hand(threshold, expected):
    (row,) = read_thresholds(BY_HAND, [threshold])
    assert counts(row) == expected
    assert (row.right.n, row.bluffs.n, row.bluffs_near.n, row.bluffs_far.n) == (5, 3, 1, 2)


def test_every_share_carries_its_wilson_interval():
    (row,) = read_thresholds(BY_HAND, [0.5])
    for share in row[1:]:
        assert share == wilson(share.hits, share.n)


def test_rows_come_in_the_order_the_thresholds_were_given():
    rows = read_thresholds(BY_HAND, [None, 0.675, 0.5])
    assert [row.threshold for row in rows] == [None, 0.675, 0.5]
    assert [row.label for row in rows] == ["none", "0.675", "0.5"]


@given(some_outcomes, cuts)
def test_columns_sum_to_n(outcomes, thresholds):
    for row in read_thresholds(outcomes, thresholds):
        asked = len(answerable(outcomes))
        assert (
            row.right.hits + row.wrong.hits + row.refused.hits == row.right.n == row.wrong.n == row.refused.n == asked
        )
        assert row.correctly_refused.hits + row.bluffs.hits == row.bluffs.n == len(outcomes) - asked
        assert row.bluffs_near.hits + row.bluffs_far.hits == row.bluffs.hits
        assert row.bluffs_near.n + row.bluffs_far.n == row.bluffs.n
        assert row.refused_could_answer.hits <= row.refused.hits


@given(some_outcomes, st.none() | tenths, st.none() | tenths)
def test_at_a_looser_threshold_more_is_kept_and_bluffs_never_fall(outcomes, one, other):
    strict, loose = sorted((one, other), key=lambda cut: float("inf") if cut is None else cut)
    before, after = read_thresholds(outcomes, [strict, loose])
    assert after.right.hits >= before.right.hits
    assert after.refused.hits <= before.refused.hits
    assert after.bluffs.hits >= before.bluffs.hits
    assert after.bluffs_near.hits >= before.bluffs_near.hits
    assert after.bluffs_far.hits >= before.bluffs_far.hits


@given(some_outcomes, st.none() | tenths)
def test_the_table_and_the_stages_of_single_questions_agree(outcomes, threshold):
    (row,) = read_thresholds(outcomes, [threshold])
    stages = [stage(one, threshold) for one in answerable(outcomes)]
    assert stages.count("kept") == row.right.hits
    free = [stage(one, None) for one in answerable(outcomes)]
    assert free.count("kept") == row.right.hits + sum(
        before == "kept" and after != "kept" for before, after in zip(free, stages, strict=True)
    )


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid"])
@pytest.mark.parametrize("threshold", [None, 0.0, 0.1, 0.292893, 0.3, 0.6, 1.0, 1.1])
def test_the_table_is_what_the_gate_does_to_the_recorded_hits(strategy, retriever, threshold):
    """A second implementation: each question's hits go through the gate one by one."""
    outcomes = retrieved(strategy, retriever).outcomes
    right = wrong = refused = bluffs = 0
    for outcome in outcomes:
        passing = [outcome.hits[place] for place in kept([one.distance for one in outcome.hits], threshold)]
        if outcome.needle_id is None:
            bluffs += bool(passing)
        elif not passing:
            refused += 1
        elif any(one.contains for one in passing):
            right += 1
        else:
            wrong += 1
    (row,) = read_thresholds(outcomes, [threshold])
    assert (row.right.hits, row.wrong.hits, row.refused.hits, row.bluffs.hits) == (right, wrong, refused, bluffs)


def test_without_a_threshold_a_dense_retriever_bluffs_on_everything_and_bm25_refuses_what_shares_no_word():
    (dense,) = read_thresholds(retrieved(SECTIONS, "dense").outcomes, [None])
    (bm25,) = read_thresholds(retrieved(SECTIONS, "bm25").outcomes, [None])
    assert (dense.bluffs.hits, dense.bluffs.n) == (3, 3)
    assert (bm25.bluffs.hits, bm25.bluffs_far.hits, bm25.correctly_refused.hits) == (2, 0, 1)
    assert (bm25.right.hits, bm25.refused.hits) == (7, 1)


def test_extremes_name_the_two_questions_that_decide():
    ends = extremes(BY_HAND)
    assert (ends.worst_answerable, ends.worst_query) == (0.8, "far answer")
    assert (ends.best_unanswerable, ends.best_query) == (0.3, "near bluff")
    assert ends.separable is False


def test_the_reference_extremes_cannot_be_separated():
    outcomes = [found("a", "n", 1, 0.721), unanswerable("u", "near", 0.497)]
    assert extremes(outcomes).separable is False


@pytest.mark.parametrize(("worst", "best", "separable"), [(0.3, 0.4, True), (0.4, 0.4, False), (0.5, 0.4, False)])
def test_some_threshold_gets_both_right_only_where_every_needle_is_nearer(worst, best, separable):
    outcomes = [found("a", "n", 1, worst), unanswerable("u", "far", best)]
    assert extremes(outcomes).separable is separable
    rows = read_thresholds(outcomes, [worst, best, None])
    assert any(row.right.hits == 1 and row.bluffs.hits == 0 for row in rows) is separable


def test_where_one_side_is_missing_nothing_is_said_of_separation():
    assert extremes([]).separable is None
    assert extremes([found("a", "n", 1, 0.2)]).separable is None
    assert extremes([unanswerable("u", "far", 0.2)])[:2] == (None, None)
    assert extremes([found("a", "n", None, None, destroyed=True), unanswerable("u", "far", None)]).separable is None


@given(some_outcomes)
def test_extremes_do_not_depend_on_the_order_of_the_questions(outcomes):
    assert extremes(outcomes) == extremes(outcomes[::-1])


@given(some_outcomes, tenths)
def test_where_the_extremes_cross_no_threshold_gets_everything_right(outcomes, threshold):
    if extremes(outcomes).separable is False:
        (row,) = read_thresholds(outcomes, [threshold])
        reachable = sum(one.chunk_distance is not None for one in answerable(outcomes))
        assert row.right.hits < reachable or row.bluffs.hits > 0


def test_distances_of_what_was_never_returned_are_infinite():
    outcomes = retrieved(BLIND, "bm25").outcomes
    by_id = dict(zip([one.query_id for one in outcomes], nearest_distances(outcomes).tolist(), strict=True))
    assert by_id["far-paella"] == np.inf
    assert by_id["near-ferry"] == 0.5
    assert needle_distances(outcomes)[:4].tolist() == [np.inf] * 4
