"""ONNX weights: multiplied out to what the graph computes with, and refused where they are not a whole BERT."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import onnx_weights
from experiments.model_files import find_files
from experiments.model_specs import KNOWN_MODELS
from experiments.onnx_weights import ONNX_FILE, OnnxError, convert

QUESTION = "How many people live in Berlin?"
PASSAGES = (
    "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
    "Berlin is well known for its museums.",
)


def session(folder: Path) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(str(folder / ONNX_FILE))


def original(name: str, models: Path) -> Path:
    from experiments.wheels import place_of

    spec = next(spec for spec in KNOWN_MODELS if spec.name == name)
    assert spec.wheel is not None
    return place_of(spec.wheel, models)


@pytest.mark.model
def test_converted_scores_are_those_of_the_graph_but_for_its_rounding_of_activations(wheel_models: Path) -> None:
    from experiments.second_model_loading import find_cross_encoder

    encoder = find_cross_encoder("ms-marco-MiniLM-L12-v2-int8", wheel_models)
    tokenizer = encoder.model().tokenizer
    graph = session(original("ms-marco-MiniLM-L12-v2-int8", wheel_models))
    run = [graph.run(None, dict(tokenizer(QUESTION, passage, return_tensors="np")))[0].item() for passage in PASSAGES]
    assert run == pytest.approx([9.2, -4.1], abs=0.05)
    converted = encoder.score_pairs([(QUESTION, passage) for passage in PASSAGES])
    assert converted == pytest.approx(run, abs=0.25)


@pytest.mark.model
@pytest.mark.parametrize("name", ["bge-small-en-v1.5-int8", "answerai-colbert-small-v1-int8"])
def test_converted_token_vectors_point_where_those_of_the_graph_do(name: str, wheel_models: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    spec = next(spec for spec in KNOWN_MODELS if spec.name == name)
    folder = find_files(spec, wheel_models).folder
    encoded = AutoTokenizer.from_pretrained(str(folder))(PASSAGES[0], return_tensors="np")
    graph = session(original(name, wheel_models)).run(None, dict(encoded))[0][0]
    with torch.inference_mode():
        ours = AutoModel.from_pretrained(str(folder), add_pooling_layer=False)(
            **{key: torch.tensor(value) for key, value in encoded.items()}
        )[0][0].numpy()
    cosines = (graph * ours).sum(axis=1) / np.linalg.norm(graph, axis=1) / np.linalg.norm(ours, axis=1)
    assert cosines.min() > 0.99


@pytest.mark.model
def test_the_graph_makes_a_vector_depend_on_its_neighbours_and_the_converted_weights_do_not(wheel_models: Path) -> None:
    from experiments.models import find_model

    encoder = find_model("bge-small-en-v1.5-int8", wheel_models)
    texts = [*PASSAGES, "The norm is never negative. " * 8]
    alone = np.concatenate([encoder.encode_documents([text]).vectors for text in texts])
    together = encoder.encode_documents(texts).vectors
    assert np.abs(alone @ alone.T - together @ together.T).max() < 1e-5

    graph = session(original("bge-small-en-v1.5-int8", wheel_models))
    tokenizer = encoder.model().tokenizer

    def vectors(batch: list[str]) -> Any:
        found = graph.run(None, dict(tokenizer(batch, padding=True, return_tensors="np")))[0][:, 0]
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    graph_alone, graph_together = np.concatenate([vectors([text]) for text in texts]), vectors(texts)
    assert np.abs(graph_alone @ graph_alone.T - graph_together @ graph_together.T).max() > 1e-3


def bert(layers: int = 1) -> dict[str, Any]:
    weights = {f"encoder.layer.{layer}.{part}": np.zeros((2, 2), "f4") for layer in range(layers) for part in parts()}
    return weights | {"embeddings.word_embeddings.weight": np.zeros((4, 2), "f4")}


def parts() -> tuple[str, ...]:
    return onnx_weights._PARTS


def test_a_layer_that_lacks_a_part_is_refused_before_it_could_be_filled_with_random_numbers() -> None:
    onnx_weights._require_bert(bert(2))
    lacking = bert(2)
    del lacking["encoder.layer.1.output.dense.bias"]
    with pytest.raises(OnnxError, match=r"layer 1 of its ONNX graph lacks output\.dense\.bias"):
        onnx_weights._require_bert(lacking)
    with pytest.raises(OnnxError, match="not that of a BERT model"):
        onnx_weights._require_bert({})


def test_what_is_no_onnx_file_or_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / ONNX_FILE).write_bytes(b"\xff\xff nothing")
    with pytest.raises(OnnxError, match="cannot be read as ONNX"):
        convert(tmp_path, tmp_path.parent / "target")
    assert not (tmp_path.parent / "target").exists()
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "xlm-roberta"}))
    with pytest.raises(OnnxError, match="is not of a BERT model"):
        onnx_weights._own_configuration(tmp_path)


def test_without_onnx_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(OnnxError, match=r"pip install 'bluffline\[onnx\]'"):
        convert(tmp_path, tmp_path / "target")


def test_a_zero_point_and_a_scale_a_column_are_multiplied_out() -> None:
    raw = {
        "x_quantized": np.array([[1, 2], [3, 4]], np.int8),
        "x_zero_point": np.array([0, 1], np.int8),
        "x_scale": np.array([0.5, 2.0], np.float32),
    }
    found = onnx_weights._multiplied_out(raw, "x_quantized")
    assert found is not None
    assert found.tolist() == [[0.5, 2.0], [1.5, 6.0]]
