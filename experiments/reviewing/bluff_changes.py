"""Bluffs of two sweeps: which unanswerable questions are answered now that were refused before, and the other way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.reviewing.comparing import Comparability
from experiments.reviewing.flips import turned
from experiments.reviewing.sides import Line, Side, same_distances
from experiments.stats.comparison import holm, sign_test_p
from experiments.stats.intervals import MeanInterval, Proportion, cluster_bootstrap_mean, wilson
from experiments.stats.resolution import Resolution, resolution
from store.reads_compare import RankRecord


class BluffFlip(NamedTuple):
    """One unanswerable question that changed sides of the threshold."""

    query_id: str
    before: float | None  # the nearest distance; None where nothing was returned
    after: float | None


class BluffChange(NamedTuple):
    """One combination at one threshold, before and after, on the unanswerable questions both sweeps asked."""

    key: str
    threshold: float
    new: tuple[BluffFlip, ...]  # refused before, answered now
    gone: tuple[BluffFlip, ...]
    unchanged: int
    n: int
    before: Proportion  # bluff rate
    after: Proportion
    p: float
    holm_p: float
    difference: MeanInterval  # of the bluff rate, after minus before, paired, by question
    resolution: Resolution


class BluffChanges(NamedTuple):
    """What became of the bluffs.

    Attributes:
        line: The threshold they are read at; None where there is none.
        found: The combinations that can be compared at it, in grid order.
        left_out: Why the others cannot, by key.
    """

    line: Line | None
    found: tuple[BluffChange, ...]
    left_out: Mapping[str, str]


def bluff_changes(
    may: Comparability, before: Side, after: Side, line: Line | None, *, alpha: float, seed: int
) -> BluffChanges:
    """Compare the bluffs of the combinations both sides recorded.

    A threshold that was decided on is one combination's; one that somebody gives is read for all of them. Where a
    combination's distances come from another model than before, its bluffs are not compared.

    Args:
        may: What may be claimed.
        before: The earlier side.
        after: The later one.
        line: The threshold.
        alpha: Significance level of the family of all combinations compared.
        seed: Of the bootstrap.
    """
    if line is None or not may.unanswerable:
        return BluffChanges(line, (), {})
    keys = [key for key in after.outcomes if key in before.outcomes and line.combination in (None, key)]
    left_out = dict(_not_comparable(before, after, line, keys))
    found = [_change(key, may, before.outcomes[key], after.outcomes[key], line.threshold, seed)
             for key in keys if key not in left_out]  # fmt: skip
    adjusted = holm([one.p for one in found]).tolist() if found else []
    return BluffChanges(
        line,
        tuple(
            one._replace(holm_p=p, resolution=resolution(len(one.new) + len(one.gone), alpha, len(found)))
            for one, p in zip(found, adjusted, strict=True)
        ),
        left_out,
    )


def bluffs(distance: float | None, threshold: float) -> bool:
    """Whether an unanswerable question is answered."""
    return distance is not None and distance < threshold


def _not_comparable(before: Side, after: Side, line: Line, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        then, now = before.combination(key), after.combination(key)
        old, new = ((row.stamp.get("model") or {}) if row else {} for row in (then, now))
        if not same_distances(old, new):
            yield key, "its distances come from another model than before, so that one threshold means two things"
        elif line.combination is not None and line.stamp and not same_distances(line.stamp, new):
            yield key, f"{line.words} was made on distances of another model"


def _change(
    key: str,
    may: Comparability,
    before: Sequence[RankRecord],
    after: Sequence[RankRecord],
    threshold: float,
    seed: int,
) -> BluffChange:
    earlier = {one.query_id: one.nearest for one in before}
    flips = [
        BluffFlip(one.query_id, earlier[one.query_id], one.nearest)
        for one in after
        if one.query_id in may.unanswerable and one.query_id in earlier
    ]
    flips.sort(key=lambda flip: flip.query_id)
    was = np.array([bluffs(flip.before, threshold) for flip in flips], bool)
    now = np.array([bluffs(flip.after, threshold) for flip in flips], bool)
    new, gone = turned(flips, was, now)
    return BluffChange(
        key=key,
        threshold=threshold,
        new=new,
        gone=gone,
        unchanged=len(flips) - len(new) - len(gone),
        n=len(flips),
        before=wilson(int(was.sum()), len(flips)),
        after=wilson(int(now.sum()), len(flips)),
        p=sign_test_p(len(new), len(gone)),
        holm_p=1.0,
        difference=cluster_bootstrap_mean(
            now.astype(float) - was.astype(float), [flip.query_id for flip in flips], seed=seed
        ),
        resolution=resolution(0, 0.05),
    )
