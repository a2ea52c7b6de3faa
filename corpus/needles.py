"""Needles: verbatim spans of the corpus, and finding the one place each of them means."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz, process

from corpus.documents import Document
from corpus.faults import shortened
from corpus.headings import Heading, headings

_PLACES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Needle:
    """A verbatim span of one document that answers a question; never (part of) a heading.

    Attributes:
        id: ``document#char=start,end``; two queries with the same id are two phrasings of one needle.
        text: The words, equal to ``document.text[start:end]``.
        document: Id of the document.
        start: Offset of the first character, in code points.
        end: Offset behind the last character.
    """

    id: str
    text: str
    document: str
    start: int
    end: int


class Claim(NamedTuple):
    """What a questions file says about a needle: its words and, where it says so, their place."""

    text: str
    document: str | None
    start: int | None
    end: int | None


class Objection(NamedTuple):
    """Why a claim gives no needle: the value, the problem and the advice of the fault to report."""

    value: str
    problem: str
    advice: str


class Missing(NamedTuple):
    """A claim whose words stand nowhere in the corpus."""

    text: str


class Place(NamedTuple):
    """A range of one document."""

    document: str
    start: int
    end: int


def places_of(text: str, documents: Sequence[Document], most: int = _PLACES_SHOWN + 1) -> list[Place]:
    """Return the first ``most`` places where the text stands, overlapping ones included, in document order."""
    places: list[Place] = []
    for document in documents:
        start = document.text.find(text)
        while start >= 0 and len(places) < most:
            places.append(Place(document.id, start, start + len(text)))
            start = document.text.find(text, start + 1)
    return places


class NeedleFinder:
    """Finds needles in one corpus; headings and places are worked out once for each document and text."""

    def __init__(self, documents: Sequence[Document]) -> None:
        """Prepare for the documents of one corpus."""
        self.documents = documents
        self._by_id = {document.id: document for document in documents}
        # macOS hands out decomposed file names that look the same as what a person types.
        self._by_look = {unicodedata.normalize("NFC", document.id): document for document in documents}
        self._places = lru_cache(maxsize=None)(self._find_places)
        self._headings = lru_cache(maxsize=None)(self._find_headings)
        self.closest_name = lru_cache(maxsize=None)(self._closest_name)

    def document(self, name: str) -> Document | None:
        """Return the document of that id, whatever the Unicode normal form of the name, or None."""
        return self._by_id.get(name) or self._by_look.get(unicodedata.normalize("NFC", name))

    def locate(self, claim: Claim) -> Needle | Objection | Missing:
        """Return the needle a claim means, or what is wrong with it."""
        document = None if claim.document is None else self.document(claim.document)
        if claim.document is not None and document is None:
            closest = self.closest_name(claim.document)
            return Objection(claim.document, "there is no such document", f"The closest name is '{closest}'.")
        # Said and found there, there is no need to search the whole corpus.
        at_once = document is not None and claim.start is not None and document.text.startswith(claim.text, claim.start)
        places = [] if at_once else self._places(claim.text)
        if not places and not at_once:
            return Missing(claim.text)
        if document is not None and claim.start is not None:
            return self._locate_at(claim, document, claim.start)
        if len(places) > 1:
            return _repeated(claim, places)
        if document is not None and places[0].document != document.id:
            problem = f"the needle does not stand in '{document.id}'"
            return Objection(claim.text, problem, f"It stands in {_listed(places)}: correct `document`.")
        return self._needle(claim.text, places[0])

    def _locate_at(self, claim: Claim, document: Document, start: int) -> Needle | Objection:
        end = start + len(claim.text)
        if not document.text.startswith(claim.text, start):
            found = shortened(document.text[start:end], 60)
            here = places_of(claim.text, [document]) or self._places(claim.text)
            problem = f"the needle does not stand at offset {start} of '{document.id}'"
            advice = f"There stands '{found}'. The needle stands in {_listed(here)}; offsets count code points."
            return Objection(claim.text, problem, advice)
        if claim.end not in (None, end):
            problem = f"`end` does not fit the needle, which ends at {end}"
            return Objection(str(claim.end), problem, f"Write {end}, or leave `end` out.")
        return self._needle(claim.text, Place(document.id, start, end))

    def _needle(self, text: str, place: Place) -> Needle | Objection:
        for heading in self._headings(place.document):
            if place.start < heading.end and heading.start < place.end:
                problem = f"the needle overlaps the heading '{shortened(heading.title, 60)}' of '{place.document}'"
                advice = "Choose a sentence of the running text: headings are copied into chunks."
                return Objection(text, problem, advice)
        name = f"{place.document}#char={place.start},{place.end}"
        return Needle(name, text, place.document, place.start, place.end)

    def _find_places(self, text: str) -> list[Place]:
        return places_of(text, self.documents)

    def _find_headings(self, name: str) -> tuple[Heading, ...]:
        return headings(self._by_id[name].text)

    def _closest_name(self, name: str) -> str:
        best = process.extractOne(name, [document.id for document in self.documents], scorer=fuzz.ratio)
        return shortened(best[0]) if best else ""


def _listed(places: Sequence[Place]) -> str:
    shown = ", ".join(f"'{place.document}' at {place.start}" for place in places[:_PLACES_SHOWN])
    return f"{shown}, ..." if len(places) > _PLACES_SHOWN else shown


def _repeated(claim: Claim, places: Sequence[Place]) -> Objection:
    count = f"more than {_PLACES_SHOWN} times" if len(places) > _PLACES_SHOWN else f"{len(places)} times"
    advice = f"Say with `document` and `start` which place is meant ({_listed(places)}), or quote more of the sentence."
    return Objection(claim.text, f"the needle occurs {count} in the corpus", advice)
