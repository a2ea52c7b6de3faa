"""Is the difference real: exact paired sign tests per query and per needle, and Holm's correction.

Strategies answer the same queries, so they are compared in pairs. Queries on which both do equally well say nothing
about the difference; what is tested is how the others, the *discordant* ones, divide.
"""

from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt
from scipy import stats

from experiments.stats.checks import FloatArray, bools, floats, groups, integer, integers, same_length


class SignTest(NamedTuple):
    """Wins and losses of one side against another on the same items.

    Attributes:
        wins: Items on which the first side does better.
        losses: Items on which the second side does better.
        ties: Items on which both do equally well.
        n: All items.
        p: Two-sided exact p-value; 1 when nothing is discordant.
    """

    wins: int
    losses: int
    ties: int
    n: int
    p: float

    @property
    def discordant(self) -> int:
        """Items on which the sides differ."""
        return self.wins + self.losses


def sign_test_p_matrix(wins: npt.ArrayLike, losses: npt.ArrayLike) -> FloatArray:
    """Return two-sided exact sign-test p-values for arrays of wins and losses.

    Under the null hypothesis a discordant item goes either way with probability 1/2. That distribution is symmetric,
    so twice the smaller tail is the exact two-sided p-value.

    Args:
        wins: Any shape. Counts, at least 0.
        losses: The same shape.

    Returns:
        The same shape, in (0, 1]; 1 where wins and losses are equal, also where both are 0.

    Raises:
        ValueError: If shapes differ, or a count is negative or not an integer.

    References:
        Dixon and Mood, "The statistical sign test", JASA 1946.
    """
    won, lost = integers("wins", wins, None), integers("losses", losses, None)
    if won.shape != lost.shape:
        raise ValueError(f"shapes differ: wins {won.shape}, losses {lost.shape}")
    tail = stats.binom.cdf(np.minimum(won, lost), won + lost, 0.5)
    p: FloatArray = np.minimum(1.0, 2.0 * np.asarray(tail, dtype=np.float64))
    return p


def sign_test_p(wins: SupportsIndex, losses: SupportsIndex) -> float:
    """Return the two-sided exact sign-test p-value of one pair of counts.

    Raises:
        ValueError: If a count is negative or not an integer.
    """
    return float(sign_test_p_matrix(integer("wins", wins), integer("losses", losses)))


def sign_test(a: npt.ArrayLike, b: npt.ArrayLike) -> SignTest:
    """Compare two sides query by query.

    Args:
        a: Shape (n_queries,). True where the first side has its hit.
        b: Shape (n_queries,). The same queries, for the second side.

    Raises:
        ValueError: If the arrays are not boolean or differ in length.
    """
    first, second = bools("a", a), bools("b", b)
    n = same_length(a=first, b=second)
    return _test(int((first & ~second).sum()), int((second & ~first).sum()), n)


def per_needle_sign_test(a: npt.ArrayLike, b: npt.ArrayLike, needles: npt.ArrayLike) -> SignTest:
    """Compare two sides needle by needle, because phrasings of one needle are not independent.

    A needle is won when the first side hits more of its phrasings than the second, lost when fewer, else tied.

    Args:
        a: Shape (n_queries,). True where the first side has its hit.
        b: Shape (n_queries,). The same queries, for the second side.
        needles: Shape (n_queries,). Label of the needle each query asks for.

    Returns:
        A test whose items are needles.

    Raises:
        ValueError: If the arrays are not boolean, differ in length, or a label is missing.
    """
    first, second = bools("a", a), bools("b", b)
    codes, count = groups("needles", needles, same_length(a=first, b=second))
    gain = first.astype(np.float64) - second.astype(np.float64)
    balance = np.bincount(codes, weights=gain, minlength=count)
    return _test(int((balance > 0).sum()), int((balance < 0).sum()), count)


def _test(wins: int, losses: int, n: int) -> SignTest:
    return SignTest(wins, losses, n - wins - losses, n, sign_test_p(wins, losses))


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return p-values adjusted for testing all of them, by Holm's step-down method.

    Rejecting where the adjusted value is at most alpha keeps the chance of any false rejection at alpha, however
    the tests depend on each other.

    Args:
        p: Shape (n_tests,). P-values in [0, 1].

    Returns:
        Shape (n_tests,), in the order given; never under p, never over 1, in the same order as p.

    Raises:
        ValueError: If a p-value is NaN or outside [0, 1].

    References:
        Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.
    """
    values = floats("p", p)
    outside = (values < 0) | (values > 1)
    if outside.any():
        raise ValueError(f"p must lie between 0 and 1, got {values[outside][0]}")
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted
