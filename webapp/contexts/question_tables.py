"""The tables of the Questions page as data, and what the page is asked to show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from corpus.check import CheckReport
from experiments.reviewing import question_set
from experiments.reviewing.question_planning import Discordance, needed_rows
from experiments.reviewing.question_set import Balance, FaultKind, NeedleRow, SetChange
from experiments.settings import Settings
from store.tables import QueryRow, SweepRow
from webapp.exports import Cell, Column, Table

DEFAULT_COMBINATIONS = 18  # six presets, three retrievers, one model
LABELS = {
    "query_id": "Question", "text": "Asked", "what": "Share of", "n": "n", "half_width": "± near one half",
    "half_width_at_0_9": "± near 0.9", "bound_of_none": "Bound when none is seen", "win_share": "Won of the discordant",
    "needed": "Discordant needed, alone", "needed_in_family": "Discordant needed, among all pairs",
    "difference": "Difference in R@k", "bluffs": "Bluffs seen", "questions": "Unanswerable questions needed",
    "of": "Where the share comes from", "discordant_share": "Share of questions two combinations differ on",
    "questions_alone": "Questions needed, alone", "questions_in_family": "Questions needed, among all pairs",
}  # fmt: skip
TABLES = ("pairs", "unanswerable", "widths", "differences", "planning", "bounds", "faults")


class Choice(NamedTuple):
    """The state of the page."""

    sweep: int | None
    difference: float  # of R@k, to be seen
    k: int
    target: float  # share of bluffs to promise
    confidence: float
    check: bool


class Checked(NamedTuple):
    """What a check of the project's files found; `broken` where even the project file is faulty."""

    report: CheckReport | None
    change: SetChange | None
    broken: str


class FaultRow(NamedTuple):
    """One fault of the files."""

    kind: FaultKind
    where: str
    value: str
    problem: str
    advice: str


def table(
    which: str,
    queries: Sequence[QueryRow],
    sweep: SweepRow | None,
    choice: Choice,
    checked: Checked | None,
    observed: Discordance | None,
) -> Table:
    """One of the page's tables as data.

    Args:
        which: One of `TABLES`.
        queries: The set.
        sweep: The sweep that measured it.
        choice: The promise that is asked for.
        checked: What a check found.
        observed: How often the sweep's combinations differ.

    Raises:
        ValueError: If there is no such table.
    """
    held = question_set.balance(queries)
    names: tuple[str, ...]
    rows: Iterable[tuple[Cell, ...]]
    if which == "pairs":
        return _pairs_table(question_set.needle_rows(queries), held)
    if which == "unanswerable":
        names, rows = (
            ("query_id", "stratum", "text"),
            ((q.query_id, q.stratum, q.text) for q in queries if not q.needle_id),
        )
    elif which == "widths":
        names, rows = ("what", "n", "half_width", "half_width_at_0_9", "bound_of_none"), question_set.widths(held)
    elif which == "differences":
        pairs = question_set.pairs_of(combinations_of(sweep))
        names = ("win_share", "needed", "needed_in_family", "difference")
        rows = question_set.detectable(held.answerable, alpha_of(sweep), pairs)
    elif which == "planning":
        names = ("of", "discordant_share", "questions_alone", "questions_in_family")
        pairs = question_set.pairs_of(combinations_of(sweep))
        rows = needed_rows(choice.difference, observed, alpha_of(sweep), pairs)
    elif which == "bounds":
        names, rows = ("bluffs", "questions"), question_set.bound_rows(choice.target, choice.confidence)
    elif which == "faults":
        report = checked.report if checked else None
        names, rows = FaultRow._fields, fault_rows(report) if report else ()
    else:
        raise ValueError(f"there is no table {which!r}")
    columns = tuple(Column(name, LABELS.get(name, name.capitalize())) for name in names)
    return Table(f"questions-{which}", columns, tuple(tuple(row) for row in rows))


def _pairs_table(rows: Sequence[NeedleRow], held: Balance) -> Table:
    columns = [Column("needle_id", "Needle id"), Column("needle", "Needle"), Column("document", "Document")]
    for phrasing in held.phrasings:
        name = phrasing or "asked"
        columns += [
            Column(f"{name}_id", f"{name}: id"),
            Column(f"{name}_text", f"{name}: question"),
            Column(f"{name}_overlap", f"{name}: overlap", description="Share of the needle's words in the question."),
        ]
    cells = []
    for row in rows:
        cell: list[str | float | None] = [row.needle_id, row.needle or None, row.documents]
        for phrased in row.phrased:
            # A needle that one phrasing asks for twice is rare; the files hold each question by itself.
            cell += [
                " / ".join(one.query_id for one in phrased) or None,
                " / ".join(one.text for one in phrased) or None,
                phrased[0].overlap if phrased else None,
            ]
        cells.append(tuple(cell))
    return Table("phrasing-pairs", tuple(columns), tuple(cells))


def fault_rows(report: CheckReport) -> list[FaultRow]:
    """The faults, those of needles told apart."""
    return [
        FaultRow(
            question_set.kind_of(fault),
            fault.file.rsplit("/", 1)[-1] + (f":{fault.line}" if fault.line is not None else ""),
            fault.value,
            fault.problem,
            fault.advice,
        )
        for fault in report.faults
    ]


def alpha_of(sweep: SweepRow | None) -> float:
    """The significance level that is used with the set."""
    return float(sweep.settings.get("alpha", 0.05)) if sweep else 0.05


def ks_of(sweep: SweepRow | None) -> tuple[int, ...]:
    """The depths that are measured with the set."""
    return tuple(sweep.settings["k"]) if sweep else Settings().ks


def combinations_of(sweep: SweepRow | None) -> int:
    """How many combinations are compared with the set: the sweep's, or those of the grid measured by default."""
    settings = sweep.settings if sweep else {}
    if not {"strategies", "retrievers", "models"} <= settings.keys():
        return DEFAULT_COMBINATIONS
    models, rerankers = len(settings["models"]), len(settings.get("rerankers", ()))
    ways = {"bm25": 1, "rerank": models * rerankers, "late": len(settings.get("late_models", ()))}
    each = sum(ways.get(retriever, models) for retriever in settings["retrievers"])
    return len(settings["strategies"]) * each + len(settings.get("own", {}))
