"""A number across commits: the figure, the table behind it, and what can be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.measures import AT_THRESHOLD, Measure, registry
from experiments.naming import names_of, parts_of
from experiments.provenance import document_level
from experiments.reviewing.readings import SHARES
from experiments.reviewing.trends import TrendPoint, segments
from experiments.verdicts.overview import on_trend, written_with_interval
from store.tables import SweepRow
from webapp.exports import Column, Table

BEST = "best"
TICKS = 12  # labels under the figure at most
UNJOINED = "Points without a line between them were not measured on the same documents and questions."
ONE_SCALE = "A threshold is a distance on one combination's scale: choose a combination to read this number at one."
MOST_WHISKERS = 40  # points; more of them are drawn as a band, because whiskers would touch

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
        spec=_spec(points, choice.measure, names, urls),
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


def _spec(
    points: Sequence[TrendPoint], measure: Measure, names: Mapping[str, str], urls: Mapping[int, str]
) -> dict[str, Any]:
    """Sweeps in the order they were measured, evenly spaced: what counts is the order, not the hours between."""
    traces: list[dict[str, Any]] = []
    for part in segments(points):
        joined = [points[index] for index in part]
        line = _line(joined, part, measure, names, urls, 7 if len(points) <= MOST_WHISKERS else 5)
        traces += [line | _whiskers(joined)] if len(points) <= MOST_WHISKERS else [*_band(joined, part), line]
    every = max(1, -(-len(points) // TICKS))
    ticks = list(range(len(points) - 1, -1, -every))[::-1]  # the newest is always labelled
    breaks = [(index, point.changed) for index, point in enumerate(points) if point.changed]
    return {
        "data": traces,
        "layout": {
            "margin": {"t": 38 if len(breaks) > 1 else 22 if breaks else 8, "r": 30},
            "xaxis": {
                "tickvals": ticks,
                "ticktext": [_commit(points[index]) for index in ticks],
                "range": [-0.6, max(len(points), 1) - 0.4],
                "showgrid": False,
            },
            "yaxis": {"title": {"text": measure.label}, "tickformat": _tickformat(measure)},
            "shapes": [_break_line(index) for index, _ in breaks],
            "annotations": [
                _break_words(index, changed, len(points), above=place % 2 == 1)
                for place, (index, changed) in enumerate(breaks)
            ],
        },
    }


def _line(
    points: Sequence[TrendPoint],
    places: Sequence[int],
    measure: Measure,
    names: Mapping[str, str],
    urls: Mapping[int, str],
    size: int,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "cliponaxis": False,
        "mode": "lines+markers",
        "x": list(places),
        "y": [point.value for point in points],
        "customdata": [urls[point.sweep_id] for point in points],
        "text": [_hover(point, measure, names[point.key]) for point in points],
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": "var(--right)", "width": 1.6},
        "marker": {
            "size": size,
            "color": ["var(--paper)" if point.dirty else "var(--right)" for point in points],
            "line": {"color": "var(--right)", "width": 1.6},
        },
    }


def _whiskers(points: Sequence[TrendPoint]) -> dict[str, Any]:
    """Intervals as error bars; a count has none."""
    bounds = [
        (None, None) if point.low is None or point.high is None else (point.value - point.low, point.high - point.value)
        for point in points
    ]
    return {
        "error_y": {
            "type": "data", "symmetric": False, "array": [high for _, high in bounds],
            "arrayminus": [low for low, _ in bounds], "color": "var(--edge)", "thickness": 1.4, "width": 0,
        }
    }  # fmt: skip


def _band(points: Sequence[TrendPoint], places: Sequence[int]) -> list[dict[str, Any]]:
    """Intervals as a band between two lines without a stroke."""
    if any(point.low is None or point.high is None for point in points):
        return []
    edge: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "x": list(places), "hoverinfo": "skip",
        "line": {"width": 0, "color": "var(--right-wash)"},
    }  # fmt: skip
    upper = {"fill": "tonexty", "fillcolor": "var(--right-wash)", "y": [point.high for point in points]}
    return [edge | {"y": [point.low for point in points]}, edge | upper]


def _hover(point: TrendPoint, measure: Measure, name: str) -> str:
    """Names are other people's text: Plotly reads a few tags, so their brackets are written out."""
    where = _escaped(f"{_commit(point)} {point.branch or ''}".strip()) + (
        ", uncommitted changes" if point.dirty else ""
    )
    value = written_with_interval(measure, point.value, point.low, point.high, point.n)
    return f"{value}<br>{_escaped(name)}<br>sweep {point.sweep_id}, {where}"


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _commit(point: TrendPoint) -> str:
    return point.commit[:7] if point.commit else f"sweep {point.sweep_id}"


def _break_line(index: int) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": index - 0.5, "x1": index - 0.5, "y0": 0, "y1": 1,
        "line": {"color": "var(--edge)", "width": 1, "dash": "dot"},
    }  # fmt: skip


def _break_words(index: int, changed: Sequence[str], count: int, *, above: bool) -> dict[str, Any]:
    """Every second one a line higher, so that neighbours do not write over each other."""
    right = index > count / 2
    return {
        "xref": "x", "yref": "paper", "x": index - 0.5, "y": 1, "yanchor": "bottom", "yshift": 14 if above else 0,
        "showarrow": False,
        "xanchor": "right" if right else "left", "text": f"{' and '.join(changed)} changed", "font": {"size": 11},
    }  # fmt: skip


def _tickformat(measure: Measure) -> str:
    return ".2f" if measure.kind == "proportion" or measure.name == "mrr" else ",~r"
