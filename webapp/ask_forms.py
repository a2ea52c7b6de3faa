"""The forms that add a question to the question set: what stands in them, and what they ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from flask import url_for

from corpus.questions import Stratum
from experiments.asking.answers import Answer
from experiments.asking.questions_file import NewQuestion, is_writable
from webapp import params
from webapp.ask_reads import AskRead
from webapp.asking import Result
from webapp.contexts import ask, ask_adding
from webapp.contexts.ask_adding import Adding, Filled, Marking, Passage
from webapp.contexts.ask_words import Links
from webapp.params import BadParameterError

LONGEST_WORDS = 2000
FIELDS = ("kind", "stratum", "key_facts", "phrasing", "sentence", "start", "end")
Values = Mapping[str, str]


class FormFaultError(ValueError):
    """Something is missing in a form."""


def state(read: AskRead) -> dict[str, Any]:
    """What an address carries so that the same question is asked in the same ways."""
    slots = {
        name: value
        for number, slot in enumerate(read.slots, 1)
        for name, value in ((f"c{number}", slot.key), (f"t{number}", slot.threshold))
    }
    return {name: value for name, value in {"q": read.question, **slots}.items() if value}


def adding(read: AskRead, result: Result, links: Links, values: Values, filled: Filled) -> Adding:
    """Both forms, as an address or a form that comes back fills them.

    Raises:
        BadParameterError: If the passage in which a needle is to be marked is none.
    """
    answers = [one for one in result.said if isinstance(one, Answer)]
    given = _passage(values, result)
    passage = given or ask_adding.first_passage(answers)
    words = params.text(values, "find", LONGEST_WORDS)
    carried = tuple(state(read).items())
    known = ask.known_query(read)

    def passage_url(one: Passage) -> str:
        place: dict[str, Any] = {"document": one.document, "from": one.start, "to": one.end}
        return url_for("ask.page", **state(read), **place, _anchor="add")

    return Adding(
        readonly=not is_writable(read.project),
        known=known.query_id if known else "",
        known_url=links.known(known) if known else None,
        action=url_for("ask.add", _anchor="add"),
        here=links.here,
        hidden=(*carried, *_place(passage)),
        carried=carried,
        links=ask_adding.links_of(answers, passage, passage_url),
        marking=_marking(passage, result, filled, links),
        search=ask_adding.search(words, result.asker.documents, passage_url),
        strata=ask_adding.STRATA,
        filled=filled,
        file=read.project.questions.name,
        opened=bool(given or words or filled.kind),
    )


def filled(form: Values, *faults: str) -> Filled:
    """What stands in a form that comes back, with what is wrong with it."""
    return Filled(**{name: (form.get(name) or "").strip() for name in FIELDS}, faults=faults)


def new_question(read: AskRead, form: Values) -> NewQuestion:
    """The question a form asks to add.

    Raises:
        FormFaultError: If something is missing or is no number.
    """
    given = filled(form)
    if not read.question or read.fault:
        raise FormFaultError(read.fault or "ask a question first")
    phrasing = given.phrasing or None
    if given.kind == "unanswerable":
        if given.stratum not in {name for name, _ in ask_adding.STRATA}:
            raise FormFaultError("say whether the question is near the topic of the documents or far from it")
        facts = tuple(line.strip() for line in given.key_facts.splitlines() if line.strip())
        return NewQuestion(read.question, cast("Stratum", given.stratum), phrasing=phrasing, key_facts=facts)
    if given.kind != "needle":
        raise FormFaultError("say whether the documents answer the question or not")
    start, end = _range(given)
    return NewQuestion(read.question, document=form.get("document"), start=start, end=end, phrasing=phrasing)


def _range(given: Filled) -> tuple[int, int]:
    """Exact characters where they are written, else the sentence that was picked."""
    if given.start or given.end:
        if not (given.start.isascii() and given.start.isdecimal() and given.end.isascii() and given.end.isdecimal()):
            raise FormFaultError("exact characters are two whole numbers: the first character, and one past the last")
        return int(given.start), int(given.end)
    picked = re.fullmatch(r"(\d{1,12}),(\d{1,12})", given.sentence)
    if picked is None:
        raise FormFaultError("pick the sentence that answers the question, or write its exact characters")
    return int(picked[1]), int(picked[2])


def _passage(values: Values, result: Result) -> Passage | None:
    name = params.text(values, "document", LONGEST_WORDS)
    if not name:
        return None
    document = result.asker.documents.get(name)
    if document is None:
        raise BadParameterError("document", name, "the id of a document")
    length = len(document.text)
    start = params.integer(values, "from", 0, length, 0)
    end = params.integer(values, "to", 0, length, length)
    if start >= end:
        raise BadParameterError("to", str(end), f"a whole number from {start + 1} to {length}")
    return Passage(name, start, end)


def _place(passage: Passage | None) -> tuple[tuple[str, str], ...]:
    if passage is None:
        return ()
    return ("document", passage.document), ("from", str(passage.start)), ("to", str(passage.end))


def _marking(passage: Passage | None, result: Result, given: Filled, links: Links) -> Marking | None:
    if passage is None:
        return None
    document = result.asker.documents[passage.document]
    url = links.places.document(
        passage.document, passage.start, passage.end, document.locator(passage.start, passage.end)
    )
    return ask_adding.marking(passage, document, given.sentence, url)
