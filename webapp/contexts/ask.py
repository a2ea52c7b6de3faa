"""The Ask page: a question, what each way of asking it brings, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.asking.answers import Answer
from experiments.naming import scale_of
from store.tables import QueryRow
from webapp import scales
from webapp.ask_reads import AskRead
from webapp.asking import AskFault, Result
from webapp.contexts import ask_columns, ask_words
from webapp.contexts.ask_adding import Adding
from webapp.contexts.ask_columns import Column
from webapp.contexts.ask_words import Files, Link, Links, Notice
from webapp.contexts.ask_written import Panel
from webapp.exports import Column as TableColumn
from webapp.exports import Table

EXAMPLES = 4
COLUMNS = (
    TableColumn("combination", "Combination"),
    TableColumn("threshold", "Threshold", description="Cosine distance strictly under which a chunk is kept."),
    TableColumn("number", "Number", description="In the prompt; none where the chunk was not kept."),
    TableColumn("rank", "Rank", description="The retriever's."),
    TableColumn("distance", "Distance", description="Cosine distance to the question."),
    TableColumn("score", "Score", description="The retriever's own; empty where it gave none."),
    TableColumn("scored_by", "Scored by", description="Whose scale the score is on."),
    TableColumn("first_rank", "Rank before", description="Before a cross-encoder put it here; empty without one."),
    TableColumn("document", "Document"),
    TableColumn("title", "Title"),
    TableColumn("section", "Section"),
    TableColumn("start", "Start", "characters"),
    TableColumn("end", "End", "characters"),
    TableColumn("locator", "Locator"),
    TableColumn("quote", "Quote", description="The chunk's own words, equal to the document's text at that place."),
)


class Option(NamedTuple):
    """A place of the chooser."""

    number: int
    label: str
    options: tuple[tuple[str, str], ...]
    chosen: str
    threshold: str
    placeholder: str


class Loading(NamedTuple):
    """What is said while no answer is there yet."""

    words: str
    facts: tuple[str, ...]
    poll_url: str


class Example(NamedTuple):
    """A question of the set that can be asked."""

    text: str
    kind: str
    url: str


class Asked(NamedTuple):
    """What came of a question."""

    result: Result
    panels: Sequence[Panel | None]
    adding: Adding | None


@dataclass(frozen=True, slots=True)
class AskContext:
    """Everything `templates/ask/page.html` uses."""

    question: str
    fault: str
    action: str
    chooser: tuple[Option, ...]
    not_offered: str
    side_by_side: bool
    refresh: int  # seconds after which a browser without scripts loads the page again; 0 for never
    verdict: str
    verdict_kind: str
    aside: str
    leads: tuple[Link, ...]
    notices: tuple[Notice, ...]
    loading: Loading | None
    columns: tuple[Column, ...]
    files: Files | None
    examples: tuple[Example, ...]
    adding: Adding | None


@dataclass(frozen=True, slots=True)
class WrittenContext:
    """Everything `templates/ask/_written.html` uses."""

    panel: Panel


def build(
    read: AskRead, links: Links, *, asked: Asked | None = None, loading: Loading | None = None, fault: str = ""
) -> AskContext:
    """The page.

    Args:
        read: The state of the address.
        links: Where things are.
        asked: What came of the question; None where none was asked or nothing is there yet.
        loading: What is said until then.
        fault: Why the documents could not be asked at all.
    """
    result = asked.result if asked else None
    columns = _columns(read, asked, links) if asked else ()
    verdict, kind = ask_words.verdict(read, columns, result, fault)
    return AskContext(
        question=read.question,
        fault=read.fault,
        action=links.here,
        chooser=_chooser(read),
        not_offered=ask_words.not_offered(read),
        side_by_side=any(slot.key or slot.threshold for slot in read.slots),
        refresh=2 if loading or any(one.written and one.written.poll_url for one in columns) else 0,
        verdict=verdict,
        verdict_kind=kind,
        aside=ask_words.by(read) if asked or loading else "",
        leads=ask_words.leads(read, links),
        notices=ask_words.notices(read, result, fault),
        loading=loading,
        columns=columns,
        files=links.files if any(not one.trouble for one in columns) else None,
        examples=() if asked or loading else _examples(read.queries, links),
        adding=asked.adding if asked else None,
    )


def known_query(read: AskRead) -> QueryRow | None:
    """The same question in the newest sweep's set, whatever its white space and case."""
    folded = _folded(read.question)
    return next((query for query in read.queries if _folded(query.text) == folded), None)


def table(read: AskRead, result: Result) -> Table:
    """All chunks that were looked at, by every way."""
    rows = [
        (
            *(plan.way.combination.key, plan.way.threshold, one.number, one.rank, one.distance, one.score),
            *(scale_of(plan.way.combination.retriever), one.first_rank),
            *(one.document, one.title, one.section, one.start, one.end, one.locator, one.quote),
        )
        for plan, said in zip(read.plans, result.said, strict=True)
        if isinstance(said, Answer)
        for one in said.looked_at
    ]
    return Table("ask", COLUMNS, tuple(rows))


def _columns(read: AskRead, asked: Asked, links: Links) -> tuple[Column, ...]:
    answers = [one for one in asked.result.said if isinstance(one, Answer)]
    distances = [passage.distance for answer in answers for passage in answer.looked_at]
    scale = scales.scale_of([*distances, *(answer.threshold for answer in answers)])
    measured = read.sweep is not None and read.sweep.corpus_hash == asked.result.asker.corpus_hash
    query = known_query(read) if measured else None  # its needle's place is one of the documents that were measured
    columns = []
    for number, (plan, said) in enumerate(zip(read.plans, asked.result.said, strict=True)):
        heading = ask_words.heading(read, plan, number + 1, links)
        if isinstance(said, AskFault):
            columns.append(ask_columns.of_fault(heading, said, ask_words.offers(read, plan, said, links)))
            continue
        columns.append(
            ask_columns.of_answer(
                heading,
                said,
                scale,
                asked.result.asker.documents,
                links.places,
                gate=ask_words.gate(read, plan),
                query=query,
                query_url=links.known(query) if query else None,
                written=asked.panels[number],
            )
        )
    return tuple(columns)


def _chooser(read: AskRead) -> tuple[Option, ...]:
    called = ask_words.names(read)
    leading = called[read.leading.key]
    default = f"decision {read.decision.id}: {leading}" if read.decision else f"{leading}, as nothing is decided"
    combinations = tuple((key, called[key]) for key in read.keys)
    made = []
    for number, slot in enumerate(read.slots, 1):
        first = ("", default if number == 1 else "nothing")
        label = "Ask" if number == 1 else "and"
        placeholder = read.placeholders.get(number, "")
        made.append(Option(number, label, (first, *combinations), slot.key, slot.threshold, placeholder))
    return tuple(made)


def _examples(queries: Sequence[QueryRow], links: Links) -> tuple[Example, ...]:
    """One question of each kind the set has: phrasings, near, far."""
    kinds: dict[str, QueryRow] = {}
    for query in queries:
        if query.needle_id is None:
            kind = f"unanswerable, {query.stratum}"
        else:
            kind = f"answerable, {query.phrasing}" if query.phrasing else "answerable"
        kinds.setdefault(kind, query)
    chosen = list(kinds.items())
    chosen = chosen if len(chosen) <= EXAMPLES else chosen[:2] + chosen[-2:]
    return tuple(Example(query.text, kind, links.asking({"q": query.text})) for kind, query in chosen)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
