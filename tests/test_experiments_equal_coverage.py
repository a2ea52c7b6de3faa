import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import outcome, question_set

from experiments.deciding.equal_coverage import at_equal_coverage
from experiments.thresholds import read_thresholds


def answered(outcomes, threshold):
    row = read_thresholds(outcomes, [threshold])[0]
    return row.right.hits + row.wrong.hits + row.bluffs.hits


def shifted(outcomes, by):
    return [outcome(one.query_id, one.nearest + by, needle=one.needle_id, stratum=one.stratum) for one in outcomes]


def test_distances_that_all_lie_further_are_cut_further():
    mine = question_set(1)
    found = at_equal_coverage(0.5, mine, shifted(mine, 0.2))
    assert found == pytest.approx(0.7, abs=0.02)
    assert answered(shifted(mine, 0.2), found) == answered(mine, 0.5)


@settings(max_examples=25)
@given(seed=st.integers(0, 50), threshold=st.floats(0.0, 2.0))
def test_as_many_questions_are_answered_as_any_threshold_allows(seed, threshold):
    mine, other = question_set(seed), question_set(seed + 100)
    found = at_equal_coverage(threshold, mine, other)
    wanted = answered(mine, threshold)
    rows = read_thresholds(other, [float(cut) for cut in np.arange(0, 2.001, 0.001)[::7]])
    reachable = [row.right.hits + row.wrong.hits + row.bluffs.hits for row in rows]
    assert abs(answered(other, found) - wanted) <= min(abs(count - wanted) for count in reachable)


def test_no_threshold_is_compared_with_none():
    assert at_equal_coverage(None, question_set(1), question_set(2)) is None


def test_refusing_everything_is_matched_by_refusing_everything():
    assert at_equal_coverage(0.0, question_set(1), question_set(2)) == 0.0


def test_a_question_that_only_one_gave_an_answer_to_is_left_out():
    some = question_set(1)[:-20]
    assert at_equal_coverage(0.5, question_set(1), some) == at_equal_coverage(0.5, some, some)


def test_without_a_question_in_common_they_are_incomparable():
    with pytest.raises(ValueError, match="same questions"):
        at_equal_coverage(0.5, question_set(1)[:3], question_set(1)[3:])
