"""What the Compare page shows: two sweeps, whether they may be compared, and what each combination gained and lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from experiments import comparison_report
from experiments.reviewing.comparing import Comparability
from experiments.reviewing.flips import Difference
from experiments.reviewing.whole_comparison import Comparison
from experiments.verdicts import bluff_changes as verdicts_bluffs
from experiments.verdicts import compare as verdicts_compare
from experiments.verdicts.hit_rules import DOCUMENT_LEVEL
from experiments.words import plural
from store.tables import SweepRow
from webapp.contexts import compare_bluffs, compare_figure, compare_tables
from webapp.contexts.compare_bluffs import BluffLine, BluffRow
from webapp.contexts.compare_tables import FlipRow, Line
from webapp.exports import Column, columns_by_rule

ALL = ""  # every combination


class Choice(NamedTuple):
    """The state of the page."""

    a: int
    b: int
    k: int
    ks: tuple[int, ...]
    combination: str
    sort: str
    threshold: float | None  # None: that of the decision in force


class Facts(NamedTuple):
    """What was read and computed."""

    comparison: Comparison
    flips: Sequence[FlipRow]
    bluff_rows: Sequence[BluffRow]


class Links(NamedTuple):
    """Addresses."""

    here: str
    swap: str
    sweep_a: str
    sweep_b: str
    combinations: tuple[str, str, str]
    questions: tuple[str, str, str]
    bluffs: tuple[str, str, str]
    flipped: str | None
    report: str
    report_json: str


class Side(NamedTuple):
    """One of the two sweeps."""

    sweep_id: int
    url: str
    state: str
    commit: str | None
    tag: str | None
    branch: str | None
    dirty: bool | None
    created_at: datetime
    documents: int
    corpus_hash: str
    questions: int
    questions_hash: str


@dataclass(frozen=True, slots=True)
class CompareContext:
    """Everything `templates/compare/page.html` uses."""

    verdict: str
    verdict_kind: str
    asides: tuple[str, ...]
    incomplete: tuple[str, ...]
    sides: tuple[Side, Side]
    choice: Choice
    sweeps: tuple[tuple[str, str], ...]
    combinations: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    tested: bool
    paired: bool
    questions: str
    hit_rule: str
    flips: tuple[FlipRow, ...]
    flips_of: str
    flips_counted: str
    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    flip_columns: tuple[Column, ...]
    bluffs: tuple[str, ...]
    bluff_lines: tuple[BluffLine, ...]
    bluff_rows: tuple[BluffRow, ...]
    bluff_columns: tuple[Column, ...]
    changed: str
    figure_spec: dict[str, Any] | None
    figure_summary: str
    figure_size: str
    settings: tuple[Difference, ...]
    missing: tuple[tuple[str, str], ...]
    links: Links


@dataclass(frozen=True, slots=True)
class NothingContext:
    """What `templates/compare/nothing.html` uses: fewer than two sweeps can be compared."""

    words: str


def build(facts: Facts, choice: Choice, sweeps: Sequence[SweepRow], links: Links) -> CompareContext:
    """The page.

    Args:
        facts: What was read.
        choice: What is shown of it.
        sweeps: All that may be chosen, newest first.
        links: Addresses.
    """
    one = facts.comparison
    may, found, names = one.may, one.found, one.names
    lines, rule = lines_of(facts, choice), one.after.sweep.hit_rule
    verdict = verdicts_compare.on_changes(found, may, choice.k, one.alpha, lambda key: names[key])
    comparable = verdicts_compare.on_comparability(may, one.before.name, one.after.name)
    known = {sweep.id for sweep in sweeps}
    shown = [*sweeps, *(side.sweep for side in (one.before, one.after) if side.sweep.id not in known)]
    return CompareContext(
        verdict=f"{comparable} {verdict.headline}",
        verdict_kind=_kind(one),
        asides=(*verdict.asides, *_proven(one)),
        incomplete=comparison_report.incomplete(one),
        sides=(_side(one.before.sweep, links.sweep_a), _side(one.after.sweep, links.sweep_b)),
        choice=choice,
        sweeps=tuple((str(sweep.id), label(sweep)) for sweep in shown),
        combinations=((ALL, "all"), *((each.key, names[each.key]) for each in found)),
        differences=may.differences,
        tested=may.tested,
        paired=may.claim != "nothing",
        questions=_questions(may),
        hit_rule=rule,
        flips=tuple(facts.flips),
        flips_of=names.get(choice.combination, "all combinations"),
        flips_counted=_counted(facts.flips),
        lines=tuple(lines),
        columns=columns_by_rule(compare_tables.columns(choice.k), rule),
        flip_columns=columns_by_rule(compare_tables.FLIP_COLUMNS, rule),
        bluffs=comparison_report.bluff_sentences(one),
        bluff_lines=compare_bluffs.lines(one),
        bluff_rows=tuple(facts.bluff_rows),
        bluff_columns=compare_bluffs.COLUMNS,
        changed=f"{sum(bool(line.fixed or line.broken) for line in lines)} of {len(lines)} changed",
        figure_spec=compare_figure.spec(lines, choice.k),
        figure_summary=compare_figure.summary(lines, choice.k),
        figure_size=compare_figure.size(lines),
        settings=tuple(one.settings),
        missing=tuple(one.missing),
        links=links,
    )


def lines_of(facts: Facts, choice: Choice) -> list[Line]:
    """The combinations in the chosen order."""
    return compare_tables.ordered(compare_tables.lines(facts.comparison), choice.sort)


def label(sweep: SweepRow) -> str:
    """A sweep in a select: number, commit, what names it, and how it ended where that matters."""
    commit = sweep.commit[:7] if sweep.commit else "no commit"
    parts = [f"{sweep.id}: {commit}", sweep.tag, sweep.branch, "uncommitted changes" if sweep.dirty else None]
    state = None if sweep.state == "finished" else sweep.state
    return ", ".join(part for part in (*parts, f"{sweep.created_at:%Y-%m-%d}", state) if part)


def _counted(flips: Sequence[FlipRow]) -> str:
    broken = sum(flip.broken > 0 for flip in flips)
    return f"{broken} broken, {len(flips) - broken} only fixed"


def _side(sweep: SweepRow, url: str) -> Side:
    return Side(
        sweep.id or 0, url, sweep.state, sweep.commit, sweep.tag, sweep.branch, sweep.dirty, sweep.created_at,
        sweep.documents, sweep.corpus_hash, sweep.answerable + sweep.near + sweep.far, sweep.questions_hash,
    )  # fmt: skip


def _kind(one: Comparison) -> str:
    """How firm the verdict is: solid where something is resolved, alarm where something got worse for certain."""
    readings = {verdicts_compare.reading(each, one.may, one.alpha) for each in one.found}
    if "fewer" in readings or "more" in _bluff_readings(one):
        return "warns"
    return "" if "more" in readings or readings == {"same"} else "open"


def _bluff_readings(one: Comparison) -> set[str]:
    return {verdicts_bluffs.reading(each, one.may, one.alpha) for each in one.bluffs.found}


def _proven(one: Comparison) -> tuple[str, ...]:
    """What became of the bluffs, where a change of them is proven: that belongs beside the verdict."""
    return comparison_report.bluff_sentences(one)[:1] if _bluff_readings(one) & {"more", "fewer"} else ()


def _over(may: Comparability, needles: int) -> str:
    judged = any(row.relevant for row in may.shared.values())
    return f"by {DOCUMENT_LEVEL}" if judged else f"over {plural(needles, 'needle')}"


def _questions(may: Comparability) -> str:
    if may.claim == "nothing":
        return "no question is shared"
    needles = len({row.needle_id for row in may.shared.values()})
    return f"{plural(len(may.shared), 'shared answerable question')} {_over(may, needles)}"
