"""What the queries page shows: a row for each question, a cell for each combination."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from experiments.reading import arm_of
from experiments.reviewing.fates import Fate, Flip
from experiments.verdicts.queries import on_questions, words_of
from experiments.verdicts.strategies import on_destroyed
from store.reads import OutcomeRecord
from store.tables import QueryRow, SweepRow
from webapp.cells import Mark, marks
from webapp.combinations import Chips, Head, Note, Shown
from webapp.contexts.query_tables import COLUMNS
from webapp.cuts import Cut
from webapp.exports import Column, columns_by_rule
from webapp.files import Files
from webapp.question_list import WHICH, Asked, Entry, phrasings, strata
from webapp.sweeps import Strip

PER_PAGE = 200


class Links(NamedTuple):
    """Addresses."""

    here: str
    files: Files
    previous_page: str
    next_page: str


class Tab(NamedTuple):
    """One value of `which`."""

    words: str
    questions: int | None  # None where that is not known: nothing is compared with
    url: str
    current: bool


class Line(NamedTuple):
    """A question."""

    query_id: str
    text: str
    tag: str
    url: str
    right: int
    of: int
    cells: Markup


class Foot(NamedTuple):
    """What a column adds up to, over the questions shown."""

    kept: str
    bluffs: str


@dataclass(frozen=True, slots=True)
class QueriesContext:
    """Everything `templates/queries/page.html` uses."""

    strip: Strip
    notes: tuple[Note, ...]
    headline: str
    verdict_kind: str
    asides: tuple[str, ...]
    chips: tuple[Chips, ...]
    cut: Cut
    state: Asked
    phrasing_options: tuple[tuple[str, str], ...]
    stratum_options: tuple[tuple[str, str], ...]
    sweep_options: tuple[tuple[str, str], ...]
    against: str
    tabs: tuple[Tab, ...]
    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    feet: tuple[Foot, ...]
    count_words: str
    combinations_words: str
    page_count: int
    page_words: str
    columns: tuple[Column, ...]
    links: Links


class Found(NamedTuple):
    """The list as read and filtered."""

    fitting: list[Entry]
    per_tab: Mapping[str, int]  # questions that each `which` leaves
    chosen: list[Entry]


class Others(NamedTuple):
    """The sweep compared with, and those that could be."""

    options: tuple[tuple[str, str], ...]
    against: int | None
    shared: int  # combinations both have


def build(
    sweep: SweepRow,
    shown: Shown,
    notes: tuple[Note, ...],
    outcomes: Mapping[int, Sequence[OutcomeRecord]],
    queries: Sequence[QueryRow],
    found: Found,
    state: Asked,
    cut: Cut,
    others: Others,
    page_number: int,
    strip: Strip,
    links: Links,
    question_url: Callable[[str], str],
    tab_url: Callable[[str], str],
) -> QueriesContext:
    """The page.

    Args:
        sweep: The sweep.
        shown: Its combinations as filtered.
        notes: What is missing of it.
        outcomes: By combination id.
        queries: The question set.
        found: The list.
        state: What of it is asked for.
        cut: The threshold.
        others: Sweeps to compare with.
        page_number: From 1.
        strip: The line of facts.
        links: Addresses.
        question_url: Address of a question's page by its id.
        tab_url: Address of this page with another `which`.
    """
    first = (page_number - 1) * PER_PAGE
    page = found.chosen[first : first + PER_PAGE]
    arms = [arm_of(row, outcomes.get(row.id or 0, ()), sweep.settings) for row in shown.rows]
    asides = [on_destroyed(arms), _on_flips(found.fitting, others)]
    tabs = [which for which in WHICH if which != "flipped" or others.options]
    return QueriesContext(
        strip=strip,
        notes=notes,
        headline=on_questions([list(entry.fates.values()) for entry in found.fitting], cut.threshold),
        verdict_kind="" if found.fitting else "open",
        asides=tuple(aside for aside in asides if aside),
        chips=shown.chips,
        cut=cut,
        state=state,
        phrasing_options=(("", "all"), *((name, name) for name in phrasings(queries))),
        stratum_options=(("", "all"), *((name, name) for name in strata(queries))),
        sweep_options=(("", "no other sweep"), *others.options) if others.options else (),
        against="" if others.against is None else str(others.against),
        tabs=tuple(
            Tab(_tab(which, cut), _known(which, found, others), tab_url(which), which == state.which) for which in tabs
        ),
        heads=shown.heads,
        lines=tuple(_line(entry, shown.heads, question_url) for entry in page),
        feet=tuple(_foot(found.chosen, head) for head in shown.heads),
        count_words=f"{len(found.chosen):,} of {len(queries):,}",
        combinations_words=f"{len(shown.heads)} of {shown.total} combinations",
        page_count=pages_of(found.chosen),
        page_words=f"{first + 1:,} to {first + len(page):,} of {len(found.chosen):,}",
        columns=columns_by_rule(COLUMNS, strip.hit_rule),
        links=links,
    )


def _known(which: str, found: Found, others: Others) -> int | None:
    return None if which == "flipped" and others.against is None else found.per_tab[which]


def pages_of(chosen: Sequence[Entry]) -> int:
    """How many pages a list takes, at least 1."""
    return max(1, -(-len(chosen) // PER_PAGE))


def mark(one: Fate | None, turned: Flip | None = None) -> Mark:
    """The cell of a question under a combination: words and shape carry it, the colour only repeats it."""
    if one is None:
        return Mark("absent", "", "not recorded")
    kind, words = _MARKS.get(one.kind, ("lost", ""))
    title = words_of(one)
    if one.kind in ("kept", "below"):
        kind, words = _heat(one.rank), str(one.rank or "–")
        title += f", rank {one.rank}" if one.rank else "" if one.may_be_destroyed else ", not returned"
    elif one.kind == "refused":
        words = f"○ {one.rank}"
        title += f", rank {one.rank}"
    if turned is None:
        return Mark(kind, words, title)
    arrow = "▲" if turned.fixed else "▼"
    return Mark(f"{kind} turned", f"{arrow} {words}", f"{title}; before: {words_of(turned.before)}")


_MARKS = {
    "refused": ("gated", ""),
    "truncated": ("lost", "□"),
    "destroyed": ("destroyed", "✕"),
    "silent": ("lost", "ok"),
    "bluff": ("bluff", "bluff"),
}


def _heat(rank: int | None) -> str:
    if rank is None:
        return "lost"
    return next((f"r{depth}" for depth in (1, 4, 8, 20) if rank <= depth), "lost")


def _line(entry: Entry, heads: Sequence[Head], question_url: Callable[[str], str]) -> Line:
    query = entry.query
    return Line(
        query.query_id,
        query.text,
        query.phrasing or query.stratum or "",
        question_url(query.query_id),
        entry.right,
        len(entry.fates),
        marks(mark(entry.fates.get(head.id), entry.flips.get(head.id)) for head in heads),
    )


def _foot(entries: Sequence[Entry], head: Head) -> Foot:
    fates = [entry.fates[head.id] for entry in entries if head.id in entry.fates]
    answerable = [one for one in fates if one.kind not in ("silent", "bluff")]
    others = len(fates) - len(answerable)
    kept = sum(one.good for one in answerable)
    bluffs = sum(one.kind == "bluff" for one in fates)
    return Foot(f"{kept}/{len(answerable)}" if answerable else "-", f"{bluffs}/{others}" if others else "-")


def _tab(which: str, cut: Cut) -> str:
    at = "with no threshold" if cut.threshold is None else f"at {cut.value}"
    return {
        "all": "all",
        "lost": "lost everywhere",
        "destroyed": "destroyed",
        "bluffs": f"bluffs {at}",
        "flipped": "flipped",
    }[which]


def _on_flips(entries: Sequence[Entry], others: Others) -> str:
    if others.against is None:
        return ""
    if not others.shared:
        return f"Sweep {others.against} has none of these combinations: nothing can have turned."
    fixed = sum(any(one.fixed for one in entry.flips.values()) for entry in entries)
    broken = sum(any(not one.fixed for one in entry.flips.values()) for entry in entries)
    said = f"Against sweep {others.against}, {broken:,} of {len(entries):,} questions turned for the worse"
    return f"{said} and {fixed:,} for the better under at least one combination."
