"""A document as a strategy cuts it: its chunks, the needles they hold or destroy, and what an encoder never read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpus.documents import Document
from experiments.chunking import Chunk, chunk_document
from experiments.conditions import Strategy
from experiments.embedding import key_of
from experiments.relevance import containing, quotable
from store.needle_spans import NeedleSpan, needle_spans
from store.tables import QueryRow


class NeedlePlace(NamedTuple):
    """A needle in its document."""

    id: str
    document: str
    start: int
    end: int
    text: str
    questions: tuple[str, ...]  # ids of the questions that ask for it


class Laid(NamedTuple):
    """A needle under a strategy's cuts."""

    needle: NeedlePlace
    chunks: tuple[int, ...]  # places of the chunks that hold it whole, from 0
    quotable: tuple[int, ...]  # those of them whose own words hold it

    @property
    def destroyed(self) -> bool:
        """No chunk holds it whole."""
        return not self.chunks


class Overlay(NamedTuple):
    """One document under one strategy."""

    strategy: Strategy
    chunks: tuple[Chunk, ...]
    needles: tuple[Laid, ...]


def needle_places(queries: Sequence[QueryRow]) -> list[NeedlePlace]:
    """The needles of a question set, in its order, each once with the questions that ask for it."""
    asked: dict[NeedleSpan, list[str]] = {}
    for query in queries:
        for span in needle_spans(query):
            asked.setdefault(span, []).append(query.query_id)
    return [
        NeedlePlace(span.id, span.document, span.start, span.end, span.text, tuple(ids)) for span, ids in asked.items()
    ]


def lay_over(document: Document, strategy: Strategy, needles: Sequence[NeedlePlace]) -> Overlay:
    """Cut a document and find the chunks that hold each of its needles.

    Args:
        document: The document.
        strategy: How to cut.
        needles: Needles of any documents; those of others are left out.
    """
    chunks = chunk_document(document, strategy)
    own = [needle for needle in needles if needle.document == document.id]
    holding, quoting = containing(chunks, own), quotable(chunks, own)
    return Overlay(
        strategy,
        chunks,
        tuple(
            Laid(needle, tuple(map(int, held)), tuple(map(int, quoted)))
            for needle, held, quoted in zip(own, holding, quoting, strict=True)
        ),
    )


def window_keys(chunks: Sequence[Chunk]) -> list[bytes]:
    """The keys under which a cache of vectors says how much of each chunk its encoder read."""
    return [key_of("document", chunk.text) for chunk in chunks]


def unread(chunks: Sequence[Chunk], seen: Mapping[bytes, int]) -> dict[int, int]:
    """Where the encoder stopped reading, for the chunks it did not read to their end.

    Args:
        chunks: Of one document.
        seen: Characters of each embedded text inside the encoder's window, by `window_keys`; what is missing is
            not known and left out.

    Returns:
        Chunk's place -> offset in the document from which on it was not read (its own start at the earliest).
    """
    found = {}
    for place, (chunk, key) in enumerate(zip(chunks, window_keys(chunks), strict=True)):
        read = seen.get(key)
        if read is not None and read < len(chunk.text):
            found[place] = max(chunk.start, chunk.end - (len(chunk.text) - read))
    return found
