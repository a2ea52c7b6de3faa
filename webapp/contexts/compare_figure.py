"""The figure of the Compare page: each combination's difference with its interval, around zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webapp.contexts.compare_tables import Line
from webapp.filters import MINUS

MOST = 16  # rows of the figure; all stand in the table
COLOURS = {"best": "var(--right)", "alarm": "var(--bluff)", "plain": "var(--ink)"}
SYMBOLS = {"best": "circle", "alarm": "diamond", "plain": "circle-open"}


def shown(lines: Sequence[Line]) -> list[Line]:
    """The combinations that changed at all, the largest differences; smallest first, because figures fill upwards."""
    moved = [line for line in lines if line.fixed or line.broken]
    largest = sorted(moved, key=lambda line: -abs(line.difference.value or 0.0))[:MOST]
    return sorted(largest, key=lambda line: line.difference.value or 0.0)


def spec(lines: Sequence[Line], k: int) -> dict[str, Any] | None:
    """The figure; None where nothing moved."""
    rows = shown(lines)
    if not rows:
        return None
    traces = [
        _trace([line for line in rows if line.kind == kind], kind)
        for kind in COLOURS
        if any(line.kind == kind for line in rows)
    ]
    return {
        "data": traces,
        "layout": {
            "xaxis": {"title": {"text": f"R@{k} now minus before"}, "zeroline": True, "zerolinewidth": 1.5,
                      "zerolinecolor": "var(--edge)", "tickformat": "+.2f"},
            "yaxis": {"categoryorder": "array", "categoryarray": [line.name for line in rows], "dtick": 1},
        },
    }  # fmt: skip


def summary(lines: Sequence[Line], k: int) -> str:
    """The figure in words."""
    rows = shown(lines)
    if not rows:
        return "No combination found or lost a single question."
    least, most = rows[0], rows[-1]
    said = f"Differences of R@{k}: the largest gain is {_signed(most)} for {most.name}"
    if (least.difference.value or 0) < 0:
        return f"{said}, the largest loss {_signed(least)} for {least.name}."
    return f"{said}; none lost on balance."


def size(lines: Sequence[Line]) -> str:
    """As tall as its rows need."""
    count = len(shown(lines))
    return "short" if count <= 5 else "" if count <= 12 else "tall" if count <= 20 else "huge"


def _trace(rows: Sequence[Line], kind: str) -> dict[str, Any]:
    values = [line.difference.value or 0.0 for line in rows]
    highs = [(line.difference.high if line.difference.high is not None else value) - value
             for line, value in zip(rows, values, strict=True)]  # fmt: skip
    lows = [value - (line.difference.low if line.difference.low is not None else value)
            for line, value in zip(rows, values, strict=True)]  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "x": values, "y": [line.name for line in rows],
        "marker": {"color": COLOURS[kind], "size": 9, "symbol": SYMBOLS[kind]},
        "error_x": {"type": "data", "symmetric": False, "array": highs, "arrayminus": lows, "color": "var(--edge)",
                    "thickness": 2.2, "width": 0},
        "text": [f"{line.fixed} fixed, {line.broken} broken of {line.n}" for line in rows],
        "hovertemplate": "%{y}: %{x:+.3f}<br>%{text}<extra></extra>",
    }  # fmt: skip


def _signed(line: Line) -> str:
    return f"{line.difference.value or 0.0:+.2f}".replace("-", MINUS)
