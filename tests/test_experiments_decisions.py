"""Decisions with their evidence, and whether they still hold on a later sweep."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from made_outcomes import question_set
from made_sweeps import BM25, DENSE, HYBRID, STAMP, add_sweep
from sqlalchemy import Engine

from experiments.deciding.choosing import AtMost, ByHand, Cheapest, NotCertifiableError, Way
from experiments.deciding.decisions import decided_at, decision_from, on_decision, record
from experiments.deciding.evidence import DecisionError, Terms, consider, evidence_record, sentences_on
from experiments.deciding.finding import find_combination
from experiments.deciding.validity import Validity, corpora_it_holds_on, decision_validity, judge
from experiments.outcomes import Outcome
from experiments.reading import load_sweep
from experiments.thresholds import read_thresholds
from store.decisions import decision_in_force
from store.engine import open_store
from store.tables import DecisionRow

OUTCOMES = question_set(3)
PLAIN = Terms()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated store without rows; copying it is faster than migrating one for each test."""
    file = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(f"sqlite:///{file}").dispose()
    return file


@pytest.fixture
def engine(empty: Path, tmp_path: Path) -> Engine:
    return open_store(f"sqlite:///{shutil.copy(empty, tmp_path / 'store.db')}")


def _decide(engine: Engine, sweep_id: int, way: Way, terms: Terms = PLAIN, key: str = DENSE) -> DecisionRow:
    loaded = load_sweep(engine, sweep_id)
    also = [way.threshold] if isinstance(way, ByHand) else []
    evidence = consider(loaded, find_combination(loaded, key), terms, also)
    before = decision_in_force(engine)
    decision = decision_from(
        evidence,
        evidence.choose(way),
        who="Ada",
        reason="bluffs are dear",
        project="handbook",
        supersedes=before.id if before else None,
    )
    return record(engine, decision)


def test_a_decision_carries_everything_it_was_made_on(engine: Engine) -> None:
    sweep_id = add_sweep(engine, {DENSE: OUTCOMES, HYBRID: OUTCOMES})
    decision = _decide(engine, sweep_id, Cheapest(), key=HYBRID)
    sweep = load_sweep(engine, sweep_id).sweep
    assert (decision.sweep_id, decision.sweep_key) == (sweep.id, sweep.key)
    assert (decision.commit, decision.branch, decision.dirty) == (sweep.commit, "main", False)
    assert (decision.corpus_hash, decision.questions_hash) == (sweep.corpus_hash, sweep.questions_hash)
    assert (decision.hit_rule, decision.pipeline) == ("rule/1", "1")
    assert (decision.strategy, decision.strategy_spec) == ("E", "cuts=boundaries;header=true;overlap=0;budget=512")
    assert decision.retriever_settings == "k1 = 1.2, b = 0.75, tokens: runs of a-z and 0-9"
    assert decision.stamp == STAMP
    assert decision.gate_size == 4 and decision.picked_by == "cost" and decision.target is None
    assert decision.costs == {"bluff": 10.0, "wrong": 6.0, "refusal": 1.0}
    assert "bluffs are dear" in on_decision(decision) and "commit c0ffeec0ffee" in on_decision(decision)


def test_the_evidence_holds_the_rows_of_both_sides_and_what_each_question_did(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), ByHand(0.5))
    row = read_thresholds(OUTCOMES, [0.5])[0]
    evidence = decision.evidence
    assert evidence["gate"]["bluffs"]["hits"] == row.bluffs.hits == sum(evidence["outcomes"]["bluffed"].values())
    assert evidence["gate"]["right"]["hits"] == row.right.hits == sum(evidence["outcomes"]["kept"].values())
    sides = [evidence["choice"][side]["row"]["right"] for side in ("calibration", "evaluation")]
    assert [side["n"] for side in sides] == [32, 32]
    assert sum(side["hits"] for side in sides) == row.right.hits
    assert evidence["bounds"]["near"]["n"] == 21 and evidence["versions"] == {"bluffline": "0.1.0"}
    assert evidence["costs"]["chosen"]["threshold"] == 0.5
    assert evidence["costs"]["chosen"]["excess"] >= 0


def test_a_threshold_by_hand_says_what_it_costs_over_the_cheapest(engine: Engine) -> None:
    loaded = load_sweep(engine, add_sweep(engine, {DENSE: OUTCOMES}))
    evidence = consider(loaded, find_combination(loaded, DENSE), Terms(), [0.71])
    said = sentences_on(evidence, evidence.choose(ByHand(0.71)))
    assert any("over the cheapest, which is more than these questions leave to chance" in line for line in said)
    assert any("Had it been fixed before" in line for line in said)
    assert evidence_record(evidence, evidence.choose(ByHand(0.71)))["sentences"] == list(said)


@pytest.mark.parametrize(
    ("who", "reason", "problem"),
    [
        ("Ada", "", "a reason is required"),
        ("Ada", " \n\t", "a reason is required"),
        ("", "why", "a name is required"),
        ("Ada", "x" * 10_001, "10,000 characters"),
        ("Ada", "nul \x00", r"U\+0000"),
        ("Ada", "half \ud800", r"U\+D800"),
    ],
)
def test_a_decision_without_a_name_or_a_readable_reason_is_refused(
    engine: Engine, who: str, reason: str, problem: str
) -> None:
    loaded = load_sweep(engine, add_sweep(engine, {DENSE: OUTCOMES}))
    evidence = consider(loaded, find_combination(loaded, DENSE), Terms())
    with pytest.raises(DecisionError, match=problem):
        decision_from(
            evidence, evidence.choose(Cheapest()), who=who, reason=reason, project="handbook", supersedes=None
        )
    assert decision_in_force(engine) is None


@pytest.mark.parametrize("state", ["running", "interrupted", "cancelled", "failed", "queued"])
def test_only_a_finished_sweep_is_decided_on(engine: Engine, state: str) -> None:
    loaded = load_sweep(engine, add_sweep(engine, {DENSE: OUTCOMES}, state=state))
    with pytest.raises(DecisionError, match=f"sweep 1 is {state}"):
        consider(loaded, loaded.combinations[0], Terms())


def test_a_set_without_unanswerable_questions_says_how_to_add_some(engine: Engine) -> None:
    loaded = load_sweep(engine, add_sweep(engine, {DENSE: [one for one in OUTCOMES if one.needle_id]}))
    with pytest.raises(DecisionError, match=r"no unanswerable questions.*add questions with a stratum"):
        consider(loaded, loaded.combinations[0], Terms())


def test_a_combination_is_found_by_its_key_or_by_what_sets_it_apart(engine: Engine) -> None:
    loaded = load_sweep(engine, add_sweep(engine, {DENSE: OUTCOMES, BM25: OUTCOMES, HYBRID: None}))
    assert find_combination(loaded, BM25).key == BM25
    assert find_combination(loaded, strategy="E", retriever="dense").key == DENSE
    with pytest.raises(DecisionError, match=r"sweep 1 has no combination 'Q/bm25'; near it is E/bm25$"):
        find_combination(loaded, "Q/bm25")
    with pytest.raises(DecisionError, match=r"no combination 'x'; it has 3, and `bluffline show` lists them$"):
        find_combination(loaded, "x")
    with pytest.raises(DecisionError, match=r"sweep 1 has no strategy 'Z'; it has E$"):
        find_combination(loaded, strategy="Z")
    with pytest.raises(DecisionError, match=r"has no model 'x' with strategy 'E' and retriever 'bm25'; it has none$"):
        find_combination(loaded, strategy="E", retriever="bm25", model="x")
    with pytest.raises(
        DecisionError,
        match=r"sweep 1 has 3 combinations with strategy 'E'; name its retriever too: dense, bm25 or hybrid$",
    ):
        find_combination(loaded, strategy="E")
    with pytest.raises(
        DecisionError, match=r"sweep 1 has 3 combinations; name its retriever too: dense, bm25 or hybrid$"
    ):
        find_combination(
            loaded,
        )
    with pytest.raises(DecisionError, match="it is failed \\(the model was not found\\)"):
        find_combination(loaded, HYBRID)


def test_when_it_was_decided_is_read_in_utc_whatever_the_database_gives_back() -> None:
    moment = datetime(2026, 5, 4, 12, tzinfo=UTC)
    for stored in (moment.replace(tzinfo=None), moment, moment.astimezone(timezone(timedelta(hours=3)))):
        assert decided_at(DecisionRow(created_at=stored)) == moment


# Whether it still holds.


def _states(validity: Validity) -> dict[str, str]:
    return {check.name: check.state for check in validity.checks}


def _later(engine: Engine, decision: DecisionRow, **changes: Any) -> Validity:
    outcomes: Sequence[Outcome] = changes.pop("outcomes", OUTCOMES)
    return judge(decision, load_sweep(engine, add_sweep(engine, {DENSE: outcomes}, **changes)))


def test_a_decision_holds_on_a_later_sweep_in_which_nothing_changed(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), Cheapest())
    validity = _later(engine, decision)
    assert validity.state == "ok"
    assert validity.verdict == "Decision 1 holds on sweep 2."
    assert set(_states(validity).values()) == {"ok"}
    assert decision_validity(engine, decision) == validity  # the newest finished sweep is the later one


def test_an_unfinished_sweep_is_no_reason_to_doubt_a_decision(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), Cheapest())
    add_sweep(engine, {DENSE: None, BM25: OUTCOMES}, state="running")
    assert decision_validity(engine, decision).sweep_id == 1


def test_without_any_finished_sweep_nothing_can_be_judged(engine: Engine) -> None:
    validity = decision_validity(engine, DecisionRow(id=4))
    assert validity.state == "cannot be judged" and "there is no finished sweep" in validity.verdict


@pytest.mark.parametrize(
    ("changes", "check", "words"),
    [
        ({"corpus_hash": "d" * 64}, "corpus", "Corpus: cccccccccccc then, dddddddddddd now."),
        ({"questions_hash": "e" * 64}, "questions", "Question set: aaaaaaaaaaaa then, eeeeeeeeeeee now."),
        ({"hit_rule": "rule/2"}, "hit rule", "Hit rule: rule/1 then, rule/2 now."),
        ({"settings": {"strategies": {"E": "cuts=blind;header=false;overlap=0;budget=512"}}}, "strategy", "cuts=blind"),
    ],
)
def test_what_is_no_longer_the_same_is_named_with_both_values(
    engine: Engine, changes: dict[str, Any], check: str, words: str
) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), Cheapest())
    validity = _later(engine, decision, **changes)
    assert validity.state == "changed"
    assert _states(validity)[check] == "changed"
    assert words in validity.verdict


def test_distances_of_another_model_break_a_decision_and_both_stamps_are_named(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), Cheapest())
    validity = _later(engine, decision, stamp={**STAMP, "files": "e" * 64})
    assert validity.state == "broken"
    assert "bbbbbbbbbbbb" in validity.verdict and "eeeeeeeeeeee" in validity.verdict
    assert "needles kept" not in _states(validity)  # nothing is compared across two scales


@pytest.mark.parametrize("outcomes", [{BM25: OUTCOMES}, {DENSE: None, BM25: OUTCOMES}])
def test_a_combination_that_is_gone_or_failed_breaks_a_decision(
    engine: Engine, outcomes: dict[str, list[Outcome] | None]
) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), Cheapest())
    validity = judge(decision, load_sweep(engine, add_sweep(engine, outcomes)))
    assert validity.state == "broken" and _states(validity)["combination"] == "broken"


def _lose(count: int) -> list[Outcome]:
    """The same outcomes, but for so many needles that the gate no longer sees."""
    kept = [one.query_id for one in OUTCOMES if one.needle_distance is not None and one.needle_distance < 0.55]
    return [replace(one, needle_distance=None) if one.query_id in kept[:count] else one for one in OUTCOMES]


def _bluff(count: int) -> list[Outcome]:
    refused = [one.query_id for one in OUTCOMES if one.needle_id is None and (one.nearest or 9) >= 0.55]
    return [replace(one, nearest=0.5) if one.query_id in refused[:count] else one for one in OUTCOMES]


@pytest.mark.parametrize(
    ("change", "count", "check", "state"),
    [
        # Six questions that all change one way are the fewest a sign test can call real: 2 / 2 ** 6 = 0.031.
        (_lose, 6, "needles kept", "broken"),
        (_lose, 5, "needles kept", "cannot be judged"),
        (_bluff, 6, "bluffs", "broken"),
        (_bluff, 5, "bluffs", "cannot be judged"),
    ],
)
def test_a_proven_change_for_the_worse_breaks_a_decision_and_one_that_cannot_be_proven_is_no_pass(
    engine: Engine, change: Callable[[int], list[Outcome]], count: int, check: str, state: str
) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), ByHand(0.55))
    validity = _later(engine, decision, outcomes=change(count))
    assert validity.state == state
    assert _states(validity)[check] == state
    assert f"{count} {'lost' if check == 'needles kept' else 'new'}" in validity.verdict


def test_a_proven_change_for_the_better_is_a_change_and_does_not_break_it(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: _bluff(8)}), ByHand(0.55))
    validity = _later(engine, decision)
    assert validity.state == "changed" and "8 gone" in validity.verdict


def test_a_mixed_change_that_could_have_been_proven_and_was_not_is_none(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: _lose(4)}), ByHand(0.55))
    four_others = {one.query_id for one in _lose(8) if one.needle_distance is None} - {
        one.query_id for one in _lose(4) if one.needle_distance is None
    }
    outcomes = [replace(one, needle_distance=None) if one.query_id in four_others else one for one in OUTCOMES]
    validity = _later(engine, decision, outcomes=outcomes)
    assert _states(validity)["needles kept"] == "ok"
    assert "4 lost, 4 gained" in next(check.sentence for check in validity.checks if check.name == "needles kept")


def test_the_comparison_needs_no_sweep_but_the_new_one(engine: Engine, tmp_path: Path) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), ByHand(0.55))
    elsewhere = open_store(f"sqlite:///{tmp_path / 'rebuilt.db'}")
    validity = judge(decision, load_sweep(elsewhere, add_sweep(elsewhere, {DENSE: _lose(6)}, key="9" * 32)))
    assert validity.state == "broken"


def test_a_target_is_held_to_near_and_far_apart(engine: Engine) -> None:
    many = question_set(6, needles=20, near=60, far=60)
    decision = _decide(engine, add_sweep(engine, {DENSE: many}), AtMost(0.2), Terms(target=0.2))
    assert decision.picked_by == "bound" and decision.target == 0.2
    same = _later(engine, decision, outcomes=many)
    assert (_states(same)["near bluffs"], _states(same)["far bluffs"]) == ("ok", "ok")
    fewer = [one for one in many if one.stratum != "far" or one.query_id in ("far1", "far2", "far3")]
    states = _states(_later(engine, decision, outcomes=fewer, questions_hash="7" * 64))
    assert (states["near bluffs"], states["far bluffs"]) == ("ok", "cannot be judged")
    worse = [replace(one, nearest=0.1) if one.stratum == "near" else one for one in many]
    validity = _later(engine, decision, outcomes=worse)
    assert _states(validity)["near bluffs"] == "broken"
    assert "bluffs on 60 of 60 near, over the target of 20 %" in validity.verdict


def test_a_target_about_near_questions_alone_asks_nothing_of_far_ones(engine: Engine) -> None:
    terms = Terms(target=0.3, strata=("near",))
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), ByHand(0.35), terms)
    states = _states(_later(engine, decision))
    assert "near bluffs" in states and "far bluffs" not in states


def test_a_bound_that_cannot_be_certified_records_nothing(engine: Engine) -> None:
    with pytest.raises(NotCertifiableError):
        _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), AtMost(0.05))
    assert decision_in_force(engine) is None


def test_it_holds_on_its_own_corpus_and_on_a_newer_one_only_where_it_was_found_to(engine: Engine) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}), ByHand(0.55))
    assert corpora_it_holds_on(engine, decision) == {"c" * 64}
    _later(engine, decision, corpus_hash="1" * 64)
    assert corpora_it_holds_on(engine, decision) == {"c" * 64, "1" * 64}
    _later(engine, decision, outcomes=_lose(6), corpus_hash="2" * 64)
    assert corpora_it_holds_on(engine, decision) == {"c" * 64}


@pytest.mark.parametrize(
    ("wording", "words"),
    [("w", "Question set: the same."), ("v", "Question set: aaaaaaaaaaaa then, bbbbbbbbbbbb now.")],
)
def test_questions_whose_needles_moved_with_an_edited_document_are_the_same_to_a_decision(
    engine: Engine, wording: str, words: str
) -> None:
    decision = _decide(engine, add_sweep(engine, {DENSE: OUTCOMES}, settings={"wording": "w"}), Cheapest())
    changes = {"settings": {"wording": wording}, "corpus_hash": "d" * 64, "questions_hash": "b" * 64}
    checks = {check.name: check.sentence for check in _later(engine, decision, **changes).checks}
    assert (checks["corpus"], checks["questions"]) == ("Corpus: cccccccccccc then, dddddddddddd now.", words)
