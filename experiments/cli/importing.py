"""`import`: a project out of a question set of somebody else's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from corpus.documents import Document, load_documents
from corpus.faults import Fault
from corpus.importing.beir import read_beir
from corpus.importing.material import Material, collection_lines
from corpus.importing.squad import Rule, Unit, read_squad
from corpus.importing.table import MappingError, read_mapping, read_table
from corpus.importing.trec import FIELDS, read_trec
from corpus.question_writing import to_jsonl
from corpus.questions import Query
from experiments.cli.errors import shown
from experiments.cli.projects import IGNORED, project_text, quoted
from experiments.project import PROJECT_FILE
from experiments.words import plural

_COLLECTION = "documents/collection.jsonl"
_QUESTIONS = "questions.jsonl"
_WHOLE = """\
strategies = ["document"]
"""
_WHOLE_STRATEGY = """\

# Whole documents are judged, so each is one passage: its title and its text.
[strategies.document]
cuts = "document"
header = true
"""

_source = click.Path(exists=True, path_type=Path)
_target = click.argument("project", type=click.Path(file_okay=False, path_type=Path))
_skip = click.option("--skip-faults", is_flag=True, help="Leave out what is faulty, and make a project of the rest.")
_folder = click.option(
    "--documents",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="The folder of documents the questions are about.",
)


@click.group("import")
def importing() -> None:
    """Make a project of a question set of others: documents, questions and settings that `check` and `run` accept.

    Every fault is reported at once, and nothing is written; with --skip-faults what is faulty is left out. Nothing
    that is there already is overwritten.
    """


@importing.command()
@click.argument("folder", type=_source)
@_target
@click.option("--split", help="Judgements to take: the name of a file in qrels/. [default: test, or the only one]")
@_skip
def beir(folder: Path, project: Path, split: str | None, skip_faults: bool) -> None:
    """A BEIR folder: corpus.jsonl, queries.jsonl and qrels/*.tsv; whole documents are judged."""
    _make(project, lambda: read_beir(folder, split), skip_faults)


@importing.command()
@click.argument("file", type=_source)
@_target
@click.option(
    "--documents",
    "unit",
    type=click.Choice(["articles", "paragraphs"]),
    help="What becomes a document. [default: articles; paragraphs with --rule documents]",
)
@click.option(
    "--rule",
    type=click.Choice(["needles", "documents"]),
    default="needles",
    show_default=True,
    help="What answers: the sentence around the answer, or the whole document it stands in.",
)
@_skip
def squad(file: Path, project: Path, unit: Unit | None, rule: Rule, skip_faults: bool) -> None:
    """A SQuAD 1.1 or 2.0 JSON file."""
    chosen: Unit = unit or ("articles" if rule == "needles" else "paragraphs")
    _make(project, lambda: read_squad(file, chosen, rule), skip_faults)


@importing.command()
@click.argument("topics", type=_source)
@click.argument("qrels", type=_source)
@_target
@_folder
@click.option(
    "--field",
    type=click.Choice(FIELDS),
    default="title",
    show_default=True,
    help="Which field of a topic is the question.",
)
@_skip
def trec(topics: Path, qrels: Path, project: Path, documents: Path, field: str, skip_faults: bool) -> None:
    """TREC topics and qrels over a folder of documents; whole documents are judged."""
    _make(
        project,
        lambda: _over(documents, lambda read: read_trec(topics, qrels, read, field)),
        skip_faults,
        documents,
    )


@importing.command()
@click.argument("file", type=_source)
@_target
@_folder
@click.option("--map", "pairs", multiple=True, metavar="OURS=THEIRS", help="As in question=Frage; may be repeated.")
@click.option(
    "--unanswerable",
    "stratum",
    type=click.Choice(["near", "far"]),
    help="What a question is that has neither needle nor documents. [default: a fault]",
)
@_skip
def table(
    file: Path, project: Path, documents: Path, pairs: tuple[str, ...], stratum: str | None, skip_faults: bool
) -> None:
    """A CSV or JSONL file with columns of its own, mapped onto those of a questions file."""
    try:
        mapping = read_mapping(pairs)
    except MappingError as error:
        raise click.UsageError(str(error)) from error
    _make(
        project,
        lambda: _over(documents, lambda read: read_table(file, read, mapping, stratum)),
        skip_faults,
        documents,
    )


def _over(folder: Path, read: Callable[[tuple[Document, ...]], Material]) -> Material:
    """Read questions about a folder; what is wrong with its documents is said with what is wrong with them."""
    loaded = load_documents(folder)
    material = read(loaded.documents)
    return Material(
        material.documents, material.file, material.rows, (*loaded.faults, *material.faults), material.notes, False
    )


def _make(project: Path, read: Callable[[], Material], skip_faults: bool, documents: Path | None = None) -> None:
    for name in (PROJECT_FILE, _QUESTIONS, *(() if documents else (_COLLECTION,))):
        if (project / name).exists():
            raise click.UsageError(f"{project / name} is there already; choose another folder, or move it away")
    material = read()
    loaded = material.questions()
    _tell(loaded.faults, skip_faults)
    if loaded.faults and not skip_faults:
        click.echo("Nothing is written. Mend these, or leave them out with --skip-faults.", err=True)
        sys.exit(2)
    if not loaded.queries or not material.documents:
        raise click.UsageError("nothing is left to measure: at least one document and one question")
    _write(project, material, loaded.queries, documents)
    for note in material.notes:
        click.echo(note)
    judged = any(query.relevant for query in loaded.queries)
    rule = "document-level relevance" if judged else "needles"
    click.echo(
        f"made {project / PROJECT_FILE}: {plural(len(material.documents), 'document')}, "
        f"{plural(len(loaded.queries), 'question')} ({rule})"
    )
    click.echo(f"Next: bluffline check --project {project}, then bluffline run --project {project}")


def _tell(faults: tuple[Fault, ...], skipped: bool) -> None:
    for line in shown([fault.sentence for fault in faults]):
        click.echo(line, err=True)
    if faults:
        done = ", left out" if skipped else ""
        click.echo(f"{plural(len(faults), 'fault')}{done}.", err=True)


def _write(project: Path, material: Material, queries: tuple[Query, ...], documents: Path | None) -> None:
    judged = any(query.relevant for query in queries)
    text = project_text(
        documents=quoted(documents, project) if documents else f'"{_COLLECTION}"',
        questions=f'"{_QUESTIONS}"',
        sweep=_WHOLE if judged else "",
        more=_WHOLE_STRATEGY if judged else "",
    )
    files: dict[str, Any] = {_QUESTIONS: [to_jsonl(queries)], PROJECT_FILE: [text]}
    if documents is None:
        files = {_COLLECTION: collection_lines(material.documents), **files}
    if not (project / ".gitignore").exists():
        files[".gitignore"] = [IGNORED]
    try:
        for name, lines in files.items():  # the project file last: without it there is no project
            file = project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8", newline="\n") as stream:
                stream.writelines(lines)
    except OSError as error:
        raise click.UsageError(f"the project cannot be made: {error}") from error
