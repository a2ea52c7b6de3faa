"""What became of a question under a combination at a threshold, and which questions are worth opening.

An answerable question's answer is kept, or lost at one stage. An unanswerable question is rightly refused, or bluffed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from experiments.outcomes import Recorded, judges_documents, stage

Kind = Literal["kept", "refused", "below", "truncated", "destroyed", "silent", "bluff"]

KINDS: tuple[Kind, ...] = ("kept", "refused", "below", "truncated", "destroyed", "silent", "bluff")
_OF_STAGE: dict[str, Kind] = {
    "kept": "kept",
    "refused": "refused",
    "ranked below k": "below",
    "truncated": "truncated",
    "destroyed": "destroyed",
}
GOOD: frozenset[Kind] = frozenset({"kept", "silent"})


class Fate(NamedTuple):
    """One question under one combination."""

    kind: Kind
    rank: int | None  # of the needle's first chunk, None where it is not returned or there is no needle
    window: str | None = None  # whose window cut a truncated one off, where that is on record
    may_be_destroyed: bool = False  # it was not returned, and no chunk table says whether some chunk holds it whole

    @property
    def good(self) -> bool:
        """Whether the reader got what is right: the answer where there is one, a refusal where there is none."""
        return self.kind in GOOD


class Flip(NamedTuple):
    """A question whose fate turned between two sweeps."""

    before: Fate
    after: Fate

    @property
    def fixed(self) -> bool:
        """Whether it turned for the better."""
        return self.after.good


def fate(outcome: Recorded, threshold: float | None) -> Fate:
    """What became of one question.

    Args:
        outcome: Under one combination.
        threshold: The gate's cut; None for no threshold.
    """
    if outcome.needle_id is not None:
        kind = _OF_STAGE[stage(outcome, threshold)]
        return Fate(
            kind, outcome.rank, outcome.truncated_by if kind == "truncated" else None, may_be_destroyed(outcome)
        )
    answered = outcome.nearest is not None and (threshold is None or outcome.nearest < threshold)
    return Fate("bluff" if answered else "silent", None)


def may_be_destroyed(outcome: Recorded) -> bool:
    """Whether an answer that was not returned may be one that no chunk holds: a retriever of one's own did not say."""
    return outcome.rank is None and outcome.destroyed is None and not judges_documents([outcome])


def flip(before: Recorded, after: Recorded, threshold: float | None) -> Flip | None:
    """The turn a question took, None where it stayed right or stayed wrong.

    Raises:
        ValueError: If the two are not outcomes of one question about one needle.
    """
    if (before.query_id, before.needle_id) != (after.query_id, after.needle_id):
        raise ValueError(f"{before.query_id!r} and {after.query_id!r} are not the same question about the same needle")
    was, now = fate(before, threshold), fate(after, threshold)
    return Flip(was, now) if was.good != now.good else None


def lost_everywhere(fates: Sequence[Fate]) -> bool:
    """Whether the corpus answers a question and no combination keeps the answer."""
    return bool(fates) and not any(one.good or one.kind == "bluff" for one in fates)


def counts(fates: Iterable[Fate]) -> dict[Kind, int]:
    """How many of each kind, every kind named."""
    found: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    for one in fates:
        found[one.kind] += 1
    return found


def by_question(outcomes: Mapping[str, Sequence[Recorded]], threshold: float | None) -> dict[str, dict[str, Fate]]:
    """Fates by question and combination.

    Args:
        outcomes: By combination.
        threshold: The gate's cut; None for no threshold.

    Returns:
        question -> combination -> fate, combinations in the order of the mapping.
    """
    found: dict[str, dict[str, Fate]] = {}
    for key, one in outcomes.items():
        for outcome in one:
            found.setdefault(outcome.query_id, {})[key] = fate(outcome, threshold)
    return found
