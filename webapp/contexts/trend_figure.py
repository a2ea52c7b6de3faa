"""The figure of a number across commits: points with their intervals, and where no line joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from experiments.measures import Measure
from experiments.reviewing.trends import TrendPoint, segments
from experiments.verdicts.overview import written_with_interval
from experiments.words import listed

TICKS = 12  # labels under the figure at most
MOST_WHISKERS = 40  # points; more of them are drawn as a band, because whiskers would touch
_LINE, _CHARACTERS = 14, 20  # height and length of a line of words over a break, which fits on a telephone too


def spec(
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
    breaks = [
        (index, wrap(f"{listed(point.changed)} changed", _CHARACTERS))
        for index, point in enumerate(points)
        if point.changed
    ]
    high = _LINE * max((len(lines) for _, lines in breaks), default=0)
    return {
        "data": traces,
        "layout": {
            "margin": {"t": 8 + high * min(len(breaks), 2), "r": 30},
            "xaxis": {
                "tickvals": ticks,
                "ticktext": [_commit(points[index]) for index in ticks],
                "range": [-0.6, max(len(points), 1) - 0.4],
                "showgrid": False,
            },
            "yaxis": {"title": {"text": measure.label}, "tickformat": _tickformat(measure)},
            "shapes": [_break_line(index) for index, _ in breaks],
            "annotations": [
                _break_words(index, lines, len(points), high if place % 2 else 0)
                for place, (index, lines) in enumerate(breaks)
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


def _break_words(index: int, lines: Sequence[str], count: int, above: int) -> dict[str, Any]:
    """What changed, beside the break; every second break's words stand above those of its neighbours."""
    right = index > count / 2
    return {
        "xref": "x", "yref": "paper", "x": index - 0.5, "y": 1, "yanchor": "bottom", "yshift": above,
        "showarrow": False,
        "xanchor": "right" if right else "left", "align": "right" if right else "left",
        "text": "<br>".join(lines), "font": {"size": 11},
    }  # fmt: skip


def _tickformat(measure: Measure) -> str:
    return ".2f" if measure.kind == "proportion" or measure.name == "mrr" else ",~r"
