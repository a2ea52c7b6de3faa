"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments import measures
from experiments.reading import LoadedSweep
from experiments.stats.intervals import Proportion
from experiments.thresholds import ThresholdRow
from experiments.verdicts.gains import gains, milliseconds_of, on_gain, on_token_vectors
from experiments.verdicts.strategies import Arm
from experiments.words import NOTHING, interval
from store.tables import MeasureRow


def strategy_lines(loaded: LoadedSweep) -> Iterator[str]:
    """One line a recorded combination."""
    shown = [measures.recall(k) for k in loaded.sweep.settings["k"]] + [measures.MRR]
    names = [row.key for row in loaded.recorded]
    width = max((len(name) for name in names), default=0)
    yield ""
    yield " " * width + "".join(f"  {measure.label:<18}" for measure in shown) + "  destroyed  chunks"
    for row in loaded.recorded:
        numbers = loaded.measures.get(row.id or 0, {})
        cells = "".join(f"  {_estimate(numbers.get(measure.name)):<18}" for measure in shown)
        destroyed, chunks = numbers.get(measures.DESTROYED.name), numbers.get(measures.CHUNKS.name)
        lost = f"{destroyed.hits}/{destroyed.n}" if destroyed else NOTHING
        yield f"{row.key:<{width}}{cells}  {lost:<9}  {int(chunks.value or 0) if chunks else NOTHING:>6}"
    yield f"95 % intervals: Wilson over n = {loaded.sweep.answerable} questions; MRR by bootstrap over needles."


def gain_lines(loaded: LoadedSweep) -> Iterator[str]:
    """What second models buy and cost, a sentence each; and what token vectors take on disk."""
    settings = loaded.sweep.settings
    times = {row.key: milliseconds_of(loaded.measures.get(row.id or 0, {})) for row in loaded.recorded}
    for gain in gains(loaded.arms, times, seed=settings["seed"]):
        yield on_gain(gain, settings.get("rerank_depth"), settings["alpha"])
    yield from on_token_vectors(loaded.recorded)


def _estimate(number: MeasureRow | None) -> str:
    if number is None or number.value is None:
        return NOTHING
    return f"{number.value:.3f} {interval(number.low, number.high)}"


def threshold_lines(arm: Arm, rows: Sequence[ThresholdRow]) -> Iterator[str]:
    """One line a threshold."""
    first = rows[0]
    yield (
        f"{arm.name}: of {first.right.n} answerable questions, and of {first.bluffs.n} unanswerable "
        f"({first.bluffs_near.n} near, {first.bluffs_far.n} far)"
    )
    yield "  threshold  right  wrong  refused  |  bluff  (near, far)  95 % interval of the bluff rate"
    for row in rows:
        yield (
            f"  {row.label:>9}  {_count(row.right):>5}  {_count(row.wrong):>5}  {_count(row.refused):>7}  |  "
            f"{_count(row.bluffs):>5}  ({_count(row.bluffs_near):>4}, {_count(row.bluffs_far):>3})  "
            f"{interval(row.bluffs.low, row.bluffs.high)}"
        )


def _count(share: Proportion) -> str:
    """How many; nothing where there was nothing to count."""
    return str(share.hits) if share.n else NOTHING
