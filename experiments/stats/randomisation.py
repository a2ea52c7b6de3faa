"""Is a difference of means real where the items come in clusters: a paired randomisation test."""

from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from experiments.stats.checks import floats, groups, integer

_BLOCK = 1000  # resamples at once


def paired_randomisation_p(
    differences: npt.ArrayLike, clusters: npt.ArrayLike, *, seed: SupportsIndex, resamples: SupportsIndex = 9999
) -> float:
    """Return the two-sided p-value of a mean difference, by turning whole clusters round at random.

    If the two sides were alike, either could have given either value: the differences of a cluster (the phrasings of
    a needle) would be as likely with the other sign. The p-value is the share of such turnings, the one observed
    among them, whose sum is at least as far from 0.

    Args:
        differences: Shape (n,). First side minus second, of each item.
        clusters: Shape (n,). Label of the cluster each item belongs to.
        seed: Of the turnings, at least 0.
        resamples: Number of turnings drawn, at least 1; the p-value is never under 1 / (resamples + 1).

    Returns:
        In (0, 1]; 1 where nothing differs or nothing was asked.

    Raises:
        ValueError: If lengths differ, a difference is not finite, or a setting is out of range.

    References:
        Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval
        evaluation", CIKM 2007.
        Phipson and Smyth, "Permutation p-values should never be zero", SAGMB 2010.
    """
    values = floats("differences", differences)
    draws, start = integer("resamples", resamples, 1), integer("seed", seed)
    found = groups("clusters", clusters, len(values))
    sums = np.bincount(found.codes, weights=values, minlength=found.total)
    sums = sums[np.abs(sums) > 1e-12]  # a cluster without a difference is the same either way round
    if not len(sums):
        return 1.0
    observed = abs(sums.sum()) - 1e-9  # sums of the same numbers in another order differ by their last bits
    random = np.random.default_rng(start)
    beyond, width = 0, -(-len(sums) // 8)  # random bytes a turning takes
    for done in range(0, draws, _BLOCK):
        rows = min(_BLOCK, draws - done)
        bits = np.frombuffer(random.bytes(rows * width), np.uint8).reshape(rows, width)
        signs = 1.0 - 2.0 * np.unpackbits(bits, axis=1)[:, : len(sums)]
        beyond += int((np.abs(signs @ sums) >= observed).sum())
    return (beyond + 1) / (draws + 1)
