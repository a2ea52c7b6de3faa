"""Projecting needles onto chunks: which chunks hold an answer whole, and which answers no chunk holds.

A needle is a span of a document and knows nothing of chunks, which is what makes two chunkings comparable.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.chunking import Chunk

IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class Span(Protocol):
    """Anything that lies in one document from ``start`` to ``end``, half-open, in code points."""

    @property
    def document(self) -> str:
        """Id of the document."""

    @property
    def start(self) -> int:
        """First code point."""

    @property
    def end(self) -> int:
        """One past the last code point."""


def containing(chunks: Sequence[Chunk], needles: Sequence[Span]) -> tuple[IndexArray, ...]:
    """For every needle, the chunks whose embedded range holds it whole.

    A chunk holds a needle when both are of the same document, ``overlap_start <= needle.start`` and
    ``needle.end <= end``. Half a sentence is not an answer.

    Args:
        chunks: Chunks in any order.
        needles: Spans to look for.

    Returns:
        One ascending array of chunk indices per needle; empty where the needle is destroyed.
    """
    return _holders(chunks, needles, [chunk.overlap_start for chunk in chunks])


def quotable(chunks: Sequence[Chunk], needles: Sequence[Span]) -> tuple[IndexArray, ...]:
    """For every needle, the chunks whose own words hold it whole, so that ``content`` quotes all of it.

    Args:
        chunks: Chunks in any order.
        needles: Spans to look for.

    Returns:
        One ascending array of chunk indices per needle, each a subset of what `containing` returns.
    """
    return _holders(chunks, needles, [chunk.start for chunk in chunks])


def destroyed(chunks: Sequence[Chunk], needles: Sequence[Span]) -> BoolArray:
    """Which needles no chunk holds whole: nothing behind the chunker can bring them back.

    Args:
        chunks: Chunks in any order.
        needles: Spans to look for.

    Returns:
        Shape (n_needles,). True where the strategy destroyed the needle.
    """
    return np.array([len(holders) == 0 for holders in containing(chunks, needles)], dtype=np.bool_)


def _holders(chunks: Sequence[Chunk], needles: Sequence[Span], starts: Sequence[int]) -> tuple[IndexArray, ...]:
    by_document: dict[str, list[int]] = {}
    for index, chunk in enumerate(chunks):
        by_document.setdefault(chunk.document, []).append(index)
    first = np.array(starts, dtype=np.int64)
    last = np.array([chunk.end for chunk in chunks], dtype=np.int64)
    # Only the chunks of documents that hold a needle are looked at, each document's ranges gathered once.
    ranges: dict[str, tuple[IndexArray, NDArray[np.int64], NDArray[np.int64]]] = {}
    for document in {needle.document for needle in needles}:
        indices = np.array(by_document.get(document, []), dtype=np.intp)
        ranges[document] = (indices, first[indices], last[indices])
    holders = []
    for needle in needles:
        indices, begin, end = ranges[needle.document]
        holders.append(indices[(begin <= needle.start) & (needle.end <= end)])
    return tuple(holders)
