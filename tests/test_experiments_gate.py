import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.gate import GATE_SIZE, kept, refusal

distances = st.lists(st.floats(0, 2), max_size=10)
thresholds = st.none() | st.floats(0, 2)


@pytest.mark.parametrize(
    ("ranked", "threshold", "passing"),
    [
        ([0.2, 0.7, 0.4, 0.6, 0.1], 0.675, [0, 2, 3]),  # the fifth is nearest and is never looked at
        ([0.2, 0.7, 0.4, 0.6, 0.1], None, [0, 1, 2, 3]),
        ([0.5], 0.5, []),  # strictly under the cut
        ([0.5], 0.5000001, [0]),
        ([], None, []),
        ([0.9, 0.9], 0.3, []),
    ],
)
def test_the_gate_keeps_at_most_four_chunks_strictly_under_the_cut(ranked, threshold, passing):
    assert kept(ranked, threshold) == passing


@given(distances, thresholds, thresholds)
def test_a_looser_threshold_keeps_a_superset(ranked, one, other):
    strict, loose = sorted((one, other), key=lambda cut: float("inf") if cut is None else cut)
    assert set(kept(ranked, strict)) <= set(kept(ranked, loose))


@given(distances, thresholds)
def test_what_is_kept_stands_in_rank_order_and_never_below_the_gate(ranked, threshold):
    passing = kept(ranked, threshold)
    assert passing == sorted(set(passing))
    assert all(position < GATE_SIZE for position in passing)


def test_a_refusal_names_the_threshold_and_the_question():
    assert refusal("How much is it?", 0.675) == 'NO ANSWER: nothing under cosine distance 0.675 for "How much is it?"'
    assert refusal("?", 0.5) == 'NO ANSWER: nothing under cosine distance 0.5 for "?"'
