"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments import measures
from experiments.provenance import document_level
from experiments.reading import LoadedSweep
from experiments.stats.intervals import Proportion
from experiments.thresholds import ThresholdRow
from experiments.verdicts.gains import on_gain, on_token_vectors
from experiments.verdicts.hit_rules import on_words
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
        lost = f"{destroyed.hits}/{destroyed.n}" if destroyed and destroyed.n else NOTHING
        yield f"{row.key:<{width}}{cells}  {lost:<9}  {int(chunks.value or 0) if chunks else NOTHING:>6}"
    unit = "questions" if document_level(loaded.sweep.hit_rule) else "needles"
    yield f"95 % intervals: Wilson over n = {loaded.sweep.answerable} questions; MRR by bootstrap over {unit}."
    said = on_words(loaded.sweep.hit_rule)
    if said:
        yield said


def secondary_lines(loaded: LoadedSweep) -> Iterator[str]:
    """NDCG and recall of judged documents, or token-level scores at the largest k; nothing where none are recorded."""
    ks = loaded.sweep.settings["k"]
    judged = document_level(loaded.sweep.hit_rule)
    shown = measures.document_measures(ks) if judged else measures.token_measures([max(ks)])
    numbers = {row.key: loaded.measures.get(row.id or 0, {}) for row in loaded.recorded}
    if not any(measure.name in each for measure in shown for each in numbers.values()):
        return
    width = max(map(len, numbers))
    yield ""
    yield " " * width + "".join(f"  {measure.label:<20}" for measure in shown)
    for key, each in numbers.items():
        yield f"{key:<{width}}" + "".join(f"  {_estimate(each.get(measure.name), 3):<20}" for measure in shown)
    counted = max((each[m.name].n for each in numbers.values() for m in shown if m.name in each), default=0)
    unit = "questions" if judged else "needles"
    yield f"Means over {counted} questions, 95 % intervals by bootstrap over {unit}."


def gain_lines(loaded: LoadedSweep) -> Iterator[str]:
    """What second models buy and cost, a sentence each; and what token vectors take on disk."""
    settings = loaded.sweep.settings
    for gain in loaded.gains:
        yield on_gain(gain, settings.get("rerank_depth"), settings["alpha"])
    yield from on_token_vectors(loaded.recorded)


def _estimate(number: MeasureRow | None, digits: int = 2) -> str:
    """A value and its interval, whose ends have so many digits."""
    if number is None or number.value is None:
        return NOTHING
    return f"{number.value:.3f} {interval(number.low, number.high, digits)}"


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
