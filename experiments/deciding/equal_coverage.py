"""Thresholds that can be compared: two combinations' distances are not on one scale, their coverages are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.outcomes import Recorded
from experiments.thresholds import nearest_distances

_STEPS = 2000  # a cosine distance lies from 0 to 2; thresholds are compared to three places


def at_equal_coverage(threshold: float | None, of: Sequence[Recorded], other: Sequence[Recorded]) -> float | None:
    """The threshold at which one combination answers as many questions as another does at its own.

    Args:
        threshold: Where the first combination is cut; None for no threshold.
        of: Its outcomes.
        other: The second combination's outcomes; only questions both have on record are counted.

    Returns:
        To three places; where no threshold gives the same number the one that comes nearest, the strictest of equals.
        None where there is no threshold to compare with.

    Raises:
        ValueError: If the two have no question in common.
    """
    shared = {one.query_id for one in of} & {one.query_id for one in other}
    if (of or other) and not shared:
        raise ValueError("coverages can only be compared on the same questions")
    of, other = ([one for one in side if one.query_id in shared] for side in (of, other))
    if threshold is None:
        return None
    answered = int(np.count_nonzero(nearest_distances(of) < threshold))
    cuts = np.round(np.arange(_STEPS + 1) / (_STEPS / 2), 3)
    counts = np.searchsorted(np.sort(nearest_distances(other)), cuts, side="left")
    return float(cuts[np.argmin(np.abs(counts - answered))])
