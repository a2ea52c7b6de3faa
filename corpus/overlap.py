"""Lexical overlap: how many of a needle's own words a question gives away."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

from corpus.questions import Query

_WORD = re.compile(r"[a-z0-9]+")
STOP_WORDS = frozenset(
    _WORD.findall(
        "a about after all also an and any are as at be because been before but by can could did do does each "
        "for from had has have how i if in into is it its itself may more most must my no not of on one only "
        "or other our out over same should so some such s t than that the their them then there these they "
        "this those to too under up us very was we were what when where which while who whose why will with "
        "would you your"
    )
)


class QueryOverlap(NamedTuple):
    """One answerable query and the share in [0, 1] of its needle's content words that the question holds."""

    query_id: str
    share: float


@dataclass(frozen=True, slots=True)
class PhrasingOverlap:
    """The lexical overlap of all answerable queries of one phrasing.

    Attributes:
        phrasing: The phrasing, or None for queries that name none.
        n: Queries counted; a needle without content words (no ``[a-z0-9]``) cannot be.
        mean: Mean share in [0, 1], or None where n is 0.
        median: Median share in [0, 1], or None where n is 0.
        queries: The shares, in the order of the file.
    """

    phrasing: str | None
    n: int
    mean: float | None
    median: float | None
    queries: tuple[QueryOverlap, ...]


def content_words(text: str) -> frozenset[str]:
    """Return the runs of ``[a-z0-9]`` of the lower-cased text that are no stop words."""
    return frozenset(_WORD.findall(text.lower())) - STOP_WORDS


def lexical_overlap(question: str, needle: str) -> float | None:
    """Return the share of the needle's content words that stand in the question, or None where it has none."""
    words = content_words(needle)
    return len(words & content_words(question)) / len(words) if words else None


def overlaps_by_phrasing(queries: Iterable[Query]) -> tuple[PhrasingOverlap, ...]:
    """Return one row for each phrasing of the answerable queries, in the order they first appear."""
    shares: dict[str | None, list[QueryOverlap]] = {}
    for query in queries:
        if query.needle is not None:
            row = shares.setdefault(query.phrasing, [])
            share = lexical_overlap(query.text, " ".join(needle.text for needle in query.needles))
            if share is not None:
                row.append(QueryOverlap(query.id, share))
    return tuple(_summary(phrasing, row) for phrasing, row in shares.items())


def _summary(phrasing: str | None, row: list[QueryOverlap]) -> PhrasingOverlap:
    values = [query.share for query in row]
    mean, middle = (fmean(values), median(values)) if values else (None, None)
    return PhrasingOverlap(phrasing, len(row), mean, middle, tuple(row))
