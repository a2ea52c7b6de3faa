"""Reading a threshold off outcomes: one row a threshold, and how far apart right and wrong lie.

A threshold is a reading: retrieval ran once, and any number of thresholds is read from the same outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.outcomes import Recorded
from experiments.stats.intervals import Proportion, wilson
from experiments.stats.selective import threshold_counts


class Gated(Protocol):
    """What of an outcome the gate reads."""

    @property
    def needle_id(self) -> str | None: ...  # noqa: D102
    @property
    def stratum(self) -> str | None: ...  # noqa: D102
    @property
    def nearest(self) -> float | None: ...  # noqa: D102
    @property
    def needle_distance(self) -> float | None: ...  # noqa: D102


class ThresholdRow(NamedTuple):
    """What the gate does at one threshold. Every share carries its interval and n."""

    threshold: float | None  # None: no threshold, everything is answered
    right: Proportion  # answerable: answered, needle kept
    wrong: Proportion  # answerable: answered, needle not kept
    refused: Proportion  # answerable: nothing kept
    refused_could_answer: Proportion  # of the answerable: refused, though no threshold would have kept the needle
    correctly_refused: Proportion  # unanswerable: nothing kept
    bluffs: Proportion  # unanswerable: answered
    bluffs_near: Proportion
    bluffs_far: Proportion

    @property
    def label(self) -> str:
        """`0.675`, or `none`."""
        return "none" if self.threshold is None else f"{self.threshold:g}"


class Extremes(NamedTuple):
    """The two questions that show whether any threshold could get everything right."""

    worst_answerable: float | None  # largest distance of an answerable question to its needle's chunk
    worst_query: str | None
    best_unanswerable: float | None  # smallest distance of an unanswerable question to anything returned
    best_query: str | None

    @property
    def separable(self) -> bool | None:
        """Whether every needle's chunk lies nearer than whatever an unanswerable question finds; None: unknown.

        Where it is False, no threshold keeps every needle and refuses every unanswerable question.
        """
        if self.worst_answerable is None or self.best_unanswerable is None:
            return None
        return self.worst_answerable < self.best_unanswerable


def read_thresholds(outcomes: Sequence[Gated], thresholds: Sequence[float | None]) -> list[ThresholdRow]:
    """One row a threshold, in the order given.

    Args:
        outcomes: Of all questions of one combination.
        thresholds: Cosine distances; None for no threshold.
    """
    answerable = np.array([outcome.needle_id is not None for outcome in outcomes], bool)
    near = np.array([outcome.stratum == "near" for outcome in outcomes], bool)
    far = np.array([outcome.stratum == "far" for outcome in outcomes], bool)
    cuts = np.array([np.inf if threshold is None else threshold for threshold in thresholds], float)
    counts = threshold_counts(
        nearest_distances(outcomes), needle_distances(outcomes), answerable, cuts, near=near, far=far
    )
    n, unanswerable = counts.n_answerable, counts.n_unanswerable
    return [
        ThresholdRow(
            threshold,
            wilson(int(counts.answered_right[row]), n),
            wilson(int(counts.answered_wrong[row]), n),
            wilson(int(counts.refused[row]), n),
            wilson(int(counts.refused_could_answer[row]), n),
            wilson(int(counts.correctly_refused[row]), unanswerable),
            wilson(int(counts.bluffs[row]), unanswerable),
            wilson(int(counts.near_bluffs[row]), counts.n_near),
            wilson(int(counts.far_bluffs[row]), counts.n_far),
        )
        for row, threshold in enumerate(thresholds)
    ]


def nearest_distances(outcomes: Sequence[Gated]) -> NDArray[np.float64]:
    """Distance below which each question is answered, shape (n,); inf where nothing was returned."""
    return np.array([np.inf if outcome.nearest is None else outcome.nearest for outcome in outcomes], float)


def needle_distances(outcomes: Sequence[Gated]) -> NDArray[np.float64]:
    """Distance below which each question's needle is kept, shape (n,); inf where the gate never sees it."""
    return np.array(
        [np.inf if outcome.needle_distance is None else outcome.needle_distance for outcome in outcomes], float
    )


def extremes(outcomes: Sequence[Recorded]) -> Extremes:
    """The answerable question farthest from its answer and the unanswerable one nearest to anything."""
    to_needle = [
        (outcome.chunk_distance, outcome.query_id) for outcome in outcomes if outcome.chunk_distance is not None
    ]
    to_anything = [
        (outcome.nearest, outcome.query_id)
        for outcome in outcomes
        if outcome.needle_id is None and outcome.nearest is not None
    ]
    worst = max(to_needle, key=lambda pair: (pair[0], pair[1])) if to_needle else (None, None)
    best = min(to_anything) if to_anything else (None, None)
    return Extremes(*worst, *best)
