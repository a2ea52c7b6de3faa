"""Adding the question that was asked to the question set: as unanswerable, or with a needle marked in a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from corpus.documents import Document
from corpus.sentences import split_sentences
from experiments.asking.answers import Answer

MOST_FOUND = 8
LONGEST_PASSAGE = 6000  # characters that are offered sentence by sentence
STRATA = (
    ("near", "near: of the topic, but not answered"),
    ("far", "far: of another topic altogether"),
)


class Passage(NamedTuple):
    """A stretch of a document in which a needle is marked."""

    document: str
    start: int
    end: int


class Choice(NamedTuple):
    """A sentence that can be the needle."""

    value: str  # start,end
    text: str
    chosen: bool


class Link(NamedTuple):
    """Another stretch to mark the needle in."""

    words: str
    url: str
    current: bool
    excerpt: str = ""


class Filled(NamedTuple):
    """What stands in the forms when they come back, and what is wrong with each of them."""

    kind: str = ""
    stratum: str = ""
    key_facts: str = ""
    phrasing: str = ""
    sentence: str = ""
    start: str = ""
    end: str = ""
    faults: tuple[str, ...] = ()


class Marking(NamedTuple):
    """The stretch in which the needle is marked."""

    document: str
    label: str
    url: str | None
    choices: tuple[Choice, ...]
    start: int
    end: int


class Search(NamedTuple):
    """Finding a sentence that no chunk brought."""

    words: str
    found: tuple[Link, ...]
    said: str


class Adding(NamedTuple):
    """Both forms."""

    readonly: bool
    known: str  # id of the same question in the newest sweep's set
    known_url: str | None
    action: str
    here: str
    hidden: tuple[tuple[str, str], ...]
    carried: tuple[tuple[str, str], ...]  # the same for the search, which keeps no passage
    links: tuple[Link, ...]
    marking: Marking | None
    search: Search
    strata: tuple[tuple[str, str], ...]
    filled: Filled
    file: str
    opened: bool


def first_passage(answers: Iterable[Answer]) -> Passage | None:
    """Where a needle is looked for at first: the first kept chunk of the first way that kept one."""
    for answer in answers:
        for one in answer.kept:
            return Passage(one.document, one.start, one.end)
    return None


def links_of(answers: Sequence[Answer], chosen: Passage | None, url: Callable[[Passage], str]) -> tuple[Link, ...]:
    """Every chunk that was looked at, once; kept ones by their numbers, the others by how far they lie."""
    found: dict[Passage, Link] = {}
    for answer in answers:
        for one in answer.looked_at:
            place = Passage(one.document, one.start, one.end)
            words = f"[{one.number}] {one.label}" if one.number else f"{one.distance:.3f} {one.label}"
            found.setdefault(place, Link(words, url(place), place == chosen))
    return tuple(found.values())


def marking(passage: Passage, document: Document, chosen: str, url: str | None) -> Marking:
    """The sentences of a passage.

    Raises:
        ValueError: If the passage does not lie in the document.
    """
    _, start, end = passage
    if not 0 <= start < end <= len(document.text):
        raise ValueError(f"{start} to {end} does not lie in {document.id}, which has {len(document.text):,} characters")
    end = min(end, start + LONGEST_PASSAGE)
    choices = []
    for one in split_sentences(document.text[start:end]):
        if one.kind == "heading":  # a needle is never a heading
            continue
        value = f"{start + one.start},{start + one.end}"
        choices.append(Choice(value, document.text[start + one.start : start + one.end], value == chosen))
    return Marking(document.id, document.title, url, tuple(choices), start, end)


def search(words: str, documents: Mapping[str, Document], url: Callable[[Passage], str]) -> Search:
    """Where words stand in the documents, whatever their white space and case."""
    if not words:
        return Search("", (), "")
    wanted = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    found: list[Link] = []
    more = False
    for document in documents.values():
        for match in wanted.finditer(document.text):
            if len(found) == MOST_FOUND:
                more = True
                break
            passage = _paragraph(document, match.start(), match.end())
            place = f"{document.title}, {document.id}#char={match.start()},{match.end()}"
            found.append(Link(place, url(passage), False, _excerpt(document.text, match.start(), match.end())))
    if not found:
        return Search(words, (), "These words stand in no document, in this order.")
    return Search(words, tuple(found), f"Only the first {MOST_FOUND} places are shown." if more else "")


def _paragraph(document: Document, start: int, end: int) -> Passage:
    """The paragraphs a stretch lies in, without the blank lines around them."""
    text = document.text
    before = [match.end() for match in re.finditer(r"\n\s*\n", text[:start])]
    after = re.search(r"\n\s*\n", text[end:])
    low, high = (before[-1] if before else 0), (end + after.start() if after else len(text))
    piece = text[low:high]
    low += len(piece) - len(piece.lstrip())
    return Passage(document.id, low, low + len(piece.strip()))


def _excerpt(text: str, start: int, end: int, reach: int = 60) -> str:
    low, high = max(start - reach, 0), min(end + reach, len(text))
    words = " ".join(text[low:high].split())
    return f"{'…' if low else ''}{words}{'…' if high < len(text) else ''}"
