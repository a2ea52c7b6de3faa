"""Citations: the model writes `[1]`, the server says what that is.

A number is all a model may write. Document, label, locator and quote are attached afterwards from what was supplied,
and a quote that is not what stands in the document is an error, never a citation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from corpus.documents import Document
from experiments.asking.answers import Passage


class CitationError(ValueError):
    """A quote is not what stands in the document at its place."""


class Citation(NamedTuple):
    """What a number in an answer stands for."""

    number: int
    document: str
    label: str
    locator: str
    start: int
    end: int
    quote: str


def cite(passages: Iterable[Passage], documents: Mapping[str, Document]) -> tuple[Citation, ...]:
    """Attach document, label, locator and quote to every numbered chunk.

    Args:
        passages: What the gate looked at; chunks without a number were not supplied and are left out.
        documents: By id.

    Returns:
        One citation a number, in the order given.

    Raises:
        CitationError: If a document is gone, a number is given twice, or a quote differs from the document's text.
    """
    citations: dict[int, Citation] = {}
    for passage in passages:
        if passage.number is None:
            continue
        if passage.number in citations:
            raise CitationError(f"the number [{passage.number}] is given to two chunks")
        citations[passage.number] = _citation(passage.number, passage, documents.get(passage.document))
    return tuple(citations.values())


def _citation(number: int, passage: Passage, document: Document | None) -> Citation:
    if document is None:
        raise CitationError(f"[{number}] cites {passage.document!r}, and there is no such document")
    stands_there = document.text[passage.start : passage.end]
    if not passage.quote or passage.quote != stands_there:
        place = f"{document.id}{passage.locator}"
        raise CitationError(f"[{number}] quotes {passage.quote[:60]!r}, but at {place} stands {stands_there[:60]!r}")
    return Citation(
        number=number,
        document=document.id,
        label=passage.label,
        locator=passage.locator,
        start=passage.start,
        end=passage.end,
        quote=passage.quote,
    )
