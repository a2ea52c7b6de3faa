"""Retrieval measures against ir-measures, and by hand."""

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, Qrel, ScoredDoc, Success, nDCG

from experiments.stats.intervals import wilson
from experiments.stats.retrieval import mrr, ndcg_at, recall_at, reciprocal_ranks, success_at

RANKS = [1, 0, 4, 5, 20, 21]


def test_a_hit_counts_up_to_the_rank_k_and_zero_is_never_one() -> None:
    assert success_at(RANKS, 4).tolist() == [True, False, True, False, False, False]
    assert success_at(RANKS, 20).tolist() == [True, False, True, True, True, False]


def test_recall_is_the_share_of_queries_with_its_wilson_interval() -> None:
    assert recall_at(RANKS, 4) == wilson(2, 6)
    assert recall_at([0, 0], 4).estimate == 0.0


def test_no_queries_have_no_recall_and_no_reciprocal_rank() -> None:
    assert recall_at([], 4).estimate is None
    assert mrr([]) is None


def test_reciprocal_ranks_are_zero_where_nothing_was_found() -> None:
    assert reciprocal_ranks([1, 0, 4]).tolist() == [1.0, 0.0, 0.25]
    assert mrr([1, 0, 4]) == pytest.approx(1.25 / 3)


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 25))
def test_recall_grows_with_k_and_the_reciprocal_rank_lies_between(ranks: list[int], k: int) -> None:
    at_k, deeper = recall_at(ranks, k), recall_at(ranks, k + 1)
    assert at_k.hits <= deeper.hits
    first, mean, ever = recall_at(ranks, 1).estimate, mrr(ranks), recall_at(ranks, 30).estimate
    assert first is not None and mean is not None and ever is not None
    assert first - 1e-12 <= mean <= ever + 1e-12


@pytest.mark.parametrize(
    ("ranks", "k", "message"),
    [([1, -1], 4, "at least 0, got -1"), ([1.0], 4, "integers, got dtype float64"), ([1], 0, "k must be at least 1")],
)
def test_ranks_and_depths_that_cannot_be_are_named(ranks: list[int], k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recall_at(ranks, k)


def _run(gains: np.ndarray) -> list[ScoredDoc]:
    queries, depth = gains.shape
    return [ScoredDoc(str(q), f"chunk {rank}", float(depth - rank)) for q in range(queries) for rank in range(depth)]


def _qrels(gains: np.ndarray, missed: np.ndarray) -> list[Qrel]:
    judged = [Qrel(str(q), f"chunk {rank}", int(gain)) for q, row in enumerate(gains) for rank, gain in enumerate(row)]
    return judged + [
        Qrel(str(q), f"missed {i}", int(gain)) for q, row in enumerate(missed) for i, gain in enumerate(row)
    ]


@pytest.mark.parametrize("highest", [1, 3])
def test_all_measures_agree_with_ir_measures(highest: int) -> None:
    rng = np.random.default_rng(highest)
    gains = rng.integers(1, highest + 1, size=(60, 25)) * (rng.random((60, 25)) < 0.08)
    missed = rng.integers(0, highest + 1, size=(60, 3))
    missed[:, 0] = 1
    ranks = np.where(gains.any(axis=1), np.argmax(gains > 0, axis=1) + 1, 0)
    ideal = np.hstack([gains, missed])
    measures = [Success @ 1, Success @ 4, Success @ 8, RR, nDCG @ 5, nDCG @ 20]
    expected = ir_measures.calc_aggregate(measures, _qrels(gains, missed), _run(gains))
    for k in (1, 4, 8):
        assert recall_at(ranks, k).estimate == pytest.approx(expected[Success @ k])
    assert mrr(ranks) == pytest.approx(expected[RR])
    for k in (5, 20):
        assert ndcg_at(gains, ideal, k).mean() == pytest.approx(expected[nDCG @ k])


def test_a_perfect_ranking_has_ndcg_one_and_nothing_relevant_has_none() -> None:
    ndcg = ndcg_at([[3, 2, 1], [0, 0, 0], [0, 0, 1]], [[1, 2, 3, 0], [0, 0, 0, 0], [1, 0, 0, 0]], 3)
    assert ndcg[0] == 1.0
    assert np.isnan(ndcg[1])
    assert ndcg[2] == pytest.approx(1 / np.log2(4))


@pytest.mark.parametrize(
    ("gains", "ideal", "message"),
    [
        ([[1, 1]], [[1, 0]], "gains of query 0 exceed its ideal"),
        ([[-1.0]], [[1.0]], r"gains must be at least 0, got -1\.0"),
        ([[1.0]], [[1.0], [1.0]], "gains 1, ideal 2"),
        ([[float("nan")]], [[1.0]], r"gains holds nan at index \(0, 0\)"),
    ],
)
def test_gains_that_cannot_be_are_named(gains: list[list[float]], ideal: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg_at(gains, ideal, 3)
