"""Judging what a team's own retriever returned by the same rule as everything else: the needle whole, or no hit.

A result counts for what it says. Where it stands in the documents is known from its offsets, or from its words where
they stand there once; then the range decides. A text that stands nowhere, or at several places, is counted as such and
is a hit only if it holds a needle's words that the documents say exactly once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.questions import Query
from experiments.chunking import Chunk
from experiments.collecting import collect
from experiments.embedding import Embedded
from experiments.evaluation import Cutting
from experiments.outcomes import Outcome
from experiments.own.chunk_table import TableChunk, located
from experiments.own.locating import Located, Locator, folded
from experiments.own.responses import Answer, Returned, Tally, tally
from experiments.own.spec import OwnRetriever
from experiments.ranking import ABSENT, Ranking, dense_distances, distance_identity_error
from experiments.relevance import Held, Projection, containing, project
from experiments.retrieval import Retrieval

WAYS = ("offsets", "text", "ambiguous", "not located")


@dataclass(frozen=True, slots=True)
class Piece:
    """A returned text, or a chunk of the table that nobody returned but that holds a needle."""

    text: str
    located: Located
    document: str  # where it is said to come from, when it could not be located


@dataclass(slots=True)
class Gathered:
    """All that was returned, each text once.

    Attributes:
        answers: One a question; an answer that contradicts the documents has become an error.
        pieces: The texts.
        rows: Of each question the pieces in the order they were returned in.
        ways: How many results were located in which way.
    """

    answers: list[Answer] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)

    @property
    def tally(self) -> Tally:
        """How the requests went."""
        return tally(self.answers)

    @property
    def texts(self) -> list[str]:
        """What is embedded, so that the gate can read distances."""
        return [piece.text for piece in self.pieces]


def gather(
    queries: Sequence[Query], answers: Sequence[Answer], chunks: Mapping[str, TableChunk] | None, locator: Locator
) -> Gathered:
    """Find every returned text in the documents.

    Args:
        queries: The questions, n of them.
        answers: What came of asking them, n of them.
        chunks: The retriever's chunk table; None where it does not show its chunks.
        locator: The documents.
    """
    found = Gathered()
    known: dict[tuple[str, Located], int] = {}

    def number(text: str, where: Located, document: str | None) -> int:
        key = text, where
        if key not in known:
            known[key] = len(found.pieces)
            found.pieces.append(Piece(text, where, document or ""))
        return known[key]

    for answer in answers:
        try:
            placed = [_located(one, place, chunks, locator) for place, one in enumerate(answer.returned, 1)]
        except ValueError as error:
            found.answers.append(Answer("error", reason=str(error)))
            found.rows.append([])
            continue
        found.answers.append(answer)
        found.ways.update(where.way for _, where in placed)
        found.rows.append(
            [number(text, where, one.document) for (text, where), one in zip(placed, answer.returned, strict=True)]
        )
    if chunks:  # those that hold a needle, so that it is known how far away it lies when it was not returned
        table = list(chunks.values())
        needles = [needle for query in queries for needle in query.needles]
        holding = {int(index) for one in containing([_chunk(chunk) for chunk in table], needles) for index in one}
        for index in sorted(holding):
            number(table[index].text, table[index].located, None)
    return found


def _located(
    one: Returned, place: int, chunks: Mapping[str, TableChunk] | None, locator: Locator
) -> tuple[str, Located]:
    try:
        return located(one, chunks, locator)
    except ValueError as error:
        raise ValueError(f"result {place}: {error}") from None


def judge(
    own: OwnRetriever,
    queries: Sequence[Query],
    gathered: Gathered,
    chunks: Mapping[str, TableChunk] | None,
    locator: Locator,
    embedded: Embedded,
    asked: Embedded,
) -> Retrieval:
    """Score what was returned.

    Args:
        own: The retriever.
        queries: The questions, n of them.
        gathered: What it returned for them.
        chunks: Its chunk table; None where it does not show its chunks: what they destroy is then not known.
        locator: The documents.
        embedded: Vectors of the gathered texts.
        asked: Vectors of the questions, n of them.

    Returns:
        The outcomes of the questions that were answered; those that were not are neither found nor missed.
    """
    places = [place for place, answer in enumerate(gathered.answers) if answer.status in ("ok", "empty")]
    answered = [queries[place] for place in places]
    pieces = [_chunk(piece) for piece in gathered.pieces]
    distances = np.round(dense_distances(asked.vectors[places], embedded.vectors), 6)
    projections = [
        _with_words(query, projection, gathered.pieces, locator)
        for query, projection in zip(answered, project(pieces, answered), strict=True)
    ]
    outcomes = collect(
        answered,
        pieces,
        _ranking([gathered.rows[place] for place in places], [gathered.answers[place] for place in places]),
        distances,
        projections,
        [int(tokens) for tokens in embedded.tokens],
        reads_vectors=False,
        depth=own.k,
    )
    error = distance_identity_error(asked.vectors, embedded.vectors) if pieces else 0.0
    return Retrieval(
        outcomes=tuple(
            _shown(outcome, gathered.rows[place], gathered.pieces, known=chunks is not None)
            for outcome, place in zip(outcomes, places, strict=True)
        ),
        cutting=None
        if chunks is None
        else Cutting(len(chunks), sum(len(chunk.text) for chunk in chunks.values()), None, None, None, None, None),
        milliseconds={
            "request": [one.milliseconds for one in gathered.answers if one.milliseconds is not None],
        },
        identity_error=error,
        depth=own.k,
        own=facts(own, queries, gathered, chunks is not None),
    )


def facts(own: OwnRetriever, queries: Sequence[Query], gathered: Gathered, chunks_known: bool) -> dict[str, Any]:
    """What must be said beside its numbers, of JSON's types only.

    Returns:
        `asks` and `version`; `tally` with `n`; `answerable` and `unanswerable`, how many of each were answered and
        asked; `failures`, reasons by question; `located`, results by the way they were found; `chunks_known`.
    """
    went = gathered.tally
    answered = {query.id for query, one in zip(queries, gathered.answers, strict=True) if one.status in ("ok", "empty")}
    sides = {
        name: {
            "answered": sum(query.id in answered for query in queries if query.answerable is side),
            "asked": sum(query.answerable is side for query in queries),
        }
        for name, side in (("answerable", True), ("unanswerable", False))
    }
    return {
        "asks": own.words,
        "version": own.version,
        "tally": {**went._asdict(), "n": went.n},
        **sides,
        "failures": {
            query.id: f"{one.status}: {one.reason[:200]}"
            for query, one in zip(queries, gathered.answers, strict=True)
            if one.status not in ("ok", "empty")
        },
        "located": {way: gathered.ways[way] for way in WAYS},
        "chunks_known": chunks_known,
    }


def _chunk(piece: Piece | TableChunk) -> Chunk:
    """A text as a chunk; one that stands at no one place has an empty range, which holds nothing."""
    place = piece.located.place
    if place is None:
        return Chunk(piece.document if isinstance(piece, Piece) else "", "", 0, 0, 0, "", piece.text, piece.text, False)
    return Chunk(place.document, place.section, place.start, place.end, place.start, "", piece.text, piece.text, False)


def _ranking(rows: Sequence[Sequence[int]], answers: Sequence[Answer]) -> Ranking:
    """The order the results came in; where one has no score, all of its question are scored 1 / rank."""
    depth = max(map(len, rows), default=0)
    order = np.full((len(rows), depth), ABSENT, np.intp)
    scores = np.full((len(rows), depth), -np.inf)
    for number, (row, answer) in enumerate(zip(rows, answers, strict=True)):
        given = [one.score for one in answer.returned]
        order[number, : len(row)] = row
        scored = [score for score in given if score is not None]
        scores[number, : len(row)] = scored if len(scored) == len(given) else 1 / np.arange(1, len(row) + 1)
    return Ranking(order, scores)


def _with_words(query: Query, projection: Projection, pieces: Sequence[Piece], locator: Locator) -> Projection:
    """A needle's words, said once in the documents, make a text that stands at no one place of them a hit."""
    if projection.documents or not projection.needles:
        return projection
    unplaced = [(index, folded(piece.text)) for index, piece in enumerate(pieces) if piece.located.place is None]
    needles = []
    for needle, held in zip(query.needles, projection.needles, strict=True):
        words = folded(needle.text)
        said = [index for index, text in unplaced if words in text] if locator.occurrences(words) == 1 else []
        needles.append(Held(_with(held.containing, said), _with(held.quotable, said), held.truncated))
    return replace(projection, needles=tuple(needles))


def _with(indices: NDArray[np.intp], more: Sequence[int]) -> NDArray[np.intp]:
    return np.union1d(indices, np.array(more, np.intp)).astype(np.intp)


def _shown(outcome: Outcome, row: Sequence[int], pieces: Sequence[Piece], *, known: bool) -> Outcome:
    """An outcome with the texts of hits that no document shows, and without what nobody can know."""
    hits = tuple(
        hit if pieces[index].located.place is not None else replace(hit, text=pieces[index].text)
        for hit, index in zip(outcome.hits, row, strict=False)
    )
    return replace(outcome, hits=hits, destroyed=outcome.destroyed if known else None)
