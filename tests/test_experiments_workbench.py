"""What combinations share: models found once, caches of their own, and how much there is to embed."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import QUESTIONS, WordEncoder, cannot_be_found, small_project

from experiments.conditions import PRESETS
from experiments.models import ModelError
from experiments.retrieval import cut
from experiments.sweep import read_inputs
from experiments.workbench import Workbench

MODELS = 'models = ["one", "two", "./gone"]\n'


class NoProgress:
    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []

    def stage(self, name: str, texts: int, **_: object) -> None:
        self.stages.append((name, texts))

    def advance(self, texts: int) -> None:
        pass


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, WordEncoder]:
    encoders = {name: WordEncoder(name) for name in ("one", "two")}

    def find(_project: object, name: str) -> WordEncoder:
        if name not in encoders:
            raise ModelError(cannot_be_found(name))
        return encoders[name]

    monkeypatch.setattr("experiments.workbench.find_encoder", find)
    return encoders


def test_a_missing_model_is_known_from_the_start_with_its_reason(tmp_path: Path, asked: dict[str, WordEncoder]) -> None:
    project = small_project(tmp_path, MODELS)
    bench = Workbench(project, read_inputs(project))
    assert [bench.has(name) for name in ("one", "two", "./gone")] == [True, True, False]
    assert bench.why_missing("./gone") == cannot_be_found("./gone")
    assert bench.why_missing("one") == ""
    with pytest.raises(ModelError, match="no such folder"):
        bench.encoder("./gone")


def test_what_is_to_be_embedded_is_counted_once_a_model(tmp_path: Path, asked: dict[str, WordEncoder]) -> None:
    project = small_project(tmp_path, MODELS)
    inputs = read_inputs(project)
    bench = Workbench(project, inputs)
    cuts = [cut(inputs.documents, inputs.queries, strategy) for strategy in PRESETS[2:4]]
    texts = {text for one in cuts for text in one.texts}
    expected = len(texts) + len(QUESTIONS)
    assert bench.to_embed({"one": cuts}) == expected
    assert bench.to_embed({"one": cuts, "two": cuts, "./gone": cuts}) == 2 * expected
    progress = NoProgress()
    for one in cuts:
        bench.index(one, "one", progress)  # type: ignore[arg-type]
    assert bench.to_embed({"one": cuts, "two": cuts}) == expected
    assert bench.embedded == expected
    assert [name for name, _ in progress.stages] == ["questions", "strategy C", "strategy D"]
    assert sum(count for _, count in progress.stages) == expected


def test_two_models_never_share_a_cache(tmp_path: Path, asked: dict[str, WordEncoder]) -> None:
    project = small_project(tmp_path, MODELS)
    inputs = read_inputs(project)
    bench = Workbench(project, inputs)
    one = cut(inputs.documents, inputs.queries, PRESETS[4])
    for name in asked:
        bench.index(one, name, NoProgress())  # type: ignore[arg-type]
    assert set(asked["one"].encoded) == set(asked["two"].encoded)
    assert {file.stem for file in project.vectors.glob("*.db")} == {
        encoder.stamp.files[:16] for encoder in asked.values()
    }


def test_how_long_a_question_takes_is_measured_once_and_kept(
    tmp_path: Path, asked: dict[str, WordEncoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = small_project(tmp_path, 'models = ["one"]')
    inputs = read_inputs(project)
    first = Workbench(project, inputs).index(
        cut(inputs.documents, inputs.queries, PRESETS[0]),
        "one",
        NoProgress(),  # type: ignore[arg-type]
    )
    assert len(first.milliseconds["embed"]) == len(QUESTIONS)
    asked["one"].encoded.clear()
    again = Workbench(project, inputs).index(
        cut(inputs.documents, inputs.queries, PRESETS[0]),
        "one",
        NoProgress(),  # type: ignore[arg-type]
    )
    assert again.milliseconds["embed"] == first.milliseconds["embed"]
    assert asked["one"].encoded == []
    anew = Workbench(project, inputs, fresh=True).index(
        cut(inputs.documents, inputs.queries, PRESETS[0]),
        "one",
        NoProgress(),  # type: ignore[arg-type]
    )
    assert anew.milliseconds["embed"] != first.milliseconds["embed"]
    assert len(asked["one"].encoded) == len(QUESTIONS) + 1  # the first call warms up
