"""Bluffs before and after: which are new, which are gone, and when nothing may be said."""

from __future__ import annotations

import pytest
from test_experiments_comparing import asked, sweep

from experiments.reviewing.bluff_changes import bluff_changes
from experiments.reviewing.comparing import comparability
from experiments.reviewing.sides import Line, Side
from experiments.verdicts.bluff_changes import on_bluffs, reading
from store.reads_compare import RankRecord
from store.tables import CombinationRow, QueryRow

KEY = "E/dense/m"
LINE = Line(0.5, KEY, {"files": "f"}, ("near", "far"), "decision 3")


def questions(count=10, **texts):
    return asked(2)[:-1] + [
        QueryRow(questions_hash="q", query_id=f"x{at}", position=9 + at, text=texts.get(f"x{at}", f"x {at}"),
                 stratum="near")
        for at in range(count)
    ]  # fmt: skip


def side(bluffed, number=1, count=10, files="f", key=KEY, columns=None, **texts):
    row = CombinationRow(sweep_id=1, position=0, key=key, strategy="E", retriever="dense", model="m",
                         state="recorded", stamp={"model": {"files": files}})  # fmt: skip
    ranks = [RankRecord("q0", 1, False, 0.1), RankRecord("q1", 1, False, 0.1)]
    ranks += [RankRecord(f"x{at}", None, False, 0.4 if at in bluffed else 0.6) for at in range(count)]
    return Side(f"sweep {number}", sweep(number, **(columns or {})), [row], questions(count, **texts), {key: ranks})


def changes(before, after, line=LINE):
    may = comparability(before.sweep, after.sweep, before.asked, after.asked)
    return may, bluff_changes(may, before, after, line, alpha=0.05, seed=7)


def said(before, after, line=LINE):
    may, found = changes(before, after, line)
    return on_bluffs(found, may, 0.05, lambda key: "E dense")


def test_new_and_gone_bluffs_are_told_apart_with_their_distances():
    may, found = changes(side({0, 1}), side({1, 2, 3}, 2))
    one = found.found[0]
    assert [flip.query_id for flip in one.new] == ["x2", "x3"]
    assert [(flip.query_id, flip.before, flip.after) for flip in one.gone] == [("x0", 0.4, 0.6)]
    assert (one.before.hits, one.after.hits, one.n, one.unchanged) == (2, 3, 10, 7)
    assert one.difference.mean == pytest.approx(0.1)
    assert reading(one, may, 0.05) == "cannot be resolved"
    assert said(side({0, 1}), side({1, 2, 3}, 2)) == (
        "At threshold 0.5 (decision 3), E dense bluffs on 3 of 10 [0.11, 0.60] unanswerable questions now, on 2 of 10 "
        "[0.06, 0.51] before; whether that is a change cannot be resolved (2 new, 1 gone, p = 1.00, Holm p = 1.00): at "
        "least 6 questions would have to differ, all one way.",
    )


def test_a_resolved_change_is_proven_and_no_change_is_said():
    may, found = changes(side(set()), side(set(range(8)), 2))
    assert (reading(found.found[0], may, 0.05), found.found[0].p) == ("more", pytest.approx(2 * 0.5**8))
    assert "proven to be more (8 new, 0 gone, p = 0.0078" in said(side(set()), side(set(range(8)), 2))[0]
    assert said(side({1}), side({1}, 2))[0].endswith("before: not one of them changed.")


def test_a_distance_at_the_threshold_is_refused_and_nothing_returned_is_no_bluff():
    before = side(set())
    ranks = [RankRecord("x0", None, False, 0.5), RankRecord("x1", None, False, None)]
    after = side(set(), 2)._replace(outcomes={KEY: ranks})
    one = changes(before, after)[1].found[0]
    assert (one.new, one.n) == ((), 2)  # questions without an outcome are not counted as anything


@pytest.mark.parametrize(
    ("after", "line", "words"),
    [
        (side({1}, 2), None, "Bluffs are not compared: no decision is in force, and no threshold was given."),
        (side({1}, 2, files="g"), LINE, "Bluffs of E dense are not compared: its distances come from another model"),
        (side({1}, 2), LINE._replace(stamp={"files": "g"}), "decision 3 was made on distances of another model."),
        (side({1}, 2, key="A/dense/m"), LINE, "E dense, which threshold 0.5 (decision 3) is for, was not measured on"),
        (side({1}, 2, count=0), LINE, "no unanswerable question was asked in the same words on both sides."),
    ],
)
def test_where_bluffs_cannot_be_compared_it_is_said_why(after, line, words):
    (sentence,) = said(side({0}), after, line)
    assert words in sentence


def test_a_reworded_question_is_not_compared_and_other_documents_are_counted_without_a_test():
    after = side({0, 1}, 2, x0="other words", columns={"questions_hash": "r" * 64})
    assert [flip.query_id for flip in changes(side(set()), after)[1].found[0].new] == ["x1"]
    moved = side({0, 1}, 2, columns={"corpus_hash": "d" * 64})
    assert "not tested, because the sweeps may not be compared in full" in said(side(set()), moved)[0]


def test_a_given_threshold_is_read_for_every_combination_as_one_family():
    before, after = side(set()), side(set(range(7)), 2)
    two = [
        one._replace(combinations=[*one.combinations, row], outcomes={**one.outcomes, "A/bm25": one.outcomes[KEY]})
        for one in (before, after)
        for row in [one.combinations[0].model_copy(update={"key": "A/bm25"})]
    ]
    line = Line(0.5, None, {}, ("near", "far"), "as asked")
    found = changes(*two, line)[1].found
    assert [one.key for one in found] == [KEY, "A/bm25"]
    assert found[0].holm_p == pytest.approx(2 * found[0].p)
    assert said(*two, line)[0].startswith("At threshold 0.5 (as asked), 7 unanswerable questions that had been refused")


def test_an_outcome_on_one_side_only_is_no_bluff_and_no_refusal():
    after = side(set(), 2)._replace(outcomes={KEY: [RankRecord("q0", 1, False, 0.1)]})
    assert said(side({0}), after) == (
        "At threshold 0.5 (decision 3), E dense has no unanswerable question with an outcome on both sides.",
    )
