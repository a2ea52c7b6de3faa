"""The paired randomisation test: against scipy's, against enumeration, and its level."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test

from experiments.stats.randomisation import paired_randomisation_p


def exact(sums: list[float]) -> float:
    """Every turning of every cluster."""
    observed = abs(sum(sums)) - 1e-9
    turned = [
        abs(sum(sign * one for sign, one in zip(signs, sums, strict=True)))
        for signs in product([1, -1], repeat=len(sums))
    ]
    return float(np.mean([one >= observed for one in turned]))


@pytest.mark.parametrize(
    "sums",
    [[0.5, 0.2, -0.1, 0.3, 0.25, 0.4], [1.0] * 8, [0.5, -0.5, 0.25, -0.1], [0.3, 0.3, -0.2, 0.7, 0.1, 0.9, -0.05]],
)
def test_it_agrees_with_all_turnings(sums: list[float]) -> None:
    found = paired_randomisation_p(sums, list(range(len(sums))), seed=1, resamples=40_000)
    assert found == pytest.approx(exact(sums), abs=0.01)


def test_it_agrees_with_scipy_where_every_item_is_a_cluster() -> None:
    differences = np.random.default_rng(3).normal(0.15, 0.4, size=40)
    ours = paired_randomisation_p(differences, list(range(40)), seed=5)
    theirs = permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(6)
    )
    assert ours == pytest.approx(float(theirs.pvalue), abs=0.015)


def test_phrasings_of_a_needle_are_turned_together() -> None:
    differences = [0.5, 0.5, 0.2, 0.2, 0.4, 0.4, 0.3, 0.3]
    together = paired_randomisation_p(differences, list("aabbccdd"), seed=1)
    assert together == pytest.approx(2 / 16, abs=0.02)  # four clusters: only the two one-sided turnings are as far
    assert together > paired_randomisation_p(differences, list(range(8)), seed=1)


def test_nothing_that_differs_is_no_evidence() -> None:
    assert paired_randomisation_p([], [], seed=1) == 1.0
    assert paired_randomisation_p([0.0, 0.0], ["a", "b"], seed=1) == 1.0
    assert paired_randomisation_p([0.5, -0.5], ["a", "a"], seed=1) == 1.0


def test_the_smallest_p_is_one_over_all_turnings() -> None:
    assert paired_randomisation_p([1.0] * 60, list(range(60)), seed=1, resamples=999) == 1 / 1000


def test_true_nothing_is_called_real_no_more_often_than_it_may() -> None:
    random = np.random.default_rng(11)
    found = [
        paired_randomisation_p(random.normal(size=30), np.repeat(np.arange(15), 2), seed=number, resamples=199)
        for number in range(400)
    ]
    assert np.mean(np.array(found) <= 0.05) <= 0.08


def test_the_sides_may_be_swapped() -> None:
    differences = np.array([0.5, 0.2, -0.1, 0.3, 0.25])
    labels = list("abcde")
    assert paired_randomisation_p(differences, labels, seed=2) == paired_randomisation_p(-differences, labels, seed=2)
