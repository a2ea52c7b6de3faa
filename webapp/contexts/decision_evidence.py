"""What a decision knew at the moment of choosing, read from its record.

A record is never rewritten, so one that an older version wrote may lack what a newer one keeps: what is missing is left
out, never shown as 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from experiments.deciding.choosing import ByHand
from store.tables import DecisionRow
from webapp.exports import Column, Table
from webapp.whiskers import Estimate

# Name in the record, what it is called, of what it is a share, and its kind of evidence.
SHARES = (
    ("right", "answered right", "answerable", "right"),
    ("wrong", "answered wrong", "answerable", "wrong"),
    ("refused", "refused", "answerable", "refused"),
    ("refused_could_answer", "of which right with no threshold", "answerable", ""),
    ("correctly_refused", "rightly refused", "unanswerable", "ok"),
    ("bluffs", "bluffs", "unanswerable", "bluff"),
    ("bluffs_near", "bluffs on near questions", "near", ""),
    ("bluffs_far", "bluffs on far questions", "far", ""),
)
COST_WORDS = {"bluff": "a bluff", "wrong": "a wrong answer", "refused": "a refusal of an answerable question"}
NONE = Estimate(None, None, None, 0)


class ShareRow(NamedTuple):
    """One outcome at the threshold, on the three sets of questions it was counted on."""

    name: str
    label: str
    of: str
    kind: str
    evaluation: Estimate
    calibration: Estimate
    whole: Estimate


class CostPoint(NamedTuple):
    """Expected cost per 1,000 questions at one threshold."""

    threshold: float | None
    cost: float
    low: float | None
    high: float | None
    alike: bool


class CostLine(NamedTuple):
    """What one kind of mistake costs."""

    label: str
    cost: float


class Evidence(NamedTuple):
    """Everything that could be read of a record."""

    method: str
    evaluated: str
    rows: tuple[ShareRow, ...]
    bounds: tuple[str, ...]
    costs: tuple[CostLine, ...]
    curve: tuple[CostPoint, ...]
    chosen: CostPoint | None
    cheapest: CostPoint | None
    refusing: float | None
    extremes: str
    sentences: tuple[str, ...]
    folds: tuple[tuple[int, str, int], ...]


def read(decision: DecisionRow) -> Evidence:
    """Read a decision's record."""
    record: Mapping[str, Any] = decision.evidence
    choice = record.get("choice") or {}
    costs = record.get("costs") or {}
    return Evidence(
        method=str(choice.get("method", "")),
        evaluated=_evaluated(choice),
        rows=tuple(_rows(record, choice)),
        bounds=tuple(str(one["sentence"]) for one in (record.get("bounds") or {}).values() if "sentence" in one),
        costs=tuple(CostLine(COST_WORDS.get(name, name), cost) for name, cost in decision.costs.items()),
        curve=tuple(point for point in map(_cost, costs.get("curve", ())) if point),
        chosen=_cost(costs.get("chosen")),
        cheapest=_cost(costs.get("cheapest")),
        refusing=costs.get("refusing_everything"),
        extremes=_extremes(record.get("extremes") or {}),
        sentences=tuple(str(one) for one in record.get("sentences", ())),
        folds=tuple(
            (one["fold"] + 1, _threshold(one["threshold"]), one["questions"]) for one in choice.get("folds", ())
        ),
    )


def table(decision: DecisionRow) -> Table:
    """The shares at the threshold as data."""
    columns = [Column("outcome", "Outcome"), Column("of", "Of")]
    for side in ("evaluation", "calibration", "all"):
        columns += [Column(f"{side}_{part}", f"{side} {part}") for part in ("hits", "n", "value", "low", "high")]
    rows = []
    for row in read(decision).rows:
        cells: list[str | float | int | None] = [row.name, row.of]
        for one in (row.evaluation, row.calibration, row.whole):
            cells += [one.hits, one.n, one.value, one.low, one.high]
        rows.append(tuple(cells))
    return Table(f"decision-{decision.id}-evidence", tuple(columns), tuple(rows))


def cost_table(decision: DecisionRow) -> Table:
    """The expected cost over the threshold as data."""
    columns = (
        Column("threshold", "Threshold"),
        Column("cost", "Cost", "per 1,000 questions"),
        Column("low", "Low"),
        Column("high", "High"),
        Column("alike", "Cannot be told from the cheapest"),
    )
    return Table(f"decision-{decision.id}-costs", columns, tuple(tuple(point) for point in read(decision).curve))


def share(value: object) -> Estimate:
    """A share as it was recorded; nothing where it was not."""
    if not isinstance(value, Mapping) or "n" not in value:
        return NONE
    return Estimate(value.get("value"), value.get("low"), value.get("high"), int(value["n"]), value.get("hits"))


def _rows(record: Mapping[str, Any], choice: Mapping[str, Any]) -> list[ShareRow]:
    sides = [(choice.get(name) or {}).get("row") or {} for name in ("evaluation", "calibration")]
    whole = record.get("gate") or {}
    return [
        ShareRow(name, label, of, kind, *(share(side.get(name)) for side in (*sides, whole)))
        for name, label, of, kind in SHARES
        if any(name in side for side in (*sides, whole))
    ]


def _evaluated(choice: Mapping[str, Any]) -> str:
    if (choice.get("way") or {}).get("kind") == ByHand.__name__:
        return (
            "The threshold was given by hand: where whoever gave it had seen these questions, every column flatters it."
        )
    honest = "A threshold reported on the questions it was picked on flatters; the evaluation is the honest one."
    if choice.get("method") == "folds":
        return f"Evaluation: out of fold: each question read at a threshold that was picked without it. {honest}"
    if choice.get("method") == "split":
        return f"Evaluation: the half of the questions that had no part in the choice. {honest}"
    return honest


def _cost(value: object) -> CostPoint | None:
    if not isinstance(value, Mapping):
        return None
    return CostPoint(value["threshold"], value["cost"], value.get("low"), value.get("high"), bool(value.get("alike")))


def _extremes(found: Mapping[str, Any]) -> str:
    worst, best = found.get("worst_answerable"), found.get("best_unanswerable")
    if worst is None or best is None:
        return ""
    worst_query, best_query = found.get("worst_query"), found.get("best_query")
    if found.get("separable"):
        return (
            f"Every needle's chunk lay nearer ({worst:.3f} at worst, {worst_query}) than anything an unanswerable "
            f"question found ({best:.3f} at best, {best_query})."
        )
    return (
        f"No threshold gets everything right: the worst answerable question, {worst_query}, lay {worst:.3f} from its "
        f"needle's chunk, the nearest unanswerable one, {best_query}, {best:.3f} from a chunk that does not answer it."
    )


def _threshold(value: float | None) -> str:
    return "none certifiable" if value is None else f"{value:g}"
