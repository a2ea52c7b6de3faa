"""The figure of a decision: expected cost over the threshold as it was known then, with what was chosen."""

from __future__ import annotations

from typing import Any

from webapp.contexts.decision_evidence import CostPoint, Evidence


def spec(evidence: Evidence, threshold: float) -> dict[str, Any] | None:
    """The figure; None where the record holds no curve."""
    points = _points(evidence)
    if len(points) < 2:
        return None
    x = [point.threshold for point in points]
    edge: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "x": x, "hoverinfo": "skip",
        "line": {"width": 0, "color": "var(--right-wash)"},
    }  # fmt: skip
    alike = [point for point in points if point.alike]
    return {
        "data": [
            edge | {"y": [point.low for point in points]},
            edge | {"y": [point.high for point in points], "fill": "tonexty", "fillcolor": "var(--right-wash)"},
            {
                "type": "scatter", "mode": "lines", "x": x, "y": [point.cost for point in points],
                "line": {"color": "var(--right)", "width": 2}, "hovertemplate": "%{x}: %{y:,.0f}<extra></extra>",
            },
            {
                "type": "scatter", "mode": "markers", "x": [point.threshold for point in alike],
                "y": [point.cost for point in alike], "marker": {"color": "var(--right)", "size": 8},
                "hovertemplate": "%{x}: %{y:,.0f}, cannot be told from the cheapest<extra></extra>",
            },
        ],
        "layout": {
            "margin": {"t": 24},
            "xaxis": {"title": {"text": "threshold, cosine distance"}},
            "yaxis": {"title": {"text": "cost per 1,000 questions"}, "rangemode": "tozero", "tickformat": ",~r"},
            "shapes": [
                {"type": "line", "xref": "x", "yref": "paper", "x0": threshold, "x1": threshold, "y0": 0, "y1": 1,
                 "line": {"color": "var(--ink)", "width": 2}}
            ],
            "annotations": [
                {"xref": "x", "yref": "paper", "x": threshold, "y": 1, "yanchor": "bottom", "showarrow": False,
                 "text": f"{threshold:g}", "font": {"color": "var(--ink)"}}
            ],
        },
    }  # fmt: skip


def summary(evidence: Evidence, threshold: float) -> str:
    """The same in words."""
    if evidence.cheapest is None:
        return "The record holds no costs."
    least = evidence.cheapest
    chosen = f"; the chosen {threshold:g} costs {evidence.chosen.cost:,.0f}" if evidence.chosen else ""
    at = "without a threshold" if least.threshold is None else f"at {least.threshold:g}"
    return f"Expected cost per 1,000 questions over the threshold: least {at} with {least.cost:,.0f}{chosen}."


def _points(evidence: Evidence) -> list[CostPoint]:
    return [point for point in evidence.curve if point.threshold is not None]
