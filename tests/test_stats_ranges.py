"""Token-level scores against worked cases and against counting characters one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.ranges import precision_omega, range_scores

ranges = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda one: (one[0], one[0] + one[1])), max_size=6
)


def test_half_a_wanted_range_in_one_of_two_pieces():
    """Wanted [10, 20). Returned [0, 15) and [40, 45): 5 of 10 found, 20 characters read, 25 in either."""
    scores = range_scores([(10, 20)], [(0, 15), (40, 45)])
    assert (scores.found, scores.wanted, scores.returned) == (5, 10, 20)
    assert (scores.precision, scores.recall, scores.iou) == (0.25, 0.5, 0.2)


def test_what_is_returned_twice_is_found_once_and_read_twice():
    """Overlap is paid for: [0, 12) and [8, 20) read 24 characters, of which the 10 of [5, 15) are wanted."""
    scores = range_scores([(5, 15)], [(0, 12), (8, 20)])
    assert (scores.found, scores.returned) == (10, 24)
    assert (scores.precision, scores.recall, scores.iou) == (10 / 24, 1.0, 10 / 24)


def test_several_wanted_ranges_are_one_and_where_they_overlap_they_count_once():
    scores = range_scores([(0, 10), (5, 15), (30, 40)], [(0, 20), (35, 50)])
    assert (scores.found, scores.wanted, scores.returned) == (20, 25, 35)
    assert scores.iou == 20 / 40


def test_where_nothing_is_returned_there_is_no_precision_and_recall_is_none_of_it():
    scores = range_scores([(0, 10)], [])
    assert (scores.precision, scores.recall, scores.iou) == (None, 0.0, 0.0)
    assert range_scores([], []).iou is None
    assert range_scores([], [(0, 5)]).recall is None


def test_precision_omega_is_that_of_all_touching_pieces_and_no_others():
    """Pieces of 10; wanted [8, 14) lies in two of them: 6 of 20."""
    pieces = [(0, 10), (10, 20), (20, 30)]
    assert precision_omega([(8, 14)], pieces) == 6 / 20
    # A piece that only touches the end of the wanted range holds nothing of it.
    assert precision_omega([(2, 10)], pieces) == 8 / 10


def test_precision_omega_counts_overlap_once_and_lost_characters_as_read():
    assert precision_omega([(8, 12)], [(0, 10), (5, 15)]) == 4 / 15
    assert precision_omega([(8, 12)], [(0, 10)]) == 2 / 12  # [10, 12) stands in no piece
    assert precision_omega([(8, 12)], []) == 0.0
    assert precision_omega([], [(0, 10)]) is None


@pytest.mark.parametrize("wrong", [[(5, 3)], [(1, 2, 3)], [(0.5, 1.0)]])
def test_what_is_no_range_is_refused(wrong):
    with pytest.raises(ValueError, match="wanted"):
        range_scores(wrong, [])


def characters(spans):
    return {at for start, end in spans for at in range(start, end)}


@given(ranges, ranges)
def test_scores_are_what_counting_characters_gives(wanted, returned):
    scores = range_scores(wanted, returned)
    want, found = characters(wanted), characters(wanted) & characters(returned)
    read = sum(end - start for start, end in returned)
    assert (scores.found, scores.wanted, scores.returned) == (len(found), len(want), read)
    for share in (scores.precision, scores.recall, scores.iou):
        assert share is None or 0 <= share <= 1


@given(ranges, ranges)
def test_precision_omega_is_what_counting_characters_gives(wanted, pieces):
    want = characters(wanted)
    held = [piece for piece in pieces if characters([piece]) & want]
    expected = len(want & characters(held)) / len(want | characters(held)) if want else None
    assert precision_omega(np.array(wanted).reshape(-1, 2), np.array(pieces).reshape(-1, 2)) == expected
