"""`bluffline decide`, as it is typed: what it prints, records, refuses and exports."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from made_outcomes import question_set
from made_sweeps import BM25, DENSE, add_sweep
from sqlalchemy import Engine

from experiments.cli import bluffline
from experiments.deciding.decision_tags import DecisionLedger
from experiments.tracking import TrackingError
from store.decisions import decision_in_force, decisions
from store.engine import open_store
from store.tables import DecisionRow

Decide = Callable[..., Result]
NAMED = ("--strategy", "E", "--retriever", "dense")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "bluffline.toml").write_text("[corpus]\n")
    store = open_store(f"sqlite:///{tmp_path / 'var' / 'bluffline.db'}")
    add_sweep(store, {DENSE: question_set(3), BM25: question_set(4)})
    return store


@pytest.fixture
def decide(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Decide:
    """The command on the project, with a ledger that answers at once."""
    monkeypatch.setattr(DecisionLedger, "tag", lambda _ledger, _engine, _decision: ["run1", "run2"])

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(bluffline, ["decide", "--project", str(tmp_path), *arguments])

    return call


def _newest(engine: Engine) -> DecisionRow:
    found = decision_in_force(engine)
    assert found is not None
    return found


def test_without_a_choice_the_evidence_is_printed_and_nothing_recorded(decide: Decide, engine: Engine) -> None:
    result = decide(*NAMED)
    assert result.exit_code == 0
    for part in ("Cheapest is", "not certifiable with 21 questions", "AUGRC", "cost of 1,000 questions", "Choose one:"):
        assert part in result.stdout
    assert decisions(engine) == []
    (cheapest,) = [line for line in result.stdout.splitlines() if line.endswith("  the cheapest")]
    assert f"Cheapest is {cheapest.split()[0]}:" in result.stdout


def test_without_a_name_the_combination_that_finds_most_is_looked_at_but_never_decided_on(decide: Decide) -> None:
    assert "No combination was named; this is the one that finds most" in decide().stdout
    refused = decide("--cheapest", "--reason", "why")
    assert refused.exit_code == 2 and "name the combination" in refused.stderr
    assert f"(the one that finds most is {DENSE})" in refused.stderr


def test_a_choice_is_recorded_with_its_reason_and_supersedes_the_one_in_force(decide: Decide, engine: Engine) -> None:
    first = decide(*NAMED, "--threshold", "0.525", "--reason", "a start", "--who", "Ada")
    assert first.exit_code == 0 and "Decision 1: threshold 0.525" in first.stdout
    assert "Tagged in MLflow: run1, run2." in first.stdout
    second = decide("--combination", BM25, "--cheapest", "--bluff-cost", "20", "--unanswerable-share", "0.3",
                    "--reason", "bluffs are dear", "--who", "Grace")  # fmt: skip
    assert "It supersedes decision 1." in second.stdout
    newest = _newest(engine)
    assert (newest.id, newest.supersedes, newest.who, newest.reason) == (2, 1, "Grace", "bluffs are dear")
    assert newest.costs["bluff"] == 20 and newest.unanswerable_share == 0.3


def test_who_decides_is_gits_user_when_nobody_is_named(decide: Decide, engine: Engine, tmp_path: Path) -> None:
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "config", "user.name", "Ada Lovelace"], check=True)
    assert decide(*NAMED, "--cheapest", "--reason", "why").exit_code == 0
    assert _newest(engine).who == "Ada Lovelace"


@pytest.mark.parametrize("reason", [(), ("--reason", ""), ("--reason", "  ")])
def test_a_decision_without_a_reason_is_refused(decide: Decide, engine: Engine, reason: tuple[str, ...]) -> None:
    result = decide(*NAMED, "--cheapest", *reason)
    assert result.exit_code == 2 and "a reason is required" in result.stderr
    assert decisions(engine) == []


@pytest.mark.parametrize("threshold", ["-0.1", "2.5", "nan", "near"])
def test_a_threshold_that_is_no_cosine_distance_is_refused(decide: Decide, engine: Engine, threshold: str) -> None:
    result = decide(*NAMED, "--threshold", threshold, "--reason", "why")
    assert result.exit_code == 2 and threshold in result.stderr
    assert decisions(engine) == []


def test_an_unknown_part_of_a_combination_lists_those_there_are(decide: Decide) -> None:
    result = decide("--strategy", "Q", "--cheapest", "--reason", "why")
    assert result.exit_code == 2
    assert result.stderr == "bluffline: sweep 1 has no strategy 'Q'; it has E\n"


def test_two_ways_of_choosing_are_one_too_many(decide: Decide) -> None:
    assert decide(*NAMED, "--cheapest", "--threshold", "0.5", "--reason", "why").exit_code == 2


def test_a_bound_that_cannot_be_certified_exits_with_3_and_says_how_many_questions_it_takes(
    decide: Decide, engine: Engine
) -> None:
    result = decide(*NAMED, "--at-most", "0.1", "--reason", "why")
    assert result.exit_code == 3 and "about 29 would be needed" in result.stderr
    assert decisions(engine) == []


def test_a_bound_beside_a_threshold_is_the_target_it_is_held_to(decide: Decide, engine: Engine) -> None:
    result = decide(*NAMED, "--threshold", "0.35", "--at-most", "0.3", "--bound-on", "near", "--reason", "why")
    assert result.exit_code == 0
    assert (_newest(engine).threshold, _newest(engine).target) == (0.35, 0.3)
    assert "far bluffs" not in decide("--show").stdout


def test_a_sweep_that_is_not_finished_is_refused(decide: Decide, engine: Engine) -> None:
    add_sweep(engine, {DENSE: question_set(3)}, state="running")
    result = decide("--sweep", "2", *NAMED, "--cheapest", "--reason", "why")
    assert result.exit_code == 2 and "sweep 2 is running" in result.stderr
    assert decide(*NAMED, "--cheapest", "--reason", "why").exit_code == 0  # the newest finished one
    assert _newest(engine).sweep_id == 1


def test_a_dry_run_says_everything_and_records_nothing(decide: Decide, engine: Engine) -> None:
    result = decide(*NAMED, "--cheapest", "--reason", "why", "--dry-run")
    assert result.exit_code == 0 and "Nothing was recorded" in result.stdout
    assert decisions(engine) == []


def test_an_export_has_standard_output_to_itself(decide: Decide, engine: Engine) -> None:
    result = decide(*NAMED, "--threshold", "0.5", "--reason", 'too "many"\nrefusals', "--export", "toml")
    values = tomllib.loads(result.stdout)
    assert values["gate"]["threshold"] == 0.5 and values["decision"]["why"] == 'too "many"\nrefusals'
    assert "Decision 1" in result.stderr
    shown = decide("--show", "--export", "json")
    assert json.loads(shown.stdout)["decision"]["key"] == _newest(engine).key
    assert decide(*NAMED, "--export", "toml").exit_code == 2  # nothing was chosen


def test_show_says_what_is_in_force_and_whether_it_holds(decide: Decide, engine: Engine) -> None:
    assert decide("--show").exit_code == 2
    decide(*NAMED, "--threshold", "0.55", "--reason", "why", "--who", "Ada")
    held = decide("--show")
    assert held.exit_code == 0 and "Decision 1 holds on sweep 1, on which it was made." in held.stdout
    add_sweep(engine, {BM25: question_set(4)})
    broken = decide("--show")
    assert broken.exit_code == 1 and "Decision 1 no longer holds on sweep 2" in broken.stdout


def test_when_mlflow_is_away_the_decision_is_recorded_all_the_same_and_it_says_so(
    decide: Decide, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> list[str]:
        raise TrackingError("MLflow at http://ledger cannot be written to: refused")

    monkeypatch.setattr(DecisionLedger, "tag", away)
    result = decide(*NAMED, "--cheapest", "--reason", "why")
    assert result.exit_code == 0
    assert "The decision is recorded, but MLflow does not say so: MLflow at http://ledger" in result.stdout
    assert _newest(engine).id == 1
