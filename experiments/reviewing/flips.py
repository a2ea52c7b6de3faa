"""Two sweeps on the same questions: may they be compared, what was fixed, what broke, and is the difference real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from experiments.evaluation import answerable
from experiments.outcomes import Recorded
from experiments.stats.checks import BoolArray
from experiments.stats.comparison import holm, per_needle_sign_test, sign_test_p
from experiments.stats.intervals import MeanInterval, cluster_bootstrap_mean
from experiments.stats.retrieval import success_at

F = TypeVar("F")


class Difference(NamedTuple):
    """One thing in which two sweeps differ."""

    what: str
    before: str
    after: str
    prevents: bool  # whether numbers of the two cannot be compared because of it


class Flip(NamedTuple):
    """One question whose answer appeared or was lost."""

    query_id: str
    before: int | None  # rank
    after: int | None


class Change(NamedTuple):
    """One combination, before and after, on the questions both sweeps asked."""

    key: str
    k: int
    fixed: tuple[Flip, ...]
    broken: tuple[Flip, ...]
    unchanged: int
    n: int
    p: float
    holm_p: float
    difference: MeanInterval  # of R@k, after minus before, paired, by needle
    needle_p: float


def changes(
    before: Mapping[str, Sequence[Recorded]], after: Mapping[str, Sequence[Recorded]], k: int, seed: int
) -> list[Change]:
    """Compare the combinations both sweeps have, on the answerable questions both asked.

    Args:
        before: Outcomes by combination key.
        after: The same of the later sweep.
        k: Depth.
        seed: Of the bootstrap.

    Returns:
        One change a shared combination, in the order of `after`; Holm's p over all of them.
    """
    shared = [key for key in after if key in before]
    found = [_change(key, before[key], after[key], k, seed) for key in shared]
    adjusted = holm([change.p for change in found]).tolist() if found else []
    return [change._replace(holm_p=p) for change, p in zip(found, adjusted, strict=True)]


def turned(flips: Sequence[F], was: BoolArray, now: BoolArray) -> tuple[tuple[F, ...], tuple[F, ...]]:
    """Those that have become true, and those that have ceased to be.

    Args:
        flips: What is counted.
        was: Shape (n,). Whether each was true before.
        now: The same, after.
    """
    found = list(zip(flips, was, now, strict=True))
    return tuple(flip for flip, a, b in found if b and not a), tuple(flip for flip, a, b in found if a and not b)


def _change(key: str, before: Sequence[Recorded], after: Sequence[Recorded], k: int, seed: int) -> Change:
    earlier = {(outcome.query_id, outcome.needle_id): outcome for outcome in answerable(before)}
    pairs = [
        (earlier[outcome.query_id, outcome.needle_id], outcome)
        for outcome in answerable(after)
        if (outcome.query_id, outcome.needle_id) in earlier
    ]
    was = success_at([old.rank or 0 for old, _ in pairs], k) if pairs else np.array([], bool)
    now = success_at([new.rank or 0 for _, new in pairs], k) if pairs else np.array([], bool)
    needles = [new.needle_id or "" for _, new in pairs]
    flips = [Flip(new.query_id, old.rank, new.rank) for old, new in pairs]
    fixed, broken = turned(flips, was, now)
    return Change(
        key=key,
        k=k,
        fixed=fixed,
        broken=broken,
        unchanged=len(pairs) - len(fixed) - len(broken),
        n=len(pairs),
        p=sign_test_p(len(fixed), len(broken)),
        holm_p=1.0,
        difference=cluster_bootstrap_mean(now.astype(float) - was.astype(float), needles, seed=seed),
        needle_p=per_needle_sign_test(now, was, needles).p if pairs else 1.0,
    )


def differences(
    before: Mapping[str, object], after: Mapping[str, object], prevents: Mapping[str, str], other: Sequence[str]
) -> list[Difference]:
    """What two sweeps differ in.

    Args:
        before: Facts of the earlier sweep by name.
        after: The same facts of the later one.
        prevents: Facts, by name with what people call them, that must be equal for numbers to be compared.
        other: Facts that may differ and are only named.
    """
    return [
        Difference(prevents.get(name, name), str(before.get(name, "-")), str(after.get(name, "-")), name in prevents)
        for name in (*prevents, *other)
        if before.get(name) != after.get(name)
    ]
