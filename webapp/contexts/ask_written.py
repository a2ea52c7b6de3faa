"""What a local generator wrote: its citations attached, and every mark shown in the text and counted."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from experiments.asking.answer_checks import AnswerCheck, Mark
from experiments.asking.answering import Written
from experiments.asking.citations import Citation
from experiments.asking.marking import Span, Window, runs
from experiments.settings import AskSettings
from experiments.words import plural
from webapp.writing import Writing

KINDS = {
    "unknown number": "number not supplied",
    "link": "link of its own",
    "identifier": "identifier in no source",
    "uncited": "sentence without a citation",
    "misquoted": "words not in the cited chunk",
}
PlaceUrl = Callable[[str, int, int, str], str | None]

_BRACKETS = re.compile(r"\[\s*\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*\s*\]")


class Stretch(NamedTuple):
    """A run of the answer under the same marks."""

    text: str
    faults: str  # numbers of the marks over it, as the list below counts them; empty where there is none
    classes: str
    title: str
    source: str  # id of the chunk a number stands for; empty where it is no citation


class Fault(NamedTuple):
    """One mark in the list below the answer."""

    number: int
    kind: str
    sentence: str
    text: str


class Source(NamedTuple):
    """What a cited number stands for."""

    number: int
    label: str
    place: str
    url: str | None
    quote: str


class Answered(NamedTuple):
    """A finished answer."""

    verdict: str
    stretches: tuple[Stretch, ...]
    faults: tuple[Fault, ...]
    counts: tuple[tuple[str, int], ...]
    sources: tuple[Source, ...]
    facts: tuple[str, ...]
    cut_off: str


class Panel(NamedTuple):
    """The generator's place in a column."""

    element: str  # its id on the page
    name: str
    action: str
    stop: str
    hidden: tuple[tuple[str, str], ...]
    poll_url: str | None  # None where nothing more will change
    label: str
    done: int
    total: int
    facts: tuple[str, ...]
    so_far: str
    fault: str
    answered: Answered | None


class PanelLinks(NamedTuple):
    """Where its forms go, and where it asks for itself."""

    action: str
    stop: str
    poll: str
    hidden: tuple[tuple[str, str], ...]


def panel(column: int, settings: AskSettings, writing: Writing | None, links: PanelLinks, place_url: PlaceUrl) -> Panel:
    """The panel of a column whose project has a generator."""
    stage = writing.stage if writing else ""
    lives = writing is not None and writing.lives
    labels = {"waiting": "waiting for another answer", "loading": "loading the model", "writing": "writing"}
    facts = []
    if writing and lives:
        facts = [f"{time.monotonic() - writing.since:.0f} s"]
        facts += [f"at most {settings.time_limit:g} s"] if stage == "writing" else []
        facts += ["stopping"] if writing.stopping.is_set() else []
    return Panel(
        element=f"written-{column}",
        name=(writing.name if writing else "") or settings.generator or "",
        action=links.action,
        stop=links.stop,
        hidden=links.hidden,
        poll_url=links.poll if lives else None,
        label=labels.get(stage, ""),
        done=writing.tokens if writing else 0,
        total=settings.max_tokens,
        facts=tuple(facts),
        so_far=writing.text if writing and lives else "",
        fault=writing.fault if writing else "",
        answered=_answered(writing.written, column, place_url) if writing and writing.written else None,
    )


def _source(citation: Citation, place_url: PlaceUrl) -> Source:
    url = place_url(citation.document, citation.start, citation.end, citation.locator)
    return Source(citation.number, citation.label, f"{citation.document}{citation.locator}", url, citation.quote)


def _answered(written: Written, column: int, place_url: PlaceUrl) -> Answered:
    generated, check = written.generated, written.check
    cited = {one.number for one in written.cited}
    return Answered(
        verdict=_verdict(check),
        stretches=_stretches(check, column, cited),
        faults=tuple(
            Fault(number, KINDS[mark.kind], mark.sentence, mark.text) for number, mark in enumerate(check.marks, 1)
        ),
        counts=tuple((KINDS[kind], count) for kind, count in check.counts.items()),
        sources=tuple(_source(one, place_url) for one in written.cited),
        facts=(
            plural(generated.tokens, "token"),
            f"{generated.seconds:.1f} s",
            f"{plural(generated.prompt_tokens, 'token')} of prompt",
            "always the likeliest token",
        ),
        cut_off=generated.sentence or "",
    )


def _verdict(check: AnswerCheck) -> str:
    """What the check found; finding nothing proves nothing."""
    if check.declined:
        return "The model says that the sources do not answer."
    if not check.text:
        return "The model wrote nothing."
    if check.marks:
        return (
            f"{plural(len(check.marks), 'mark')} in {plural(check.sentences, 'sentence')}: do not take these on trust."
        )
    said = f"No mark in {plural(check.sentences, 'sentence')}"
    return f"{said}: it cites, quotes and names only what it was given. Whether it is right nobody has checked."


def _stretches(check: AnswerCheck, column: int, cited: set[int]) -> tuple[Stretch, ...]:
    text = check.text
    spans = [Span(mark.start, mark.end, "fault", str(number)) for number, mark in enumerate(check.marks, 1)]
    spans += _numbers(text, cited)
    found = []
    for run in runs(text, Window(0, len(text)), spans) if text else []:
        numbers = run.named("fault")
        marks = [check.marks[int(number) - 1] for number in numbers]
        named = run.named("cite")
        found.append(
            Stretch(
                run.text,
                ", ".join(number for number, mark in zip(numbers, marks, strict=True) if mark.end == run.end),
                _classes(marks),
                " ".join(mark.sentence for mark in marks),
                f"cited-{column}-{named[0]}" if named else "",
            )
        )
    return tuple(found)


def _classes(marks: Sequence[Mark]) -> str:
    return " ".join(dict.fromkeys("uncited" if mark.kind == "uncited" else "false" for mark in marks))


def _numbers(text: str, cited: set[int]) -> list[Span]:
    """Every single number inside brackets that names a chunk that was supplied."""
    return [
        Span(bracket.start() + one.start(), bracket.start() + one.end(), "cite", one.group())
        for bracket in _BRACKETS.finditer(text)
        for one in re.finditer(r"\d+", bracket.group())
        if int(one.group()) in cited
    ]
