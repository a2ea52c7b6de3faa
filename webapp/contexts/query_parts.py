"""Parts of the page of one question: its wordings, its place in the document, and what it was led astray by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from experiments.asking.marking import Span, Window, around
from experiments.chunking import Chunk
from experiments.gate import GATE_SIZE
from experiments.outcomes import Hit, Outcome
from experiments.reviewing.bluffs import matched
from experiments.reviewing.fates import Fate
from store.needle_spans import NeedleSpan
from store.reads_texts import DocumentText
from store.tables import QueryRow
from webapp.cells import Mark
from webapp.combinations import Head
from webapp.contexts.passages import Piece, pieces
from webapp.contexts.queries import mark
from webapp.places import locator_of
from webapp.question_list import Entry

REACH = 420  # characters of the document shown on either side of the needle

_WORD = re.compile(r"[^\W_]+")


class Square(NamedTuple):
    """A cell of the grid of combinations."""

    mark: Mark | None  # None where the sweep does not have the combination
    url: str  # opens or closes its hits; empty where that is not offered
    name: str
    opened: bool


class GridRow(NamedTuple):
    """A strategy."""

    strategy: str
    what: str
    squares: tuple[Square, ...]


class Phrasing(NamedTuple):
    """One wording of what is asked."""

    query_id: str
    text: str
    tag: str
    url: str  # of its page; empty for the one this page is about
    columns: tuple[tuple[str, str], ...]  # retriever, model
    rows: tuple[GridRow, ...]


class Place(NamedTuple):
    """A needle in its document."""

    document: str
    title: str
    locator: str
    url: str
    pieces: tuple[Piece, ...]
    starts: bool  # the text shown begins where the document does
    ends: bool
    destroyed_by: str


class Lure(NamedTuple):
    """A chunk that was nearest to an unanswerable question."""

    kind: str
    words: str
    combinations: tuple[str, ...]
    bluffs: int
    nearest: float
    title: str
    section: str
    url: str
    pieces: tuple[Piece, ...]


class Neighbours(NamedTuple):
    """Where a question stands in the list it was opened from."""

    position: str
    previous: str | None
    following: str | None


def neighbours(chosen: Sequence[Entry], query_id: str) -> Neighbours:
    """The questions before and after one, in the list as filtered and sorted."""
    ids = [entry.query.query_id for entry in chosen]
    if query_id not in ids:
        return Neighbours("not in the filtered list", None, ids[0] if ids else None)
    place = ids.index(query_id)
    return Neighbours(
        f"{place + 1:,} of {len(ids):,}",
        ids[place - 1] if place else None,
        ids[place + 1] if place + 1 < len(ids) else None,
    )


def phrasing(
    entry: Entry,
    heads: Sequence[Head],
    opened: Sequence[int],
    url: str,
    toggle: Callable[[int], str] | None,
) -> Phrasing:
    """A wording with its grid: a row a strategy, a column a retriever (and its models)."""
    columns = list(dict.fromkeys((head.retriever, _models(head)) for head in heads))
    strategies = {head.strategy: head.what for head in heads}
    by_place = {(head.strategy, head.retriever, _models(head)): head for head in heads}
    rows = []
    for strategy, what in strategies.items():
        squares = []
        for retriever, model in columns:
            head = by_place.get((strategy, retriever, model))
            if head is None:
                squares.append(Square(None, "", "", opened=False))
                continue
            cell = mark(entry.fates.get(head.id), entry.flips.get(head.id))
            squares.append(Square(cell, toggle(head.id) if toggle else "", head.name, opened=head.id in opened))
        rows.append(GridRow(strategy, what, tuple(squares)))
    query = entry.query
    return Phrasing(query.query_id, query.text, query.phrasing or query.stratum or "", url, tuple(columns), tuple(rows))


class RelevantDocument(NamedTuple):
    """A document that was judged for the question as a whole."""

    title: str
    document: str
    grade: int
    url: str


def relevant_of(
    query: QueryRow, documents: Mapping[str, DocumentText], url: Callable[[str], str]
) -> tuple[RelevantDocument, ...]:
    """The judged documents, the most relevant first; only those that were read have a title of their own."""
    judged = sorted(query.relevant or (), key=lambda one: (-one["grade"], one["document"]))
    return tuple(
        RelevantDocument(
            documents[one["document"]].title if one["document"] in documents else "",
            one["document"],
            one["grade"],
            url(one["document"]),
        )
        for one in judged
    )


def place_of(
    needle: NeedleSpan, document: DocumentText, cut_by: Mapping[str, Sequence[Chunk]], url: str
) -> Place | None:
    """A needle with its surroundings, and where strategies that destroy it cut.

    Args:
        needle: Where it stands.
        document: Its document.
        cut_by: Chunks of the document under each strategy that destroys the question's answer.
        url: Of the document at the needle.
    """
    if needle.end > len(document.text):
        return None
    window = around(document.text, needle.start, needle.end, REACH)
    destroying = {
        strategy: chunks
        for strategy, chunks in cut_by.items()
        if not any(chunk.overlap_start <= needle.start and needle.end <= chunk.end for chunk in chunks)
    }
    cuts = [
        (chunk.start, f"{strategy} {number + 1}")
        for strategy, chunks in destroying.items()
        for number, chunk in enumerate(chunks)
        if needle.start < chunk.start < needle.end
    ]
    return Place(
        document=needle.document,
        title=document.title,
        locator=locator_of(document, needle.start, needle.end),
        url=url,
        pieces=pieces(document.text, window, [Span(needle.start, needle.end, "needle")], cuts),
        starts=window.start == 0,
        ends=window.end == len(document.text),
        destroyed_by=", ".join(destroying),
    )


def lures(
    query: QueryRow,
    heads: Sequence[Head],
    outcomes: Mapping[int, Outcome],
    fates: Mapping[int, Fate],
    documents: Mapping[str, DocumentText],
    place_url: Callable[[str, Hit], str],
) -> tuple[Lure, ...]:
    """The chunks that lay nearest to an unanswerable question, each with the combinations that took it up."""
    found: dict[tuple[str, int, int], list[tuple[Head, Hit]]] = {}
    for head in heads:
        outcome = outcomes.get(head.id)
        hit = min(outcome.hits[:GATE_SIZE], key=lambda one: one.distance, default=None) if outcome else None
        if hit is not None and hit.text is None and hit.document in documents:
            found.setdefault((hit.document, hit.start, hit.end), []).append((head, hit))
    lures = []
    for (document_id, start, end), taken in found.items():
        document = documents[document_id]
        match = matched(query.text, document.text[start:end])
        nearest = min(hit.distance for _, hit in taken)
        head, hit = taken[0]
        lures.append(
            Lure(
                kind=match.kind,
                words=match.words,
                combinations=tuple(one.name for one, _ in taken),
                bluffs=sum(one.id in fates and fates[one.id].kind == "bluff" for one, _ in taken),
                nearest=nearest,
                title=document.title,
                section=hit.section,
                url=place_url(head.strategy, hit),
                pieces=pieces(document.text, Window(start, end), _shared(document.text, start, end, match.shared)),
            )
        )
    return tuple(sorted(lures, key=lambda one: (-one.bluffs, one.nearest)))


def _shared(text: str, start: int, end: int, words: Sequence[str]) -> list[Span]:
    """Where the words a question shares with a chunk stand in it."""
    wanted = set(words)
    return [
        Span(start + word.start(), start + word.end(), "shared")
        for word in _WORD.finditer(text[start:end])
        if word[0].casefold() in wanted
    ]


def _models(head: Head) -> str:
    """The models a column must name."""
    return " ".join(part for part in (head.model, head.scorer) if part)
