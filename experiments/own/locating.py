"""Where a returned text stands in the documents: by the offsets it came with, or by its words.

White space is folded before words are compared: any run of it counts as one space, at the ends as none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

from corpus.documents import Document
from corpus.headings import headings

Way = Literal["offsets", "text", "ambiguous", "not located"]
_WORD = re.compile(r"\S+")
_BETWEEN = "\0"  # stands in no canonical text, so that nothing is found across two documents


class Place(NamedTuple):
    """A stretch of a document."""

    document: str
    section: str
    start: int
    end: int


class Located(NamedTuple):
    """Where a text stands, and how that was found out; no place where it stands nowhere or at several places."""

    way: Way
    place: Place | None = None


def folded(text: str) -> str:
    """A text with every run of white space as one space, none at its ends."""
    return " ".join(text.split())


class _Folded(NamedTuple):
    document: Document
    text: str
    starts: list[int]  # of each word in the folded text
    origins: list[int]  # of the same word in the document
    sections: list[tuple[int, str]]


class Locator:
    """The documents, ready to be searched for texts."""

    def __init__(self, documents: Sequence[Document]) -> None:
        """Fold every document once."""
        self._documents = [_fold(document) for document in documents]
        self._by_id = {one.document.id: one for one in self._documents}
        self._all = _BETWEEN.join(one.text for one in self._documents)
        self._begins = []
        begin = 0
        for one in self._documents:
            self._begins.append(begin)
            begin += len(one.text) + len(_BETWEEN)

    def at(self, document: str, start: int, end: int, text: str | None) -> Located:
        """A stretch that is named by its offsets.

        Args:
            document: The document's id.
            start: First code point.
            end: One past the last.
            text: What was returned for it, None where it came without.

        Raises:
            ValueError: If there is no such stretch, or it does not say what was returned.
        """
        one = self._by_id.get(document)
        if one is None:
            raise ValueError(f"there is no document {document!r}")
        whole = one.document.text
        if not 0 <= start < end <= len(whole):
            raise ValueError(f"{document} has {len(whole):,} characters, {start} to {end} is no stretch of it")
        there = whole[start:end]
        if text is not None and folded(there) != folded(text):
            raise ValueError(f"{document} says {_shown(there)} from {start} to {end}, not {_shown(text)}")
        return Located("offsets", Place(document, _section(one, start), start, end))

    def find(self, text: str, document: str | None = None) -> Located:
        """The one place a text stands at.

        Args:
            text: What was returned.
            document: Id of the document it is said to come from; where there is such a document, no other is looked at.
        """
        words = folded(text)
        if not words or _BETWEEN in words:
            return Located("not located")
        low, high = 0, len(self._all)
        if document is not None:
            known = next((n for n, one in enumerate(self._documents) if one.document.id == document), None)
            if known is not None:  # else it is named in another way there, and says nothing
                low = self._begins[known]
                high = low + len(self._documents[known].text)
        first = self._all.find(words, low, high)
        if first < 0:
            return Located("not located")
        if self._all.find(words, first + 1, high) >= 0:
            return Located("ambiguous")
        number = bisect_right(self._begins, first) - 1
        one, begin = self._documents[number], first - self._begins[number]
        start, end = _origin(one, begin), _origin(one, begin + len(words) - 1) + 1
        return Located("text", Place(one.document.id, _section(one, start), start, end))

    def occurrences(self, text: str) -> int:
        """How often a text stands in the documents, 2 for any number above."""
        words = folded(text)
        first = self._all.find(words) if words else -1
        return 0 if first < 0 else 1 if self._all.find(words, first + 1) < 0 else 2

    def text_of(self, place: Place) -> str:
        """What a stretch says."""
        return self._by_id[place.document].document.text[place.start : place.end]


def _fold(document: Document) -> _Folded:
    words, starts, origins, at = [], [], [], 0
    for found in _WORD.finditer(document.text):
        words.append(found[0])
        starts.append(at)
        origins.append(found.start())
        at += len(found[0]) + 1
    sections = [(one.start, one.title) for one in headings(document.text) if one.level == 2]
    return _Folded(document, " ".join(words), starts, origins, sections)


def _origin(one: _Folded, place: int) -> int:
    """Where a character of a word stands in the document."""
    word = bisect_right(one.starts, place) - 1
    return one.origins[word] + place - one.starts[word]


def _section(one: _Folded, start: int) -> str:
    number = bisect_right([begin for begin, _ in one.sections], start) - 1
    return one.sections[number][1] if number >= 0 else ""


def _shown(text: str) -> str:
    words = folded(text)
    return repr(words if len(words) <= 60 else words[:59] + "…")
