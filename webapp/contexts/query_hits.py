"""The hits of a question, a column for each combination: what the gate saw, and where its line runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from experiments.asking.marking import Span, Window
from experiments.chunking import header_of
from experiments.gate import GATE_SIZE
from experiments.naming import scale_of, scored
from experiments.outcomes import Hit, Outcome, judges_documents
from experiments.reviewing.fates import Fate
from experiments.verdicts.queries import words_of
from store.needle_spans import needle_spans
from store.reads_texts import DocumentText
from store.tables import QueryRow
from webapp.combinations import Head
from webapp.contexts.passages import Piece, pieces
from webapp.exports import Column, Table
from webapp.places import locator_of
from webapp.strips import Tick, strip

STAGES = {"kept": "kept", "refused": "refused", "below": "below", "truncated": "truncated", "destroyed": "destroyed"}
NOWHERE = "a text that stands at no one place of the documents"
COLUMNS = (
    Column("query_id", "Question"),
    Column("combination", "Combination"),
    Column("rank", "Rank"),
    Column("distance", "Distance", description="Cosine distance of question and chunk."),
    Column("score", "Score", description="The retriever's own, on a scale of its own; empty where it gave none."),
    Column("scored_by", "Scored by", description="Whose scale the score is on."),
    Column("first_rank", "Rank before", description="Before a cross-encoder put it here; empty without one."),
    Column("kept", "Kept", description="Whether the gate keeps it at the threshold."),
    Column("threshold", "Threshold", description="Empty for none."),
    Column("contains", "Needle", description="Whether its embedded text contains the needle whole."),
    Column("quotable", "Quotable", description="Whether its own words do."),
    Column("document", "Document"),
    Column("section", "Section"),
    Column("overlap_start", "Embedded from", description="First character embedded, overlap included."),
    Column("start", "From", description="First character of its own words in the document."),
    Column("end", "To", description="One past the last."),
    Column("tokens", "Tokens"),
)


class Passage(NamedTuple):
    """A returned chunk."""

    rank: int
    distance: float
    scored: str  # by whom, and the score
    kept: bool
    contains: bool
    tag: str  # what it holds
    quotable: bool
    document: str
    title: str
    section: str
    url: str  # empty where it stands at no one place of the documents
    locator: str
    header: str
    pieces: tuple[Piece, ...]
    line_before: bool  # the threshold runs between it and the one before


class Answer(NamedTuple):
    """What one combination returned."""

    head: Head
    fate: Fate
    stage: str
    words: str
    said: str
    strip: Markup | None
    gated: tuple[Passage, ...]
    further: tuple[Passage, ...]
    line_behind: str  # said behind the last hit, where the threshold lies beyond all of them
    in_order: bool  # whether distances grow with the rank, so that one line parts kept from refused
    tail: str


def answers(
    heads: Sequence[Head],
    outcomes: Mapping[int, Outcome],
    fates: Mapping[int, Fate],
    query: QueryRow,
    documents: Mapping[str, DocumentText],
    headed: Mapping[str, bool],
    threshold: float | None,
    place_url: Callable[[str, Hit], str],
) -> tuple[Answer, ...]:
    """A column for each combination that has hits on record.

    Args:
        heads: The combinations.
        outcomes: Of this question, with hits, by combination id.
        fates: What became of it.
        query: The question.
        documents: The documents of the hits.
        headed: Whether a strategy embeds headers, by its name.
        threshold: The gate's cut.
        place_url: Address of a hit in its document, as a strategy cuts it.
    """
    distances = [hit.distance for one in outcomes.values() for hit in one.hits]
    ends = [*distances, *([threshold] if threshold is not None else [])]
    low, high = (min(ends) - 0.02, max(ends) + 0.02) if ends else (0.0, 1.0)
    found = []
    for head in heads:
        outcome = outcomes.get(head.id)
        if outcome is None or head.id not in fates:
            continue
        passages = [
            _passage(rank, hit, query, documents, headed.get(head.strategy, False), threshold, place_url, head)
            for rank, hit in enumerate(outcome.hits, 1)
        ]
        in_order = _grows(passages[:GATE_SIZE])
        lined, behind = _lined(passages, threshold)
        fate = fates[head.id]
        ticks = [Tick(one.distance, one.rank <= GATE_SIZE, one.contains) for one in passages]
        found.append(
            Answer(
                head,
                fate,
                STAGES.get(fate.kind, ""),
                words_of(fate),
                _said(passages, threshold),
                strip(ticks, threshold, low, high) if ticks else None,
                tuple(lined[:GATE_SIZE]),
                tuple(lined[GATE_SIZE:]),
                behind,
                in_order,
                _tail(outcome, len(passages)),
            )
        )
    return tuple(found)


def table(
    sweep_id: int,
    query_id: str,
    heads: Sequence[Head],
    outcomes: Mapping[int, Outcome],
    threshold: float | None,
) -> Table:
    """The hits as data."""
    rows = []
    for head in heads:
        for rank, hit in enumerate(outcomes[head.id].hits if head.id in outcomes else (), 1):
            kept = rank <= GATE_SIZE and _passes(hit.distance, threshold)
            rows.append(
                (
                    *(query_id, head.key, rank, hit.distance, hit.score, scale_of(head.retriever), hit.first_rank),
                    *(kept, threshold, hit.contains, hit.quotable),
                    *(hit.document, hit.section, hit.overlap_start, hit.start, hit.end, hit.tokens),
                )
            )
    return Table(f"sweep-{sweep_id}-hits", COLUMNS, tuple(rows))


def _passage(
    rank: int,
    hit: Hit,
    query: QueryRow,
    documents: Mapping[str, DocumentText],
    headed: bool,
    threshold: float | None,
    place_url: Callable[[str, Hit], str],
    head: Head,
) -> Passage:
    document = documents.get(hit.document)
    title = document.title if document else hit.document
    return Passage(
        rank=rank,
        distance=hit.distance,
        scored=scored(head.retriever, hit.score, hit.first_rank),
        kept=rank <= GATE_SIZE and _passes(hit.distance, threshold),
        contains=hit.contains,
        tag="relevant document" if query.relevant else "needle",
        quotable=hit.quotable,
        document=hit.document,
        title=title if hit.text is None else NOWHERE,
        section=hit.section,
        url=place_url(head.strategy, hit) if hit.text is None else "",
        locator=locator_of(document, hit.start, hit.end) if hit.text is None else "",
        header=header_of(title, hit.section) if headed and document else "",
        pieces=_pieces(hit, query, document),
        line_before=False,
    )


def _pieces(hit: Hit, query: QueryRow, document: DocumentText | None) -> tuple[Piece, ...]:
    if hit.text is not None:
        return (Piece(hit.text, "span", "", ""),)
    return _text(hit, query, document.text) if document else ()


def _text(hit: Hit, query: QueryRow, text: str) -> tuple[Piece, ...]:
    end = min(hit.end, len(text))
    begin = min(hit.overlap_start, end)
    spans = [Span(begin, min(hit.start, end), "overlap")]
    for needle in needle_spans(query):
        if needle.document == hit.document:
            spans.append(Span(needle.start, needle.end, "needle"))
            if not (hit.overlap_start <= needle.start and needle.end <= hit.end):
                spans.append(Span(needle.start, needle.end, "half"))
    return pieces(text, Window(begin, end), spans)


def _passes(distance: float, threshold: float | None) -> bool:
    return threshold is None or distance < threshold


def _grows(passages: Sequence[Passage]) -> bool:
    return all(one.distance <= other.distance for one, other in pairwise(passages))


def _lined(passages: list[Passage], threshold: float | None) -> tuple[list[Passage], str]:
    """The threshold between the hits it parts, where distances grow with the rank; else it parts none from another.

    Returns:
        The hits, and what is said behind the last where the threshold lies beyond all of them.
    """
    reach = len(passages) if _grows(passages) else GATE_SIZE if _grows(passages[:GATE_SIZE]) else 0
    if threshold is None or not passages or not reach:
        return passages, ""
    first = next((place for place, one in enumerate(passages[:reach]) if one.distance >= threshold), None)
    if first is None:
        return passages, f"threshold {threshold:g}, beyond the {reach} on record" if reach == len(passages) else ""
    return [one._replace(line_before=place == first) for place, one in enumerate(passages)], ""


def _said(passages: Sequence[Passage], threshold: float | None) -> str:
    gated = passages[:GATE_SIZE]
    if not gated:
        return "It returned nothing."
    kept = sum(one.kept for one in gated)
    nearest = min(one.distance for one in gated)
    under = "" if threshold is None else f" under {threshold:g}"
    return f"{kept} of {len(gated)} chunks kept{under}; the nearest at {nearest:.3f}."


def _tail(outcome: Outcome, shown: int) -> str:
    """Where the answer is when the hits do not show it, or not all of it."""
    all_shown = outcome.rank is not None and outcome.rank <= len(outcome.hits)
    if outcome.needle_id is None or all_shown:
        return ""
    if outcome.destroyed:
        return "No chunk of this strategy holds the needle whole: there is none to be found."
    if any(hit.contains for hit in outcome.hits):
        return "Not all the needles it needs are among the chunks on record."
    far = "" if outcome.chunk_distance is None else f", at distance {outcome.chunk_distance:.3f}"
    judged = judges_documents([outcome])
    if outcome.destroyed is None and outcome.rank is None and not judged:
        return f"The needle is in nothing that was returned{far}; whether a chunk holds it whole is not known."
    chunk = "first chunk of a relevant document" if judged else "needle's chunk"
    if outcome.rank is None:
        return f"The {chunk} is not returned at all{far}."
    return f"The {chunk} has rank {outcome.rank:,}{far}; the first {shown} are on record."
