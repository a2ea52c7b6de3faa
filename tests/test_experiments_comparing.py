"""Two sweeps side by side: what may be claimed, on which questions, and what it comes to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from experiments.reviewing.comparing import comparability, compared, settings_differences, side_by_side
from experiments.verdicts.compare import on_change, on_changes, on_comparability, reading
from store.reads_compare import RankRecord
from store.tables import CombinationRow, QueryRow, SweepRow

ALPHA, SEED = 0.05, 7


def sweep(number=1, **columns):
    plain = {
        "key": str(number), "fingerprint": "f", "state": "finished", "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "commit": f"{number}" * 40, "dirty": False, "corpus_hash": "c" * 64, "questions_hash": "q" * 64,
        "hit_rule": "h/1",
        "pipeline": "1", "documents": 2, "needles": 12, "answerable": 24, "near": 2, "far": 1,
        "settings": {"k": [4], "alpha": 0.05, "seed": 7, "strategies": {"A": "blind"}}, "versions": {"numpy": "2.3"},
    }  # fmt: skip
    return SweepRow(id=number, **{**plain, **columns})


def asked(count=24, moved=0, **texts):
    return [
        QueryRow(questions_hash="q", query_id=f"q{at}", position=at, text=texts.get(f"q{at}", f"text {at}"),
                 document="d.md",
                 needle=f"needle {at // 2}", needle_id=f"d.md#char={moved + at // 2},{moved + at // 2 + 9}")
        for at in range(count)
    ] + [QueryRow(questions_hash="q", query_id="u1", position=count, text="far", stratum="far")]  # fmt: skip


def ranks(found, count=24, combination="A/bm25"):
    """`found`: the questions found at rank 1; all others at rank 9."""
    return {
        combination: [RankRecord(f"q{at}", 1 if at in found else 9, False) for at in range(count)]
        + [RankRecord("u1", None, False)]
    }


def found_of(before, after, may=None, k=4):
    may = may or comparability(sweep(1), sweep(2), asked(), asked())
    return compared(may, ranks(before), ranks(after), k, alpha=ALPHA, seed=SEED)


def test_two_sweeps_of_the_same_conditions_may_be_compared_in_full():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    assert (may.claim, len(may.shared), may.tested) == ("all", 24, True)
    assert (
        on_comparability(may, "sweep 1", "sweep 2")
        == "Sweeps 1 and 2 may be compared: same documents, questions, hit rule and pipeline."
    )


def test_a_sweep_against_itself_is_said_to_be_one():
    may = comparability(sweep(3), sweep(3), asked(), asked())
    assert on_comparability(may, "sweep 3", "sweep 3").startswith("Both sides are sweep 3, so nothing differs;")


def test_other_questions_leave_the_shared_ones_which_are_tested():
    may = comparability(sweep(1), sweep(2, questions_hash="r" * 64), asked(), asked(q3="reworded"))
    assert (may.claim, len(may.shared), may.tested) == ("shared", 23, True)
    assert "q3" not in may.shared
    assert "the 23 answerable questions both asked in the same words (of 24 then and 24 now)" in on_comparability(
        may, "sweep 1", "sweep 2"
    )


def test_other_documents_leave_counts_without_a_test_even_where_needles_moved():
    may = comparability(sweep(1), sweep(2, corpus_hash="d" * 64, questions_hash="r" * 64), asked(), asked(moved=50))
    assert (may.claim, len(may.shared), may.tested) == ("counts", 24, False)
    one = found_of({0, 1}, {1, 2}, may)[0]
    assert ([flip.query_id for flip in one.change.fixed], [flip.query_id for flip in one.change.broken]) == (
        ["q2"],
        ["q0"],
    )
    assert reading(one, may, ALPHA) == "untested"
    assert "not tested" in on_change(one, may, ALPHA, "A bm25")


@pytest.mark.parametrize(
    ("after", "named"),
    [
        (asked(moved=50), ["documents"]),
        (asked(moved=50, q3="other words"), ["documents", "questions"]),
        (asked(count=22, moved=50), ["documents", "questions"]),
    ],
)
def test_questions_whose_needles_moved_with_the_documents_are_not_said_to_have_changed(after, named):
    may = comparability(sweep(1), sweep(2, corpus_hash="d" * 64, questions_hash="r" * 64), asked(), after)
    assert [difference.what for difference in may.differences] == named


def test_a_needle_that_moved_within_the_same_documents_is_another_needle():
    may = comparability(sweep(1), sweep(2, questions_hash="r" * 64), asked(), asked(moved=50))
    assert may.claim == "nothing"


def test_another_pipeline_leaves_counts_without_a_test():
    assert comparability(sweep(1), sweep(2, pipeline="2"), asked(), asked()).claim == "counts"


def test_another_hit_rule_pairs_nothing():
    may = comparability(sweep(1), sweep(2, hit_rule="h/2"), asked(), asked())
    assert (may.claim, dict(may.shared)) == ("nothing", {})
    assert found_of({0}, {1}, may) == []
    assert "the hit rule changed" in on_comparability(may, "sweep 1", "sweep 2")
    assert on_changes([], may, 4, ALPHA).headline.startswith("Their numbers stand side by side")


def test_no_question_in_common_pairs_nothing():
    other = [QueryRow(questions_hash="r", query_id="x", position=0, text="x", needle="n", needle_id="n", document="d")]
    may = comparability(sweep(1), sweep(2, questions_hash="r" * 64), asked(), other)
    assert may.claim == "nothing"
    assert on_comparability(may, "sweep 1", "sweep 2").endswith("they have no answerable question in common.")


def test_fixed_and_broken_are_counted_with_the_shares_before_and_after():
    one = found_of(set(range(10)), set(range(4, 18)))[0]
    assert (len(one.change.fixed), len(one.change.broken), one.change.unchanged, one.change.n) == (8, 4, 12, 24)
    assert (one.before.hits, one.after.hits, one.after.n) == (10, 14, 24)
    assert one.change.difference.mean == pytest.approx(4 / 24)


def test_a_rank_beyond_k_is_not_found():
    assert found_of({0}, {1}, k=9)[0].change.fixed == ()


def test_a_resolved_gain_says_more_and_a_resolved_loss_says_fewer():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    gain, loss = found_of(set(), set(range(8)))[0], found_of(set(range(8)), set())[0]
    assert (reading(gain, may, ALPHA), reading(loss, may, ALPHA)) == ("more", "fewer")
    assert on_change(gain, may, ALPHA, "A bm25").startswith(
        "A bm25 finds more than before at R@4: 8 fixed, 0 broken of 24"
    )
    verdict = on_changes([loss], may, 4, ALPHA, lambda key: "A bm25")
    assert verdict.headline.startswith("At R@4, A bm25 (0 fixed, 8 broken, Holm p = 0.0078) finds fewer than before")


def test_too_few_changes_cannot_be_resolved_and_enough_of_both_kinds_are_not_proven():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    few, both = found_of(set(), {0, 1})[0], found_of({0, 1, 2, 3}, {4, 5, 6, 7, 8})[0]
    assert (reading(few, may, ALPHA), reading(both, may, ALPHA)) == ("cannot be resolved", "not proven")
    assert "at least 6 would have to, all one way" in on_change(few, may, ALPHA, "A bm25")
    verdict = on_changes([few], may, 4, ALPHA)
    assert verdict.headline == (
        "At R@4 no combination is proven to have changed: 2 questions were fixed and 0 broke in the one combination."
    )
    assert "at least 6 questions have to differ" in verdict.asides[0]


def test_holm_counts_all_combinations():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    names = [f"{letter}/bm25" for letter in "ABCDEFGH"]
    before = {name: ranks(set(), combination=name)[name] for name in names}
    after = {name: ranks(set(range(6)), combination=name)[name] for name in names}
    found = compared(may, before, after, 4, alpha=ALPHA, seed=SEED)
    assert found[0].change.p == pytest.approx(0.03125)
    assert found[0].change.holm_p == pytest.approx(0.25)
    assert {reading(one, may, ALPHA) for one in found} == {"cannot be resolved"}


def test_nothing_changed_is_said_as_such():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    one = found_of({1, 2}, {1, 2})[0]
    assert reading(one, may, ALPHA) == "same"
    assert on_changes([one], may, 4, ALPHA).headline.startswith("At R@4 nothing changed")
    assert on_change(one, may, ALPHA, "A bm25").startswith("A bm25 finds the same")


def test_no_combination_in_common_is_said_as_such():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    assert compared(may, ranks({1}), ranks({1}, combination="B/bm25"), 4, alpha=ALPHA, seed=SEED) == []
    assert "no combination in common" in on_changes([], may, 4, ALPHA).headline


def test_better_is_never_said():
    may = comparability(sweep(1), sweep(2), asked(), asked())
    for after in (set(), {1, 2}, set(range(12))):
        found = found_of({1, 2}, after)
        said = [*on_changes(found, may, 4, ALPHA).sentences, on_change(found[0], may, ALPHA, "A")]
        assert not any("better" in sentence or "worse" in sentence for sentence in said)


def test_numbers_stand_side_by_side_on_each_sweeps_own_questions():
    shares = side_by_side(ranks({0, 1, 2}), asked(), 4)
    assert (shares["A/bm25"].hits, shares["A/bm25"].n) == (3, 24)


def test_everything_that_may_explain_a_difference_is_named():
    def combination(files):
        model = {"name": "m", "files": files * 64, "precision": "fp32", "window": 256}
        return CombinationRow(sweep_id=1, position=0, key="A/dense/m", strategy="A", retriever="dense", model="m",
                              state="recorded", stamp={"model": model})  # fmt: skip

    settings = {"k": [4, 8], "alpha": 0.05, "seed": 7, "strategies": {"A": "blind", "E": "boundaries"}}
    after = sweep(2, dirty=True, versions={"numpy": "2.4"}, settings=settings)
    found = settings_differences(sweep(1), after, [combination("a")], [combination("b")])
    assert [(one.what, one.before, one.after) for one in found] == [
        ("commit", "1" * 12, "2" * 12 + " with uncommitted changes"),
        ("k", "4", "4, 8"),
        ("model m", "files aaaaaaaaaaaa, fp32, window 256", "files bbbbbbbbbbbb, fp32, window 256"),
        ("version of numpy", "2.3", "2.4"),
        ("strategy E", "-", "boundaries"),
    ]
    assert not any(one.prevents for one in found)


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        ([0.1, 0.2, 0.3, 0.4], "0.1, 0.2, 0.3, 0.4"),
        ([round(0.3 + 0.025 * step, 3) for step in range(21)], "0.3 to 0.8 in steps of 0.025"),
        ([0.1, 0.2, 0.3, 0.4, 0.6], "0.1, 0.2, 0.3, 0.4, 0.6"),
    ],
)
def test_many_thresholds_are_said_by_their_ends_and_their_step_where_they_have_one(thresholds, said):
    (found,) = settings_differences(
        sweep(1, settings={"thresholds": []}), sweep(1, settings={"thresholds": thresholds}), [], []
    )
    assert (found.what, found.after) == ("thresholds", said)
