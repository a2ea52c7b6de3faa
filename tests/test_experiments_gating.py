"""The gate: what each rule comes to, and that what cannot be judged is never a pass."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import xmlschema
from made_sweeps import STAMP
from test_experiments_comparing import asked, sweep

from experiments.gate_rules import BluffRule, GateRules, LossRule
from experiments.gating.judging import GateInputError, chosen
from experiments.gating.judging import judge as judge_with
from experiments.gating.reports import headline, junit, junit_unjudged, markdown, record, text
from experiments.gating.results import EXIT_CODES, worst
from experiments.reviewing.sides import Line, Side
from store.engine import open_store
from store.reads_compare import RankRecord
from store.tables import CombinationRow, QueryRow

KEY, OTHER = "E/dense/m", "A/bm25"
LOSS = LossRule(4, 0.05)
LINE = Line(0.5, KEY, STAMP, ("near",), "decision 3")
SCHEMA = Path(__file__).parent / "golden" / "junit.xsd"
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def questions(near=30, **texts):
    return asked(**texts)[:-1] + [
        QueryRow(questions_hash="q", query_id=f"x{at}", position=100 + at, text=f"x {at}", stratum="near")
        for at in range(near)
    ]


def side(found=range(24), bluffed=(), number=1, destroyed=(), keys=(KEY,), near=30, **more):
    """`found`: questions at rank 1, all others at 9; `bluffed`: near questions under the threshold."""
    columns, texts, times, stamp = (more.get(name, {}) for name in ("columns", "texts", "times", "stamp"))
    rows = [
        CombinationRow(sweep_id=number, position=at, key=key, strategy=key[0], retriever="dense", state="recorded",
                       measured_in=more.get("measured_in"),
                       stamp={"model": {**STAMP, **stamp}, "milliseconds": times or {"scan": [1.0, 1.1, 0.9] * 9}})
        for at, key in enumerate(keys)
    ]  # fmt: skip
    ranks = [
        RankRecord(f"q{at}", None if at in destroyed else 1 if at in found else 9, at in destroyed, 0.1)
        for at in range(24)
    ]
    ranks += [RankRecord(f"x{at}", None, False, 0.4 if at in bluffed else 0.6) for at in range(near)]
    columns = {"versions": {"machine": "Linux x86_64"}, **columns}
    return Side(f"sweep {number}", sweep(number, **columns), rows, questions(near, **texts), dict.fromkeys(keys, ranks))


@pytest.fixture
def engine(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.dispose()


@pytest.fixture
def judge(engine):
    def judged(rules, candidate, baseline="There is no baseline."):
        return judge_with(engine, rules, candidate, baseline)

    return judged


def one(judged):
    (result,) = judged.results
    return result


def test_a_significant_loss_fails_and_names_the_broken_questions(judge):
    result = one(judge(GateRules(loss=LOSS), side(range(10), number=2), side(range(18))))
    assert result.state == "fail"
    assert result.sentence == (
        "R@4 on 10 of 24 questions [0.24, 0.61] now, on 18 of 24 [0.55, 0.88] before: 8 broken, 0 fixed, difference "
        "-0.333 [-0.583, -0.083], p = 0.0078, Holm p = 0.0078: a significant loss at alpha 0.05."
    )
    assert [broken.query_id for broken in result.broken] == sorted(f"q{at}" for at in range(10, 18))
    assert result.broken[0] == ("q10", "text 10", "rank 1 → 9")
    assert (result.numbers["broken"], result.numbers["n"], result.numbers["p"]) == (8, 24, pytest.approx(0.0078125))


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        (side(range(18), number=2), "nothing that was found is lost."),
        (side(range(24), number=2), "0 broken, 6 fixed"),
        (side(range(14), number=2), "4 broken, 0 fixed"),
        (side([*range(2, 18), *range(18, 24)], number=2), "2 broken, 6 fixed"),
    ],
)
def test_no_significant_loss_passes_with_its_numbers(judge, candidate, words):
    result = one(judge(GateRules(loss=LOSS), candidate, side(range(18))))
    assert result.state == "pass"
    assert words in result.sentence


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        (side(number=2, columns={"hit_rule": "h/2"}), "may not be compared: the hit rule changed"),
        (
            side(range(23), number=2, columns={"corpus_hash": "d" * 64}),
            "1 broken, 0 fixed, difference -0.042 [-0.125, 0.000]. Sweeps 1 and 2 may not be compared in full",
        ),
        (side(number=2, columns={"pipeline": "2"}), "the pipeline changed"),
        (side(number=2, keys=(OTHER,)), "E/dense/m is not part of sweep 2."),
        (
            side(number=2, columns={"questions_hash": "r" * 64}, texts={f"q{at}": "new" for at in range(20)}),
            "4 questions could not show a loss: at least 6 would have to break.",
        ),
    ],
)
def test_what_cannot_be_compared_is_no_pass(judge, candidate, words):
    result = one(judge(GateRules(loss=LOSS, combinations=("E",)), candidate, side()))
    assert result.state == "cannot be judged"
    assert words in result.sentence


def test_other_questions_are_judged_on_the_shared_ones_which_is_said(judge):
    candidate = side(range(10), number=2, columns={"questions_hash": "r" * 64}, texts={"q20": "reworded"})
    result = one(judge(GateRules(loss=LOSS), candidate, side(range(18))))
    assert (result.state, result.numbers["n"]) == ("fail", 23)
    assert "on the 23 answerable questions both asked in the same words" in result.sentence


def test_edited_documents_pass_as_long_as_nothing_that_was_found_is_lost(judge):
    candidate = side(range(20), number=2, columns={"corpus_hash": "d" * 64})
    assert one(judge(GateRules(loss=LOSS), candidate, side(range(18)))).state == "pass"


def test_all_combinations_judged_are_one_family(judge):
    keys = (KEY, OTHER, "B/bm25")
    results = judge(GateRules(loss=LOSS), side(range(12), number=2, keys=keys), side(range(18), keys=keys)).results
    assert [result.numbers["holm_p"] for result in results] == [pytest.approx(3 * 0.03125)] * 3
    assert {result.state for result in results} == {"pass"}
    alone = one(judge(GateRules(loss=LOSS, combinations=("E",)), side(range(12), number=2, keys=keys),
                      side(range(18), keys=keys)))  # fmt: skip
    assert alone.state == "fail"


def test_without_a_baseline_a_loss_cannot_be_judged(judge):
    judged = judge(GateRules(loss=LOSS, destroyed=0), side())
    assert [result.state for result in judged.results] == ["cannot be judged", "pass"]
    assert judged.state == "cannot be judged"
    assert judged.results[0].sentence == "There is no baseline."


def test_a_depth_that_was_not_measured_cannot_be_judged(judge):
    result = one(judge(GateRules(loss=LossRule(20, 0.05)), side(number=2), side()))
    assert (result.state, result.sentence) == (
        "cannot be judged",
        "The two sweeps were measured down to k = 4: add 20 to [sweep] k.",
    )


def test_destroyed_needles_are_counted_once_and_their_questions_named(judge):
    result = one(judge(GateRules(destroyed=1), side(destroyed=(0, 1, 2))))
    assert (result.state, result.numbers["destroyed"], result.numbers["n"]) == ("fail", 2, 12)
    assert result.sentence == "2 of 12 needles [0.05, 0.45] destroyed, at most 1 may be."
    assert [broken.query_id for broken in result.broken] == ["q0", "q1", "q2"]
    assert one(judge(GateRules(destroyed=2), side(destroyed=(0, 1, 2)))).state == "pass"


def test_whole_documents_have_no_needles_to_destroy(judge):
    candidate = side(columns={"hit_rule": "chunk-of-a-relevant-document/1"})
    assert one(judge(GateRules(destroyed=0), candidate)).state == "cannot be judged"


@pytest.mark.parametrize(
    ("bluffed", "near", "state", "words"),
    [
        ((), 30, "pass", "Bluffs on at most 9.5 % of near questions, with 95 % confidence (on 0 of 30 measured)."),
        ((0,), 30, "cannot be judged", "too few to promise 10 %: with 1 bluff it takes 46 near questions."),
        (range(4), 30, "fail", "on 4 of 30 measured"),
        ((), 0, "cannot be judged", "Nothing is known about near questions: the set has none."),
    ],
)
def test_bluffs_are_held_to_their_exact_bound(judge, bluffed, near, state, words):
    baseline = side(near=near)._replace(line=LINE)
    result = one(judge(GateRules(bluffs=BluffRule(0.1, 0.95, None)), side((), bluffed, 2, near=near), baseline))
    assert result.state == state
    assert words in result.sentence
    assert result.sentence.startswith("At threshold 0.5 (decision 3): ")
    assert [broken.query_id for broken in result.broken] == [f"x{at}" for at in bluffed]


@pytest.mark.parametrize(
    ("candidate", "line", "words"),
    [
        (side(number=2), None, "No decision is in force, here or in the baseline file"),
        (side(number=2, stamp={"files": "other"}), LINE, "decision 3 was made on distances of another model"),
        (side(number=2, keys=(OTHER,)), LINE, "E/dense/m is not part of sweep 2."),
    ],
)
def test_bluffs_without_a_threshold_that_means_something_cannot_be_judged(judge, candidate, line, words):
    result = one(judge(GateRules(bluffs=BluffRule(0.1, 0.95, None)), candidate, side()._replace(line=line)))
    assert result.state == "cannot be judged"
    assert words in result.sentence


@pytest.mark.parametrize(
    ("times", "more", "state", "words"),
    [
        ({"scan": [1.0, 1.1, 0.9] * 9}, {}, "pass", "ratio 1.00 ["),
        ({"scan": [4.0, 4.1, 3.9] * 9}, {}, "fail", "ratio 4.00 ["),
        ({"scan": [0.5, 1.5, 2.9] * 3}, {}, "cannot be judged", "1.5 lies between"),
        ({"embed": [1.0] * 9}, {}, "cannot be judged", "not timed in the same stages"),
        ({}, {"measured_in": "f" * 32}, "cannot be judged", "nothing was timed now: `bluffline run --fresh` does"),
        ({}, {"columns": {"versions": {"machine": "Darwin arm64"}}}, "cannot be judged", "timed on Darwin arm64 now"),
    ],
)
def test_latency_is_held_by_the_interval_of_its_ratio(judge, times, more, state, words):
    result = one(judge(GateRules(latency=1.5), side(number=2, times=times, **more), side()))
    assert result.state == state
    assert words in result.sentence


def test_by_default_the_combination_decided_on_is_judged_else_all():
    both = side(keys=(KEY, OTHER))
    assert chosen((), both, "none", LINE) == [KEY]
    assert chosen((), both, "none", None) == [KEY, OTHER]
    assert chosen(("A", "E/dense"), both, "none", None) == [OTHER, KEY]
    assert chosen(("B",), both, side(keys=("B/bm25",)), None) == ["B/bm25"]  # taken out of the grid, and judged
    with pytest.raises(GateInputError, match="'Z' is in neither sweep; there are E/dense/m, A/bm25"):
        chosen(("Z",), both, "none", None)


def test_a_gate_without_rules_is_an_input_error(judge):
    with pytest.raises(GateInputError, match=r"\[gate\] has no rule; write one, such as no_significant_loss"):
        judge(GateRules(baseline="main"), side())


def test_a_failure_outweighs_what_cannot_be_judged_and_that_a_pass(judge):
    judged = judge(GateRules(loss=LOSS, destroyed=0), side(destroyed=(3,)))
    assert (judged.state, EXIT_CODES[judged.state]) == ("fail", 1)
    assert worst([]) == "cannot be judged"
    assert headline(judged) == "The gate fails: 1 of 2 checks failed, 1 of 2 checks cannot be judged."


def test_a_sweep_that_is_its_own_baseline_says_so(judge):
    assert judge(GateRules(loss=LOSS), side(), side()).asides == (
        "The baseline is sweep 1 itself, so nothing can have been lost.",
    )


def test_junit_holds_every_check_and_is_valid(judge):
    texts = {"q10": "a < b & \x00 “c”"}
    rules = GateRules(loss=LOSS, destroyed=0, bluffs=BluffRule(0.1, 0.95, None))
    judged = judge(rules, side(range(10), number=2, texts=texts), side(range(18), texts=texts))
    schema = xmlschema.XMLSchema(SCHEMA)
    written = junit(judged, NOW)
    schema.validate(written)
    schema.validate(junit_unjudged("no sweep", NOW))
    assert 'tests="3" failures="1" errors="1"' in written
    assert (
        '<testcase name="no significant loss at R@4: E dense" classname="bluffline.gate.E/dense/m" time="0">' in written
    )
    assert '<failure message="R@4 on 10 of 24 questions' in written
    assert "q10: a &lt; b &amp; � “c” (rank 1 → 9)" in written
    assert '<error message="No decision is in force' in written
    assert junit(judged, NOW) == written


def test_markdown_and_text_name_the_broken_questions_and_escape_them(judge):
    texts = {"q10": "a | <b>"}
    judged = judge(GateRules(loss=LOSS), side(range(10), number=2, texts=texts), side(range(18), texts=texts))
    said = markdown(judged)
    assert said.startswith("## The gate fails: 1 of 1 check failed.\n")
    assert "| q10 | a \\| &lt;b> | rank 1 → 9 |" in said
    assert "- sweep 2: commit 222222222222, 2026-01-01" in said
    assert "  ✗ fail: no significant loss at R@4, E dense: R@4 on 10 of 24" in text(judged)
    data = record(judged)
    assert (data["state"], data["candidate"]["sweep_id"], len(data["results"][0]["broken"])) == ("fail", 2, 8)
