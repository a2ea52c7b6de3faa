"""`ask`: a live question, by the decision in force or by combinations of one's own."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from experiments.asking.answers import check_question
from experiments.asking.asker import Asker, DecisionMismatchError
from experiments.asking.generation import Generator
from experiments.asking.generator_loading import GeneratorError
from experiments.cli.answer_lines import answer_data, answer_lines, failure_data, failure_lines, written_lines
from experiments.cli.options import project_option
from experiments.cli.ways import Way, ways_to_ask
from experiments.indexing.stamps import refusal, stamps_of
from experiments.models import ModelError
from experiments.project import Project, open_project
from experiments.settings import MAX_TOKENS, TIME_LIMIT
from store import files
from store.engine import open_store

_PLACE = re.compile(r"(?P<document>.+)#char=(?P<start>\d+),(?P<end>\d+)")


class _RefusedError(click.ClickException):
    """What a user can mend."""

    exit_code = 2


@click.command()
@click.argument("question", required=False)
@project_option
@click.option("--strategy", help="Chunking strategy, instead of the decision's.")
@click.option("--retriever", help="dense, bm25, hybrid, rerank or late, instead of the decision's.")
@click.option("--model", help="Embedding model, instead of the decision's.")
@click.option("--scorer", help="Cross-encoder of rerank, or late-interaction model of late.")
@click.option("--threshold", type=float, help="Cosine distance strictly under which a chunk is kept.")
@click.option(
    "--combination",
    "combinations",
    multiple=True,
    metavar="KEY[@THRESHOLD]",
    help="As in E/dense@0.675; repeat it to see several side by side, each at a threshold of its own.",
)
@click.option("--prompt", "show_prompt", is_flag=True, help="Print the numbered prompt as well.")
@click.option("--generator", metavar="SPEC", help="Let a local model answer: folder, .gguf, wheel: spec or hub name.")
@click.option("--max-tokens", default=MAX_TOKENS, show_default=True, help="Tokens the generator may write.")
@click.option("--time-limit", default=TIME_LIMIT, show_default=True, help="Seconds the generator may take.")
@click.option("--all", "ask_all", is_flag=True, help="Ask every answerable question; say where answers are lost.")
@click.option("--limit", type=click.IntRange(min=1), help="With --all: only the first so many questions.")
@click.option("--add", type=click.Choice(["near", "far"]), help="Add the question to the set, as unanswerable.")
@click.option("--needle", metavar="DOCUMENT#char=START,END", help="Add the question to the set, with this answer.")
@click.option("--phrasing", help="How the added question is worded, as other questions of the set say it.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def ask(folder: Path | None, question: str | None, **options: Any) -> None:
    """Ask QUESTION: print the kept chunks with distance, locator and quote, or NO ANSWER.

    Without options the decision in force answers. It is refused when the documents or the model are not those it was
    made about. The exit code is 0 for an answer and for a refusal.
    """
    with _told():
        project = open_project(folder)
        if options["add"] or options["needle"]:
            _add(project, question, options)
            return
        if options["ask_all"] == (question is not None):
            raise click.UsageError("give either a QUESTION or --all")
        index = files.files(open_store(project.store_url))
        if why := refusal(index, stamps_of(project)):
            raise _RefusedError(why)
        asker = Asker.of(project, index=index)
        for fault in asker.faults:
            click.echo(f"not searched: {fault.sentence}", err=True)
        if question is not None:
            question = check_question(question)
        ways = ways_to_ask(project, asker, options)
        if question is None:
            _ask_all(project, asker, ways, options)
        else:
            _ask_one(project, asker, question, ways, options)


@contextmanager
def _told() -> Iterator[None]:
    """Turn what a user can mend into one line and exit code 2."""
    from experiments.asking.questions_file import QuestionRefusedError

    try:
        yield
    except (DecisionMismatchError, GeneratorError, ModelError, QuestionRefusedError, ValueError) as error:
        raise _RefusedError(str(error)) from error


def _ask_one(project: Project, asker: Asker, question: str, ways: Sequence[Way], options: dict[str, Any]) -> None:
    from experiments.asking.answering import Written, prompt_of, write

    found: list[dict[str, Any]] = []
    generator: Generator | None = None
    for way in ways:
        answer = way.ask(question)
        written: Written | None = None
        lines = [way.heading, *answer_lines(answer)]
        if options["show_prompt"] and not answer.refused:
            lines += ["", prompt_of(answer).text]
        if not options["as_json"]:
            click.echo("\n".join(lines))
        if options["generator"] and not answer.refused:
            generator = generator or _generator(project, options["generator"])
            written = write(
                answer,
                asker,
                generator,
                max_tokens=options["max_tokens"],
                time_limit=options["time_limit"],
                on_token=_shown_progress(),
            )
            _clear_progress()
            if not options["as_json"]:
                click.echo("\n".join(["", *written_lines(written)]))
        found.append(answer_data(way.heading, answer, written, with_prompt=options["show_prompt"]))
        if not options["as_json"] and way is not ways[-1]:
            click.echo("")
    if options["as_json"]:
        click.echo(json.dumps({"question": question, "answers": found}, indent=1, ensure_ascii=False, allow_nan=False))


def _generator(project: Project, spec: str) -> Generator:
    """Find and load the generator, telling what it is: loading takes longer than most answers."""
    from experiments.asking.generation import find_generator

    click.echo(f"loading the generator {spec} ...", err=True)
    generator = find_generator(spec, project.model_files)
    generator.load()
    click.echo(f"loaded {generator.stamp.name}, {generator.stamp.source}", err=True)
    return generator


def _shown_progress() -> Callable[[int, str], bool | None] | None:
    if not sys.stderr.isatty():
        return None

    def show(tokens: int, _text: str) -> None:
        click.echo(f"\rwriting: {tokens} tokens", nl=False, err=True)

    return show


def _clear_progress() -> None:
    if sys.stderr.isatty():
        click.echo("\r" + " " * 30 + "\r", nl=False, err=True)


def _ask_all(project: Project, asker: Asker, ways: Sequence[Way], options: dict[str, Any]) -> None:
    from tqdm import tqdm

    from experiments.asking.answering import classify_all
    from experiments.asking.failure_modes import Classified, count_modes
    from experiments.provenance import document_level
    from experiments.sweep import read_inputs

    if len(ways) != 1:
        raise click.UsageError("--all takes one combination at a time: it writes an answer to every question")
    if not options["generator"]:
        raise click.UsageError("--all needs --generator: it says which answers the retriever loses and which the model")
    inputs = read_inputs(project)
    if document_level(inputs.hit_rule):
        raise click.UsageError(
            "--all looks for needles in answers, and these questions judge whole documents (document-level relevance)"
        )
    queries = [query for query in inputs.queries if query.needles][: options["limit"]]
    generator = _generator(project, options["generator"])
    results: list[Classified] = []
    interrupted = False
    bar = tqdm(total=len(queries), unit="question", file=sys.stderr, mininterval=0.5 if sys.stderr.isatty() else 20)
    try:
        with bar:
            for one in classify_all(
                queries,
                ways[0].ask,
                asker,
                generator,
                max_tokens=options["max_tokens"],
                time_limit=options["time_limit"],
            ):
                results.append(one)
                bar.update()
    except KeyboardInterrupt:
        interrupted = True
    counts = count_modes(results)
    if options["as_json"]:
        data = failure_data(ways[0].heading, generator.stamp, counts, results)
        click.echo(json.dumps({**data, "interrupted": interrupted}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    if interrupted:
        click.echo(f"Interrupted after {len(results)} of {len(queries)} questions; only those are counted.")
    click.echo("\n".join([ways[0].heading, f"Generator: {generator.stamp.name}", *failure_lines(counts)]))


def _add(project: Project, question: str | None, options: dict[str, Any]) -> None:
    from experiments.asking.questions_file import NewQuestion, add_question

    if options["add"] and options["needle"]:
        raise click.UsageError("a question is either unanswerable (--add) or has a --needle")
    if question is None:
        raise click.UsageError("give the QUESTION to add")
    new = NewQuestion(check_question(question), stratum=options["add"], phrasing=options["phrasing"])
    if options["needle"]:
        place = _PLACE.fullmatch(options["needle"])
        if place is None:
            raise click.UsageError(f"--needle {options['needle']!r} is no place: write DOCUMENT#char=START,END")
        new = NewQuestion(
            new.text,
            document=place["document"],
            start=int(place["start"]),
            end=int(place["end"]),
            phrasing=new.phrasing,
        )
    added = add_question(project, new)
    kind = f"with the needle {added.needle.text!r}" if added.needle else f"as unanswerable, {added.stratum}"
    click.echo(f"added {added.id} to {project.questions}, line {added.line}, {kind}")
