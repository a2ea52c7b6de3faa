"""The figures of the Questions page: how wide intervals are on so many questions, and what the questions give away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.reviewing.question_set import Balance, OverlapRow, half_width

FEWEST, POINTS = 2, 60  # of the curve


def width_spec(held: Balance) -> dict[str, Any] | None:
    """Half the interval over the number of questions, with the groups of this set marked; None on an empty set."""
    marks = _marks(held)
    if not marks:
        return None
    most = max(2 * max(n for _, n in marks), 100)
    # Even numbers only: one half of them is a whole number, so that the curve has no steps.
    counts = sorted({2 * round(FEWEST * (most / FEWEST) ** (step / (POINTS - 1)) / 2) for step in range(POINTS)})
    return {
        "data": [
            {
                "type": "scatter", "mode": "lines", "x": counts, "y": [half_width(n, 0.5) for n in counts],
                "line": {"color": "var(--edge)", "width": 1.8},
                "hovertemplate": "%{x} questions: ±%{y:.3f}<extra></extra>",
            },
            {
                "type": "scatter", "mode": "markers+text", "x": [n for _, n in marks],
                "y": [half_width(n, 0.5) for _, n in marks], "text": [name for name, _ in marks],
                "textposition": "top right", "marker": {"color": "var(--right)", "size": 9}, "cliponaxis": False,
                "textfont": {"color": "var(--ink)"},
                "hovertemplate": "%{text}: %{x} questions, ±%{y:.3f}<extra></extra>",
            },
        ],
        "layout": {
            "xaxis": {"title": {"text": "questions"}, "range": [0, most * 1.04]},
            "yaxis": {"title": {"text": "half the 95 % interval"}, "range": [0, 0.5], "tickformat": ".2f"},
        },
    }  # fmt: skip


def width_summary(held: Balance) -> str:
    """The same in words."""
    said = [f"±{half_width(n, 0.5):.2f} on the {n} {name}" for name, n in _groups(held)]
    return "A share near one half is known to within " + ", ".join(said) + "." if said else "There are no questions."


def overlap_spec(rows: Sequence[OverlapRow]) -> dict[str, Any] | None:
    """One row of points a phrasing: each question's share of its needle's words; None where there are none."""
    shown = [row for row in rows if row.n]
    if not shown:
        return None
    traces: list[dict[str, Any]] = []
    for level, row in enumerate(reversed(shown)):
        heights = [level + (place * 37 % 11 - 5) / 26 for place in range(row.n)]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": list(row.shares), "y": heights,
                "marker": {"color": "var(--right)", "size": 7, "opacity": 0.65},
                "hovertemplate": f"{_name(row)}: %{{x:.0%}}<extra></extra>",
            }
        )  # fmt: skip
        traces.append(
            {
                "type": "scatter", "mode": "lines", "x": [row.mean, row.mean], "y": [level - 0.32, level + 0.32],
                "line": {"color": "var(--ink)", "width": 2}, "hovertemplate": f"mean {row.mean:.0%}<extra></extra>",
            }
        )  # fmt: skip
    names = [_name(row) for row in reversed(shown)]
    return {
        "data": traces,
        "layout": {
            "xaxis": {
                "title": {"text": "needle's content words in the question"}, "range": [-0.03, 1.03],
                "tickformat": ".0%",
            },
            "yaxis": {
                "tickvals": list(range(len(names))), "ticktext": names, "range": [-0.6, len(names) - 0.4],
                "showgrid": False,
            },
        },
    }  # fmt: skip


def overlap_summary(rows: Sequence[OverlapRow]) -> str:
    """The same in words."""
    said = [f"{_name(row)}: mean {row.mean:.0%}, median {row.median:.0%} of {row.n} questions"
            for row in rows if row.mean is not None and row.median is not None]  # fmt: skip
    return (
        "Share of the needle's content words that stand in the question. " + "; ".join(said) + "."
        if said
        else "No overlap can be counted."
    )


def _groups(held: Balance) -> list[tuple[str, int]]:
    groups = (("answerable", held.answerable), ("needles", held.needles), ("near", held.near), ("far", held.far))
    return [(name, n) for name, n in groups if n]


def _marks(held: Balance) -> list[tuple[str, int]]:
    """Groups of one size are one mark: their names would stand on each other."""
    named: dict[int, list[str]] = {}
    for name, n in _groups(held):
        named.setdefault(n, []).append(name)
    return [(", ".join(names), n) for n, names in named.items()]


def _name(row: OverlapRow) -> str:
    return row.phrasing or "asked"
