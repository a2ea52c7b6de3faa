"""What a question set holds and what it can show, against values worked out by other means."""

from __future__ import annotations

import math

import pytest
from scipy import stats
from worlds import DOCUMENTS, QUERIES

from corpus.faults import Fault
from corpus.questions import load_questions
from experiments.recording import query_rows
from experiments.reviewing.question_set import (
    Balance,
    balance,
    bound_rows,
    detectable,
    fewest,
    half_width,
    kind_of,
    needle_rows,
    overlaps,
    pairs_of,
    set_change,
    widths,
)
from experiments.verdicts.questions import on_change_of_set, on_check, on_question_set, on_target

SET = query_rows(QUERIES, "q" * 64)


def held(answerable=64, needles=32, near=21, far=9):
    return Balance(answerable + near + far, answerable, needles, near, far, ("course",), (answerable,), (), 0)


def test_a_set_is_counted_by_phrasing_stratum_and_document():
    found = balance(SET)
    assert (found.questions, found.answerable, found.needles, found.near, found.far) == (11, 8, 4, 2, 1)
    assert dict(zip(found.phrasings, found.by_phrasing, strict=True)) == {"course": 4, "ticket": 4}
    assert found.by_document == (("bread.md", 2, 4), ("bees.md", 1, 2), ("tides.md", 1, 2))
    assert found.single == 0


def test_a_needle_that_only_one_phrasing_asks_for_is_counted():
    assert balance(SET[:3]).single == 1
    assert balance(SET[:1]).single == 0  # the set knows no other phrasing


def test_phrasings_stand_side_by_side_with_what_they_give_away():
    row = needle_rows(SET)[1]
    assert row.needle == "Let the yeast rest in warm water for ten minutes."
    assert [[one.query_id for one in phrased] for phrased in row.phrased] == [["rest-course"], ["rest-ticket"]]
    # let, yeast, rest, warm, water, ten, minutes: the course asks with two of the seven, the ticket with one
    assert [phrased[0].overlap for phrased in row.phrased] == pytest.approx([2 / 7, 1 / 7])


def test_a_phrasing_that_a_needle_lacks_is_an_empty_place():
    assert needle_rows([SET[0], SET[3]])[1].phrased[0] == ()


def test_overlap_is_summed_up_by_phrasing():
    rows = {row.phrasing: row for row in overlaps(SET)}
    assert rows["course"].n == 4
    assert rows["course"].mean == pytest.approx(sum(rows["course"].shares) / 4)
    assert rows["ticket"].mean < rows["course"].mean


def test_half_widths_are_those_of_wilsons_interval():
    interval = stats.binomtest(32, 64).proportion_ci(method="wilson")
    assert half_width(64, 0.5) == pytest.approx((interval.high - interval.low) / 2)
    assert half_width(0, 0.5) is None


def test_what_none_seen_proves_is_the_rule_of_three_made_exact():
    rows = {row.what: row for row in widths(held())}
    assert rows["far unanswerable questions"].bound == pytest.approx(1 - 0.05 ** (1 / 9))
    assert rows["all unanswerable questions"].n == 30


def test_a_group_without_questions_has_no_width():
    row = next(row for row in widths(held(near=0)) if row.what.startswith("near"))
    assert (row.n, row.half, row.bound) == (0, None, None)


def test_the_discordant_questions_needed_have_the_power_they_promise():
    for row in detectable(64, 0.05, 1):
        if row.single is None or row.win_share == 1.0:
            continue
        losses = [count for count in range(row.single + 1) if stats.binomtest(count, row.single).pvalue <= 0.05]
        power = sum(stats.binom.pmf(losses, row.single, row.win_share))
        assert power >= 0.8, row


def test_a_one_sided_difference_needs_six_questions_and_is_a_tenth_of_r_at_k():
    first = detectable(64, 0.05, 1)[0]
    assert (first.win_share, first.single, first.difference) == (1.0, 6, pytest.approx(6 / 64))


def test_what_needs_more_questions_than_there_are_is_out_of_reach():
    assert detectable(5, 0.05, 1)[0].difference is None
    assert detectable(0, 0.05, 1)[0].difference is None


def test_pairs_are_those_of_all_combinations():
    assert (pairs_of(50), pairs_of(2), pairs_of(1), pairs_of(0)) == (1225, 1, 1, 1)
    assert fewest(0.05, 1225) == math.ceil(math.log2(2 * 1225 / 0.05))


def test_a_bound_takes_more_questions_for_every_bluff_that_is_seen():
    rows = bound_rows(0.05)
    assert [row.needed for row in rows] == [59, 93, 124, 153]  # the tables of Clopper and Pearson


def test_faults_of_needles_are_told_apart(tmp_path):
    file = tmp_path / "questions.jsonl"
    needles = {"missing": "Nothing of the kind stands here at all.", "drifted": "one queen lays ALL the eggs.",
               "repeated": "tide", "heading": "Spring"}  # fmt: skip
    file.write_text(
        "".join(f'{{"id": "{kind}", "question": "?", "needle": "{text}"}}\n' for kind, text in needles.items())
    )
    found = {kind_of(fault) for fault in load_questions(file, DOCUMENTS).faults}
    assert found == {"missing", "drifted", "repeated", "heading"}


def test_any_other_fault_is_of_another_kind():
    assert kind_of(Fault("f", 1, "", "the questions file is empty", "Write some.")) == "other"


def test_added_removed_and_changed_questions_are_told_apart():
    now = [
        SET[0],
        SET[1].model_copy(update={"text": "other words"}),
        *SET[3:],
        SET[2].model_copy(update={"query_id": "new"}),
    ]
    found = set_change(SET, now)
    assert (found.added, found.removed, found.changed) == (("new",), ("rest-course",), ("moon-ticket",))
    assert on_change_of_set(found, 7).startswith(
        "Since sweep 7 the file has changed: 1 added (new), 1 removed (rest-course)"
    )


def test_an_unchanged_set_is_said_to_be_what_was_measured():
    assert on_change_of_set(set_change(SET, SET), 7) == "The file holds the questions that sweep 7 measured."


def test_the_verdict_says_what_the_set_can_show():
    said = on_question_set(held(), 0.05, 18)
    assert said.headline == "94 questions: 64 answerable over 32 needles, 30 unanswerable (21 near, 9 far)."
    assert said.asides[0] == "An R@k near one half will be known to within ±0.12 on 64 answerable questions."
    assert "on at least 6 questions, all one way" in said.asides[1]
    assert "on 13 among all 153 pairs of 18 combinations" in said.asides[1]
    assert "not one bluff on 21 near questions would still only promise at most 13.3 %" in said.asides[2]


def test_a_set_that_can_tell_nothing_apart_says_so():
    assert "No two combinations can be told apart" in on_question_set(held(answerable=4, needles=2), 0.05, 18).asides[1]
    assert "which is more than there are" in on_question_set(held(answerable=8, needles=4), 0.05, 18).asides[1]


def test_without_unanswerable_questions_nothing_is_known_about_bluffs():
    assert "nothing will be known about bluffs" in on_question_set(held(near=0, far=0), 0.05, 18).asides[2]
    assert "of which there are none" in on_question_set(held(near=0), 0.05, 18).asides[2]


def test_an_empty_set_is_said_to_be_empty():
    assert on_question_set(held(0, 0, 0, 0), 0.05, 18).headline.startswith("There are no questions yet")


def test_a_promise_says_how_many_questions_are_missing():
    said = on_target(0.1, 0.95, bound_rows(0.1), held(near=30))
    assert "takes 29 unanswerable questions" in said
    assert "the 30 near ones are enough and 20 more far ones are needed" in said


def test_a_check_counts_its_faults_by_kind():
    faults = [
        Fault("f", 1, "x", "the needle stands nowhere in the corpus", "Copy it."),
        Fault("f", 2, "", "broken", "Mend."),
    ]
    assert on_check(faults, 3, 9).startswith("2 faults (1 missing and 1 of another kind); 3 documents and 9 questions")
    assert "every needle stands exactly once" in on_check([], 3, 9)
