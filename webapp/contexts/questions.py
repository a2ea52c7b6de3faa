"""What the Questions page shows: the set, what it can show, and what a check of the project's files finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from corpus.check import CheckReport
from experiments.reviewing import question_set
from experiments.reviewing.question_planning import Discordance, NeededRow, needed_rows
from experiments.reviewing.question_set import (
    Balance,
    BoundRow,
    Detectable,
    NeedleRow,
    OverlapRow,
    Width,
)
from experiments.verdicts import questions as verdicts_questions
from store.tables import QueryRow, SweepRow
from webapp.contexts import question_figures, question_tables
from webapp.contexts.question_tables import Checked, Choice, FaultRow

MOST_ROWS = 400  # needles shown; the files hold all


class CheckCard(NamedTuple):
    """The result of a check; all empty where none was asked for."""

    asked: bool
    ok: bool
    sentence: str
    change: str
    faults: tuple[FaultRow, ...]
    notes: tuple[str, ...]


class Needed(NamedTuple):
    """How many unanswerable questions a promise takes, and how many are missing; 0 where there are enough."""

    bluffs: int
    needed: int
    near_more: int
    far_more: int


class Links(NamedTuple):
    """Addresses."""

    here: str
    check: str
    sweep: str | None
    csv: str
    jsonl: str
    project_csv: str
    project_jsonl: str
    tables: dict[str, tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class QuestionsContext:
    """Everything `templates/questions/page.html` uses."""

    verdict: str
    verdict_kind: str
    asides: tuple[str, ...]
    choice: Choice
    sweeps: tuple[tuple[str, str], ...]
    measured: bool
    questions_hash: str
    what: str
    check: CheckCard
    held: Balance
    phrasing_names: tuple[str, ...]
    overlaps: tuple[OverlapRow, ...]
    overlap_spec: dict[str, Any] | None
    overlap_summary: str
    width_spec: dict[str, Any] | None
    width_summary: str
    widths: tuple[Width, ...]
    detectable: tuple[Detectable, ...]
    pairs: int
    alpha: float
    difference_sentence: str
    difference: str
    ks: tuple[int, ...]
    planning: tuple[NeededRow, ...]
    target_sentence: str
    target: str
    confidence: str
    bounds: tuple[Needed, ...]
    needles: tuple[NeedleRow, ...]
    total_rows: int  # of them; the page shows so many at most
    judged: bool  # whether whole documents are
    hidden: int
    unanswerable: tuple[QueryRow, ...]
    links: Links


def build(
    queries: Sequence[QueryRow],
    sweep: SweepRow | None,
    sweeps: Sequence[SweepRow],
    choice: Choice,
    checked: Checked | None,
    observed: Discordance | None,
    what: str,
    links: Links,
) -> QuestionsContext:
    """The page.

    Args:
        queries: The set: of the sweep, or of the project's files where nothing was measured yet.
        sweep: The sweep that measured it, None where none did.
        sweeps: All that may be chosen, newest first.
        choice: What is shown.
        checked: What a check found, None where none was asked for.
        observed: How often the sweep's combinations differ at the chosen depth; None where there are no two.
        what: What would be checked, in words.
        links: Addresses.
    """
    held = question_set.balance(queries)
    alpha, combinations = question_tables.alpha_of(sweep), question_tables.combinations_of(sweep)
    verdict = verdicts_questions.on_question_set(held, alpha, combinations)
    rows = question_set.needle_rows(queries)
    overlaps = question_set.overlaps(queries)
    bounds = question_set.bound_rows(choice.target, choice.confidence)
    pairs = question_set.pairs_of(combinations)
    planning = needed_rows(choice.difference, observed, alpha, pairs)
    return QuestionsContext(
        verdict=verdict.headline,
        verdict_kind="" if held.answerable and held.near and held.far else "open",
        asides=verdict.asides,
        choice=choice,
        sweeps=tuple((str(one.id), _label(one)) for one in sweeps),
        measured=sweep is not None,
        questions_hash=sweep.questions_hash if sweep else "",
        what=what,
        check=_card(checked, sweep),
        held=held,
        phrasing_names=tuple(phrasing or "asked" for phrasing in held.phrasings),
        overlaps=tuple(overlaps),
        overlap_spec=question_figures.overlap_spec(overlaps),
        overlap_summary=question_figures.overlap_summary(overlaps),
        width_spec=question_figures.width_spec(held),
        width_summary=question_figures.width_summary(held),
        widths=tuple(question_set.widths(held)),
        detectable=tuple(question_set.detectable(held.answerable, alpha, pairs)),
        pairs=pairs,
        alpha=alpha,
        difference_sentence=verdicts_questions.on_difference(
            choice.difference, observed, planning, choice.k, pairs, held.answerable
        ),
        difference=f"{100 * choice.difference:g}",
        ks=question_tables.ks_of(sweep),
        planning=tuple(planning),
        target_sentence=verdicts_questions.on_target(choice.target, choice.confidence, bounds, held),
        target=f"{100 * choice.target:g}",
        confidence=f"{100 * choice.confidence:g}",
        bounds=tuple(_needed(row, held) for row in bounds),
        needles=tuple(rows[:MOST_ROWS]),
        total_rows=len(rows),
        judged=any(query.relevant for query in queries),
        hidden=max(len(rows) - MOST_ROWS, 0),
        unanswerable=tuple(query for query in queries if query.needle_id is None),
        links=links,
    )


def _needed(row: BoundRow, held: Balance) -> Needed:
    return Needed(row.bluffs, row.needed, max(row.needed - held.near, 0), max(row.needed - held.far, 0))


def _card(checked: Checked | None, sweep: SweepRow | None) -> CheckCard:
    if checked is None:
        return CheckCard(False, True, "", "", (), ())
    if checked.report is None:
        return CheckCard(True, False, checked.broken, "", (), ())
    report = checked.report
    change = ""
    if sweep is not None and checked.change is not None:
        change = verdicts_questions.on_change_of_set(checked.change, sweep.id or 0)
    return CheckCard(
        True,
        report.ok,
        verdicts_questions.on_check(report.faults, len(report.documents), len(report.queries)),
        change,
        tuple(question_tables.fault_rows(report)),
        tuple(_notes(report)),
    )


def _notes(report: CheckReport) -> list[str]:
    notes = [f"{document.id} was read as {document.encoding}, which was guessed; save it as UTF-8 to be sure."
             for document in report.guessed]  # fmt: skip
    if report.skipped:
        shown = ", ".join(report.skipped[:5]) + (", ..." if len(report.skipped) > 5 else "")
        notes.append(f"Not read, because of a format that is not: {shown}")
    return notes


def _label(sweep: SweepRow) -> str:
    questions = sweep.answerable + sweep.near + sweep.far
    return f"{sweep.id}: {questions} questions {sweep.questions_hash[:7]}"
