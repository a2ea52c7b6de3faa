"""What a longer prompt buys and costs."""

from __future__ import annotations

import pytest
from worlds import found, hit, unanswerable

from experiments.evaluation import ranks
from experiments.reviewing.context_size import context_sizes, on_context_sizes
from experiments.stats.retrieval import recall_at
from experiments.thresholds import read_thresholds


def ranked(place, *, distances=(0.2, 0.3, 0.4, 0.5, 0.6, 0.7)):
    """Hits of which the one at `place` (from 1) holds the needle, ten tokens each."""
    return tuple(
        hit(start=number, distance=distance, tokens=10, contains=number == place)
        for number, distance in enumerate(distances, 1)
    )


OUTCOMES = (
    found("q1", "n1", 1, hits=ranked(1)),
    found("q2", "n2", 2, hits=ranked(2)),
    found("q3", "n3", 6, hits=ranked(6)),
    unanswerable("u1", "near", 0.2),
)


def test_needles_and_tokens_grow_with_the_prompt():
    small, gate, large = context_sizes(OUTCOMES, None, seed=1, sizes=(1, 4, 8))
    assert [row.kept.hits for row in (small, gate, large)] == [1, 2, 3]
    assert [row.kept.n for row in (small, gate, large)] == [3, 3, 3]
    assert [row.tokens.mean for row in (small, gate, large)] == [10, 40, 60]


def test_only_chunks_under_the_threshold_are_in_the_prompt():
    (row,) = context_sizes(OUTCOMES, 0.3, seed=1, sizes=(20,))
    assert row.kept.hits == 1  # the needle at distance 0.3 is not strictly under the line
    assert row.tokens.mean == 10


def test_where_nothing_is_answered_there_is_no_prompt_and_no_zero():
    (row,) = context_sizes(OUTCOMES, 0.1, seed=1, sizes=(4,))
    assert row.tokens.mean is None
    assert on_context_sizes([row]) == "Nothing is answered here, so no prompt is made."


def test_a_size_that_was_not_recorded_is_refused():
    with pytest.raises(ValueError, match="prompt of 21 chunks"):
        context_sizes(OUTCOMES, None, seed=1, sizes=(21,))


def test_four_chunks_are_what_the_gate_does_and_no_threshold_is_recall():
    (gate,) = context_sizes(OUTCOMES, None, seed=1, sizes=(4,))
    row = read_thresholds(OUTCOMES, [None])[0]
    assert gate.kept.hits == recall_at(ranks(OUTCOMES[:3]), 4).hits
    assert gate.kept.n == row.right.n


def test_the_sentence_names_both_ends():
    rows = context_sizes(OUTCOMES, None, seed=1, sizes=(1, 8))
    assert on_context_sizes(rows) == (
        "With 8 chunks instead of 1 the prompt holds the needle of 3 instead of 1 of 3 questions, and is 6.0 times as "
        "long (60 instead of 10 tokens, mean over the answered)."
    )
