"""The figures of the threshold page. All that stand above each other share one scale of distances and one margin."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.deciding.costs import CostCurve
from experiments.deciding.signals import ScorerSignal, Signal, SignalComparison
from experiments.outcomes import Recorded
from experiments.thresholds import Extremes, nearest_distances, needle_distances
from experiments.verdicts.hit_rules import by_rule

LEFT = 96  # pixels, so that a threshold stands at the same place in every figure
STEP = 0.05
SPREAD = 0.24  # how far a point may lie from the middle of its row

Figure = dict[str, Any]


def scale(outcomes: Sequence[Recorded], grid: Sequence[float], threshold: float | None) -> tuple[float, float]:
    """Ends of the axis of distances: everything measured and everything asked for lies within."""
    seen = [
        *grid,
        *(distance for one in outcomes for distance in (one.nearest, one.chunk_distance) if distance is not None),
        *([] if threshold is None else [threshold]),
    ]
    low, high = min(seen, default=0.0), max(seen, default=1.0)
    return max(0.0, round(math.floor(low / STEP) * STEP, 2)), min(2.0, round(math.ceil(high / STEP) * STEP, 2))


def outcomes_over(outcomes: Sequence[Recorded], ends: tuple[float, float]) -> Figure:
    """What becomes of every question as the threshold grows, exactly: a step wherever a distance lies."""
    answerable = np.array([one.needle_id is not None for one in outcomes], bool)
    nearest, kept = nearest_distances(outcomes), needle_distances(outcomes)
    inside = [d for d in (*nearest, *kept) if ends[0] < d < ends[1]]
    x = [ends[0], *sorted(set(inside)), ends[1]]
    # A distance is under a threshold only beyond it: the step lies right behind.
    right, said, bluffs = (_upto(d, x) for d in (kept[answerable], nearest[answerable], nearest[~answerable]))
    n, m = int(answerable.sum()), int((~answerable).sum())
    return {
        "data": [
            _area("bluffs", x, bluffs, "bluff", "y", m),
            _area("rightly refused", x, m - bluffs, "ok", "y", m),
            _area("answered right", x, right, "right", "y2", n),
            _area("answered wrong", x, said - right, "wrong", "y2", n),
            _area("refused", x, n - said, "refused", "y2", n),
        ],
        "layout": {
            "margin": {"l": LEFT},
            "hovermode": "x",
            "xaxis": {"title": {"text": "threshold, cosine distance"}, "range": list(ends), "showgrid": False},
            "yaxis": {"domain": [0, 0.4], "title": {"text": "unanswerable"}, **_up_to(m)},
            "yaxis2": {"domain": [0.48, 1], "title": {"text": "answerable"}, "anchor": "x", **_up_to(n)},
        },
    }


def _up_to(whole: int) -> dict[str, Any]:
    """An axis of counts that ends, and says so, at all of them."""
    step = next((size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500) if whole <= 4 * size), 1000)
    ticks = [tick for tick in range(0, whole, step) if whole - tick > step / 2]
    return {"range": [0, whole or 1], "tickvals": [*ticks, whole]}


def _upto(distances: NDArray[np.float64], x: Sequence[float]) -> NDArray[np.int64]:
    return np.searchsorted(np.sort(distances), x, side="right").astype(np.int64)


def _area(name: str, x: Sequence[float], counts: NDArray[np.int64], kind: str, axis: str, whole: int) -> dict[str, Any]:
    quiet = kind in {"refused", "ok"}  # what was not said is quiet
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": counts.tolist(),
        "yaxis": axis,
        "stackgroup": axis,
        "line": {"shape": "hv", "width": 0 if kind == "right" else 1, "color": f"var(--{kind})"},
        "fillcolor": f"var(--{kind}-wash)" if quiet else f"var(--{kind})",
        "hovertemplate": f"%{{y}} of {whole} {name}<extra></extra>",
    }
    if kind == "wrong":
        pattern = {"shape": "/", "size": 5, "solidity": 0.45, "fgcolor": "var(--wrong)", "bgcolor": "var(--wrong-wash)"}
        trace["fillpattern"] = pattern
    return trace


def distances(
    outcomes: Sequence[Recorded],
    found: Extremes,
    ends: tuple[float, float],
    url: Callable[[str], str | None],
    rule: str,
) -> Figure:
    """Every question's distances, and the two that show whether any threshold could get everything right."""
    answerable = [one for one in outcomes if one.needle_id is not None]
    others = [one for one in outcomes if one.needle_id is None]
    rows = [
        (by_rule("to its needle's chunk", rule), answerable, 2, lambda one: one.chunk_distance, "right", "circle"),
        ("to the nearest chunk", answerable, 1, lambda one: one.nearest, "right", "circle-open"),
        ("near, to the nearest chunk", [o for o in others if o.stratum != "far"], 0, _nearest, "bluff", "diamond"),
        ("far, to the nearest chunk", [o for o in others if o.stratum == "far"], 0, _nearest, "bluff", "diamond-open"),
    ]
    data = [_points(*row, url) for row in rows if row[1]]
    marked = [
        (found.worst_answerable, 2, "the worst", "right"),
        (found.best_unanswerable, 0, "the nearest", "bluff"),
    ]
    data += [_ring(x, y, words) for x, y, words, _ in marked if x is not None]
    return {
        "data": data,
        "layout": {
            "margin": {"l": LEFT},
            "xaxis": {"range": list(ends), "dtick": 0.1},
            "yaxis": {
                "tickvals": [2, 1, 0],
                "ticktext": [
                    by_rule("answerable:<br>its needle", rule),
                    "answerable:<br>nearest",
                    "unanswerable:<br>nearest",
                ],
                "range": [-0.5, 2.7],
                "showgrid": False,
            },
            "annotations": [
                {
                    "x": x,
                    "y": y + SPREAD + 0.1,
                    "xanchor": "right" if x > ends[0] + 0.8 * (ends[1] - ends[0]) else "center",
                    "yanchor": "bottom",
                    "text": f"{words} {x:.3f}",
                    "showarrow": False,
                    "font": {"color": "var(--ink)", "size": 11},
                }
                for x, y, words, _ in marked
                if x is not None
            ],
        },
    }


def _nearest(outcome: Recorded) -> float | None:
    return outcome.nearest


def _points(
    name: str,
    group: Sequence[Recorded],
    level: int,
    distance: Callable[[Recorded], float | None],
    kind: str,
    symbol: str,
    url: Callable[[str], str | None],
) -> dict[str, Any]:
    known = [(one.query_id, value) for one in group if (value := distance(one)) is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [value for _, value in known],
        # A fixed zigzag instead of random scatter: the same page looks the same twice.
        "y": [round(level + SPREAD * ((place * 7 % 11) / 5 - 1), 3) for place in range(len(known))],
        "text": [query_id for query_id, _ in known],
        "customdata": [url(query_id) or "" for query_id, _ in known],
        "marker": {
            "color": f"var(--{kind})",
            "size": 7,
            "symbol": symbol,
            "opacity": 0.85,
            "line": {"width": 1.4 if symbol.endswith("open") else 0, "color": f"var(--{kind})"},
        },
        "hovertemplate": f"%{{text}}: %{{x:.3f}} {name}<extra></extra>",
    }


def _ring(x: float, level: int, words: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": words,
        "x": [x, x],
        "y": [level - SPREAD - 0.1, level + SPREAD + 0.1],
        "line": {"color": "var(--ink)", "width": 1.4},
        "hoverinfo": "skip",
    }


def cost(curve: CostCurve, ends: tuple[float, float]) -> Figure:
    """Expected cost over the sweep's thresholds, with its interval, and what cannot be told from the cheapest."""
    rows = sorted((row for row in curve.rows if row.threshold is not None), key=lambda row: row.threshold or 0.0)
    x = [row.threshold for row in rows]
    alike = [row for row in rows if row.alike]
    data: list[dict[str, Any]] = []
    if all(row.low is not None for row in rows):
        data += [
            _line(x, [row.high for row in rows], 0, "high"),
            _line(x, [row.low for row in rows], 0, "low") | {"fill": "tonexty", "fillcolor": "var(--refused-wash)"},
        ]
    data.append(_line(x, [row.cost for row in rows], 2, "cost") | {"hovertemplate": "%{y:.0f} at %{x}<extra></extra>"})
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "cannot be told from the cheapest",
            "x": [row.threshold for row in alike],
            "y": [row.cost for row in alike],
            "marker": {
                "opacity": 1,  # sizes that differ would make it a see-through bubble
                "size": [11 if row == curve.cheapest else 7 for row in alike],
                "color": ["var(--ink)" if row == curve.cheapest else "var(--paper)" for row in alike],
                "line": {"width": 2, "color": "var(--ink)"},
            },
            "hovertemplate": "%{y:.0f} at %{x}: not to be told from the cheapest<extra></extra>",
        }
    )
    nothing = curve.refusing_everything
    data.append(
        _line(list(ends), [nothing, nothing], 1, "refusing everything")
        | {"line": {"dash": "dot", "width": 1.4, "color": "var(--edge)"}}
    )
    top = max([nothing, *(row.high or row.cost for row in rows)])
    return {
        "data": data,
        "layout": {
            "margin": {"l": LEFT},
            "xaxis": {"range": list(ends), "dtick": 0.1},
            "yaxis": {"title": {"text": "per 1,000"}, "range": [0, top * 1.06 or 1], "nticks": 5},
            "annotations": [
                {
                    "x": ends[1],
                    "y": nothing,
                    "xanchor": "right",
                    "yanchor": "bottom",
                    "text": "refusing everything",
                    "showarrow": False,
                    "font": {"size": 11, "color": "var(--soft)"},
                }
            ],
        },
    }


def _line(x: Sequence[float | None], y: Sequence[float | None], width: float, name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"width": width, "color": "var(--ink)"},
        "hoverinfo": "skip",
    }


def risk_coverage(found: SignalComparison, further: ScorerSignal | None) -> Figure:
    """Share of wrong answers among those given, as more is answered, by each signal."""
    return {
        "data": [
            _curve(found.distance, "var(--right)", "solid"),
            _curve(found.gap, "var(--soft)", "dash"),
            *([] if further is None else [_curve(further.signal, "var(--ink)", "dot")]),
        ],
        "layout": {
            "xaxis": {"range": [0, 1.005], "title": {"text": "coverage: share of all questions answered"}},
            "yaxis": {"range": [0, 1.02], "title": {"text": "share of those wrong"}},
        },
    }


def _curve(signal: Signal, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": signal.label,
        "x": signal.curve.coverages.tolist(),
        "y": signal.curve.risks.tolist(),
        "line": {"color": colour, "width": 2.2, "dash": dash, "shape": "hv"},
        "hovertemplate": f"{signal.label}: %{{y:.2f}} wrong at %{{x:.2f}} answered<extra></extra>",
    }
