"""Exports that come back as they went out, whatever was written as a reason."""

import json
import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import question_set
from made_sweeps import SETTINGS, STAMP

from experiments.conditions import PRESETS, Strategy
from experiments.deciding.choosing import AtMost, ByHand, Choice, Way, choose
from experiments.deciding.decision_export import (
    FORMATS,
    bm25_from_words,
    config,
    export,
    strategy_from_spec,
)
from experiments.deciding.evidence import row_record
from experiments.lexical import BM25Settings
from store.tables import DecisionRow

GRID = [round(0.3 + 0.025 * step, 3) for step in range(21)]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def _side(choice: Choice, name: str) -> dict[str, Any]:
    return {"row": row_record(getattr(choice, name).row)}


BY_HAND = ByHand(0.55)


def _decision(way: Way = BY_HAND, **changes: Any) -> DecisionRow:
    choice = choose(question_set(6, needles=20, near=60, far=60), GRID, way, seed=1)
    values: dict[str, Any] = {
        "id": 4,
        "key": "k" * 32,
        "supersedes": 3,
        "created_at": datetime(2026, 5, 4, 12, 30, tzinfo=UTC),
        "who": "Ada",
        "reason": "bluffs are dear",
        "project": "handbook",
        "sweep_id": 7,
        "sweep_key": "s" * 32,
        "commit": "c0ffee",
        "branch": "main",
        "dirty": False,
        "combination": "E/hybrid/m",
        "strategy": "E",
        "strategy_spec": SETTINGS["strategies"]["E"],
        "retriever": "hybrid",
        "retriever_settings": SETTINGS["bm25"],
        "model": STAMP["name"],
        "stamp": STAMP,
        "threshold": choice.threshold,
        "gate_size": 4,
        "corpus_hash": "c" * 64,
        "questions_hash": "q" * 64,
        "hit_rule": "rule/1",
        "pipeline": "1",
        "picked_by": "hand",
        "costs": {"bluff": 10.0, "wrong": 6.0, "refusal": 1.0},
        "unanswerable_share": 0.2,
        "target": 0.2,
        "confidence": 0.95,
        "evidence": {
            "choice": {
                "method": choice.method,
                "calibration": _side(choice, "calibration"),
                "evaluation": _side(choice, "evaluation"),
            },
            "bounds": {"near": {"bluffs": 1, "n": 60, "upper": 0.08, "sentence": "..."}},
            "certification": {"near": {"threshold": 0.45}},
        },
    }
    return DecisionRow(**{**values, **changes})


@settings(deadline=None)
@given(TEXT, TEXT, TEXT, st.sampled_from(FORMATS))
def test_any_text_comes_back_as_it_was_written(who: str, reason: str, project: str, form: str) -> None:
    decision = _BASE.model_copy(update={"who": who, "reason": reason, "project": project})
    written = export(decision, form)  # type: ignore[arg-type]
    values = json.loads(written) if form == "json" else tomllib.loads(written)
    assert values == config(decision)
    assert (values["decision"]["who"], values["decision"]["why"], values["decision"]["project"]) == (
        who,
        reason,
        project,
    )


_BASE = _decision()


@pytest.mark.parametrize(
    "reason",
    [
        '"""',
        "'''",
        'a "quoted" \\ backslash',
        "[gate]\nthreshold = 2",
        "line\r\nline\rline",
        "# no comment",
        "Ελλάδα 🦉",
        "\x7f\x1b",
    ],
)
def test_a_reason_that_looks_like_toml_stays_a_reason(reason: str) -> None:
    values = tomllib.loads(export(_BASE.model_copy(update={"reason": reason}), "toml"))
    assert values["decision"]["why"] == reason
    assert values["gate"] == {"threshold": 0.55, "keep": 4, "distance": "cosine"}


def test_both_forms_say_the_same() -> None:
    assert tomllib.loads(export(_BASE, "toml")) == json.loads(export(_BASE, "json"))


def test_production_finds_everything_the_gate_needs() -> None:
    values = config(_BASE)
    assert values["strategy"] == {"name": "E", "cuts": "boundaries", "header": True, "overlap": 0, "budget": 512}
    assert values["retriever"] == {
        "name": "hybrid",
        "bm25": {"k1": 1.2, "b": 0.75, "tokeniser": "ascii"},
        "fusion": {"method": "reciprocal rank", "k": 60.0, "weights": {"dense": 1.0, "bm25": 1.0}},
    }
    assert values["model"]["weights_sha256"] == STAMP["weights"] and values["model"]["source"] == STAMP["source"]
    assert values["measured"]["corpus_sha256"] == "c" * 64
    assert values["decision"]["when"] == "2026-05-04T12:30:00+00:00"


def test_a_dense_retriever_has_no_bm25_and_no_fusion() -> None:
    dense = _decision(retriever="dense", retriever_settings=None)
    assert config(dense)["retriever"] == {"name": "dense"}
    lexical = _decision(retriever="bm25")
    assert "fusion" not in config(lexical)["retriever"]


def test_what_is_not_known_is_left_out_and_never_empty() -> None:
    text = export(_decision(commit=None, branch=None, dirty=None, supersedes=None, target=None), "toml")
    values = tomllib.loads(text)
    assert "commit" not in values["measured"] and "supersedes" not in values["decision"]
    assert "certified" not in values["bounds"]["near"]


def test_shares_carry_their_interval_and_n_and_one_without_questions_is_left_out() -> None:
    values = config(_BASE)
    assert set(values["evaluation"]["bluffs"]) == {"hits", "n", "value", "low", "high"}
    evidence = json.loads(json.dumps(_BASE.evidence))
    evidence["choice"]["evaluation"]["row"]["bluffs_far"] = {
        "hits": 0,
        "n": 0,
        "value": None,
        "low": None,
        "high": None,
    }
    assert "bluffs_far" not in config(_decision(evidence=evidence))["evaluation"]


@pytest.mark.parametrize(("threshold", "certified"), [(0.45, True), (0.425, True), (0.475, False)])
def test_a_threshold_up_to_the_certified_one_is_certified_too(threshold: float, certified: bool) -> None:
    assert config(_decision(threshold=threshold))["bounds"]["near"]["certified"] is certified


def test_a_certified_decision_exports_with_its_out_of_fold_row() -> None:
    assert config(_decision(AtMost(0.2)))["evaluation"]["method"] == "folds"


@pytest.mark.parametrize("strategy", [*PRESETS, Strategy("short", "boundaries", header=True, overlap=3, budget=90)])
def test_a_strategy_is_read_back_from_its_canonical_line(strategy: Strategy) -> None:
    assert strategy_from_spec(strategy.name, strategy.spec) == strategy


@given(
    st.decimals(0, 5, places=3).map(float),
    st.decimals(0, 1, places=3).map(float),
    st.sampled_from([("ascii", None), ("unicode", None), ("unicode", "greek")]),
)
def test_bm25_is_read_back_from_its_words(k1: float, b: float, tokens: tuple[Any, str | None]) -> None:
    bm25 = BM25Settings(k1, b, *tokens)
    assert bm25_from_words(bm25.describe()) == bm25


@pytest.mark.parametrize("text", ["", "cuts=boundaries", "cuts=boundaries;header=maybe;overlap=0;budget=1"])
def test_a_line_that_describes_no_strategy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not describe a strategy"):
        strategy_from_spec("E", text)


def test_words_that_describe_no_bm25_are_refused() -> None:
    with pytest.raises(ValueError, match="'default' does not describe BM25"):
        bm25_from_words("default")


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown form 'yaml'"):
        export(_BASE, "yaml")  # type: ignore[arg-type]
