"""A recorded sweep, read once: what a page, a command or an export shows of it is computed from this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine

from experiments.naming import short_model
from experiments.outcomes import Recorded
from experiments.reviewing.question_planning import Discordance, discordance
from experiments.verdicts.gains import Gain, gains, milliseconds_of
from experiments.verdicts.strategies import Arm
from store import reads
from store.reads import OutcomeRecord
from store.tables import CombinationRow, MeasureRow, SweepRow


class UnknownSweepError(LookupError):
    """There is no such sweep in the store."""

    def __init__(self, sweep_id: object, newest: int | None) -> None:
        """Name what was asked for and what there is."""
        there = "the store is empty: make one with `bluffline run`" if newest is None else f"the newest is {newest}"
        super().__init__(f"there is no sweep {sweep_id}; {there}")


class LoadedSweep(NamedTuple):
    """A sweep with everything but its hits, in four statements."""

    sweep: SweepRow
    combinations: list[CombinationRow]
    measures: dict[int, dict[str, MeasureRow]]
    outcomes: dict[int, list[OutcomeRecord]]

    @property
    def recorded(self) -> list[CombinationRow]:
        """The combinations that have numbers."""
        return [row for row in self.combinations if row.state == "recorded"]

    @property
    def arms(self) -> list[Arm]:
        """The recorded combinations as verdicts and tests read them."""
        return [arm_of(row, self.outcomes.get(row.id or 0, []), self.sweep.settings) for row in self.recorded]

    @property
    def gains(self) -> list[Gain]:
        """What each second model buys and costs, in the order of the grid; none where the sweep has none."""
        times = {row.key: milliseconds_of(self.measures.get(row.id or 0, {})) for row in self.recorded}
        return gains(self.arms, times, seed=self.sweep.settings["seed"])


def arm_of(row: CombinationRow, outcomes: Sequence[Recorded], settings: Mapping[str, Any]) -> Arm:
    """A combination of a sweep with these settings, with its outcomes."""
    scorers = settings.get({"rerank": "rerankers", "late": "late_models"}.get(row.retriever, ""), ())
    several = ((row.model, settings.get("models", ())), (row.scorer, scorers))
    named = tuple(short_model(model) for model, known in several if model and len(known) > 1)
    return Arm(row.strategy, row.retriever, row.model, outcomes, row.scorer, named)


def load_sweep(engine: Engine, sweep_id: int) -> LoadedSweep:
    """Read a sweep.

    Raises:
        UnknownSweepError: If there is none with this id.
    """
    sweep = reads.sweep(engine, sweep_id)
    if sweep is None:
        newest = reads.latest_sweep(engine)
        raise UnknownSweepError(sweep_id, newest.id if newest else None)
    return LoadedSweep(
        sweep, reads.combinations(engine, sweep_id), reads.measures(engine, sweep_id), reads.outcomes(engine, sweep_id)
    )


def chunks_of(rows: Iterable[CombinationRow]) -> dict[str, int]:
    """Chunks of each strategy that anything is recorded of and whose chunks are known."""
    cuttings = {row.strategy: row.stamp.get("cutting") for row in rows}
    return {strategy: cutting["chunks"] for strategy, cutting in cuttings.items() if cutting}


def observed_in(engine: Engine, sweep: SweepRow | None, k: int) -> Discordance | None:
    """How often a sweep's combinations differ at a depth; None where there is no sweep, or nothing to compare in it."""
    if sweep is None:
        return None
    outcomes = reads.outcomes(engine, sweep.id or 0)
    return discordance({str(combination): one for combination, one in outcomes.items()}, k)
