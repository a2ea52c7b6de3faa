"""What the page of one question shows: its answer in the document, its phrasings, and what each combination did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.chunking import Chunk
from experiments.outcomes import Hit, Outcome
from experiments.verdicts.queries import on_question
from store.needle_spans import needle_spans
from store.reads_texts import DocumentText
from store.tables import CombinationRow, QueryRow
from webapp import combinations
from webapp.combinations import Chips, Head, Note
from webapp.contexts.query_hits import Answer, answers
from webapp.contexts.query_parts import (
    Lure,
    Neighbours,
    Phrasing,
    Place,
    RelevantDocument,
    lures,
    neighbours,
    phrasing,
    place_of,
    relevant_of,
)
from webapp.cuts import Cut
from webapp.files import Files
from webapp.places import locator_of
from webapp.question_list import Entry
from webapp.question_reads import Read
from webapp.sweeps import Strip

MOST_OPEN = 6  # combinations whose hits are shown at once


class Links(NamedTuple):
    """Addresses."""

    here: str
    files: Files
    back: str
    previous: str
    following: str


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Everything `templates/query/page.html` uses."""

    strip: Strip
    notes: tuple[Note, ...]
    query_id: str
    text: str
    headline: str
    verdict_kind: str
    chips: tuple[Chips, ...]
    cut: Cut
    carried: tuple[tuple[str, str], ...]
    neighbours: Neighbours
    phrasings: tuple[Phrasing, ...]
    places: tuple[Place, ...]  # of its needles
    together: str  # how many of several needles are needed; empty where there is one
    relevant: tuple[RelevantDocument, ...]
    lures: tuple[Lure, ...]
    answers: tuple[Answer, ...]
    links: Links


class Urls(NamedTuple):
    """How addresses of other things are made."""

    question: Callable[[str], str]  # of a question in the same list
    toggle: Callable[[int], str]  # of this page with a combination opened or closed
    place: Callable[
        [str, str, int, int, str], str
    ]  # of a stretch of a document, with its locator, as a strategy cuts it


class Material(NamedTuple):
    """What was read for one question."""

    entry: Entry
    opened: tuple[int, ...]
    outcomes: Mapping[int, Outcome]  # with their hits, by combination id
    documents: Mapping[str, DocumentText]
    headed: Mapping[str, bool]  # whether a strategy embeds headers
    # Documents of its needles, under each strategy that destroys its answer.
    cut_by: Mapping[str, Mapping[str, Sequence[Chunk]]]


def build(
    read: Read, material: Material, strip: Strip, carried: tuple[tuple[str, str], ...], links: Links, urls: Urls
) -> QueryContext:
    """The page.

    Args:
        read: The list the question stands in.
        material: What was read for it.
        strip: The line of facts.
        carried: Parameters of the list, which the filters of this page keep.
        links: Addresses.
        urls: How more of them are made.
    """
    entry, query = material.entry, material.entry.query
    heads = read.shown.heads
    said, kind = headline(entry, read.cut)

    def place_url(strategy: str, hit: Hit) -> str:
        locator = locator_of(material.documents.get(hit.document), hit.start, hit.end)
        return urls.place(strategy, hit.document, hit.start, hit.end, locator)

    others = [other for other in read.entries if other is not entry and _asks_the_same(other.query, query)]
    strategies = [head.strategy for head in heads if head.id in material.opened]
    return QueryContext(
        strip=strip,
        notes=(*combinations.notes_on(read.sweep, read.rows), *_unanswered(read.rows, query.query_id)),
        query_id=query.query_id,
        text=query.text,
        headline=said,
        verdict_kind=kind,
        chips=read.shown.chips,
        cut=read.cut,
        carried=carried,
        neighbours=neighbours(read.found.chosen, query.query_id),
        phrasings=(
            phrasing(entry, heads, material.opened, "", urls.toggle),
            *(phrasing(other, heads, (), urls.question(other.query.query_id), None) for other in others),
        ),
        places=_places(query, material, strategies, urls),
        together=_together(query),
        relevant=relevant_of(
            query, material.documents, lambda name: urls.place(strategies[0] if strategies else "", name, 0, 0, "")
        ),
        lures=()
        if query.needle_id is not None
        else lures(query, heads, material.outcomes, entry.fates, material.documents, place_url),
        answers=answers(
            [head for head in heads if head.id in material.opened],
            material.outcomes,
            entry.fates,
            query,
            material.documents,
            material.headed,
            read.cut.threshold,
            place_url,
        ),
        links=links,
    )


def _unanswered(rows: Sequence[CombinationRow], query_id: str) -> tuple[Note, ...]:
    """The retrievers of one's own that gave this question no answer, and why."""
    failures = [(row, row.stamp.get("own", {}).get("failures", {}).get(query_id)) for row in rows]
    return tuple(
        Note("warn", f"{row.key} gave this question no answer.", f"{reason}.") for row, reason in failures if reason
    )


def _asks_the_same(one: QueryRow, other: QueryRow) -> bool:
    return one.needle_id is not None and one.needle_id == other.needle_id


def _places(query: QueryRow, material: Material, strategies: Sequence[str], urls: Urls) -> tuple[Place, ...]:
    strategy = strategies[0] if strategies else ""
    found = (
        place_of(
            needle,
            material.documents[needle.document],
            material.cut_by.get(needle.document, {}),
            urls.place(
                strategy,
                needle.document,
                needle.start,
                needle.end,
                locator_of(material.documents[needle.document], needle.start, needle.end),
            ),
        )
        for needle in needle_spans(query)
        if needle.document in material.documents
    )
    return tuple(place for place in found if place is not None)


def _together(query: QueryRow) -> str:
    if not query.needles:
        return ""
    several = f"{len(query.needles)} needles"
    return f"any one of {several} answers" if query.require == "any" else f"all {several} are needed"


def headline(entry: Entry, cut: Cut) -> tuple[str, str]:
    """The verdict on one question and how it is shown."""
    fates = {str(combination): fate for combination, fate in entry.fates.items()}
    bad = any(fate.kind in ("bluff", "destroyed") for fate in fates.values())
    kept = any(fate.good for fate in fates.values())
    return on_question(fates, cut.threshold), "warns" if bad else "" if kept else "open"


def default_open(heads: Sequence[Head], entries: Sequence[Entry]) -> list[int]:
    """The combinations whose hits are shown at first: of the strategy that does most questions right, its best three.

    Each of another retriever, in the order of the grid; the same for every question of a list, so that stepping
    through it compares like with like.
    """
    right = {head.id: sum(head.id in entry.fates and entry.fates[head.id].good for entry in entries) for head in heads}
    if not heads:
        return []
    leader = max(heads, key=lambda head: right[head.id])  # max keeps the first of equals
    best: dict[str, Head] = {}
    for head in sorted(heads, key=lambda head: -right[head.id]):  # a stable sort: the grid's order among equals
        if head.strategy == leader.strategy:
            best.setdefault(head.retriever, head)
    chosen = {head.id for head in list(best.values())[:3]}
    return [head.id for head in heads if head.id in chosen]
