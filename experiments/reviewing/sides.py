"""One side of a comparison: a sweep with what a comparison needs of it, out of the store or out of a baseline file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.model_stamps import differs
from store import reads_compare
from store.reads_compare import RankRecord
from store.tables import CombinationRow, DecisionRow, QueryRow, SweepRow


class Line(NamedTuple):
    """A threshold that bluffs are counted at.

    Attributes:
        threshold: Cosine distance.
        combination: The one it was chosen for; None where somebody gave it for all.
        stamp: Of the model whose distances it was read from; empty where it was given.
        strata: Kinds of unanswerable questions it was to hold for.
        words: Where it comes from, such as `decision 3`.
    """

    threshold: float
    combination: str | None
    stamp: Mapping[str, object]
    strata: tuple[str, ...]
    words: str


class Side(NamedTuple):
    """A sweep as one side of a comparison.

    Attributes:
        name: `sweep 3`, or the name of the file it was read from.
        sweep: Its conditions; a row that is in no store where it comes from a file.
        combinations: In grid order, with their stamps.
        asked: The question set, in its order.
        outcomes: By the key of each recorded combination.
        line: The decision that was in force where the file was written; None out of the store.
    """

    name: str
    sweep: SweepRow
    combinations: Sequence[CombinationRow]
    asked: Sequence[QueryRow]
    outcomes: Mapping[str, Sequence[RankRecord]]
    line: Line | None = None

    @property
    def answerable(self) -> list[QueryRow]:
        """The questions that have a needle."""
        return [row for row in self.asked if row.needle_id is not None]

    def only(self, keys: Collection[str]) -> Side:
        """The same side with the outcomes of some combinations only, so that these are one family of tests."""
        return self._replace(outcomes={key: found for key, found in self.outcomes.items() if key in keys})

    def combination(self, key: str) -> CombinationRow | None:
        """A combination by its key."""
        return next((row for row in self.combinations if row.key == key), None)


def sides(engine: Engine, sweeps: Sequence[SweepRow]) -> list[Side]:
    """Read sweeps of the store, all of them in three statements."""
    ids = [sweep.id or 0 for sweep in sweeps]
    combinations = reads_compare.combinations_of(engine, ids)
    ranks = reads_compare.ranks(engine, ids)
    sets = reads_compare.question_sets(engine, [sweep.questions_hash for sweep in sweeps])
    return [
        Side(f"sweep {number}", sweep, combinations[number], sets[sweep.questions_hash], ranks[number])
        for number, sweep in zip(ids, sweeps, strict=True)
    ]


def line_of(decision: DecisionRow | None) -> Line | None:
    """The line that a decision drew."""
    if decision is None:
        return None
    strata = tuple(decision.evidence.get("strata") or ("near", "far"))
    return Line(decision.threshold, decision.combination, decision.stamp, strata, f"decision {decision.id}")


def same_distances(then: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Whether distances of two models' stamps are on one scale."""
    return not differs(then, now)
