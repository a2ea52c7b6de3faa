"""A number over sweeps: which points there are, which is the best, and where the line breaks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from experiments import measures
from experiments.reviewing.trends import best, changed, segments, trend
from store.reads_history import NumberRecord
from store.tables import SweepRow

RECALL = measures.recall(4)


def sweep(number, state="finished", corpus="c", questions="q", **columns):
    return SweepRow(id=number, key=str(number), fingerprint="f", state=state,
                    created_at=datetime(2026, 1, number, tzinfo=UTC),
                    corpus_hash=corpus, questions_hash=questions, hit_rule="h", pipeline="1", documents=1, needles=1,
                    answerable=1, near=0, far=0, commit=f"{number}" * 40, **columns)  # fmt: skip


def number(sweep_id, key, value):
    return NumberRecord(sweep_id, key, value, None if value is None else value - 0.1, None, None, 10)


def test_the_best_is_the_largest_where_more_is_better_and_the_smallest_where_less_is():
    numbers = [number(1, "A", 0.2), number(1, "B", 0.6), number(1, "C", None)]
    assert best(RECALL, numbers).key == "B"
    assert best(measures.DESTROYED, numbers).key == "A"


def test_of_equals_the_earlier_one_is_the_best():
    assert best(RECALL, [number(1, "B", 0.5), number(1, "A", 0.5)]).key == "B"


def test_there_is_no_best_size():
    with pytest.raises(ValueError, match="chunks is a size"):
        best(measures.CHUNKS, [number(1, "A", 700)])


def test_nothing_measured_has_no_best():
    assert best(RECALL, [number(1, "A", None)]) is None


def test_a_combination_is_followed_through_sweeps_that_did_not_finish_too():
    sweeps = [sweep(1), sweep(2, "interrupted"), sweep(3)]
    numbers = {1: [number(1, "A", 0.2)], 2: [number(2, "A", 0.3)], 3: [number(3, "B", 0.9)]}
    assert [(point.sweep_id, point.value) for point in trend(sweeps, numbers, RECALL, "A")] == [(1, 0.2), (2, 0.3)]


def test_the_best_of_a_part_of_a_grid_is_no_point():
    numbers = {1: [number(1, "A", 0.2)], 2: [number(2, "A", 0.9)]}
    assert [point.sweep_id for point in trend([sweep(1), sweep(2, "running")], numbers, RECALL, None)] == [1]


def test_the_line_breaks_where_documents_or_questions_changed():
    sweeps = [sweep(1), sweep(2), sweep(3, corpus="d"), sweep(4, corpus="d"), sweep(5, corpus="d", questions="r")]
    points = trend(sweeps, {at: [number(at, "A", 0.5)] for at in range(1, 6)}, RECALL, "A")
    assert segments(points) == [[0, 1], [2, 3], [4]]
    assert [point.changed for point in points] == [(), (), ("documents",), (), ("questions",)]


def test_a_change_while_the_combination_was_missing_still_breaks_the_line():
    sweeps = [sweep(1), sweep(2, corpus="d"), sweep(3, corpus="d")]
    points = trend(sweeps, {1: [number(1, "A", 0.5)], 3: [number(3, "A", 0.5)]}, RECALL, "A")
    assert points[1].changed == ("documents",)


def test_a_change_that_was_taken_back_breaks_nothing():
    sweeps = [sweep(1), sweep(2, corpus="d"), sweep(3)]
    points = trend(sweeps, {1: [number(1, "A", 0.5)], 3: [number(3, "A", 0.5)]}, RECALL, "A")
    assert segments(points) == [[0, 1]]


def test_nothing_before_is_no_change():
    assert changed(None, sweep(1)) == ()


def test_no_points_have_no_segments():
    assert segments([]) == []


def test_questions_whose_needles_only_moved_with_the_documents_break_no_line():
    worded = {"settings": {"wording": "w"}}
    first, edited = sweep(1, **worded), sweep(2, corpus="d", questions="r", **worded)
    assert changed(first, edited) == ("documents",)
    reworded = sweep(2, corpus="d", questions="r", settings={"wording": "v"})
    assert changed(first, reworded) == ("documents", "questions")
    assert changed(first, sweep(2, questions="r", **worded)) == ("questions",)  # same documents: another place
    assert changed(sweep(1), sweep(2, corpus="d", questions="r")) == ("documents", "questions")  # nobody can tell
