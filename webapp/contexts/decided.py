"""The decided threshold over time: a step for each decision, with who made it and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from experiments.naming import names_of
from experiments.words import plural
from store.decisions import Line
from webapp.exports import Column, Table
from webapp.filters import utc

COLUMNS = (
    Column("decision", "Decision"),
    Column("decided_at", "Decided", "UTC"),
    Column("threshold", "Threshold", "cosine distance", "In force from this decision to the next."),
    Column("combination", "Combination", description="What the threshold is for: distances of two are on two scales."),
    Column("who", "Who"),
    Column("reason", "Why"),
    Column("commit", "Commit", description="Of the sweep it was decided on."),
)


class DecidedRow(NamedTuple):
    """One row of the table."""

    line: Line
    name: str
    url: str | None


class Decided(NamedTuple):
    """The threshold over time."""

    sentence: str
    spec: dict[str, Any]
    rows: tuple[DecidedRow, ...]


def build(lines: Sequence[Line], until: datetime | None, urls: Mapping[int, str]) -> Decided | None:
    """Figure and table; None before the first decision.

    Args:
        lines: Decisions, the oldest first.
        until: When the newest sweep was measured: the last step is drawn so far.
        urls: Each decision's page.
    """
    if not lines:
        return None
    names = names_of([line.combination for line in lines])
    rows = [DecidedRow(line, names[line.combination], urls.get(line.id)) for line in lines]
    last = rows[-1]
    scales = len({line.combination for line in lines})
    return Decided(
        sentence=f"{plural(len(lines), 'decision')}; threshold {last.line.threshold:g} for {last.name} is in force."
        + (f" They are for {scales} combinations, whose distances are on different scales: no step joins them."
           if scales > 1 else ""),
        spec=_spec(rows, until),
        rows=tuple(reversed(rows)),
    )  # fmt: skip


def table(lines: Sequence[Line]) -> Table:
    """The table as data, newest first."""
    rows = [
        (
            line.id, utc(line.created_at).isoformat(timespec="seconds"), line.threshold, line.combination, line.who,
            line.reason, line.commit,
        )
        for line in reversed(lines)
    ]  # fmt: skip
    return Table("thresholds", COLUMNS, tuple(rows))


def _spec(rows: Sequence[DecidedRow], until: datetime | None) -> dict[str, Any]:
    moments = [utc(row.line.created_at) for row in rows]
    highest = max(row.line.threshold for row in rows)
    end = max(moments[-1], utc(until)) if until is not None else moments[-1]
    ends = [*moments[1:], end]
    traces: list[dict[str, Any]] = []
    for row, begun, ended in zip(rows, moments, ends, strict=True):
        if traces and traces[-1]["name"] == row.line.combination:
            traces[-1]["x"] += [begun.isoformat(), ended.isoformat()]
            traces[-1]["y"] += [row.line.threshold] * 2
        else:
            traces.append(_step(row, begun, ended))
    return {
        "data": [*traces, _marks(rows, moments)],
        "layout": {
            "margin": {"t": 8, "r": 30},
            "showlegend": False,
            "xaxis": {"type": "date", "showgrid": False, **_room(moments[0], end)},
            "yaxis": {
                "title": {"text": "cosine distance"},
                "tickformat": ".2f",
                "range": [0, max(1.0, 1.1 * highest)],
            },
        },
    }


def _room(begun: datetime, end: datetime) -> dict[str, Any]:
    """A day around what happened within a minute, whose axis would otherwise count fractions of a second."""
    if end - begun >= timedelta(minutes=1):
        return {}
    half = timedelta(hours=12)
    return {"range": [(begun - half).isoformat(), (end + half).isoformat()]}


def _step(row: DecidedRow, begun: datetime, ended: datetime) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": row.line.combination, "hoverinfo": "skip",
        "x": [begun.isoformat(), ended.isoformat()], "y": [row.line.threshold] * 2,
        "line": {"shape": "hv", "color": "var(--right)", "width": 1.6},
    }  # fmt: skip


def _marks(rows: Sequence[DecidedRow], moments: Sequence[datetime]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": [moment.isoformat() for moment in moments],
        "y": [row.line.threshold for row in rows], "customdata": [row.url or "" for row in rows],
        "text": [_hover(row) for row in rows], "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 8, "color": "var(--right)"},
    }  # fmt: skip


def _hover(row: DecidedRow) -> str:
    """Names and reasons are other people's text: Plotly reads a few tags, so their brackets are written out."""
    why = row.line.reason if len(row.line.reason) <= 120 else row.line.reason[:119] + "…"
    lines = [f"{row.line.threshold:g} for {row.name}", f"{row.line.who}: {' '.join(why.split())}"]
    written = [line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for line in lines]
    return "<br>".join([*written, f"decision {row.line.id}, {utc(row.line.created_at):%Y-%m-%d}"])
