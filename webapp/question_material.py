"""Reading what the page of one question shows: its hits, and the documents they lie in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from flask import request

from corpus.documents import Document
from experiments.chunking import Chunk, chunk_document
from experiments.conditions import Strategy, strategy_from_spec
from experiments.gate import GATE_SIZE
from experiments.outcomes import Outcome
from experiments.recording import outcome_from_parquet
from store import reads
from store.needle_spans import needle_spans
from store.reads_texts import DocumentText, document_texts
from store.tables import SweepRow
from webapp import params
from webapp.contexts.query import MOST_OPEN, Material, default_open
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.question_list import Entry
from webapp.question_reads import Read

NONE = "none"  # no combination is opened


class UnknownQuestionError(PageError):
    """A question that this sweep did not ask."""

    status = 404
    title = "There is no such question in this sweep"

    def __init__(self, sweep_id: int | None, query_id: str) -> None:
        """Keep which question was asked for."""
        super().__init__(
            f"Sweep {sweep_id} did not ask {query_id[:200]!r}.",
            "Choose one from the sweep's queries; another question set may hold it.",
        )


def material(read: Read, query_id: str) -> Material:
    """Everything about one question, in at most two statements more than the list.

    Raises:
        UnknownQuestionError: If the sweep did not ask it.
        BadParameterError: If combinations are to be opened that are none, or too many.
    """
    entry = next((one for one in read.entries if one.query.query_id == query_id), None)
    if entry is None:
        raise UnknownQuestionError(read.sweep.id, query_id)
    opened = _opened(read)
    strategies = strategies_of(read.sweep)
    answerable = entry.query.needle_id is not None
    outcomes = _outcomes(opened if answerable else read.shown.ids, query_id)
    documents = _documents(read, entry, opened, outcomes)
    return Material(
        entry,
        opened,
        outcomes,
        documents,
        {name: strategy.header for name, strategy in strategies.items()},
        _cut_by(read, entry, strategies, documents),
    )


def strategies_of(sweep: SweepRow) -> dict[str, Strategy]:
    """The strategies of a sweep by name, as it kept them."""
    return {name: strategy_from_spec(name, spec) for name, spec in sweep.settings.get("strategies", {}).items()}


def _opened(read: Read) -> tuple[int, ...]:
    if request.args.get("open") == NONE:
        return ()
    given = params.ids(request.args, "open")
    known = {row.id for row in read.rows}
    for one in given:
        if one not in known:
            raise params.BadParameterError("open", str(one), "ids of combinations of this sweep, separated by commas")
    if len(given) > MOST_OPEN:
        raise params.BadParameterError("open", f"{len(given)} combinations", f"at most {MOST_OPEN}")
    if given:
        return tuple(one for one in read.shown.ids if one in given)
    return tuple(default_open(read.shown.heads, read.entries))


def _outcomes(combinations: Sequence[int], query_id: str) -> dict[int, Outcome]:
    files = reads.hits(dashboard().engine, combinations) if combinations else {}
    found = {combination: outcome_from_parquet(data, query_id) for combination, data in files.items()}
    return {combination: outcome for combination, outcome in found.items() if outcome is not None}


def _documents(
    read: Read, entry: Entry, opened: Collection[int], outcomes: Mapping[int, Outcome]
) -> dict[str, DocumentText]:
    wanted = {needle.document for needle in needle_spans(entry.query)}
    wanted |= {judged["document"] for judged in entry.query.relevant or ()}
    for combination, outcome in outcomes.items():
        depth = None if combination in opened else GATE_SIZE
        wanted |= {hit.document for hit in outcome.hits[:depth]}
    return document_texts(dashboard().engine, read.sweep.corpus_hash, wanted)


def _cut_by(
    read: Read, entry: Entry, strategies: Mapping[str, Strategy], documents: Mapping[str, DocumentText]
) -> dict[str, dict[str, Sequence[Chunk]]]:
    """The needles' documents as the strategies cut them that destroy the answer."""
    destroying = dict.fromkeys(
        head.strategy
        for head in read.shown.heads
        if head.id in entry.fates and entry.fates[head.id].kind == "destroyed" and head.strategy in strategies
    )
    held = dict.fromkeys(needle.document for needle in needle_spans(entry.query) if needle.document in documents)
    return {
        name: {
            strategy: chunk_document(
                Document(name, documents[name].title, documents[name].text, "", "", ""), strategies[strategy]
            )
            for strategy in destroying
        }
        for name in held
    }
