"""`bluffline gate`: which sweep it judges, what it writes, and which code it ends with."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime

import pytest
from small_project import make_project, typed
from test_webapp_compare import lost, rewritten
from web_worlds import BM25_E, DENSE_E, reviewed

from store.engine import open_store

RULES = """
[gate]
combinations = ["E"]
no_significant_loss = { at = 20, alpha = 0.05 }
destroyed_at_most = 0
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """1 and 2 on main, the same; 3 on a branch, where E dense lost ten questions; 4 never finished."""
    place = make_project(tmp_path_factory.mktemp("gate"), more=RULES)
    engine = open_store(f"sqlite:///{place / 'var' / 'bluffline.db'}")
    for number, (branch, state) in enumerate((("main", "finished"), ("main", "finished"), ("try", "finished"),
                                              ("half", "interrupted")), 1):  # fmt: skip
        reviewed(engine, commit=f"{number}" * 40, branch=branch, state=state,
                 created_at=datetime(2026, 5, number, tzinfo=UTC))  # fmt: skip
    rewritten(engine, 3, DENSE_E, lost)
    engine.dispose()
    return place


@pytest.fixture
def told(made, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("BLUFFLINE_STORE_URL", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(made.parent))
    monkeypatch.chdir(tmp_path)

    def run(*arguments, folder=made):
        return typed(capsys, "gate", "--project", folder, *arguments)

    return run


def test_a_sweep_that_lost_nothing_passes(told):
    code, out, _ = told(2, "--against", "main")
    assert (code, out.splitlines()[0]) == (0, "The gate passes: 6 checks held.")
    assert "  against sweep 1: commit 111111111111, branch main, 2026-05-01" in out


def test_a_loss_fails_and_everything_is_written(told, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    code, out, _ = told("try", "--against", "main", "--junit", "r/gate.xml", "--markdown", "r/gate.md",
                        "--step-summary", "--format", "json")  # fmt: skip
    data = json.loads(out)
    failed = [one for one in data["results"] if one["state"] == "fail"]
    assert (code, data["state"], data["baseline"]["sweep_id"]) == (1, "fail", 2)
    assert [one["combination"] for one in failed] == [DENSE_E]
    said = (tmp_path / "r" / "gate.md").read_text("utf-8")
    assert summary.read_text("utf-8") == f"before\n{said}"
    assert all(f"| {broken['query_id']} |" in said for broken in failed[0]["broken"])
    assert 'failures="1" errors="0"' in (tmp_path / "r" / "gate.xml").read_text("utf-8")


def test_a_baseline_file_stands_for_its_sweep(told, tmp_path):
    code, out, _ = told(2, "--save-baseline", "kept/base.json")
    assert (code, out) == (0, "Wrote sweep 2 as the baseline kept/base.json: 94 questions, 5 combinations.\n")
    assert told("try", "--against", "kept/base.json")[0] == 1
    assert told(1, "--against", "kept/base.json")[0] == 0
    (tmp_path / "kept" / "base.json").write_text("{", encoding="utf-8")
    code, _, error = told("try", "--against", "kept/base.json")
    assert code == 2
    assert "base.json:1: not readable as JSON" in error


def test_the_baseline_of_the_project_lies_beside_its_file_wherever_the_command_is_started(told, made, tmp_path):
    url = f"\n[store]\nurl = 'sqlite:///{made}/var/bluffline.db'\n"
    other = make_project(tmp_path / "other", more=f'{RULES}baseline = "kept.json"\n{url}')
    assert told(2, "--save-baseline", other / "kept.json", folder=other)[0] == 0
    code, out, _ = told("try", folder=other)
    assert code == 1
    assert "  against kept.json: commit 222222222222, branch main" in out


def test_a_baseline_asked_for_by_name_is_needed_even_where_no_rule_compares(told, made, tmp_path):
    url = f"\n[store]\nurl = 'sqlite:///{made}/var/bluffline.db'\n"
    other = make_project(tmp_path / "alone", more=f"[gate]\ndestroyed_at_most = 100\n{url}")
    assert told(2, folder=other)[0] == 0
    assert told(2, "--against", "nobody-knows", folder=other)[0] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("try",), 3, "There is no baseline: name a sweep or a file"),
        (("try", "--against", "gone.json"), 3, "the file gone.json is not there; `bluffline gate --save-baseline"),
        (("try", "--against", "gone"), 3, "There is no baseline: there is no sweep 'gone'; the store holds"),
        ((1, "--against", "main"), 3, "no sweep of branch main is here from before sweep 1's commit"),
        ((), 3, "cannot be judged: sweep 4 is interrupted"),
        (("gone",), 2, "there is no sweep 'gone'"),
        (("try", "--against", "2222", "--step-summary"), 2, "GITHUB_STEP_SUMMARY is not set here"),
    ],
)
def test_what_cannot_be_judged_is_3_and_what_makes_no_sense_is_2(told, arguments, code, words, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    ended, out, error = told(*arguments)
    assert ended == code
    assert words in out + error


def test_where_nothing_can_be_judged_the_reports_say_so_too(told, tmp_path):
    assert told("--junit", "gate.xml", "--markdown", "gate.md")[0] == 3
    assert 'errors="1"' in (tmp_path / "gate.xml").read_text("utf-8")
    assert (
        (tmp_path / "gate.md").read_text("utf-8").startswith("## The gate cannot be judged\n\nSweep 4 is interrupted")
    )


def test_what_is_checked_out_is_judged(told, made, tmp_path):
    other = make_project(tmp_path / "repository", more=f"{RULES}\n[store]\nurl = 'sqlite:///{made}/var/bluffline.db'\n")
    subprocess.run(["git", "init", "-q"], cwd=other, check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m", "x"], cwd=other, check=True)
    code, _, error = told(folder=other)
    assert code == 3
    assert "no sweep here measured what is checked out, commit" in error


def test_a_project_without_rules_and_a_combination_of_neither_sweep_are_input_errors(told, made, tmp_path):
    url = f"\n[store]\nurl = 'sqlite:///{made}/var/bluffline.db'\n"
    plain = make_project(tmp_path / "plain", more=url)
    assert "[gate] has no rule" in told(2, folder=plain)[2]
    odd = make_project(tmp_path / "odd", more=f'[gate]\ncombinations = ["Z"]\ndestroyed_at_most = 0\n{url}')
    code, _, error = told(2, folder=odd)
    assert code == 2
    assert "'Z' is in neither sweep; there are" in error
    assert BM25_E in error
