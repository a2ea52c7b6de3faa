"""The questions of a sweep as a list: filtered, sorted, counted, the same on the list and on each question's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from flask import request

from experiments.reviewing.fates import Fate, Flip, fate, flip, lost_everywhere
from store.needle_spans import needle_spans
from store.reads import OutcomeRecord
from store.tables import QueryRow
from webapp import params
from webapp.combinations import Head

WHICH = ("all", "lost", "destroyed", "bluffs", "flipped")
LAST = 10**9  # a rank behind every rank


class Asked(NamedTuple):
    """What of the list is asked for."""

    which: str
    phrasing: str
    stratum: str
    words: str
    sort: str


class Entry(NamedTuple):
    """A question with what became of it, by combination id."""

    query: QueryRow
    fates: dict[int, Fate]
    flips: dict[int, Flip]

    @property
    def right(self) -> int:
        """Combinations that do what is right."""
        return sum(one.good for one in self.fates.values())


def asked(queries: Sequence[QueryRow], heads: Sequence[Head]) -> Asked:
    """Read the list's state out of this request's address.

    Raises:
        BadParameterError: If something is asked for that this question set or sweep does not have.
    """
    args = request.args
    columns = [f"c{head.id}" for head in heads]
    sorts = [*("id", "right", *columns), *("-id", "-right", *(f"-{name}" for name in columns))]
    return Asked(
        params.choice(args, "which", WHICH, "all"),
        params.choice(args, "phrasing", phrasings(queries), ""),
        params.choice(args, "stratum", strata(queries), ""),
        params.text(args, "words"),
        params.choice(args, "sort", ["", *sorts], ""),
    )


def phrasings(queries: Sequence[QueryRow]) -> list[str]:
    """The phrasings of a question set, in its order."""
    return list(dict.fromkeys(query.phrasing for query in queries if query.phrasing))


def strata(queries: Sequence[QueryRow]) -> list[str]:
    """What kinds of questions there are: answerable ones, and the strata of the others."""
    found = ["answerable"] if any(query.needle_id is not None for query in queries) else []
    return found + sorted({query.stratum for query in queries if query.stratum}, reverse=True)


def entries(
    queries: Sequence[QueryRow],
    outcomes: Mapping[int, Sequence[OutcomeRecord]],
    threshold: float | None,
    before: Mapping[int, Sequence[OutcomeRecord]],
) -> list[Entry]:
    """Every question with its fates, in the order of the question set.

    Args:
        queries: The question set.
        outcomes: By combination id, in the order of the columns.
        threshold: At which they are read.
        before: Outcomes of the same combinations in another sweep, by this sweep's combination id.
    """
    fates: dict[str, dict[int, Fate]] = {}
    flips: dict[str, dict[int, Flip]] = {}
    for combination, found in outcomes.items():
        earlier = {(one.query_id, one.needle_id): one for one in before.get(combination, ())}
        for outcome in found:
            fates.setdefault(outcome.query_id, {})[combination] = fate(outcome, threshold)
            old = earlier.get((outcome.query_id, outcome.needle_id))
            turned = flip(old, outcome, threshold) if old is not None else None
            if turned is not None:
                flips.setdefault(outcome.query_id, {})[combination] = turned
    return [Entry(query, fates.get(query.query_id, {}), flips.get(query.query_id, {})) for query in queries]


def fitting(found: Sequence[Entry], state: Asked) -> list[Entry]:
    """The questions that fit everything asked but `which`."""
    terms = state.words.casefold().split()
    return [
        entry
        for entry in found
        if (not state.phrasing or entry.query.phrasing == state.phrasing)
        and (not state.stratum or (entry.query.stratum or "answerable") == state.stratum)
        and all(term in _text(entry.query) for term in terms)
    ]


def counts(found: Sequence[Entry]) -> dict[str, int]:
    """How many questions each value of `which` leaves."""
    return {which: sum(_TESTS[which](entry) for entry in found) for which in WHICH}


def chosen(found: Sequence[Entry], state: Asked) -> list[Entry]:
    """The questions that are shown, in the order asked for; equal ones stay in the order of the question set."""
    kept = [entry for entry in found if _TESTS[state.which](entry)]
    if not state.sort:
        return kept
    name = state.sort.removeprefix("-")
    key: Callable[[Entry], object]
    if name == "id":
        key = _by_id
    elif name == "right":
        key = _by_right
    else:
        combination = int(name.removeprefix("c"))
        key = lambda entry: place(entry.fates.get(combination))  # noqa: E731
    return sorted(kept, key=key, reverse=state.sort.startswith("-"))


def place(one: Fate | None) -> tuple[int, int]:
    """Where a fate stands in a column's order: answers by rank, then what has none, then what was not asked."""
    if one is None:
        return (3, 0)
    order = {"kept": 0, "refused": 0, "below": 0, "truncated": 0, "destroyed": 0, "silent": 1, "bluff": 2}
    worse = {"truncated": 1, "destroyed": 2}
    return (order[one.kind], (one.rank or LAST) + worse.get(one.kind, 0))


def _text(query: QueryRow) -> str:
    needles = (part for needle in needle_spans(query) for part in (needle.text, needle.document))
    judged = (one["document"] for one in query.relevant or ())
    return " ".join((query.query_id, query.text, *needles, *judged)).casefold()


def _by_id(entry: Entry) -> str:
    return entry.query.query_id


def _by_right(entry: Entry) -> int:
    return entry.right


_TESTS: dict[str, Callable[[Entry], bool]] = {
    "all": lambda entry: True,
    "lost": lambda entry: lost_everywhere(list(entry.fates.values())),
    "destroyed": lambda entry: any(one.kind == "destroyed" for one in entry.fates.values()),
    "bluffs": lambda entry: any(one.kind == "bluff" for one in entry.fates.values()),
    "flipped": lambda entry: bool(entry.flips),
}
