"""The win/loss matrix of a whole sweep, and how often each combination comes out best."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.stats.checks import BoolArray, FloatArray, IntArray, bools, floats, groups, open_fraction
from experiments.stats.comparison import holm, sign_test_p_matrix
from experiments.stats.intervals import cluster_weights
from experiments.stats.resolution import fewest_discordant


class PairedMatrix(NamedTuple):
    """Every combination against every other; row against column. All arrays have shape (k, k).

    Attributes:
        wins: Items the row's combination wins; the losses of [i, j] are the wins of [j, i].
        losses: Items it loses.
        p: Two-sided exact p-values, symmetric, 1 on the diagonal.
        holm_p: The same, adjusted for the family of all pairs (the upper triangle), symmetric, 1 on the diagonal.
        resolvable: False where the pair cannot be resolved with these questions: its Holm p would stay over alpha
            even if all its discordant items went one way, the other pairs staying as they are.
        discordant_needed: The fewest discordant items that could resolve the pair, if all went one way.
        n: Items both were asked.
    """

    wins: IntArray
    losses: IntArray
    p: FloatArray
    holm_p: FloatArray
    resolvable: BoolArray
    discordant_needed: IntArray
    n: IntArray


def paired_matrix(
    hits: npt.ArrayLike,
    alpha: float = 0.05,
    needles: npt.ArrayLike | None = None,
    asked: npt.ArrayLike | None = None,
) -> PairedMatrix:
    """Compare all combinations in pairs on the same queries.

    Whether a pair is resolvable follows Holm's own steps. With m pairs of which r are resolved, a further pair is
    resolved when its p-value is at most alpha / (m - r); so many discordant queries are needed that
    2 * 0.5 ** d reaches that. While nothing is resolved this is the bound min(1, m * 2 * 0.5 ** d), and a pair that
    is resolved is never called unresolvable.

    Args:
        hits: Shape (n_combinations, n_queries). True where the combination has its hit.
        alpha: Significance level for the whole family, strictly between 0 and 1.
        needles: Shape (n_queries,), or None. Where given, items are needles (won when a combination hits more of
            a needle's phrasings than the other), else queries.
        asked: Shape (n_combinations, n_queries), or None for all. False where a combination gave no answer at all; such
            a query counts for none of its pairs.

    Raises:
        ValueError: If the hits are not a two-dimensional boolean array, there are no combinations, labels do not
            fit, or alpha is out of range.
    """
    table, level = bools("hits", hits, 2), open_fraction("alpha", alpha)
    k = len(table)
    answered = np.ones_like(table) if asked is None else bools("asked", asked, 2)
    if answered.shape != table.shape:
        raise ValueError(f"asked has shape {answered.shape}, hits {table.shape}")
    if k == 0:
        raise ValueError("hits must hold at least one combination, got 0")
    wins = _wins(table, answered) if needles is None else _needle_wins(table, answered, needles)
    losses = wins.T.copy()
    p = sign_test_p_matrix(wins, losses)
    upper = np.triu_indices(k, 1)
    adjusted = holm(p[upper])
    holm_p = np.ones((k, k))
    holm_p[upper] = adjusted
    holm_p.T[upper] = adjusted
    # At least 1: where all pairs are resolved, the last of them was tested at alpha itself.
    remaining = max(1, len(adjusted) - int((adjusted <= level).sum()))
    needed = fewest_discordant(level, remaining)
    possible = (wins + losses >= needed) | (holm_p <= level)
    fewest = np.full((k, k), needed, dtype=np.int64)
    return PairedMatrix(wins, losses, p, holm_p, possible, fewest, _shared(answered, needles))


def _wins(hits: BoolArray, asked: BoolArray) -> IntArray:
    # Products of 0 and 1 in float64 are exact and run in BLAS; integer products would not.
    found, missed = (hits & asked).astype(np.float64), (asked & ~hits).astype(np.float64)
    return np.rint(found @ missed.T).astype(np.int64)


def _needle_wins(hits: BoolArray, asked: BoolArray, needles: npt.ArrayLike) -> IntArray:
    # Row by row: the whole comparison at once would take k * k * needles cells.
    if asked.all():
        sums = _cluster_sums(hits.astype(np.float64), needles, "needles")
        return np.stack([(row > sums).sum(axis=1) for row in sums]).astype(np.int64)
    leads = (
        _cluster_sums((row.astype(np.float64) - hits) * (answered & asked), needles, "needles")
        for row, answered in zip(hits, asked, strict=True)
    )
    return np.stack([(lead > 0).sum(axis=1) for lead in leads]).astype(np.int64)


def _shared(asked: BoolArray, needles: npt.ArrayLike | None) -> IntArray:
    """How many items each pair shares, shape (k, k)."""
    if needles is None:
        ones = asked.astype(np.float64)
        return np.rint(ones @ ones.T).astype(np.int64)
    both = (_cluster_sums((row & asked).astype(np.float64), needles, "needles") for row in asked)
    return np.stack([(shared > 0).sum(axis=1) for shared in both]).astype(np.int64)


def best_share(values: npt.ArrayLike, clusters: npt.ArrayLike, *, seed: int, resamples: int = 2000) -> FloatArray:
    """Return the share of cluster-bootstrap resamples in which each combination has the highest mean.

    This describes how firm the order is; it is not a test, and it is no probability that a combination is best.
    Combinations that tie in a resample share it equally.

    Args:
        values: Shape (n_combinations, n_queries). Hits or reciprocal ranks, higher is better.
        clusters: Shape (n_queries,). Label of the cluster each query belongs to.
        seed: Seed of the draws, at least 0.
        resamples: Number of draws, at least 1.

    Returns:
        Shape (n_combinations,), summing to 1.

    Raises:
        ValueError: If there are no combinations or no queries, a value is not finite, or labels do not fit.

    References:
        Efron and Tibshirani, "An introduction to the bootstrap", 1993.
    """
    table = floats("values", values, 2)
    if table.size == 0:
        raise ValueError(f"values must hold at least one combination and one query, got shape {table.shape}")
    sums = _cluster_sums(table, clusters, "clusters")
    # All combinations answer the same queries, so the highest sum of a resample is its highest mean.
    totals = cluster_weights(sums.shape[1], seed=seed, resamples=resamples) @ sums.T
    highest = totals.max(axis=1, keepdims=True)
    # Equal sums of fractions may differ in the last bits, depending on the order of addition.
    best = totals >= highest - 1e-9 * np.maximum(1.0, np.abs(highest))
    share: FloatArray = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return share


def _cluster_sums(values: FloatArray, labels: npt.ArrayLike, name: str) -> FloatArray:
    codes, count = groups(name, labels, values.shape[1])
    member = np.zeros((values.shape[1], count))
    member[np.arange(values.shape[1]), codes] = 1.0
    sums: FloatArray = values @ member
    return sums
