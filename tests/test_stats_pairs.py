"""The win/loss matrix against its parts, and against Holm's procedure run again with each pair's best case."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from experiments.stats.comparison import holm, per_needle_sign_test, sign_test, sign_test_p
from experiments.stats.pairs import best_share, paired_matrix
from experiments.stats.resolution import smallest_p


def _hits(seed: int, combinations: int, queries: int, spread: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((combinations, queries)) < (0.5 + spread * rng.uniform(-1, 1, size=(combinations, 1)))


@pytest.mark.parametrize("needles", [None, np.repeat(np.arange(32), 2)])
def test_every_cell_is_the_sign_test_of_its_pair(needles: np.ndarray | None) -> None:
    hits = _hits(1, 6, 64)
    matrix = paired_matrix(hits, needles=needles)
    for i, j in itertools.product(range(6), repeat=2):
        a, b = hits[i], hits[j]
        test = sign_test(a, b) if needles is None else per_needle_sign_test(a, b, needles)
        assert (matrix.wins[i, j], matrix.losses[i, j], matrix.p[i, j]) == (test.wins, test.losses, test.p)


def test_the_upper_triangle_is_the_family_that_holm_corrects() -> None:
    matrix = paired_matrix(_hits(2, 7, 64))
    upper = np.triu_indices(7, 1)
    assert matrix.holm_p[upper] == pytest.approx(multipletests(matrix.p[upper], method="holm")[1])
    assert (matrix.holm_p == matrix.holm_p.T).all()
    assert (np.diag(matrix.holm_p) == 1).all()
    assert (np.diag(matrix.p) == 1).all()
    assert not np.diag(matrix.resolvable).any()


def test_where_nothing_is_resolved_a_cell_is_judged_by_the_whole_family() -> None:
    hits = np.zeros((6, 20), dtype=bool)
    hits[0, :9] = True
    hits[1, :10] = True
    matrix = paired_matrix(hits, alpha=0.001)
    # 15 pairs: 2 * 15 * 0.5 ** d is at most 0.001 from d = 15 on.
    assert (matrix.holm_p > 0.001).all()
    assert (matrix.discordant_needed == 15).all()
    assert not matrix.resolvable.any()
    assert smallest_p(14, 15) > 0.001 >= smallest_p(15, 15)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(4, 40), st.sampled_from([0.05, 0.1]))
def test_resolvable_means_that_holm_would_resolve_the_pair_at_its_best(seed: int, k: int, n: int, alpha: float) -> None:
    matrix = paired_matrix(_hits(seed, k, n, spread=0.5), alpha)
    pairs = list(itertools.combinations(range(k), 2))
    p = np.array([matrix.p[pair] for pair in pairs])
    for place, pair in enumerate(pairs):

        def at_best(discordant: int, place: int = place) -> bool:
            best = p.copy()
            best[place] = sign_test_p(discordant, 0)
            return bool(holm(best)[place] <= alpha)

        discordant = int(matrix.wins[pair] + matrix.losses[pair])
        assert matrix.resolvable[pair] == matrix.resolvable[pair[::-1]] == at_best(discordant)
        if matrix.holm_p[pair] > alpha:
            needed = int(matrix.discordant_needed[pair])
            assert at_best(needed) and not at_best(needed - 1)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 40))
def test_a_resolved_pair_is_never_called_unresolvable(seed: int, k: int, n: int) -> None:
    matrix = paired_matrix(_hits(seed, k, n, spread=0.5))
    assert matrix.resolvable[matrix.holm_p <= 0.05].all()
    assert (matrix.wins == matrix.losses.T).all()


def test_one_combination_has_a_matrix_without_pairs() -> None:
    matrix = paired_matrix(np.ones((1, 5), dtype=bool))
    assert matrix.wins.shape == (1, 1)
    assert matrix.p.tolist() == matrix.holm_p.tolist() == [[1.0]]


def test_a_family_of_equal_combinations_is_resolved_anywhere_at_most_as_often_as_alpha_says() -> None:
    wrong = [(paired_matrix(_hits(seed, 6, 64, spread=0.0)).holm_p <= 0.05).any() for seed in range(1000)]
    assert np.mean(wrong) <= 0.05


def test_the_share_of_being_best_equals_a_loop_over_the_same_draws() -> None:
    values = np.random.default_rng(4).integers(0, 3, size=(4, 24)) / 2
    clusters = np.repeat(np.arange(12), 2)
    drawn = np.random.default_rng(9).integers(12, size=(300, 12))
    expected = np.zeros(4)
    for draw in drawn:
        means = values.reshape(4, 12, 2)[:, draw].mean(axis=(1, 2))
        best = np.isclose(means, means.max())
        expected += best / best.sum() / 300
    assert best_share(values, clusters, seed=9, resamples=300) == pytest.approx(expected)


def test_ties_for_the_best_are_split_and_the_shares_sum_to_one() -> None:
    ranks = 1.0 / np.random.default_rng(0).integers(1, 9, size=20)
    share = best_share(np.vstack([ranks, ranks, ranks - 1]), np.arange(20), seed=1)
    assert share.tolist() == [0.5, 0.5, 0.0]
    assert best_share(_hits(3, 9, 64), np.repeat(np.arange(32), 2), seed=1).sum() == pytest.approx(1.0)


def test_tables_that_cannot_be_compared_are_named() -> None:
    with pytest.raises(ValueError, match="at least one combination, got 0"):
        paired_matrix(np.zeros((0, 4), dtype=bool))
    with pytest.raises(ValueError, match="hits must be boolean, got dtype float64"):
        paired_matrix(np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"needles must have shape \(4,\), got \(3,\)"):
        paired_matrix(np.zeros((2, 4), dtype=bool), needles=[1, 2, 3])
    with pytest.raises(ValueError, match=r"got shape \(2, 0\)"):
        best_share(np.zeros((2, 0)), [], seed=0)
