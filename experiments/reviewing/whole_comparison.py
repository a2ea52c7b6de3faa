"""Everything that two sides say about each other; a page, a command and a gate read it alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments.naming import names_of
from experiments.reviewing import comparing
from experiments.reviewing.bluff_changes import BluffChanges, bluff_changes
from experiments.reviewing.comparing import Comparability, Compared
from experiments.reviewing.flips import Difference
from experiments.reviewing.sides import Line, Side
from experiments.stats.intervals import Proportion


class Comparison(NamedTuple):
    """Two sides compared at one depth.

    Attributes:
        before: The earlier side, or the baseline.
        after: The later one.
        may: What may be claimed of them.
        k: Depth.
        alpha: Significance level, of the later side.
        found: What each combination gained and lost.
        bluffs: What became of the bluffs.
        alone_before: R@k of each combination on all answerable questions of its own side.
        alone_after: Likewise.
        settings: What else differs and may explain it.
        missing: Combinations, by name, that only one side has numbers of, with what is known of the other.
    """

    before: Side
    after: Side
    may: Comparability
    k: int
    alpha: float
    found: Sequence[Compared]
    bluffs: BluffChanges
    alone_before: Mapping[str, Proportion]
    alone_after: Mapping[str, Proportion]
    settings: Sequence[Difference]
    missing: Sequence[tuple[str, str]]

    @property
    def names(self) -> dict[str, str]:
        """What its combinations are called."""
        return names_of([*self.after.outcomes, *self.before.outcomes])


class Move(NamedTuple):
    """One question under one combination, before and after."""

    key: str
    before: int | None  # rank
    after: int | None
    broken: bool


def moves(found: Sequence[Compared], combination: str = "") -> dict[str, list[Move]]:
    """The answerable questions that were lost or found, those lost in most combinations first.

    Args:
        found: What each combination gained and lost.
        combination: Only this one; all when empty.

    Returns:
        By question, the moves that broke it first.
    """
    moved: dict[str, list[Move]] = {}
    for one in found:
        if combination in ("", one.key):
            for broken, group in ((True, one.change.broken), (False, one.change.fixed)):
                for flip in group:
                    moved.setdefault(flip.query_id, []).append(Move(one.key, flip.before, flip.after, broken))

    def order(item: tuple[str, list[Move]]) -> tuple[int, int, str]:
        broken = sum(move.broken for move in item[1])
        return -broken, len(item[1]) - broken, item[0]

    return {query: sorted(each, key=lambda move: not move.broken) for query, each in sorted(moved.items(), key=order)}


def depths(before: Side, after: Side) -> tuple[int, ...]:
    """Depths both sides were measured at; the later one's where they share none."""
    return tuple(k for k in after.sweep.settings["k"] if k in before.sweep.settings["k"]) or tuple(
        after.sweep.settings["k"]
    )


def deepest(before: Side, after: Side) -> int:
    """The largest k that both sides were measured at; what lies further down one of them may not know."""
    return min(int(max(side.sweep.settings["k"])) for side in (before, after))


def compare(before: Side, after: Side, k: int, line: Line | None, alpha: float | None = None) -> Comparison:
    """Compare two sides.

    Args:
        before: The earlier side.
        after: The later one, whose significance level and seed count.
        k: Depth.
        line: The threshold that bluffs are read at.
        alpha: Another significance level.
    """
    settings = after.sweep.settings
    level, seed = float(settings["alpha"]) if alpha is None else alpha, int(settings["seed"])
    may = comparing.comparability(before.sweep, after.sweep, before.asked, after.asked)
    return Comparison(
        before=before,
        after=after,
        may=may,
        k=k,
        alpha=level,
        found=comparing.compared(may, before.outcomes, after.outcomes, k, alpha=level, seed=seed),
        bluffs=bluff_changes(may, before, after, line, alpha=level, seed=seed),
        alone_before=comparing.side_by_side(before.outcomes, before.asked, k),
        alone_after=comparing.side_by_side(after.outcomes, after.asked, k),
        settings=comparing.settings_differences(before.sweep, after.sweep, before.combinations, after.combinations),
        missing=_missing(before, after),
    )


def _missing(before: Side, after: Side) -> list[tuple[str, str]]:
    names = names_of([row.key for side in (before, after) for row in side.combinations])
    found = []
    for key, name in names.items():
        said: list[str] = []
        for side in (before, after):
            row = side.combination(key)
            if row is None:
                said.append(f"not part of {side.name}")
            elif row.state != "recorded":
                said.append(f"{row.state} in {side.name}" + (f": {row.reason}" if row.reason else ""))
        if said:
            found.append((name, "; ".join(said)))
    return found
