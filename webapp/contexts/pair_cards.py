"""The card under the win/loss matrix: one pair, with the questions on which it differs side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from experiments.outcomes import Recorded
from experiments.reviewing.fates import may_be_destroyed
from experiments.reviewing.winloss import Discordant, Pairing, discordant, place
from experiments.verdicts.queries import NOT_RETURNED, on_window
from experiments.words import plural
from store.tables import QueryRow
from webapp.combinations import Head
from webapp.exports import Column, Table

COLUMNS = (
    Column("won_by", "Won by"),
    Column("query_id", "Question"),
    Column("text", "Text"),
    Column("phrasing", "Phrasing"),
    Column("needle_id", "Needle"),
    Column("first_rank", "Rank in the first", description="Rank of the first chunk that contains the needle whole."),
    Column("first_place", "Place in the first", description="found, or how it was lost at k."),
    Column("second_rank", "Rank in the second"),
    Column("second_place", "Place in the second"),
)


class Place(NamedTuple):
    """Where a needle stands under one combination: a stage and its words."""

    kind: str
    words: str


class Line(NamedTuple):
    """A question as both combinations met it."""

    query_id: str
    text: str
    phrasing: str
    url: str
    first: Place
    second: Place


class Group(NamedTuple):
    """What is counted once: a question, or a needle with all its phrasings."""

    needle: str  # its text; empty where questions are counted
    lines: tuple[Line, ...]


class Side(NamedTuple):
    """What one of the two wins."""

    title: str
    groups: tuple[Group, ...]


class Card(NamedTuple):
    """A pair."""

    first: Head
    second: Head
    sentence: str
    kind: str
    pairing: Pairing
    both: int
    neither: int
    sides: tuple[Side, Side]
    layout: str  # side by side, unless one side has nothing
    swap_url: str
    close_url: str


def card(
    pairing: Pairing,
    first: Head,
    second: Head,
    sentence: str,
    outcomes: Sequence[Recorded],
    others: Sequence[Recorded],
    queries: Sequence[QueryRow],
    *,
    swap_url: str,
    close_url: str,
    question_url: Callable[[str], str],
) -> Card:
    """The card of a pair.

    Args:
        pairing: The evidence.
        first: Its first side.
        second: Its second side.
        sentence: What it says.
        outcomes: Answerable outcomes of the first.
        others: Of the second.
        queries: The question set.
        swap_url: The same pair the other way round.
        close_url: The page without a pair.
        question_url: Address of a question's page by its id.
    """
    k = pairing.k
    known = {query.query_id: query for query in queries}
    won, lost = discordant(outcomes, others, k, pairing.unit)
    by_question = {other.query_id: other for other in others}
    found = [(_found(one, k), _found(by_question[one.query_id], k)) for one in outcomes if one.query_id in by_question]

    def side(head: Head, groups: Sequence[Sequence[Discordant]]) -> Side:
        count = plural(len(groups), pairing.unit) if groups else f"no {pairing.unit}"
        return Side(f"{head.name} wins {count}", tuple(_group(one, pairing, known, question_url) for one in groups))

    return Card(
        first=first,
        second=second,
        sentence=sentence,
        kind="" if pairing.resolved else "open",
        pairing=pairing,
        both=sum(one and other for one, other in found),
        neither=sum(not one and not other for one, other in found),
        sides=(side(first, won), side(second, lost)),
        layout="facing" if won and lost else "",
        swap_url=swap_url,
        close_url=close_url,
    )


def table(
    sweep_id: int,
    pairing: Pairing,
    outcomes: Sequence[Recorded],
    others: Sequence[Recorded],
    queries: Sequence[QueryRow],
) -> Table:
    """The discordant questions of a pair as data."""
    known = {query.query_id: query for query in queries}
    won, lost = discordant(outcomes, others, pairing.k, pairing.unit)
    rows = [
        (
            key,
            one.first.query_id,
            known[one.first.query_id].text if one.first.query_id in known else None,
            one.first.phrasing,
            one.first.needle_id,
            one.first.rank,
            place(one.first, pairing.k),
            one.second.rank,
            place(one.second, pairing.k),
        )
        for key, groups in ((pairing.first, won), (pairing.second, lost))
        for group in groups
        for one in group
    ]
    return Table(f"sweep-{sweep_id}-discordant", COLUMNS, tuple(rows))


def _group(
    group: Sequence[Discordant], pairing: Pairing, known: dict[str, QueryRow], question_url: Callable[[str], str]
) -> Group:
    needle = known[group[0].first.query_id].needle if group[0].first.query_id in known else None
    lines = tuple(_line(one, pairing.k, known, question_url) for one in group)
    return Group((needle or "") if pairing.unit == "needle" else "", lines)


def _line(one: Discordant, k: int, known: dict[str, QueryRow], question_url: Callable[[str], str]) -> Line:
    query_id = one.first.query_id
    query = known.get(query_id)
    return Line(
        query_id,
        query.text if query else "",
        one.first.phrasing or "",
        question_url(query_id),
        _place(one.first, k),
        _place(one.second, k),
    )


def _place(outcome: Recorded, k: int) -> Place:
    kind = place(outcome, k)
    if kind == "found":
        return Place("kept", f"rank {outcome.rank}")
    if kind == "below":
        return Place("below", f"rank {outcome.rank}")
    if kind == "truncated":
        return Place(kind, on_window(outcome.truncated_by))
    if kind == "absent":
        return Place("below", NOT_RETURNED if may_be_destroyed(outcome) else "not returned")
    return Place(kind, kind)


def _found(outcome: Recorded, k: int) -> bool:
    return outcome.rank is not None and outcome.rank <= k
