"""`bluffline compare`: both sides by name, in words, Markdown and JSON, and which code it ends with."""

from __future__ import annotations

import json
from functools import partial

import pytest
from small_project import make_project, typed
from web_worlds import DENSE_E, KEYS, reviewed

from store.engine import open_store


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """1 and 2: other questions' outcomes, so that much flips; 3: another hit rule."""
    place = make_project(tmp_path_factory.mktemp("compare"))
    engine = open_store(f"sqlite:///{place / 'var' / 'bluffline.db'}")
    reviewed(engine, commit="a" * 40, branch="main", tag="v1")
    reviewed(engine, commit="b" * 40, branch="try", keys=KEYS[:4])
    reviewed(engine, commit="c" * 40, branch="other", hit_rule="rule/2")
    engine.dispose()
    return place


@pytest.fixture
def told(folder, capsys, monkeypatch):
    monkeypatch.delenv("BLUFFLINE_STORE_URL", raising=False)

    return partial(typed, capsys, "compare", "--project", folder)


def test_two_sweeps_are_compared_in_words(told):
    code, out, _ = told("main", "try", "--threshold", "0.6")
    assert code == 0
    assert out.startswith("Sweep 1 against sweep 2 at R@20\nSweeps 1 and 2 may be compared: same documents, questions,")
    assert "At threshold 0.6 (as asked), 0 unanswerable questions that had been refused are bluffed on now" in out
    assert "  sweep 1: commit aaaaaaaaaaaa, tag v1, branch main, 2026-05-04" in out
    assert "  E hybrid: not part of sweep 2" in out
    assert "E dense" in out


def test_markdown_and_json_say_the_same(told):
    assert told("1", "2", "--at", "4", "--format", "markdown")[1].startswith("## Sweep 1 against sweep 2 at R@4\n")
    code, out, _ = told("1", "2", "--format", "json")
    data = json.loads(out)
    assert (code, data["a"], data["claim"], data["k"]) == (0, "sweep 1", "all", 20)
    assert [one["combination"] for one in data["combinations"]] == list(KEYS[:4])
    assert {one["reading"] for one in data["combinations"]} == {"same"}
    assert data["combinations"][2]["combination"] == DENSE_E


def test_a_baseline_file_is_called_by_its_own_name(told, folder, tmp_path, capsys):
    file = tmp_path / "baseline.json"
    typed(capsys, "gate", "1", "--project", folder, "--save-baseline", file)
    assert "baseline.json against sweep 2 at R@20" in told(str(file), "2")[1].splitlines()


def test_another_hit_rule_cannot_be_judged(told):
    code, out, _ = told("1", "other")
    assert code == 3
    assert "may not be compared: the hit rule changed" in out
    assert "R@20 of each side on its own questions; nothing is paired." in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("gone", "1"),
            "there is no sweep 'gone'; the store holds 3 sweeps (3, 2, 1); branches other, try, main; tags v1;",
        ),
        (("1", "99"), "there is no sweep '99'"),
        (("1", "2", "--at", "0"), "Invalid value for '--at'"),
        (("1", "2", "--at", "21"), "--at 21: the two sweeps were measured down to k = 20"),
        (("1", "2", "--threshold", "3"), "Invalid value for '--threshold'"),
        (("1",), "there is no sweep 'HEAD'"),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_2(told, arguments, words):
    code, _, error = told(*arguments)
    assert code == 2
    assert words in error
    assert "Traceback" not in error
