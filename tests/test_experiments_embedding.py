"""Embedding through the cache: once a text, in its own order, whatever was there before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_project import WordEncoder

from experiments.embedding import embed, key_of, missing
from store.vectors import CachedVector, VectorCache


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors.db", WordEncoder().stamp.cache_stamp)


def ignore(_count: int) -> None:
    pass


def test_a_repeated_text_is_embedded_once_and_stands_at_each_of_its_places(cache: VectorCache) -> None:
    encoder = WordEncoder()
    counted: list[int] = []
    embedded = embed("document", ["one two", "three", "one two"], encoder, cache, counted.append)
    assert sorted(encoder.encoded) == ["one two", "three"]
    assert (embedded.computed, counted) == (2, [2])
    assert np.array_equal(embedded.vectors[0], embedded.vectors[2])
    assert embedded.tokens.tolist() == [2, 1, 2]
    assert embedded.seen.tolist() == [7, 5, 7]
    assert [starts.tolist() for starts in embedded.token_starts] == [[0, 4], [0], [0, 4]]


def test_questions_and_documents_do_not_share_vectors(cache: VectorCache) -> None:
    assert key_of("query", "x") != key_of("document", "x")
    embed("document", ["x"], WordEncoder(), cache, ignore)
    assert embed("query", ["x"], WordEncoder(), cache, ignore).computed == 1
    assert embed("query", ["x"], WordEncoder(), cache, ignore).computed == 0


def test_longer_texts_come_first_so_that_a_batch_holds_texts_of_one_length(cache: VectorCache) -> None:
    assert missing("document", ["b", "a", "ccc", "dd", "a"], cache) == ["ccc", "dd", "a", "b"]


@pytest.mark.parametrize("wrong", [1.001, 0.0, float("nan")])
def test_a_vector_that_is_not_of_unit_length_is_refused_and_not_kept(
    cache: VectorCache, monkeypatch: pytest.MonkeyPatch, wrong: float
) -> None:
    encoder = WordEncoder()
    vector = encoder._vector
    monkeypatch.setattr(encoder, "_vector", lambda text: vector(text) * np.float32(wrong))
    with pytest.raises(ValueError, match="instead of 1 for 'text'"):
        embed("document", ["text"], encoder, cache, ignore)
    assert missing("document", ["text"], cache) == ["text"]


def test_what_was_embedded_before_a_failure_is_kept(cache: VectorCache, monkeypatch: pytest.MonkeyPatch) -> None:
    put, batches = cache.put, 0

    def twice(vectors: Mapping[bytes, CachedVector]) -> None:
        nonlocal batches
        batches += 1
        if batches > 2:
            raise OSError("No space left on device")
        put(vectors)

    texts = [f"text {number}" for number in range(300)]
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(cache, "put", twice)
        embed("document", texts, WordEncoder(), cache, ignore)
    assert embed("document", texts, WordEncoder(), cache, ignore).computed == 300 - 2 * 128


def test_no_texts_are_an_empty_matrix_of_the_right_width(cache: VectorCache) -> None:
    embedded = embed("document", [], WordEncoder(), cache, ignore)
    assert embedded.vectors.shape == (0, 64)
    assert embedded.tokens.shape == embedded.seen.shape == (0,)


@settings(max_examples=25)
@given(st.lists(st.text(max_size=20), max_size=12), st.lists(st.text(max_size=20), max_size=12))
def test_vectors_are_in_the_order_of_the_texts_whatever_was_cached_before(first: list[str], then: list[str]) -> None:
    encoder = WordEncoder()
    with TemporaryDirectory() as folder:
        cache = VectorCache(Path(folder) / "v.db", encoder.stamp.cache_stamp)
        embed("document", first, encoder, cache, ignore)
        embedded = embed("document", then, encoder, cache, ignore)
    assert embedded.computed == len(set(then) - set(first))
    for vector, text in zip(embedded.vectors, then, strict=True):
        assert np.array_equal(vector, encoder._vector(text))
