"""One way a question was asked, as a column: what was kept, what lay beyond the line, and how long it took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from corpus.documents import Document
from experiments.asking.answering import prompt_of
from experiments.asking.answers import LOADED, Answer, Passage
from experiments.asking.citations import cite
from experiments.asking.marking import Span, Window, runs
from experiments.asking.verdict import nearest_of, on_answer, on_nearest
from experiments.conditions import SCORER_RETRIEVERS
from experiments.naming import scored
from store.tables import QueryRow
from webapp import scales
from webapp.asking import AskFault
from webapp.contexts.ask_written import Panel
from webapp.filters import duration
from webapp.scales import Scale

STAGES = {
    "index": "index made",
    "embed": "question embedded",
    "scan": "distances",
    "lexical": "BM25",
    "fuse": "ranks fused",
    "rerank": "pairs read",
    "maxsim": "question embedded by token and compared",
}


class Bit(NamedTuple):
    """A run of a quotation, marked where the needle stands."""

    text: str
    needle: bool


class Shown(NamedTuple):
    """A chunk the gate looked at."""

    number: int | None  # in the prompt
    rank: int
    distance: float
    scored: str  # by the second model; empty where there is none
    picture: Markup
    label: str
    place: str  # document and locator
    url: str | None
    source: str  # its id on the page
    bits: tuple[Bit, ...]
    mark_url: str | None  # where a needle is marked in it


class Offer(NamedTuple):
    """A link out of trouble."""

    words: str
    url: str


class Trouble(NamedTuple):
    """Why this way gave no answer, and what to do."""

    title: str
    words: str
    command: str
    offers: tuple[Offer, ...]


class Heading(NamedTuple):
    """What was asked: the combination, its line, and where that comes from."""

    number: int
    name: str
    what: str
    threshold: str
    source: str
    url: str | None


class Places(NamedTuple):
    """Where links of a chunk lead: to its document, and to this page with a needle to be marked in it."""

    document: Callable[[str, int, int, str], str | None]
    mark: Callable[[str, int, int], str] | None


class Column(NamedTuple):
    """One way of asking, and what came of it."""

    heading: Heading
    trouble: Trouble | None
    refused: bool
    verdict: str
    nearest: str
    kept: tuple[Shown, ...]
    beyond: tuple[Shown, ...]
    cut: str
    ends: tuple[str, str]
    known: str
    known_url: str | None
    gate: str
    notes: tuple[str, ...]
    stages: tuple[tuple[str, str], ...]  # words, how long
    prompt: str
    written: Panel | None


def of_answer(
    heading: Heading,
    answer: Answer,
    scale: Scale,
    documents: Mapping[str, Document],
    places: Places,
    *,
    gate: str,
    query: QueryRow | None,
    query_url: str | None,
    written: Panel | None,
) -> Column:
    """The column of an answer or a refusal.

    Raises:
        CitationError: If a quote is not what stands in its document.
    """
    cite(answer.looked_at, documents)
    retriever = answer.combination.retriever
    shown = [
        _shown(heading.number, passage, retriever, answer.threshold, scale, places, query)
        for passage in answer.looked_at
    ]
    nearest = nearest_of(answer)
    beyond = [one for one in shown if one.number is None]
    if answer.refused and nearest is not None:  # the nearest first: with BM25 and hybrid it need not rank first
        beyond.sort(key=lambda one: (one.rank != nearest.rank, one.rank))
    return Column(
        heading=heading,
        trouble=None,
        refused=answer.refused,
        verdict=on_answer(answer),
        nearest=on_nearest(answer) if answer.refused else "",
        kept=tuple(one for one in shown if one.number is not None),
        beyond=tuple(beyond),
        cut="no threshold" if answer.threshold is None else f"threshold {answer.threshold:g}",
        ends=(f"{scale.low:g}", f"{scale.high:g}"),
        known=_known(answer, query),
        known_url=query_url,
        gate=gate,
        notes=answer.notes,
        stages=tuple(_stage(name, value / 1000) for name, value in answer.milliseconds.items()),
        prompt="" if answer.refused else prompt_of(answer).text,
        written=written,
    )


def of_fault(heading: Heading, fault: AskFault, offers: Sequence[Offer]) -> Column:
    """The column of a way that could not be asked."""
    titles = {
        "index": "The index is not made with what is at hand.",
        "mismatch": "The decision does not fit what is at hand.",
        "model": "The model cannot be used.",
        "other": "This combination cannot be asked.",
    }
    advice = {"model": " Name one that is there under [sweep] models in bluffline.toml, and measure with it."}
    words = _sentence(fault.words) + advice.get(fault.kind, "")
    command = {"mismatch": "bluffline run", "index": "bluffline documents index"}.get(fault.kind, "")
    trouble = Trouble(titles[fault.kind], words, command, tuple(offers))
    return Column(heading, trouble, False, trouble.title, "", (), (), "", ("", ""), "", None, "", (), (), "", None)


def _stage(name: str, seconds: float) -> tuple[str, str]:
    words = STAGES.get(name, name)
    if name == "embed" and seconds > LOADED:
        words = "model loaded, question embedded"
    return words, duration(seconds) if seconds >= 1e-5 else "< 0.01 ms"  # a vector that is remembered takes no time


def _sentence(words: str) -> str:
    said = words[:1].upper() + words[1:]
    return said if said.endswith((".", "!", "?")) else said + "."


def _shown(
    column: int,
    passage: Passage,
    retriever: str,
    threshold: float | None,
    scale: Scale,
    places: Places,
    query: QueryRow | None,
) -> Shown:
    return Shown(
        number=passage.number,
        rank=passage.rank,
        distance=passage.distance,
        scored=scored(retriever, passage.score, passage.first_rank) if retriever in SCORER_RETRIEVERS else "",
        picture=scales.drawn(passage.distance, threshold, scale, kept=passage.number is not None),
        label=passage.label,
        place=f"{passage.document}{passage.locator}",
        url=places.document(passage.document, passage.start, passage.end, passage.locator),
        source=f"source-{column}-{passage.rank}",
        bits=_bits(passage, query),
        mark_url=places.mark(passage.document, passage.start, passage.end) if places.mark else None,
    )


def _bits(passage: Passage, query: QueryRow | None) -> tuple[Bit, ...]:
    spans = []
    if query is not None and query.document == passage.document and query.start is not None and query.end is not None:
        spans = [Span(query.start - passage.start, query.end - passage.start, "needle")]
    whole = Window(0, len(passage.quote))
    return tuple(Bit(run.text, run.under("needle")) for run in runs(passage.quote, whole, spans))


def _known(answer: Answer, query: QueryRow | None) -> str:
    """What the question set knows about this very question."""
    if query is None:
        return ""
    if query.start is None or query.end is None:
        did = "rightly refused" if answer.refused else "a bluff"
        return f"It is question {query.query_id} of the set, {query.stratum} and not answered by the documents: {did}."
    start, end = query.start, query.end
    holding = [
        f"[{one.number}]"
        for one in answer.kept
        if one.document == query.document and one.start <= start and end <= one.end
    ]
    said = f"its needle stands in {', '.join(holding)}" if holding else "its needle is in no kept chunk"
    return f"It is question {query.query_id} of the set: {said}."
