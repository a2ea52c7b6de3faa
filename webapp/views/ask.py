"""The Ask page: a live question against the decision in force, side by side with others, and into the question set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, make_response, redirect, request, url_for

from experiments.asking.answers import Answer
from experiments.asking.questions_file import QuestionRefusedError, add_question
from store.tables import QueryRow
from webapp import ask_forms, ask_reads, exports, params, rendering
from webapp.ask_reads import AskRead
from webapp.asking import PATIENCE, Job, Result, desk
from webapp.contexts import ask, ask_written
from webapp.contexts.ask import AskContext, Asked, Loading, WrittenContext
from webapp.contexts.ask_adding import Filled
from webapp.contexts.ask_columns import Places
from webapp.contexts.ask_words import Files, Links
from webapp.contexts.ask_written import Panel, PanelLinks
from webapp.errors import PageError
from webapp.exports import Format
from webapp.links import url_or_none
from webapp.places import document_place
from webapp.writing import writers

blueprint = Blueprint("ask", __name__)
LONG_PATIENCE = 60.0  # seconds, where there is no page to say that something is loading


class NotReadyError(PageError):
    """The answer is not there (any more)."""

    status = 503
    title = "The answer is not there"


class NoGeneratorError(PageError):
    """Nothing could write an answer."""

    status = 409
    title = "There is no generator"

    def __init__(self) -> None:
        """Say how to have one."""
        super().__init__(
            "This project names no local model that could write an answer.",
            'Write generator = "..." under [ask] in bluffline.toml, or set BLUFFLINE_GENERATOR, and start again.',
        )


@blueprint.get("/ask")
def page() -> Response:
    """The question, and what came of it."""
    read = ask_reads.read(request.args)
    context = _context(read, _asked(read, PATIENCE), request.args, ask_forms.filled({}))
    return rendering.page("ask", context, "answers", status=422 if read.fault else 200)


@blueprint.get("/ask.<any(csv, json, md):form>")
def table(form: Format) -> Response:
    """The chunks as a file."""
    read = ask_reads.read(request.args)
    return exports.respond(ask.table(read, _ready(read)), form)


@blueprint.post("/ask/questions")
def add() -> Response:
    """Add the question to the project's question set."""
    read = ask_reads.read(request.form)
    try:
        new = ask_forms.new_question(read, request.form)
        add_question(read.project, new, list(_ready(read).asker.documents.values()))
    except (ask_forms.FormFaultError, QuestionRefusedError) as error:
        filled = ask_forms.filled(request.form, *str(error).split("\n"))
        context = _context(read, _asked(read, LONG_PATIENCE), request.form, filled)
        return rendering.page("ask", context, "answers", status=422)
    added = url_or_none("questions.page", check=1) or url_for("ask.page", **ask_forms.state(read))
    return make_response(redirect(added, 303))


@blueprint.post("/ask/write")
def write() -> Response:
    """Let the generator answer."""
    read = ask_reads.read(request.form)
    if read.project.ask.generator is None:
        raise NoGeneratorError
    result = _ready(read)
    column, answer = _column(read, result, request.form)
    writers().start(read.project, answer, result.asker)
    return make_response(redirect(_written_url(read, column), 303))


@blueprint.post("/ask/stop")
def stop() -> Response:
    """Stop the generator; what it has written by then stays."""
    read = ask_reads.read(request.form)
    column, answer = _column(read, _ready(read), request.form)
    writing = writers().of(read.project, answer)
    if writing is not None:
        writing.stopping.set()
    return make_response(redirect(_written_url(read, column), 303))


@blueprint.get("/ask/written")
def written() -> Response:
    """One column's generated answer, for htmx; the whole page for everybody else."""
    read = ask_reads.read(request.args)
    if request.headers.get("HX-Request") != "true":
        column = params.integer(request.args, "column", 1, len(read.plans), 1)
        return make_response(redirect(url_for("ask.page", **ask_forms.state(read), _anchor=f"written-{column}")))
    column, answer = _column(read, _ready(read), request.args)
    panel = _panel(read, column, answer)
    if panel is None:
        raise NoGeneratorError
    return rendering.fragment("ask", "written", WrittenContext(panel))


def _asked(read: AskRead, patience: float) -> Job | None:
    """The question as it is being asked; None where there is none."""
    if not read.question or read.fault:
        return None
    return desk().ask(read.project, read.question, [plan.way for plan in read.plans], patience)


def _ready(read: AskRead) -> Result:
    """What came of the question, waited for.

    Raises:
        NotReadyError: If nothing did.
    """
    job = _asked(read, LONG_PATIENCE)
    if job is None:
        raise params.BadParameterError("q", read.question, read.fault or "a question")
    if job.result is None:
        raise NotReadyError(job.fault or "The model is still loading.", "Open the question's page and wait there.")
    return job.result


def _column(read: AskRead, result: Result, values: Mapping[str, str]) -> tuple[int, Answer]:
    column = params.integer(values, "column", 1, len(read.plans), 1)
    said = result.said[column - 1]
    if not isinstance(said, Answer) or said.refused:
        raise params.BadParameterError("column", str(column), "one that kept a chunk: a refusal calls no model")
    return column, said


def _context(read: AskRead, job: Job | None, values: Mapping[str, str], filled: Filled) -> AskContext:
    links = _links(read)
    if job is None:
        return ask.build(read, links)
    if not job.done.is_set():
        return ask.build(read, links, loading=_loading(read, job))
    if job.result is None:
        return ask.build(read, links, fault=job.fault)
    panels = [
        _panel(read, number, said) if isinstance(said, Answer) and not said.refused else None
        for number, said in enumerate(job.result.said, 1)
    ]
    adding = ask_forms.adding(read, job.result, links, values, filled)
    return ask.build(read, links, asked=Asked(job.result, panels, adding))


def _loading(read: AskRead, job: Job) -> Loading:
    facts = [f"{time.monotonic() - job.since:.0f} s"]
    embedded = desk().embedded - job.embedded_before
    facts += [f"{embedded:,} chunks embedded that no sweep had"] if embedded else []
    words = "Loading the model and the index: the first question after a start takes some seconds"
    return Loading(words, tuple(facts), url_for("ask.page", **ask_forms.state(read)))


def _panel(read: AskRead, column: int, answer: Answer) -> Panel | None:
    if read.project.ask.generator is None:
        return None
    hidden = {**ask_forms.state(read), "column": str(column)}
    links = PanelLinks(url_for("ask.write"), url_for("ask.stop"), _written_url(read, column), tuple(hidden.items()))
    return ask_written.panel(
        column, read.project.ask, writers().of(read.project, answer), links, _places(read).document
    )


def _written_url(read: AskRead, column: int) -> str:
    return url_for("ask.written", **ask_forms.state(read), column=column)


def _places(read: AskRead) -> Places:
    def document(document_id: str, start: int, end: int, locator: str) -> str | None:
        # written since, and shown by no page before a sweep or the indexer has read it
        return document_place(document_id, start, end, locator) if document_id in read.measured else None

    def mark(document_id: str, start: int, end: int) -> str:
        place: dict[str, Any] = {"document": document_id, "from": start, "to": end}
        return url_for("ask.page", **ask_forms.state(read), **place, _anchor="add")

    return Places(document, mark)


def _links(read: AskRead) -> Links:
    state, sweep = ask_forms.state(read), read.sweep

    def known(query: QueryRow) -> str | None:
        return url_or_none("queries.query", sweep_id=sweep.id, query_id=query.query_id) if sweep else None

    return Links(
        here=url_for("ask.page"),
        asking=lambda changes: url_for("ask.page", **dict[str, Any](changes)),
        decision=url_or_none("decisions.one", decision_id=read.decision.id) if read.decision else None,
        threshold=url_or_none("threshold.page", sweep_id=sweep.id) if sweep else None,
        known=known,
        places=_places(read),
        files=Files(*(url_for("ask.table", form=form, **state) for form in exports.FORMATS)),
    )
