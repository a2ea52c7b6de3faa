"""The dot-and-whisker plot of the strategies page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from experiments import measures
from experiments.reviewing.winloss import WinLoss
from experiments.verdicts.strategies import Arm
from experiments.words import interval, p_value
from store.tables import CombinationRow, MeasureRow
from webapp.contexts.strategy_table import Row

Namer = Callable[[CombinationRow], str]


def dots(rows: Sequence[Row], winloss: WinLoss | None, leader: Arm | None, k: int, name: Namer) -> dict[str, Any]:
    """R@k with its interval, in the order of the table; open dots are those the leader is proven to beat."""
    shown = [(row, number) for row, number in _known(rows, k)][::-1]  # Plotly's first category is the lowest
    groups: dict[str, list[tuple[Row, MeasureRow]]] = {"leader": [], "level": [], "beaten": []}
    for row, number in shown:
        groups[standing(row, winloss, leader)].append((row, number))
    looks = {
        "leader": ("finds most", "var(--right)", False),
        "level": ("cannot be told from it", "var(--ink)", False),
        "beaten": ("proven to find less", "var(--soft)", True),
    }
    data = [_trace(groups[key], k, name, *looks[key], winloss, leader) for key in looks if groups[key]]
    return {
        "data": data,
        "layout": {
            "margin": {"l": 8, "t": 4},
            "xaxis": {"range": [0, 1], "title": {"text": f"R@{k}"}, "dtick": 0.2},
            "yaxis": {
                "categoryorder": "array",
                "categoryarray": [name(row.combination) for row, _ in shown],
                "range": [-0.7, len(shown) - 0.3],
            },
        },
    }


def summary(rows: Sequence[Row], k: int, name: Namer) -> str:
    """The plot in words."""
    known = _known(rows, k)
    if not known:
        return "Nothing to draw: no shown combination has numbers."
    best = max(known, key=lambda pair: pair[1].value or 0)
    worst = min(known, key=lambda pair: pair[1].value or 0)
    said = [
        f"{name(row.combination)} {number.value:.2f} {interval(number.low, number.high)}"
        for row, number in (best, worst)
    ]
    return f"R@{k} of {len(known)} combinations, from {said[0]} down to {said[1]}."


def size(count: int) -> str:
    """The height class that fits so many rows."""
    return (
        "short" if count <= 5 else "" if count <= 12 else "tall" if count <= 22 else "huge" if count <= 32 else "vast"
    )


def _known(rows: Sequence[Row], k: int) -> list[tuple[Row, MeasureRow]]:
    pairs = ((row, row.numbers.get(measures.recall(k).name)) for row in rows)
    return [(row, number) for row, number in pairs if number is not None and number.value is not None]


def standing(row: Row, winloss: WinLoss | None, leader: Arm | None) -> str:
    """How a combination stands to the one that finds most: leader, level or beaten."""
    if winloss is None or leader is None:
        return "level"
    if row.combination.key == leader.key:
        return "leader"
    # The one that finds most has at least as many wins as losses, so what is resolved is its lead.
    return "beaten" if winloss.pairing(leader.key, row.combination.key).resolved else "level"


def _trace(
    group: Sequence[tuple[Row, MeasureRow]],
    k: int,
    name: Namer,
    words: str,
    colour: str,
    hollow: bool,
    winloss: WinLoss | None,
    leader: Arm | None,
) -> dict[str, Any]:
    def compared(row: Row) -> str:
        if winloss is None or leader is None or row.combination.key == leader.key:
            return ""
        return f"<br>against {leader.name}: Holm {p_value(winloss.pairing(leader.key, row.combination.key).holm_p)}"

    values = [number.value or 0.0 for _, number in group]
    return {
        "type": "scatter",
        "cliponaxis": False,  # a mark at 1 is drawn whole
        "mode": "markers",
        "name": words,
        "x": values,
        "y": [name(row.combination) for row, _ in group],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "thickness": 2.2,
            "width": 0,
            "color": "var(--right)" if colour == "var(--right)" else "var(--edge)",
            "array": [(number.high or 0.0) - value for (_, number), value in zip(group, values, strict=True)],
            "arrayminus": [value - (number.low or 0.0) for (_, number), value in zip(group, values, strict=True)],
        },
        "marker": {"color": "var(--paper)" if hollow else colour, "size": 9, "line": {"width": 2, "color": colour}},
        "customdata": [
            f"{number.hits} of {number.n} {interval(number.low, number.high)}{compared(row)}" for row, number in group
        ],
        "hovertemplate": "<b>%{y}</b><br>%{customdata}<extra></extra>",
    }
