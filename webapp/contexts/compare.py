"""What the Compare page shows: two sweeps, whether they may be compared, and what each combination gained and lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from experiments.naming import names_of
from experiments.reviewing.comparing import Comparability, Compared
from experiments.reviewing.flips import Difference
from experiments.stats.intervals import Proportion
from experiments.verdicts import compare as verdicts_compare
from experiments.words import plural
from store.tables import SweepRow
from webapp.contexts import compare_figure, compare_tables
from webapp.contexts.compare_tables import FlipRow, Line
from webapp.exports import Column

ALL = ""  # every combination


class Choice(NamedTuple):
    """The state of the page."""

    a: int
    b: int
    k: int
    ks: tuple[int, ...]
    combination: str
    sort: str


class Facts(NamedTuple):
    """What was read and computed."""

    before: SweepRow
    after: SweepRow
    may: Comparability
    found: Sequence[Compared]
    alone_before: Mapping[str, Proportion]  # R@k on all of a sweep's own questions
    alone_after: Mapping[str, Proportion]
    settings: Sequence[Difference]
    missing: Sequence[tuple[str, str]]  # combinations that cannot be compared, with why
    flips: Sequence[FlipRow]
    alpha: float


class Links(NamedTuple):
    """Addresses."""

    here: str
    swap: str
    sweep_a: str
    sweep_b: str
    combinations: tuple[str, str, str]
    questions: tuple[str, str, str]
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
    flips: tuple[FlipRow, ...]
    flips_of: str
    flips_counted: str
    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    flip_columns: tuple[Column, ...]
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
    may, found = facts.may, facts.found
    names = names_of([*facts.alone_after, *facts.alone_before])
    lines = lines_of(facts, choice)
    verdict = verdicts_compare.on_changes(found, may, choice.k, facts.alpha, lambda key: names[key])
    return CompareContext(
        verdict=f"{verdicts_compare.on_comparability(may, choice.a, choice.b)} {verdict.headline}",
        verdict_kind=_kind(facts),
        asides=verdict.asides,
        incomplete=tuple(
            f"Sweep {one.id} {'is' if one.state == 'running' else 'was'} {one.state}: what it recorded is compared."
            for one in (facts.before, facts.after)
            if one.state != "finished"
        ),
        sides=(_side(facts.before, links.sweep_a), _side(facts.after, links.sweep_b)),
        choice=choice,
        sweeps=tuple((str(sweep.id), label(sweep)) for sweep in sweeps),
        combinations=((ALL, "all"), *((one.key, names[one.key]) for one in found)),
        differences=may.differences,
        tested=may.tested,
        paired=may.claim != "nothing",
        questions=_questions(may),
        flips=tuple(facts.flips),
        flips_of=names.get(choice.combination, "all combinations"),
        flips_counted=_counted(facts.flips),
        lines=tuple(lines),
        columns=compare_tables.columns(choice.k),
        flip_columns=compare_tables.FLIP_COLUMNS,
        changed=f"{sum(bool(line.fixed or line.broken) for line in lines)} of {len(lines)} changed",
        figure_spec=compare_figure.spec(lines, choice.k),
        figure_summary=compare_figure.summary(lines, choice.k),
        figure_size=compare_figure.size(lines),
        settings=tuple(facts.settings),
        missing=tuple(facts.missing),
        links=links,
    )


def lines_of(facts: Facts, choice: Choice) -> list[Line]:
    """The combinations in the chosen order."""
    names = names_of([*facts.alone_after, *facts.alone_before])
    found = compare_tables.lines(facts.found, facts.alone_before, facts.alone_after, facts.may, facts.alpha, names)
    return compare_tables.ordered(found, choice.sort)


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


def _kind(facts: Facts) -> str:
    """How firm the verdict is: solid where something is resolved, alarm where something got worse for certain."""
    readings = {verdicts_compare.reading(one, facts.may, facts.alpha) for one in facts.found}
    if "fewer" in readings:
        return "warns"
    return "" if "more" in readings or readings == {"same"} else "open"


def _questions(may: Comparability) -> str:
    if may.claim == "nothing":
        return "no question is shared"
    needles = len({row.needle_id for row in may.shared.values()})
    return f"{plural(len(may.shared), 'shared answerable question')} over {plural(needles, 'needle')}"
