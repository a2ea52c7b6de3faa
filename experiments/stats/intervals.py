"""Numbers with their uncertainty: Wilson intervals, cluster bootstrap, exact one-sided bounds."""

from functools import lru_cache
from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from experiments.stats.checks import FloatArray, floats, groups, integer, open_fraction

# Resampling weights up to this many cells (32 MB) are kept for the next call with the same seed.
CACHED_CELLS = 4_000_000


class Proportion(NamedTuple):
    """A share of n trials with its interval; all but the counts are None when there were no trials.

    Attributes:
        hits: Trials that succeeded.
        n: Trials.
        low: Lower end of the interval, or None when n is 0.
        high: Upper end of the interval, or None when n is 0.
    """

    hits: int
    n: int
    low: float | None
    high: float | None

    @property
    def estimate(self) -> float | None:
        """The share itself; None when n is 0, so that nothing measured never reads as 0 %."""
        return self.hits / self.n if self.n else None


class MeanInterval(NamedTuple):
    """A mean with its cluster-bootstrap interval.

    Attributes:
        mean: Mean over all values, or None when there are none.
        low: Lower end, or None when there are fewer than two clusters: one cluster says nothing about the spread.
        high: Upper end, or None likewise.
        n: Values.
        clusters: Clusters the values fall into.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int


def wilson(hits: SupportsIndex, n: SupportsIndex, confidence: float = 0.95) -> Proportion:
    """Return a proportion with its Wilson score interval (two-sided, no continuity correction).

    Results are remembered: a page asks for the same few hundred pairs thousands of times.

    Args:
        hits: Trials that succeeded, 0 to n.
        n: Trials; 0 gives a proportion without estimate and interval.
        confidence: Confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If hits or n is not an integer of at least 0, hits exceeds n, or confidence is out of range.

    References:
        Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
        Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 2001.
    """
    successes, trials = _counts(hits, n)
    return _wilson(successes, trials, open_fraction("confidence", confidence))


@lru_cache(maxsize=65_536)
def _wilson(hits: int, n: int, confidence: float) -> Proportion:
    if n == 0:
        return Proportion(hits, n, None, None)
    interval = stats.binomtest(hits, n).proportion_ci(confidence_level=confidence, method="wilson")
    return Proportion(hits, n, float(interval.low), float(interval.high))


def cluster_bootstrap_mean(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> MeanInterval:
    """Return the mean of values that come in clusters, with a percentile interval over resampled clusters.

    Whole clusters are drawn with replacement, because two phrasings of one needle are not independent. A
    resample's mean is the sum of its values over the number of its values, so clusters may differ in size. The
    same seed gives the same draws for every set of values over as many clusters: differences are not blurred by
    different draws, and the order of the input does not matter.

    Args:
        values: Shape (n,). Numbers or booleans.
        clusters: Shape (n,). Label of the cluster each value belongs to, all strings or all integers.
        seed: Seed of the draws, at least 0.
        resamples: Number of draws, at least 1.
        confidence: Confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If lengths differ, a value is not finite, a label is missing, or a setting is out of range.

    References:
        Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
        Field and Welsh, "Bootstrapping clustered data", JRSS B 2007.
    """
    numbers = floats("values", values)
    level = open_fraction("confidence", confidence)
    n = len(numbers)
    codes, count = groups("clusters", clusters, n)
    if n == 0:
        return MeanInterval(None, None, None, 0, 0)
    mean = float(numbers.mean())
    if count < 2:
        return MeanInterval(mean, None, None, n, count)
    weights = cluster_weights(count, seed=seed, resamples=resamples)
    sums = np.bincount(codes, weights=numbers, minlength=count)
    sizes = np.bincount(codes, minlength=count).astype(np.float64)
    means = (weights @ sums) / (weights @ sizes)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return MeanInterval(mean, float(low), float(high), n, count)


def cluster_weights(count: int, *, seed: int, resamples: int) -> FloatArray:
    """Return how often each cluster is drawn in each resample.

    Args:
        count: Number of clusters, at least 1.
        seed: Seed of the draws, at least 0.
        resamples: Number of resamples, at least 1.

    Returns:
        Shape (resamples, count), read-only. Whole numbers; every row sums to count.

    Raises:
        ValueError: If an argument is out of range.
    """
    clusters, draws = integer("count", count, 1), integer("resamples", resamples, 1)
    start = integer("seed", seed)
    if clusters * draws <= CACHED_CELLS:
        return _cached_weights(clusters, start, draws)
    return _drawn_weights(clusters, start, draws)


@lru_cache(maxsize=4)
def _cached_weights(count: int, seed: int, resamples: int) -> FloatArray:
    return _drawn_weights(count, seed, resamples)


def _drawn_weights(count: int, seed: int, resamples: int) -> FloatArray:
    drawn = np.random.default_rng(seed).integers(count, size=(resamples, count))
    # Each resample gets its own range of cell numbers, so that one bincount counts all of them.
    drawn += np.arange(resamples)[:, np.newaxis] * count
    counted = np.bincount(drawn.ravel(), minlength=resamples * count)
    weights = counted.reshape(resamples, count).astype(np.float64)
    weights.setflags(write=False)
    return weights


def clopper_pearson_upper(hits: SupportsIndex, n: SupportsIndex, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a proportion.

    Args:
        hits: Trials that showed what is to be bounded, 0 to n.
        n: Trials; with none the bound is 1, since nothing has been excluded.
        confidence: One-sided confidence level, strictly between 0 and 1.

    Returns:
        The share above which so few hits would be seen with probability at most 1 - confidence; in (0, 1].

    Raises:
        ValueError: If hits or n is not an integer of at least 0, hits exceeds n, or confidence is out of range.

    References:
        Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
        Biometrika 1934.
    """
    successes, trials = _counts(hits, n)
    level = open_fraction("confidence", confidence)
    if successes == trials:
        return 1.0
    return float(special.betaincinv(successes + 1, trials - successes, level))


def questions_for_bound(target: float, confidence: float = 0.95, hits: int = 0) -> int:
    """Return the least number of questions with which `hits` hits keep the upper bound at or under the target.

    Args:
        target: Share to be certified, strictly between 0 and 1.
        confidence: One-sided confidence level, strictly between 0 and 1.
        hits: Hits that may occur among the questions.

    Raises:
        ValueError: If an argument is out of range.
    """
    share, level = open_fraction("target", target), open_fraction("confidence", confidence)
    allowed = integer("hits", hits)
    too_few, enough = allowed, 2 * (allowed + 1)
    while clopper_pearson_upper(allowed, enough, level) > share:
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if clopper_pearson_upper(allowed, middle, level) <= share:
            enough = middle
        else:
            too_few = middle
    return enough


def _counts(hits: SupportsIndex, n: SupportsIndex) -> tuple[int, int]:
    successes, trials = integer("hits", hits), integer("n", n)
    if successes > trials:
        raise ValueError(f"hits must be at most n, got {successes} of {trials}")
    return successes, trials
