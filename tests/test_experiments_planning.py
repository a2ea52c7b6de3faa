"""The plan: what a sweep would do, without doing any of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import QUESTIONS, WordEncoder, cannot_be_found, make_project, small_project

from experiments.models import ModelError
from experiments.planning import Wanted, planned
from experiments.runner import run_sweep
from experiments.sweep import InputError
from store.engine import open_store


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    encoder = WordEncoder()

    def find(_project: object, name: str) -> WordEncoder:
        if name.startswith("."):
            raise ModelError(cannot_be_found(name))
        return encoder

    monkeypatch.setattr("experiments.workbench.find_encoder", find)
    monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)
    return encoder


def test_the_plan_counts_what_the_sweep_then_does(tmp_path: Path, encoder: WordEncoder) -> None:
    project = small_project(tmp_path, 'models = ["words", "./gone"]\nthresholds = [0.5]\n')
    lines = list(planned(project))
    assert lines[0] == (
        "30 combinations: 6 strategies x dense, bm25, hybrid x words, ./gone; 1 threshold and none are read from each."
    )
    assert lines[1].split() == ["A", "blind", "2", "chunks,", "0", "needles", "destroyed"]
    assert lines[7].startswith("Warning: A and B have 2 chunks")
    assert lines[9] == f"./gone: {cannot_be_found('./gone')}; its combinations will fail."
    assert encoder.encoded == []
    result = run_sweep(open_store(project.store_url), project)
    assert lines[8] == f"words: {result.embedded} texts to embed, the others are cached."
    assert (result.recorded, result.failed) == (18, 12)
    assert list(planned(project))[8] == "words: 0 texts to embed, the others are cached."


def test_the_plan_says_what_these_questions_could_show(tmp_path: Path, encoder: WordEncoder) -> None:
    project = small_project(tmp_path, 'strategies = ["A", "E"]\nretrievers = ["dense"]\n')
    *_, power, seen, bound = planned(project)
    assert "With 4 answerable questions a share near one half is known to within [0.15, 0.85]" in power
    assert "resolved from 6 discordant questions that all go one way" in power
    assert seen.startswith(
        "To see a difference of 10 points in R@20 with 80 % power takes about 168 answerable questions in one planned "
        "comparison, if two combinations differ on 20 % of the questions, which is assumed: nothing is measured yet."
    )
    assert bound == (
        "To promise at most 10 % bluffs with 95 % confidence takes 29 unanswerable questions without a single bluff: "
        "28 more near ones are needed and 28 more far ones are needed. Each bluff that is seen takes more."
    )
    run_sweep(open_store(project.store_url), project)
    *_, seen, _ = planned(project, Wanted(difference=0.6))
    assert "as half of the 1 pair of this sweep do or less (on 4 questions)" in seen


def test_a_destroyed_needle_is_counted_before_anything_is_embedded(tmp_path: Path, encoder: WordEncoder) -> None:
    project = small_project(
        tmp_path,
        'strategies = ["tiny", "E"]\n',
        more='[strategies.tiny]\ncuts = "blind"\nbudget = 20\n',
    )
    lines = list(planned(project))
    assert lines[1].endswith("3 needles destroyed")
    assert lines[2].endswith("0 needles destroyed")


def test_one_destroyed_needle_is_one_needle(tmp_path: Path, encoder: WordEncoder) -> None:
    tiny = small_project(
        tmp_path,
        'strategies = ["tiny"]\n',
        more='[strategies.tiny]\ncuts = "blind"\nbudget = 20\n',
        questions=[QUESTIONS[0], QUESTIONS[-1]],
    )
    assert list(planned(tiny))[1].endswith(", 1 needle destroyed")


def test_faulty_input_has_no_plan(tmp_path: Path, encoder: WordEncoder) -> None:
    make_project(tmp_path, questions=[*QUESTIONS, QUESTIONS[0]])
    with pytest.raises(InputError, match="n1"):
        list(planned(small_project(tmp_path, questions=[*QUESTIONS, QUESTIONS[0]])))
