import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.asking.marking import Span, Window, around, part_of, parts, runs

texts = st.text(st.sampled_from("ab é🔥\n"), max_size=60)
spans = st.lists(st.builds(Span, st.integers(0, 70), st.integers(0, 70), st.sampled_from("xyz")), max_size=8)


@given(texts, spans, st.lists(st.integers(0, 70), max_size=5), st.data())
def test_runs_are_exactly_the_window_and_know_every_mark_over_each_character(text, marks, cuts, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = runs(text, Window(start, end), marks, cuts)
    assert "".join(run.text for run in found) == text[start:end]
    assert all(run.text for run in found)
    for run in found:
        assert text[run.start : run.end] == run.text
        for place in range(run.start, run.end):
            over = {(mark.kind, mark.name) for mark in marks if mark.start <= place < mark.end}
            assert {(mark.kind, mark.name) for mark in run.marks} == over
    starts = {run.start for run in found}
    assert {cut for cut in cuts if start < cut < end} <= starts


def test_marks_may_lie_over_one_another():
    text = "one two three"
    found = runs(text, Window(0, 13), [Span(0, 7, "needle", "n1"), Span(4, 13, "overlap")])
    assert [(run.text, run.under("needle"), run.under("overlap")) for run in found] == [
        ("one ", True, False),
        ("two", True, True),
        (" three", False, True),
    ]
    assert found[0].named("needle") == ("n1",)


def test_a_window_outside_the_text_is_refused():
    with pytest.raises(ValueError, match=r"\(2, 9\) does not lie in a text of 3"):
        runs("abc", Window(2, 9), [])


@given(texts, st.integers(0, 30), st.data())
def test_surroundings_hold_the_stretch_and_reach_no_farther_than_asked(text, reach, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    window = around(text, start, end, reach)
    assert 0 <= start - window.start <= reach
    assert 0 <= window.end - end <= reach


def test_surroundings_end_between_words():
    text = "one two three four five NEEDLE six seven eight nine ten"
    start = text.index("NEEDLE")
    window = around(text, start, start + 6, 17)
    assert text[window.start : window.end] == "three four five NEEDLE six seven eight"


def test_a_stretch_outside_the_text_has_no_surroundings():
    with pytest.raises(ValueError, match=r"\(1, 9\) does not lie"):
        around("abc", 1, 9, 2)


@given(texts, st.integers(1, 20))
def test_parts_follow_one_another_and_leave_nothing_out(text, size):
    found = parts(text, size)
    assert "".join(text[part.start : part.end] for part in found) == text
    assert all(part.end - part.start <= size * 1.5 for part in found)
    for index, part in enumerate(found):
        if part.start < part.end:
            assert part_of(found, part.start) == index
            assert part_of(found, part.end - 1) == index


def test_parts_end_behind_blank_lines_where_there_are_some():
    text = "a" * 30 + "\n\n" + "b" * 30 + "\n" + "c" * 40
    assert parts(text, 40)[0].end == 32


def test_a_position_behind_the_text_lies_in_its_last_part():
    assert part_of(parts("abc", 2), 99) == len(parts("abc", 2)) - 1


def test_parts_of_nothing_cannot_be_made():
    with pytest.raises(ValueError, match="parts of 0 characters"):
        parts("abc", 0)
