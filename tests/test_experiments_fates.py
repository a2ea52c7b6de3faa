import pytest
from worlds import found, unanswerable

from experiments.reviewing.fates import Fate, by_question, counts, fate, flip, lost_everywhere
from experiments.verdicts.queries import on_question, words_of


def test_an_answer_is_kept_only_below_the_threshold():
    outcome = found("q", "n", 2, 0.4)
    assert fate(outcome, 0.41) == Fate("kept", 2)
    assert fate(outcome, 0.4) == Fate("refused", 2)
    assert fate(outcome, None) == Fate("kept", 2)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (found("q", "n", 5), "below"),
        (found("q", "n", None), "below"),
        (found("q", "n", None, destroyed=True), "destroyed"),
        (found("q", "n", 9, truncated=True), "truncated"),
        (found("q", "n", 1, truncated=True), "kept"),
    ],
)
def test_an_answer_is_lost_at_the_first_stage_that_explains_it(outcome, kind):
    assert fate(outcome, None).kind == kind
    assert fate(outcome, None).good == (kind == "kept")


def test_an_unanswerable_question_is_bluffed_or_rightly_refused():
    assert fate(unanswerable("q", "near", 0.4), 0.5) == Fate("bluff", None)
    assert fate(unanswerable("q", "near", 0.5), 0.5) == Fate("silent", None)
    assert fate(unanswerable("q", "near", 0.9), None).kind == "bluff"


def test_where_nothing_was_returned_nothing_can_be_bluffed():
    assert fate(unanswerable("q", "far", None), None).kind == "silent"


def test_a_question_flips_when_right_becomes_wrong_or_wrong_right():
    kept, lost = found("q", "n", 1, 0.2), found("q", "n", 9, 0.2)
    broken, fixed = flip(kept, lost, 0.5), flip(lost, kept, 0.5)
    assert broken is not None and not broken.fixed and broken.before.kind == "kept"
    assert fixed is not None and fixed.fixed and fixed.after.rank == 1
    assert flip(lost, found("q", "n", None), 0.5) is None
    assert flip(kept, found("q", "n", 4, 0.3), 0.5) is None


def test_a_bluff_that_is_refused_later_is_fixed():
    turned = flip(unanswerable("u", "near", 0.3), unanswerable("u", "near", 0.7), 0.5)
    assert turned is not None and turned.fixed


def test_two_questions_do_not_flip_into_one_another():
    with pytest.raises(ValueError, match="'a' and 'b' are not the same question"):
        flip(found("a", "n", 1), found("b", "n", 1), None)
    with pytest.raises(ValueError, match="not the same question about the same needle"):
        flip(found("a", "n", 1), found("a", "m", 1), None)


def test_lost_everywhere_means_answerable_and_kept_nowhere():
    assert lost_everywhere([Fate("below", 7), Fate("destroyed", None)])
    assert not lost_everywhere([Fate("below", 7), Fate("kept", 1)])
    assert not lost_everywhere([Fate("bluff", None)])
    assert not lost_everywhere([Fate("silent", None)])
    assert not lost_everywhere([])


def test_every_kind_is_counted_also_where_there_is_none():
    assert counts([Fate("kept", 1), Fate("kept", 2), Fate("bluff", None)]) == {
        "kept": 2, "refused": 0, "below": 0, "truncated": 0, "destroyed": 0, "silent": 0, "bluff": 1
    }  # fmt: skip


def test_fates_are_grouped_by_question_in_the_order_of_the_combinations():
    read = by_question({"E": [found("q", "n", 1)], "A": [found("q", "n", None, destroyed=True)]}, None)
    assert list(read["q"].items()) == [("E", Fate("kept", 1)), ("A", Fate("destroyed", None))]


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ("encoder", "beyond the encoder's window"),
        ("scorer", "beyond the scorer's window"),
        ("encoder and scorer", "beyond the windows of encoder and scorer"),
        (None, "beyond the encoder's window"),
    ],
)
def test_a_truncated_answer_names_the_window_it_lies_beyond(window, words):
    one = fate(found("q", "n", 9, truncated=True, truncated_by=window), 0.5)
    assert words_of(one) == words
    assert on_question({"E": one}, 0.5).endswith(f"under 1 it lies {words}.")


def test_what_a_retriever_without_a_chunk_table_does_not_return_may_be_destroyed():
    unknown = fate(found("q", "n", None, destroyed=None), 0.5)
    assert words_of(unknown) == "not returned (destroyed: not known)"
    assert "it is not returned (destroyed: not known)" in on_question({"ours": unknown}, 0.5)
    assert words_of(fate(found("q", "n", 9, destroyed=None), 0.5)) == "ranked below the 4 the gate looks at"
    assert words_of(fate(found("q", "documents:d", None, destroyed=None), 0.5)) == words_of(Fate("below", None))
