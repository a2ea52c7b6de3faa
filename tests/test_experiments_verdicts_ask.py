import pytest

from experiments.asking.answers import Answer, Passage
from experiments.asking.verdict import nearest_of, on_answer, on_answers, on_gate, on_nearest
from experiments.conditions import Combination
from experiments.thresholds import read_thresholds
from tests.made_outcomes import outcome

DENSE = Combination("E", "dense", "m")


def passage(distance, number=None, document="a.md", start=0, end=10, rank=1):
    return Passage(number, rank, distance, 1.0, document, "Bread", "Baking", start, end, "x" * (end - start))


def answer(*passages, threshold=0.5):
    return Answer("how?", DENSE, "m", threshold, passages)


REFUSED = answer(passage(0.7), passage(0.6, rank=2))


def test_kept_chunks_are_counted_against_those_looked_at():
    three = answer(passage(0.3123, 1), passage(0.49, 2), passage(0.5), passage(0.9))
    assert on_answer(three) == "2 of the 4 chunks looked at lie under 0.5; the nearest lies at 0.312."
    assert on_answer(answer(passage(0.3, 1), passage(0.8))) == (
        "1 of the 2 chunks looked at lies under 0.5; the nearest lies at 0.300."
    )
    all_kept = answer(passage(0.3, 1), passage(0.4, 2))
    assert on_answer(all_kept) == "All 2 chunks looked at lie under 0.5; the nearest lies at 0.300."
    assert on_answer(answer(passage(0.3, 1))) == "The only chunk looked at lies under 0.5; the nearest lies at 0.300."


def test_without_a_threshold_it_is_said_that_anything_is_kept():
    found = answer(passage(0.9, 1), passage(1.2, 2), threshold=None)
    assert on_answer(found) == "No threshold: all 2 chunks are kept, however far away; the nearest lies at 0.900."


def test_a_refusal_is_worded_as_the_gate_words_it():
    assert on_answer(REFUSED) == 'NO ANSWER: nothing under cosine distance 0.5 for "how?"'


def test_what_lay_nearest_is_named_and_said_to_be_hidden():
    assert nearest_of(REFUSED).rank == 2
    assert on_nearest(REFUSED) == (
        "The nearest chunk lies at 0.600, in Bread › Baking. It was not shown to anyone, and no model was called."
    )
    assert on_nearest(answer()) == "The retriever returned no chunk at all. No model was called."


def test_combinations_side_by_side_are_told_apart():
    kept, apart = answer(passage(0.3, 1, start=0, end=10)), answer(passage(0.4, 1, start=40, end=50))
    near, elsewhere = answer(passage(0.4, 1, start=5, end=15)), answer(passage(0.4, 1, document="b.md"))
    assert (
        on_answers([("E dense", kept), ("A dense", near)]) == "Both of them answer, and both put the same place first."
    )
    assert on_answers([("E dense", kept), ("A dense", apart)]) == "Both of them answer, from 1 document in common."
    assert on_answers([("E dense", kept), ("A dense", elsewhere)]) == "Both of them answer, from no document in common."
    assert on_answers([("E dense", kept), ("A dense", REFUSED)]) == "E dense answers, A dense refuses."
    assert on_answers([("E dense", REFUSED), ("A dense", REFUSED)]) == "Both of them refuse."
    assert on_answers([("E dense", kept), ("A dense", near), ("B dense", REFUSED)]) == (
        "E dense and A dense answer, B dense refuses, and both put the same place first."
    )


def test_what_the_line_did_with_a_sweep_has_intervals_and_n():
    outcomes = [
        outcome("a", 0.3, needle="n", kept=0.3),
        outcome("b", 0.6, needle="o"),
        outcome("c", 0.4, stratum="near"),
    ]
    assert on_gate(read_thresholds(outcomes, [0.5])[0], 3) == (
        "On sweep 3 at 0.5 the needle was kept for 1 of 2 [0.09, 0.91] answerable questions and 1 of 1 [0.21, 1.00] "
        "unanswerable ones were answered all the same."
    )


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_a_sweep_without_unanswerable_questions_never_reads_as_no_bluffs(threshold):
    said = on_gate(read_thresholds([outcome("a", 0.3, needle="n", kept=0.3)], [threshold])[0], 3)
    assert "unanswerable" not in said
    assert "1 of 1" in said
