"""Projecting answers onto chunks: which chunks hold a needle whole, and which needles no chunk holds.

A needle is a span of a document and knows nothing of chunks, which is what makes two chunkings comparable. Where whole
documents are judged instead, every chunk of a relevant document is a hit, and nothing can be destroyed or truncated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.questions import Query, Require
from experiments.chunking import Chunk
from experiments.stats.ranges import precision_omega

APART = 2**40  # between documents laid on one line: none is that long, so their ranges never meet

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


class Held(NamedTuple):
    """One needle on the chunks of a strategy: ascending chunk indices.

    Attributes:
        containing: Chunks whose embedded range holds it whole; of a relevant document all its chunks.
        quotable: Those of them whose own words do.
        truncated: Those of `containing` in which it ends beyond the encoder's window.
    """

    containing: IndexArray
    quotable: IndexArray
    truncated: IndexArray = np.array([], np.intp)

    @property
    def unread(self) -> bool:
        """Whether some chunk holds it, and every one of them beyond the window."""
        return 0 < len(self.containing) == len(self.truncated)


@dataclass(frozen=True, slots=True)
class Projection:
    """What answers one question, on the chunks of a strategy.

    Attributes:
        needles: Each of its needles; of document-level relevance one entry for all relevant documents together;
            none where the question is unanswerable.
        require: Whether `any` of the needles is enough, or `all` are needed.
        documents: Whether the entry stands for whole documents: then nothing is destroyed.
    """

    needles: tuple[Held, ...]
    require: Require = "any"
    documents: bool = False

    @property
    def containing(self) -> IndexArray:
        """Chunks that hold at least one of the needles whole, ascending."""
        return _union([held.containing for held in self.needles])

    @property
    def quotable(self) -> IndexArray:
        """Chunks whose own words hold at least one of them whole, ascending."""
        return _union([held.quotable for held in self.needles])

    @property
    def destroyed(self) -> bool:
        """Whether no chunks can answer: of `any` every needle is destroyed, of `all` one of them."""
        if self.documents or not self.needles:
            return False
        gone = [len(held.containing) == 0 for held in self.needles]
        return all(gone) if self.require == "any" else any(gone)

    @property
    def truncated(self) -> bool:
        """Whether what is not destroyed was never read whole: of `any` every needle left, of `all` one of them."""
        if self.destroyed:
            return False
        unread = [held.unread for held in self.needles if len(held.containing)]
        return bool(unread) and (all(unread) if self.require == "any" else any(unread))


def project(chunks: Sequence[Chunk], queries: Sequence[Query]) -> tuple[Projection, ...]:
    """Lay what answers each question over the chunks.

    Args:
        chunks: Chunks in any order.
        queries: The questions, with their needles or their relevant documents.

    Returns:
        One projection a question; what an encoder's window does to it is not known yet.
    """
    needles = [needle for query in queries for needle in query.needles]
    found = iter(map(Held, containing(chunks, needles), quotable(chunks, needles)))
    by_document = _by_document(chunks) if any(query.relevant for query in queries) else {}
    return tuple(
        Projection((_of_documents(query, by_document),), documents=True)
        if query.relevant
        else Projection(tuple(next(found) for _ in query.needles), query.require)
        for query in queries
    )


def precision_omegas(chunks: Sequence[Chunk], queries: Sequence[Query]) -> dict[str, float]:
    """Precision omega of every question with needles: the best token precision the cutting allows.

    Args:
        chunks: Chunks in any order; what counts is the embedded range, overlap included and header not.
        queries: The questions.

    Returns:
        By question id.
    """
    pieces = {name: [(chunks[at].overlap_start, chunks[at].end) for at in places]
              for name, places in _by_document(chunks).items()}  # fmt: skip
    found = {}
    for query in queries:
        wanted, held = [], []
        for place, name in enumerate(sorted({needle.document for needle in query.needles})):
            base = place * APART
            own = [needle for needle in query.needles if needle.document == name]
            wanted += [(base + needle.start, base + needle.end) for needle in own]
            held += [(base + start, base + end) for start, end in pieces.get(name, ())]
        omega = precision_omega(wanted, held)
        if omega is not None:
            found[query.id] = omega
    return found


def _of_documents(query: Query, by_document: dict[str, list[int]]) -> Held:
    relevant = [name for name, grade in query.relevant if grade > 0]
    indices = np.array(sorted(index for name in relevant for index in by_document.get(name, ())), np.intp)
    return Held(indices, indices)


def _union(arrays: Sequence[IndexArray]) -> IndexArray:
    if len(arrays) == 1:
        return arrays[0]
    return np.unique(np.concatenate(arrays)) if arrays else np.array([], np.intp)


def _by_document(chunks: Sequence[Chunk]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, chunk in enumerate(chunks):
        found.setdefault(chunk.document, []).append(index)
    return found


def _holders(chunks: Sequence[Chunk], needles: Sequence[Span], starts: Sequence[int]) -> tuple[IndexArray, ...]:
    by_document = _by_document(chunks)
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
