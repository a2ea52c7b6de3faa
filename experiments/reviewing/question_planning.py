"""How many questions it takes to see a difference, given how often combinations have differed so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.evaluation import side_by_side
from experiments.outcomes import Recorded
from experiments.reviewing.question_set import POWER
from experiments.stats.pairs import paired_matrix
from experiments.stats.resolution import questions_for_difference

ASSUMED = (0.1, 0.2, 0.4)  # discordant shares, where nothing has been measured yet


class Discordance(NamedTuple):
    """On what share of the questions two combinations of a sweep differ at a depth, over all its pairs.

    Attributes:
        low: First quartile.
        median: Median.
        high: Third quartile.
        pairs: How many pairs.
        n: Answerable questions asked.
        k: Depth.
    """

    low: float
    median: float
    high: float
    pairs: int
    n: int
    k: int


class NeededRow(NamedTuple):
    """Questions needed for one difference, if pairs differ on this share of them.

    Attributes:
        what: Where the share comes from.
        discordant_share: In (0, 1].
        alone: Questions for one planned comparison; None where 100,000 discordant ones would not be enough, or the
            difference is larger than what they differ on.
        family: The same within the family of all pairs.
    """

    what: str
    discordant_share: float
    alone: int | None
    family: int | None


def discordance(outcomes: Mapping[str, Sequence[Recorded]], k: int) -> Discordance | None:
    """How often the combinations of a sweep differ; None where there are no two, or nothing was asked.

    Args:
        outcomes: By combination key.
        k: Depth at which an answer counts as found.
    """
    laid = side_by_side(list(outcomes.values()))
    if len(outcomes) < 2 or not laid.queries:
        return None
    found = (laid.ranks > 0) & (laid.ranks <= k)
    matrix = paired_matrix(found, 0.05, asked=laid.asked)
    upper = np.triu_indices(len(outcomes), 1)
    asked = matrix.n[upper]
    shares = ((matrix.wins + matrix.losses)[upper] / np.maximum(asked, 1))[asked > 0]
    if not len(shares):
        return None
    low, median, high = np.percentile(shares, [25, 50, 75]).tolist()
    return Discordance(low, median, high, len(shares), len(laid.queries), k)


def needed_rows(difference: float, observed: Discordance | None, alpha: float, pairs: int) -> list[NeededRow]:
    """What a difference takes, at the observed shares, or at assumed ones where nothing was measured.

    Args:
        difference: Of R@k, in (0, 1].
        observed: How often pairs differ.
        alpha: Significance level.
        pairs: Pairs that are tested together, at least 1.
    """
    if observed is None:
        shares = [("assumed", share) for share in ASSUMED]
    else:
        quartiles = (("first quartile", observed.low), ("median", observed.median), ("third quartile", observed.high))
        shares = [(f"{name} of {observed.pairs:,} pairs", share) for name, share in quartiles]
    return [
        NeededRow(what, share, _needed(difference, share, alpha, 1), _needed(difference, share, alpha, pairs))
        for what, share in shares
    ]


def _needed(difference: float, share: float, alpha: float, family: int) -> int | None:
    # Two that differ on fewer questions than that cannot be so far apart.
    return questions_for_difference(difference, share, alpha, POWER, family) if difference <= share else None
