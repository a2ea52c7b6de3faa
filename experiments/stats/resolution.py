"""What a number of questions can resolve at all, and how many it would take.

"Not significant" hides two different things: questions that could have told two strategies apart and did not, and
questions that never could. A pair is *resolved* when its p-value is at most alpha. It is *resolvable* when it would
be resolved if every one of its discordant queries went the same way.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple, SupportsIndex

import numpy as np
from scipy import special, stats

from experiments.stats.checks import FloatArray, IntArray, closed_fraction, integer, open_fraction
from experiments.stats.comparison import sign_test_p

# Beyond this many discordant queries nobody is told to ask more questions.
MOST_DISCORDANT = 1_000_000
# Power has no short cut to where the search may start, so it gives up sooner.
MOST_FOR_POWER = 100_000
# Candidate numbers are tried this many at once.
BLOCK = 1024


class Resolution(NamedTuple):
    """Whether the discordant queries of a pair could resolve it.

    Attributes:
        resolvable: True when an all-one-way result would be resolved.
        discordant: Discordant queries the pair has.
        smallest_p: The smallest p-value, corrected for the family, that so many discordant queries can give.
        discordant_needed: The fewest discordant queries that could resolve it, if all go the same way.
    """

    resolvable: bool
    discordant: int
    smallest_p: float
    discordant_needed: int


def smallest_p(discordant: SupportsIndex, family: int = 1) -> float:
    """Return the smallest p-value that so many discordant queries can give: min(1, family * 2 * 0.5 ** discordant).

    Args:
        discordant: Queries that could go either way, at least 0.
        family: Tests corrected for (Holm's largest factor), at least 1.

    Raises:
        ValueError: If an argument is out of range.
    """
    count, tests = integer("discordant", discordant), integer("family", family, 1)
    # ldexp goes quietly to 0 for thousands of queries; a p-value may, since it only has to be under alpha.
    return min(1.0, tests * math.ldexp(2.0, -count))


def fewest_discordant(alpha: float, family: int = 1) -> int:
    """Return the fewest discordant queries with which an all-one-way result is resolved.

    Args:
        alpha: Significance level, strictly between 0 and 1.
        family: Tests corrected for, at least 1.

    Raises:
        ValueError: If an argument is out of range.
    """
    level = open_fraction("alpha", alpha)
    count = 1
    while smallest_p(count, family) > level:
        count += 1
    return count


def resolvable(n_queries: SupportsIndex, alpha: float, family: int = 1) -> bool:
    """Return whether so many queries could resolve a pair, if all of them were discordant and went one way.

    Args:
        n_queries: Queries that could go either way, at least 0.
        alpha: Significance level, strictly between 0 and 1.
        family: Tests corrected for, at least 1.

    Raises:
        ValueError: If an argument is out of range.
    """
    return smallest_p(n_queries, family) <= open_fraction("alpha", alpha)


def resolution(discordant: SupportsIndex, alpha: float, family: int = 1) -> Resolution:
    """Return whether a pair with so many discordant queries can be resolved, and what it would take.

    Args:
        discordant: Discordant queries the pair has, at least 0.
        alpha: Significance level, strictly between 0 and 1.
        family: Pairs tested together, at least 1.

    Raises:
        ValueError: If an argument is out of range.
    """
    return Resolution(
        resolvable=resolvable(discordant, alpha, family),
        discordant=integer("discordant", discordant),
        smallest_p=smallest_p(discordant, family),
        discordant_needed=fewest_discordant(alpha, family),
    )


def discordant_needed(win_share: float, alpha: float, power: float | None = None) -> int | None:
    """Return how many discordant queries it takes to resolve a pair with this share of wins.

    Without a power: the least number of discordant queries that are resolved when they divide as observed (whole
    queries on the leading side, rounded down, so never by a luckier share). With one: the least number for which
    the exact test resolves with at least that probability, if the share is the true one.

    Args:
        win_share: Share of the discordant queries that are wins, in [0, 1].
        alpha: Significance level, strictly between 0 and 1.
        power: Probability of resolving the pair, strictly between 0 and 1, or None.

    Returns:
        The number, or None when neither side leads, or when a million (100,000 where a power is asked for) would not
        be enough.

    Raises:
        ValueError: If an argument is out of range.

    References:
        Noether, "Sample size determination for some common nonparametric tests", JASA 1987 (for the power).
    """
    share, level = closed_fraction("win_share", win_share), open_fraction("alpha", alpha)
    ahead = max(share, 1.0 - share)
    if ahead == 0.5:
        return None
    if power is None:
        return _needed_at_share(ahead, level)
    return _needed_for_power(ahead, level, open_fraction("power", power))


def questions_needed(wins: SupportsIndex, losses: SupportsIndex, n: SupportsIndex, alpha: float) -> int | None:
    """Return about how many further questions would resolve a pair, if things go on as they have.

    Further questions are taken to be discordant as often, and won as often, as those asked so far.

    Args:
        wins: Queries won.
        losses: Queries lost.
        n: Queries asked, at least wins + losses.
        alpha: Significance level, strictly between 0 and 1.

    Returns:
        Further questions, 0 when the pair is resolved already, None when wins equal losses (or so nearly that a
        million discordant queries would not be enough).

    Raises:
        ValueError: If a count is negative or n is under wins + losses, or alpha is out of range.
    """
    won, lost, level = integer("wins", wins), integer("losses", losses), open_fraction("alpha", alpha)
    asked, discordant = integer("n", n), won + lost
    if asked < discordant:
        raise ValueError(f"n must be at least wins + losses = {discordant}, got {asked}")
    if won == lost:
        return None
    if sign_test_p(won, lost) <= level:
        return 0
    needed = discordant_needed(won / discordant, level)
    return None if needed is None else math.ceil(needed * asked / discordant) - asked


def questions_for_difference(
    difference: float, discordant_share: float, alpha: float, power: float, family: int = 1
) -> int | None:
    """Return about how many questions show a true difference between two combinations.

    Of the questions on which two combinations differ, a share of ``(1 + difference / discordant_share) / 2`` is then
    won by the better one. How many are discordant is itself up to chance, so the power is that of the exact sign
    test averaged over their number.

    Args:
        difference: Of the shares of questions found, above 0, at most the discordant share.
        discordant_share: Share of questions on which the two differ, in (0, 1].
        alpha: Significance level, strictly between 0 and 1.
        power: Probability of resolving the pair, strictly between 0 and 1.
        family: Tests corrected for (Holm's largest factor), at least 1.

    Returns:
        The number, or None when 100,000 discordant questions would not be enough.

    Raises:
        ValueError: If an argument is out of range, or the difference is more than they differ on.

    References:
        Connor, "Sample size for testing differences in proportions for the paired-sample design", Biometrics 1987.
    """
    share, gap = closed_fraction("discordant_share", discordant_share), closed_fraction("difference", difference)
    tests = integer("family", family, 1)
    if not 0 < gap <= share:
        raise ValueError(f"difference must be above 0 and at most discordant_share = {share:g}, got {gap:g}")
    ahead, level = (1 + gap / share) / 2, open_fraction("alpha", alpha) / tests
    needed = discordant_needed(ahead, level, power)
    if needed is None:
        return None
    # As many as are expected to give the discordant ones; the answer lies not far from there.
    about = math.ceil(needed / share)
    questions = range(about // 2, 4 * about + 8)
    return questions[bisect_left(questions, power, key=lambda n: _average_power(n, share, ahead, level))]


@lru_cache(maxsize=4096)
def _needed_at_share(ahead: float, alpha: float) -> int | None:
    """Find the least number; `ahead` is the leading side's share, over 1/2."""

    def tail(count: float) -> float:
        # P(at least ahead * count of count), continued to fractions of queries: it falls steadily with count and
        # is never over the tail of whole queries, so no answer lies below the point where it meets alpha / 2.
        return float(special.betainc(ahead * count, (1.0 - ahead) * count + 1.0, 0.5))

    low, high = 0.0, 1.0
    while tail(high) > alpha / 2:
        low, high = high, 2 * high
        if low > MOST_DISCORDANT:
            return None
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > alpha / 2 else (low, middle)
    for start in range(max(1, math.floor(low)), MOST_DISCORDANT + 1, BLOCK):
        counts = np.arange(start, start + BLOCK)
        # The small addition keeps a whole number whole that the floating-point product just misses.
        leading = np.floor(ahead * counts + 1e-7)
        resolved = 2.0 * _upper_tail(leading, counts, 0.5) <= alpha
        if resolved.any():
            return int(counts[np.argmax(resolved)])
    return None


@lru_cache(maxsize=1024)
def _needed_for_power(ahead: float, alpha: float, power: float) -> int | None:
    """Find the least number with this power; `ahead` is the leading side's true share, over 1/2."""
    for start in range(1, MOST_FOR_POWER + 1, BLOCK):
        counts = np.arange(start, start + BLOCK)
        resolving = _power(counts, ahead, alpha)
        if (resolving >= power).any():
            return int(counts[np.argmax(resolving >= power)])
    return None


def _power(counts: IntArray, ahead: float, alpha: float) -> FloatArray:
    """Probability that the exact test resolves, for numbers of discordant queries of which the leader wins `ahead`."""
    # The most losses with which the test still rejects; -1 where no result does.
    losses = stats.binom.ppf(alpha / 2, counts, 0.5)
    losses = np.where(stats.binom.cdf(losses, counts, 0.5) <= alpha / 2, losses, losses - 1)
    resolving: FloatArray = stats.binom.cdf(losses, counts, ahead) + _upper_tail(counts - losses, counts, ahead)
    return resolving


def _average_power(n: int, share: float, ahead: float, alpha: float) -> float:
    """The same for n queries, each discordant with probability `share`."""
    ends = np.asarray(stats.binom.ppf([1e-9, 1 - 1e-9], n, share))
    counts = np.arange(max(int(ends[0]), 1), int(ends[1]) + 1)
    return float(stats.binom.pmf(counts, n, share) @ _power(counts, ahead, alpha))


def _upper_tail(least: FloatArray, counts: IntArray, share: float) -> FloatArray:
    tail: FloatArray = np.asarray(stats.binom.sf(least - 1, counts, share), dtype=np.float64)
    return tail
