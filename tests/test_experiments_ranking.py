import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from experiments import ranking
from experiments.ranking import (
    ABSENT,
    Fusion,
    Ranking,
    dense_distances,
    distance_identity_error,
    fuse,
    rank,
    rank_matrix,
    reciprocal_rank_fusion,
)

CASES = json.loads((Path(__file__).parent / "golden" / "rrf.json").read_text(encoding="utf-8"))["cases"]
# Few distinct values, so that ties are common.
SCORES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.integers(-3, 6).map(lambda number: number / 8),
)


def unit_vectors(rng, n, dimensions=48):
    vectors = rng.normal(size=(n, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def ranking_of(*rows):
    """A ranking whose scores do not matter."""
    order = np.array(rows, dtype=np.intp)
    return Ranking(order, np.zeros(order.shape))


def test_the_highest_score_comes_first_and_ties_go_to_the_earlier_chunk():
    found = rank(np.array([[0.1, 0.9, 0.5, 0.9], [0.0, 0.0, 0.0, 0.0]]))
    assert found.order.tolist() == [[1, 3, 2, 0], [0, 1, 2, 3]]
    assert found.scores.tolist() == [[0.9, 0.9, 0.5, 0.1], [0.0] * 4]


def test_depth_keeps_the_best_and_may_exceed_the_chunks():
    scores = np.array([[0.1, 0.9, 0.5]])
    assert rank(scores, 2).order.tolist() == [[1, 2]]
    assert rank(scores, 20).order.tolist() == [[1, 2, 0]]
    assert rank(np.zeros((2, 0)), 5).order.shape == (2, 0)
    assert rank(np.zeros((0, 3))).order.shape == (0, 3)


def test_chunks_that_share_no_term_are_never_returned():
    found = rank(np.array([[0.0, 2.5, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]), 3, positive_only=True)
    assert found.order.tolist() == [[1, 3, ABSENT], [ABSENT] * 3]
    assert found.scores.tolist() == [[2.5, 1.0, -np.inf], [-np.inf] * 3]


@given(SCORES, st.integers(1, 14), st.booleans())
def test_a_ranking_is_what_sorting_by_score_and_place_gives(scores, depth, positive_only):
    found = rank(scores, depth, positive_only=positive_only)
    for row, order in zip(scores, found.order, strict=True):
        kept = [index for index in range(len(row)) if row[index] > 0 or not positive_only]
        expected = sorted(kept, key=lambda index: (-row[index], index))[:depth]
        assert order[order != ABSENT].tolist() == expected


@given(SCORES, st.randoms(use_true_random=False))
def test_the_last_bits_of_a_float_never_decide(scores, random):
    noise = np.array([[random.uniform(-1e-9, 1e-9) for _ in row] for row in scores])
    np.testing.assert_array_equal(rank(scores + noise).order, rank(scores).order)


@given(st.data())
def test_a_ranking_by_document_and_start_does_not_depend_on_the_order_of_the_input(data):
    keys = data.draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), unique=True, min_size=1))
    score = {key: data.draw(st.integers(0, 2)) / 4 for key in keys}
    shuffled = data.draw(st.permutations(keys))

    def ranked(chunks):
        chunks = sorted(chunks)  # as the chunker orders them
        dense = rank(np.array([[score[key] for key in chunks]]))
        lexical = rank(np.array([[score[key] * (key[1] % 2) for key in chunks]]), positive_only=True)
        fused = reciprocal_rank_fusion([dense, lexical], len(chunks))
        return [[chunks[i] for i in one.order[0] if i != ABSENT] for one in (dense, lexical, fused)]

    assert ranked(keys) == ranked(shuffled)
    assert ranked(keys)[0] == sorted(keys, key=lambda key: (-score[key], *key))


@pytest.mark.parametrize(
    ("scores", "depth", "named"),
    [
        (np.zeros(3), None, r"shape \(n_queries, n_chunks\), got \(3,\)"),
        (np.zeros((1, 3)), 0, "depth must be at least 1, got 0"),
        (np.array([[0.0, 1.0], [0.0, np.nan]]), None, "score of query 1 is NaN"),
    ],
)
def test_scores_that_cannot_be_ranked_are_refused(scores, depth, named):
    with pytest.raises(ValueError, match=named):
        rank(scores, depth)


def test_ranks_count_from_one_and_are_zero_where_a_chunk_was_not_returned():
    assert rank_matrix(ranking_of([2, 0, ABSENT], [1, ABSENT, ABSENT]), 4).tolist() == [[2, 0, 1, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize("case", CASES, ids=["/".join("".join(one) for one in case["lists"]) for case in CASES])
def test_the_worked_fusions_are_matched(case):
    ids = list(dict.fromkeys(one for ranked in case["lists"] for one in ranked))  # ties go to what is seen first
    longest = max(map(len, case["lists"]))
    rows = [[ids.index(one) for one in ranked] + [ABSENT] * (longest - len(ranked)) for ranked in case["lists"]]
    order = reciprocal_rank_fusion([ranking_of(row) for row in rows], len(ids)).order[0]
    assert [ids[chunk] for chunk in order if chunk != ABSENT] == case["fused"]


def test_fusion_adds_reciprocal_ranks_and_never_scores():
    dense = rank(np.array([[0.9, 0.8, 0.1]]))
    lexical = rank(np.array([[0.0, 50.0, 2.0]]), positive_only=True)
    fused = reciprocal_rank_fusion([dense, lexical], 3)
    assert fused.order.tolist() == [[1, 2, 0]]
    np.testing.assert_allclose(fused.scores, [[1 / 62 + 1 / 61, 1 / 63 + 1 / 62, 1 / 61]], rtol=1e-12)


def test_what_no_ranking_returned_is_absent_from_the_fusion():
    fused = reciprocal_rank_fusion([ranking_of([1, ABSENT]), ranking_of([3, 1])], 5)
    assert fused.order.tolist() == [[1, 3, ABSENT, ABSENT, ABSENT]]


@given(st.lists(st.permutations(range(9)).map(lambda ids: ids[:6]), min_size=1, max_size=3))
def test_fused_matrices_are_the_exact_sums_of_fractions_with_ties_by_chunk(lists):
    found = reciprocal_rank_fusion([ranking_of(one) for one in lists], 9).order[0]
    exact = dict.fromkeys(sorted(set().union(*lists)), Fraction(0))
    for one in lists:
        for place, chunk in enumerate(one, start=1):
            exact[chunk] += Fraction(1, 60 + place)
    assert found[found != ABSENT].tolist() == sorted(exact, key=lambda chunk: (-exact[chunk], chunk))


def test_neighbouring_ranks_far_down_are_still_told_apart():
    n = 20_000
    fused = reciprocal_rank_fusion([ranking_of(np.arange(n)[::-1])], n)
    assert fused.order[0].tolist() == list(range(n))[::-1]


def test_fusion_without_rankings_or_of_unequal_ones_is_refused():
    with pytest.raises(ValueError, match="nothing to fuse"):
        reciprocal_rank_fusion([], 3)
    with pytest.raises(ValueError, match=r"different numbers of queries cannot be fused: \[1, 2\]"):
        reciprocal_rank_fusion([ranking_of([0]), ranking_of([0], [0])], 3)


def test_distances_are_one_minus_cosine_and_equal_half_the_squared_distance():
    rng = np.random.default_rng(5)
    queries, chunks = unit_vectors(rng, 7), unit_vectors(rng, 40)
    found = dense_distances(queries, chunks)
    assert found.dtype == np.float64
    for i, query in enumerate(queries.astype(float)):
        for j, chunk in enumerate(chunks.astype(float)):
            cosine = query @ chunk / np.sqrt((query @ query) * (chunk @ chunk))
            assert found[i, j] == pytest.approx(1 - cosine, abs=1e-6)
            assert found[i, j] == pytest.approx(np.sum((query - chunk) ** 2) / 2, abs=1e-6)


def test_blocks_do_not_show_in_distances(monkeypatch):
    rng = np.random.default_rng(6)
    queries, chunks = unit_vectors(rng, 3), unit_vectors(rng, 50)
    whole = dense_distances(queries, chunks)
    monkeypatch.setattr(ranking, "_BLOCK_ROWS", 7)
    np.testing.assert_allclose(dense_distances(queries, chunks), whole, rtol=0, atol=1e-14)


def test_memory_mapped_vectors_give_the_same_distances(tmp_path):
    rng = np.random.default_rng(7)
    queries, chunks = unit_vectors(rng, 3), unit_vectors(rng, 50)
    np.save(tmp_path / "vectors.npy", chunks)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    np.testing.assert_array_equal(dense_distances(queries, mapped), dense_distances(queries, chunks))
    assert distance_identity_error(queries, mapped) == distance_identity_error(queries, chunks)


def test_equal_and_opposite_vectors_are_nought_and_two_apart():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [1.000005, 0.0]], dtype=np.float32)
    assert dense_distances(vectors, vectors)[0].tolist() == [0.0, 1.0, 2.0, 0.0]


@pytest.mark.parametrize("wrong", [1.0001, 0.9999, 0.0, np.nan])
def test_a_vector_that_is_not_of_norm_one_is_refused_by_its_row(monkeypatch, wrong):
    monkeypatch.setattr(ranking, "_BLOCK_ROWS", 4)
    vectors = unit_vectors(np.random.default_rng(8), 10)
    broken = vectors.copy()
    broken[6] *= wrong
    with pytest.raises(ValueError, match=r"chunk vector 6 has norm .*not 1 within 1e-05"):
        dense_distances(vectors, broken)
    with pytest.raises(ValueError, match="query vector 6 has norm"):
        dense_distances(broken, vectors)


def test_vectors_of_two_dimensionalities_are_refused_with_both_shapes():
    rng = np.random.default_rng(9)
    with pytest.raises(ValueError, match=r"queries have shape \(2, 8\), chunks \(3, 9\)"):
        dense_distances(unit_vectors(rng, 2, 8), unit_vectors(rng, 3, 9))


def test_no_chunks_or_no_queries_give_empty_distances():
    vectors = unit_vectors(np.random.default_rng(10), 3)
    assert dense_distances(vectors, vectors[:0]).shape == (3, 0)
    assert dense_distances(vectors[:0], vectors).shape == (0, 3)
    assert np.isnan(distance_identity_error(vectors, vectors[:0]))


def test_the_identity_error_is_tiny_for_unit_vectors_and_shows_a_norm_that_is_off():
    rng = np.random.default_rng(11)
    queries, chunks = unit_vectors(rng, 20), unit_vectors(rng, 600)
    assert distance_identity_error(queries, chunks) < 1e-6
    # L2^2 / 2 = (|q|^2 + |c|^2) / 2 - cos, so a norm of 1.1 is (1.21 - 1) / 2 off.
    assert distance_identity_error(queries, chunks * np.float32(1.1)) == pytest.approx(0.105, abs=1e-5)
    with pytest.raises(ValueError, match="sample must be at least 1, got 0"):
        distance_identity_error(queries, chunks, sample=0)


def test_weights_multiply_the_reciprocal_ranks():
    dense, lexical = ranking_of([0, 1, 2]), ranking_of([2, 1, ABSENT])
    equal = fuse(dense, lexical, 3, Fusion())
    assert equal.order.tolist() == reciprocal_rank_fusion([dense, lexical], 3).order.tolist() == [[2, 1, 0]]
    leaning = fuse(dense, lexical, 3, Fusion(k=10, dense=3, bm25=0.5))
    assert leaning.order.tolist() == [[1, 2, 0]]
    np.testing.assert_allclose(
        leaning.scores, [[3 / 12 + 0.5 / 12, 3 / 13 + 0.5 / 11, 3 / 11]], rtol=1e-12
    )  # fmt: skip


def test_fusion_settings_are_said_in_words_and_refused_where_they_make_no_sense():
    assert Fusion().describe() == "k = 60, equal weights"
    assert Fusion(k=10, dense=1, bm25=2.5).describe() == "k = 10, weights: dense 1, bm25 2.5"
    for one in (Fusion(), Fusion(k=10, dense=1, bm25=2.5)):
        assert Fusion.from_words(one.describe()) == one
    with pytest.raises(ValueError, match="does not describe"):
        Fusion.from_words("k = 60")
    for wrong in ({"k": -1}, {"dense": 0}, {"bm25": float("nan")}, {"k": float("inf")}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Fusion(**wrong)
    with pytest.raises(ValueError, match="2 rankings need as many weights above 0"):
        reciprocal_rank_fusion([ranking_of([0]), ranking_of([0])], 1, weights=[1.0])
