"""Settings: the grid they span and what stands when nothing is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.faults import Fault
from experiments.models import DEFAULT_LATE_MODEL, DEFAULT_MODEL, DEFAULT_RERANKER
from experiments.project import ProjectError, open_project
from experiments.ranking import Fusion
from experiments.settings import Settings, _thresholds
from experiments.toml_tables import Table, line_of


def test_the_defaults_are_the_full_grid() -> None:
    plain = Settings()
    assert len(plain.combinations) == 18
    assert len(plain.thresholds) == 21
    assert {0.3, 0.525, 0.675, 0.8} <= set(plain.thresholds)
    assert plain.gate_model == DEFAULT_MODEL


def test_two_models_double_all_but_bm25() -> None:
    two = Settings(models=("a", "b"))
    assert len(two.combinations) == 6 * (2 + 1 + 2)
    assert two.gate_model == "a"


def test_reranking_is_chosen_and_then_stands_once_a_model_and_cross_encoder() -> None:
    plain = Settings(retrievers=("rerank", "late"))
    assert len(plain.combinations) == 12
    assert plain.rerank_depth == 25
    assert {one.scorer for one in plain.combinations} == {DEFAULT_RERANKER, DEFAULT_LATE_MODEL}


@given(st.integers(1, 1900), st.integers(1, 100), st.integers(0, 40))
def test_a_table_of_thresholds_hits_its_decimals_exactly(start: int, step: int, count: int) -> None:
    stop = start + step * count
    if stop > 2000:
        return
    faults: list[Fault] = []
    values: Any = {"from": start / 1000, "to": stop / 1000, "step": step / 1000}
    table = Table(Path("none"), "sweep", {"thresholds": values}, faults)
    found = _thresholds(table, ())
    assert found == tuple((start + step * number) / 1000 for number in range(count + 1))
    assert [f"{value:g}" for value in found] == [f"{(start + step * n) / 1000:g}" for n in range(count + 1)]


@pytest.mark.parametrize(
    ("text", "table", "key", "line"),
    [
        ("k = 1\n[a]\nk = 2\n[b]\nk = 3\n", "b", "k", 5),
        ("[a]\n# k = 1\nk = 2\n", "a", "k", 3),
        ('[a]\n"k" = 2\n', "a", "k", 2),
        ("[a]\nx = 1\n", "a", "k", 1),
        ("[strategies.s]  # mine\nbudget = 3\n", "strategies.s", "budget", 2),
        ('[strategies."s"]\nbudget = 3\n', "strategies.s", "budget", 2),
        ("a = 1\n", "a", "", 1),
        ("x = 1\n", "a", "k", None),
    ],
)
def test_a_setting_is_found_in_its_table(tmp_path: Path, text: str, table: str, key: str, line: int | None) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)
    assert line_of(file, table, key) == line


def test_fusion_weights_are_read_and_faulty_ones_named(tmp_path: Path) -> None:
    file = tmp_path / "bluffline.toml"
    file.write_text("[hybrid]\nk = 10\nbm25 = 2.5\n", "utf-8")
    assert open_project(tmp_path).settings.fusion == Fusion(k=10, bm25=2.5)
    file.write_text("[hybrid]\ndense = 0\nweight = 2\n", "utf-8")
    with pytest.raises(ProjectError) as told:
        open_project(tmp_path)
    assert [fault.line for fault in told.value.faults] == [3, 1]
    assert "dense is 0.0, must be above 0" in str(told.value)


def test_the_example_of_a_deep_grid_is_a_project_of_two_models_five_retrievers_and_six_presets(tmp_path: Path) -> None:
    text = (Path(__file__).parent.parent / "docs" / "examples" / "depth.toml").read_text("utf-8")
    (tmp_path / "bluffline.toml").write_text(text)
    settings = open_project(tmp_path).settings
    assert len(settings.combinations) == 6 * (2 + 1 + 2 + 2 + 1)
    assert {one.scorer for one in settings.combinations} == {None, "ms-marco-L12", "answerai-colbert"}
    specs = {spec.name: spec for spec in settings.named_models}
    assert {name: (spec.kind, spec.precision) for name, spec in specs.items()} == {
        "bge-small": ("embedding", "bf16"),
        "ms-marco-L12": ("cross-encoder", "bf16"),
        "answerai-colbert": ("late-interaction", "bf16"),
    }
    assert all("int8 re-packaging" in (spec.label or "") for spec in specs.values())
