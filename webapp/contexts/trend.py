"""A number across commits: the figure, the table behind it, and what can be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.measures import AT_THRESHOLD, Measure, registry
from experiments.naming import names_of, parts_of
from experiments.provenance import document_level
from experiments.reviewing.readings import SHARES
from experiments.reviewing.trends import TrendPoint
from experiments.verdicts.overview import on_trend, written_with_interval
from store.tables import SweepRow
from webapp.contexts.trend_figure import spec
from webapp.exports import Column, Table

BEST = "best"
UNJOINED = "Points without a line between them were not measured on the same documents and questions."
ONE_SCALE = "A threshold is a distance on one combination's scale: choose a combination to read this number at one."

COLUMNS = (
    Column("sweep", "Sweep"),
    Column("commit", "Commit", description="What was measured; - outside a git repository."),
    Column("branch", "Branch"),
    Column("dirty", "Uncommitted", description="Whether there were uncommitted changes."),
    Column("measured_at", "Measured", "UTC"),
    Column("combination", "Combination"),
    Column("threshold", "Threshold", "cosine distance", "Empty where the number is not read at one."),
    Column("value", "Value"),
    Column("low", "Low", description="Lower end of the 95 % interval."),
    Column("high", "High", description="Upper end of the 95 % interval."),
    Column("n", "n", description="What the number rests on."),
    Column(
        "changed", "Changed", description="What differs from the row of the sweep before, so that no line joins them."
    ),
)


class TrendChoice(NamedTuple):
    """What of a history is shown."""

    measure: Measure
    key: str | None  # a combination; None: the best of each sweep
    branch: str  # empty: all
    threshold: float | None = None  # that the number is read at, where it is one of those; None: no threshold
    decided: float | None = None  # in force for the combination
    typed: str = ""  # what was asked for

    @property
    def at_threshold(self) -> bool:
        """Whether the number exists only once a threshold is fixed."""
        return self.measure.name in SHARES


class TrendRow(NamedTuple):
    """One row of the table."""

    point: TrendPoint
    name: str
    value: str
    url: str


class Trend(NamedTuple):
    """A number across commits."""

    title: str
    sentence: str
    caution: str
    spec: dict[str, Any]
    rows: tuple[TrendRow, ...]
    measures: tuple[tuple[str, str], ...]
    combinations: tuple[tuple[str, str], ...]
    branches: tuple[tuple[str, str], ...]
    measure: str
    combination: str
    branch: str
    at_threshold: bool
    typed: str
    placeholder: str  # the threshold where none is typed


def measures_of(sweeps: Sequence[SweepRow]) -> dict[str, Measure]:
    """Every measure the sweeps can have, by name, and what can be read of them at a threshold."""
    ks = sorted({int(k) for sweep in sweeps for k in sweep.settings.get("k", ())})
    recorded = registry(ks or [20], documents=any(document_level(sweep.hit_rule) for sweep in sweeps))
    return recorded | {measure.name: measure for measure in AT_THRESHOLD.values()}


def build(
    points: Sequence[TrendPoint],
    choice: TrendChoice,
    sweeps: Sequence[SweepRow],
    keys: Sequence[str],
    urls: Mapping[int, str],
) -> Trend:
    """Figure, table and selects.

    Args:
        points: Oldest first.
        choice: What they are.
        sweeps: All that are shown, for what can be chosen.
        keys: Combinations that can be chosen.
        urls: Where each sweep's page is.
    """
    names = names_of([*keys, *([choice.key] if choice.key else []), *(point.key for point in points)])
    name = names[choice.key] if choice.key else "the best combination"
    branches = dict.fromkeys(sweep.branch for sweep in sweeps if sweep.branch)
    return Trend(
        title=f"{choice.measure.label} of {name}",
        sentence=ONE_SCALE if _unreadable(choice) else on_trend(points, choice.measure, name),
        caution=_caution(choice),
        spec=spec(points, choice.measure, names, urls),
        rows=tuple(_row(point, choice.measure, names[point.key], urls) for point in reversed(points)),
        measures=tuple((one.name, _offered(one)) for one in measures_of(sweeps).values()),
        combinations=((BEST, "best of each sweep"), *sorted(names.items(), key=lambda pair: parts_of(pair[0]))),
        branches=(("", "all"), *((branch, branch) for branch in branches)),
        measure=choice.measure.name,
        combination=choice.key or BEST,
        branch=choice.branch,
        at_threshold=choice.at_threshold,
        typed=choice.typed,
        placeholder="none" if choice.decided is None else f"{choice.decided:g}",
    )


def table(points: Sequence[TrendPoint], choice: TrendChoice) -> Table:
    """The table as data, newest first."""
    return Table(
        f"trend-{choice.measure.name}",
        COLUMNS,
        tuple(
            (
                point.sweep_id, point.commit, point.branch, point.dirty,
                point.created_at.isoformat(timespec="seconds"), point.key, _label(choice), point.value, point.low,
                point.high, point.n, ", ".join(point.changed) or None,
            )
            for point in reversed(points)
        ),
    )  # fmt: skip


def _unreadable(choice: TrendChoice) -> bool:
    return choice.at_threshold and choice.key is None


def _offered(measure: Measure) -> str:
    return f"{measure.label}, at a threshold" if measure.name in SHARES else measure.label


def _label(choice: TrendChoice) -> str | None:
    if not choice.at_threshold:
        return None
    return "none" if choice.threshold is None else f"{choice.threshold:g}"


def _caution(choice: TrendChoice) -> str:
    if choice.at_threshold:
        return _on_threshold(choice)
    if choice.key is None:
        return (
            "The best of many is picked after the fact, so its number flatters, and another combination may lead in "
            "each sweep. Choose one combination to follow it."
        )
    return UNJOINED


def _on_threshold(choice: TrendChoice) -> str:
    """Which threshold it is, and what it is not."""
    if choice.typed:
        which = "The threshold was chosen here, by hand"
    elif choice.decided is not None:
        which = "The threshold is that of the decision in force, whatever was in force at each commit"
    else:
        which = "No threshold is decided for this combination, so everything is answered"
    return f"{which}. {UNJOINED}"


def _row(point: TrendPoint, measure: Measure, name: str, urls: Mapping[int, str]) -> TrendRow:
    value = written_with_interval(measure, point.value, point.low, point.high, point.n)
    return TrendRow(point, name, value, urls[point.sweep_id])
