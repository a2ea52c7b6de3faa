"""Dense search for the first few: chunk for chunk the beginning of the whole float64 ranking, whatever the vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import dense_search
from experiments.dense_search import nearest
from experiments.ranking import dense_distances, rank


def unit(rng: np.random.Generator, count: int, dimensions: int) -> np.ndarray:
    vectors = rng.standard_normal((count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def same(queries: np.ndarray, chunks: np.ndarray, depth: int) -> None:
    found = nearest(queries, chunks, depth)
    wanted = rank(1 - np.round(dense_distances(queries, chunks), 6), depth)
    assert found.order.tolist() == wanted.order.tolist()
    assert found.scores.tolist() == wanted.scores.tolist()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.integers(1, 9),
    st.integers(1, 30),
    st.integers(2, 40),
)
def test_it_is_the_beginning_of_the_whole_ranking(seed, n_chunks, n_queries, depth, block):
    rng = np.random.default_rng(seed)
    chunks = unit(rng, n_chunks, 5)
    chunks[rng.integers(0, n_chunks, n_chunks // 2)] = chunks[rng.integers(0, n_chunks, n_chunks // 2)]  # ties
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_search, "_BLOCK_ROWS", block)
        patch.setattr(dense_search, "_KEPT_AT_MOST", 1)
        same(unit(rng, n_queries, 5), chunks, depth)


def test_chunks_that_differ_only_beyond_float32_are_ordered_by_float64():
    rng = np.random.default_rng(1)
    base = unit(rng, 1, 384)[0]
    near = base + rng.standard_normal((500, 384)).astype(np.float32) * 2e-4
    chunks = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    same(base[np.newaxis, :], chunks, 20)
    same(unit(rng, 3, 384), chunks, 20)


@pytest.mark.parametrize("descending", [True, False])
def test_the_order_of_the_chunks_costs_no_exactness(descending, monkeypatch):
    monkeypatch.setattr(dense_search, "_BLOCK_ROWS", 64)
    monkeypatch.setattr(dense_search, "_KEPT_AT_MOST", 2)
    rng = np.random.default_rng(2)
    queries, chunks = unit(rng, 4, 16), unit(rng, 3000, 16)
    order = np.argsort(chunks @ queries[0])
    same(queries, chunks[order[::-1] if descending else order], 25)


def test_equal_chunks_come_in_the_order_of_their_index():
    chunks = np.tile(unit(np.random.default_rng(3), 1, 8), (100, 1))
    assert nearest(chunks[:1], chunks, 7).order.tolist() == [list(range(7))]


def test_vectors_may_lie_in_a_mapped_file(tmp_path):
    rng = np.random.default_rng(4)
    mapped = np.memmap(tmp_path / "v", np.float32, "w+", shape=(200, 8))
    mapped[:] = unit(rng, 200, 8)
    same(unit(rng, 2, 8), mapped, 5)


def test_nothing_to_search_is_an_empty_ranking_and_more_depth_than_chunks_is_all_of_them():
    rng = np.random.default_rng(5)
    assert nearest(unit(rng, 2, 8), np.zeros((0, 8), np.float32), 3).order.shape == (2, 0)
    assert nearest(unit(rng, 2, 8), unit(rng, 3, 8), 10).order.shape == (2, 3)


@pytest.mark.parametrize("norm", [1.0001, 0.9999, np.nan, 0.0])
def test_a_vector_that_is_not_of_unit_length_is_named(norm, monkeypatch):
    monkeypatch.setattr(dense_search, "_BLOCK_ROWS", 10)
    rng = np.random.default_rng(6)
    chunks = unit(rng, 30, 8)
    chunks[17] *= norm
    with pytest.raises(ValueError, match="chunk vector 17 has norm"):
        nearest(unit(rng, 1, 8), chunks, 2)
    with pytest.raises(ValueError, match="query vector 0 has norm"):
        nearest(chunks[17:18], chunks[:10], 2)


def test_shapes_and_depths_that_do_not_fit_are_refused():
    rng = np.random.default_rng(7)
    with pytest.raises(ValueError, match="vectors do not fit"):
        nearest(unit(rng, 1, 8), unit(rng, 1, 9), 1)
    with pytest.raises(ValueError, match="depth must be at least 1, got 0"):
        nearest(unit(rng, 1, 8), unit(rng, 1, 8), 0)
