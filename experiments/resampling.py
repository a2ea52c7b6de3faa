"""Drawing questions again: how often each question of a set stands in each bootstrap resample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.outcomes import Recorded
from experiments.stats.checks import groups
from experiments.stats.intervals import cluster_weights

RESAMPLES = 2000


def question_weights(
    outcomes: Sequence[Recorded], *, seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64] | None:
    """How often each question is drawn.

    Needles are drawn whole, with all their phrasings, because two phrasings of one needle are not independent; an
    unanswerable question is drawn by itself. The two kinds are drawn apart: how many of each there are was decided
    when the questions were written, and is not left to chance.

    Args:
        outcomes: Of all questions of one combination.
        seed: Of the draws; the same seed gives every combination of the same questions the same draws.
        resamples: How many.

    Returns:
        Shape (resamples, n_questions); None where a kind that is there has fewer than two to draw from: one needle
        or one question says nothing about the spread.
    """
    weights = np.zeros((resamples, len(outcomes)))
    answerable = np.array([outcome.needle_id is not None for outcome in outcomes], bool)
    # Two kinds of equal size must not get the same draws, or their errors would move together.
    for kind, start in ((answerable, seed), (~answerable, seed + 1)):
        places = np.flatnonzero(kind)
        if len(places) == 0:
            continue
        drawn = [outcome for outcome, is_one in zip(outcomes, kind, strict=True) if is_one]
        names = [outcome.needle_id or outcome.query_id for outcome in drawn]
        codes, total = groups("needles", names, len(names))
        if total < 2:
            return None
        weights[:, places] = cluster_weights(total, seed=start, resamples=resamples)[:, codes]
    return weights
