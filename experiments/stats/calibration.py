"""Choosing a threshold honestly: what it is chosen on, what it is reported on, and what it can promise.

A threshold chosen and reported on the same questions flatters itself. The splits here keep the two apart; the
certified bound says how often a threshold can bluff at most, with a stated confidence.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.stats.checks import BoolArray, IntArray, floats, integer, open_fraction
from experiments.stats.intervals import clopper_pearson_upper, questions_for_bound

# Nobody is asked to write more unanswerable questions than this.
MOST_QUESTIONS = 1_000_000


class Certification(NamedTuple):
    """The loosest threshold whose bluff rate is certified, or why there is none.

    Attributes:
        threshold: The certified threshold, or None where not even the strictest one could be certified.
        bluffs: Bluffs at the certified threshold, or at the strictest one where none is certified.
        n: Unanswerable questions the bound rests on.
        upper: Exact one-sided upper bound of the bluff rate at that threshold.
        target: Bluff rate that was to be certified.
        confidence: Confidence of the bound.
        questions_needed: Unanswerable questions with which the strictest threshold would be certified, if it
            bluffs as often as observed; None where one is certified, or where no number would be enough.
    """

    threshold: float | None
    bluffs: int
    n: int
    upper: float
    target: float
    confidence: float
    questions_needed: int | None

    @property
    def certified(self) -> bool:
        """Whether a threshold could be certified."""
        return self.threshold is not None


def certified_threshold(
    thresholds: npt.ArrayLike, nearest: npt.ArrayLike, target: float, confidence: float = 0.95
) -> Certification:
    """Certify "bluffs at most this share" for the loosest threshold that allows it.

    Thresholds are tested one after the other from the strictest, each with the exact one-sided Clopper-Pearson
    bound, until the first failure. Because the sequence is fixed in advance and nothing is tested after a failure,
    each test may use the whole 1 - confidence: the certified threshold bluffs more often than the target with
    probability at most 1 - confidence. That holds only for thresholds laid down before the distances were seen.

    Args:
        thresholds: Shape (n_thresholds,). Strictly ascending, so that the strictest comes first.
        nearest: Shape (n_unanswerable,). Nearest distance of each unanswerable question, infinity where nothing was
            retrieved; a bluff is a distance strictly under the threshold. Near and far are certified apart: pass
            one stratum.
        target: Bluff rate to be certified, strictly between 0 and 1.
        confidence: One-sided confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If there are no thresholds, they do not ascend, a distance is NaN, or a setting is out of range.

    References:
        Clopper and Pearson, Biometrika 1934.
        Maurer, Hothorn and Lehmacher, "Multiple comparisons in drug clinical trials and preclinical assays:
        a-priori ordered hypotheses", 1995 (the fixed sequence).
        Angelopoulos et al., "Learn then test: calibrating predictive algorithms to achieve risk control", 2021.
    """
    cuts, distances = floats("thresholds", thresholds, finite=False), floats("nearest", nearest, finite=False)
    share, level = open_fraction("target", target), open_fraction("confidence", confidence)
    if cuts.size == 0:
        raise ValueError("thresholds must hold at least one threshold, got 0")
    if not (cuts[1:] > cuts[:-1]).all():
        place = int(np.argmin(cuts[1:] > cuts[:-1]))
        raise ValueError(f"thresholds must ascend, got {cuts[place + 1]} after {cuts[place]}")
    n = distances.size
    bluffs = [int(count) for count in np.searchsorted(np.sort(distances), cuts, side="left")]
    last = -1
    while last + 1 < len(bluffs) and clopper_pearson_upper(bluffs[last + 1], n, level) <= share:
        last += 1
    shown = bluffs[max(last, 0)]
    upper = clopper_pearson_upper(shown, n, level)
    if last >= 0:
        return Certification(float(cuts[last]), shown, n, upper, share, level, None)
    rate = shown / n if n else 0.0
    return Certification(None, shown, n, upper, share, level, questions_at_rate(rate, share, level))


def questions_at_rate(rate: float, target: float, confidence: float = 0.95) -> int | None:
    """Return the least number of questions that certifies the target when the rate of bluffs stays as it is.

    Bluffs are whole, and rounded up: m questions are taken to show ceil(rate * m) of them.

    Args:
        rate: Share of questions that are bluffed, in [0, 1].
        target: Bluff rate to be certified, strictly between 0 and 1.
        confidence: One-sided confidence level, strictly between 0 and 1.

    Returns:
        The number, or None where the rate is not under the target or a million would not be enough.

    Raises:
        ValueError: If an argument is out of range.
    """
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"rate must lie between 0 and 1, got {rate!r}")
    share, level = open_fraction("target", target), open_fraction("confidence", confidence)
    if rate >= share:
        return None

    def allows(bluffs: int) -> bool:
        # With so many bluffs the bound needs questions_for_bound questions, and the rate yields no more bluffs
        # than these up to bluffs / rate questions. The slack grows with the bluffs, so once true it stays true.
        return rate * questions_for_bound(share, level, bluffs) <= bluffs + 1e-9

    low, high = -1, 0
    while not allows(high):
        low, high = high, 2 * high + 1
        if high > MOST_QUESTIONS * share:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if allows(middle) else (middle, high)
    return questions_for_bound(share, level, high)


def calibration_split(
    needle_ids: Sequence[str], seed: int, *, strata: Sequence[str] | None = None, share: float = 0.5
) -> BoolArray:
    """Split queries into calibration and evaluation by a seeded hash of what they ask for.

    All queries with the same id fall on the same side, so both phrasings of a needle stay together. Ids are put in
    the order of their hashes and cut once, within each stratum: sides are balanced, do not depend on the order of
    the input, and a new id moves at most one of the others of its stratum.

    Args:
        needle_ids: One id per query: the needle's where it has one, else the query's own.
        seed: Seed of the hash, at least 0.
        strata: One label per query, or None for a single stratum. Give unanswerable queries their near or far.
        share: Share of the ids of each stratum that go to calibration, rounded, strictly between 0 and 1.

    Returns:
        Shape (n_queries,). True for calibration, False for evaluation.

    Raises:
        ValueError: If lengths differ, an id stands in two strata, or a setting is out of range.
    """
    part = open_fraction("share", share)
    position, size = _hash_order(needle_ids, seed, strata)
    calibration: BoolArray = position < np.floor(part * size + 0.5)
    return calibration


def folds(needle_ids: Sequence[str], count: int, seed: int, *, strata: Sequence[str] | None = None) -> IntArray:
    """Divide queries into folds by a seeded hash of what they ask for, for choosing on all folds but one.

    Args:
        needle_ids: One id per query: the needle's where it has one, else the query's own.
        count: Number of folds, at least 2.
        seed: Seed of the hash, at least 0.
        strata: One label per query, or None for a single stratum.

    Returns:
        Shape (n_queries,). Fold of each query from 0 to count - 1; within a stratum the numbers of ids in two folds
        differ by at most one.

    Raises:
        ValueError: If lengths differ, an id stands in two strata, or a setting is out of range.
    """
    number = integer("count", count, 2)
    position, size = _hash_order(needle_ids, seed, strata)
    fold: IntArray = position * number // np.maximum(size, 1)
    return fold


def _hash_order(ids: Sequence[str], seed: int, strata: Sequence[str] | None) -> tuple[IntArray, IntArray]:
    """Return each query's position in its stratum's order of hashes, and how many ids that stratum has."""
    labels = [""] * len(ids) if strata is None else list(strata)
    start = integer("seed", seed)
    if len(labels) != len(ids):
        raise ValueError(f"lengths differ: needle_ids {len(ids)}, strata {len(labels)}")
    stratum_of: dict[str, str] = {}
    for name, label in zip(ids, labels, strict=True):
        if stratum_of.setdefault(name, label) != label:
            raise ValueError(f"{name!r} stands in two strata: {stratum_of[name]!r} and {label!r}")
    members: dict[str, list[str]] = {}
    # The id itself settles what no one will ever see: two ids with the same hash.
    for name in sorted(stratum_of, key=lambda name: (_hash(name, start), name)):
        members.setdefault(stratum_of[name], []).append(name)
    place = {name: position for group in members.values() for position, name in enumerate(group)}
    positions = np.array([place[name] for name in ids], dtype=np.int64)
    return positions, np.array([len(members[label]) for label in labels], dtype=np.int64)


def _hash(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{name}".encode()).digest()
