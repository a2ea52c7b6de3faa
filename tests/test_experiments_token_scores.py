"""Token-level scores of outcomes: all needles of a question, in whatever documents, against the top k chunks."""

import pytest
from worlds import BLIND, OVERLAPPING, QUERIES, found, hit, indexed, needle, retrieved
from worlds import document as made

from corpus.questions import Query
from experiments.outcomes import Outcome
from experiments.relevance import precision_omegas
from experiments.token_scores import score_at, token_numbers

LEFT, RIGHT = made("left.md", "x" * 10 + "NEEDLE"), made("right.md", "0" * 4 + "OTHER")
TWO = Query("q", "?", (needle(LEFT, "NEEDLE"), needle(RIGHT, "OTHER")), None, None, (), 1)


def outcome(*hits, query_id="q"):
    return found(query_id, "n", 1, hits=hits)


def test_needles_in_several_documents_are_one_answer_and_documents_never_meet():
    """Needles left [10, 16) and right [4, 9); one chunk of each document: 6 + 2 of 11 found, 20 characters read."""
    scores = score_at(TWO, outcome(hit("left.md", 8, 18), hit("right.md", 0, 6), hit("left.md", 0, 4)), 3)
    assert scores is not None
    assert (scores.found, scores.wanted, scores.returned) == (8, 11, 20)
    one = score_at(TWO, outcome(hit("left.md", 8, 18), hit("right.md", 0, 6)), 1)
    assert (one.found, one.returned) == (6, 10)


def test_the_embedded_range_counts_overlap_included():
    scores = score_at(TWO, outcome(hit("left.md", 14, 20, overlap_start=10)), 1)
    assert (scores.found, scores.returned) == (6, 10)


def test_a_chunk_that_stands_at_no_place_has_no_scores():
    assert score_at(TWO, outcome(hit("left.md", 0, 5, text="made up")), 1) is None


def test_means_carry_their_interval_and_count_only_what_is_known():
    outcomes = [outcome(hit("left.md", 10, 16)), found("none", "m", None, hits=())]
    empty = Query("none", "?", (TWO.needles[0],), None, None, (), 2)
    numbers = {n.name: n for n in token_numbers(outcomes, [TWO, empty], {"q": 0.5}, ks=(1,), seed=3)}
    assert numbers["token_precision_at_1"][1:] == (1.0, None, None, None, 1)  # nothing returned has no precision
    assert (numbers["token_recall_at_1"].value, numbers["token_recall_at_1"].n) == (pytest.approx(3 / 11), 2)
    assert numbers["token_recall_at_1"].low <= numbers["token_recall_at_1"].value <= numbers["token_recall_at_1"].high
    assert (numbers["token_precision_omega"].value, numbers["token_precision_omega"].n) == (0.5, 1)


def test_questions_without_needles_are_not_scored():
    far = Query("far", "?", (), None, "far", (), 1)
    assert token_numbers([Outcome("far", None, None, "far", *[None] * 8)], [far], {}, ks=(1,), seed=1) == []


def test_in_the_small_world_overlap_costs_precision_and_the_cutting_bounds_it():
    for strategy in (BLIND, OVERLAPPING):
        omega = precision_omegas(indexed(strategy).cut.chunks, QUERIES)
        assert omega.keys() == {query.id for query in QUERIES if query.needles}
        assert all(0 < share <= 1 for share in omega.values())
    plain, overlapping = (
        {n.name: n.value for n in token_numbers(retrieved(s, "dense").outcomes, QUERIES, {}, ks=(4,), seed=1)}
        for s in (BLIND, OVERLAPPING)
    )
    assert overlapping["token_recall_at_4"] >= plain["token_recall_at_4"]
    assert overlapping["token_precision_at_4"] < plain["token_precision_at_4"]
