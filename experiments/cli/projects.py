"""`init`, `check` and `plan`: everything before a sweep."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from corpus.check import CheckReport, Counts
from corpus.faults import Fault
from experiments.cli.errors import shown
from experiments.cli.options import FloatRange, project_option
from experiments.language_checks import language_warnings
from experiments.project import PROJECT_FILE, open_project
from experiments.sweep import check_project
from experiments.words import listed, plural

# With what Python keeps of a retriever of one's own in git's eyes, every sweep would have uncommitted changes.
IGNORED = "var/\n__pycache__/\n"
_FILE = """\
# A Bluffline project. All state is kept in var/ beside this file.

[corpus]
documents = {documents}
questions = {questions}
# documents may also be one JSONL file with an "id", a "title" and a "text" a line.
strip_front_matter = true
# strip_bibliography = ["References"]   # headings whose section, at a document's end, is not content

[sweep]
{sweep}# strategies = ["A", "B", "C", "D", "E", "F"]
# retrievers = ["dense", "bm25", "hybrid"]                    # also "rerank" and "late": slower, they read more
# models = ["sentence-transformers/all-MiniLM-L6-v2"]
# rerankers = ["cross-encoder/ms-marco-MiniLM-L6-v2"]         # for "rerank"
# late_models = ["answerdotai/answerai-colbert-small-v1"]     # for "late"
# k = [1, 4, 8, 20]
# thresholds = {{ from = 0.3, to = 0.8, step = 0.025 }}
# alpha = 0.05
# seed = 20260101

# [bm25]
# k1 = 1.2
# b = 0.75
# tokeniser = "ascii"                   # "unicode" for all but English, and then also: stemming = "german"

# [hybrid]                              # reciprocal rank fusion: its constant, and the weights of the two rankings
# k = 60
# dense = 1.0
# bm25 = 1.0

# [rerank]
# depth = 25                            # chunks of the hybrid ranking a cross-encoder reads

# A retriever of your own, to be named in `retrievers` (docs/own-retriever.md):
# [retrievers.ours]
# url = "http://127.0.0.1:8080/search"
# request = {{ query = "{{query}}", limit = "{{k}}" }}
# texts = "results.*.text"

# A strategy of your own, to be named in `strategies`:
# [strategies.short]
# cuts = "boundaries"                   # or "blind", or "document": the whole document as one passage
# header = true
# overlap = 32
# budget = 256

# What `bluffline gate` holds a sweep to, such as in CI:
# [gate]
# baseline = "main"
# no_significant_loss = {{ at = 20, alpha = 0.05 }}
# destroyed_at_most = 0
{more}"""


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--documents",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="Folder of documents, or one JSONL file with an id, a title and a text a line.",
)
@click.option(
    "--questions",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Questions as JSONL or CSV.",
)
def init(folder: Path, documents: Path, questions: Path) -> None:
    """Make a project in FOLDER: a bluffline.toml that names the documents and the questions.

    Exits with 2 when the project is made but its documents or questions have a fault.
    """
    file = folder / PROJECT_FILE
    if file.exists():
        raise click.UsageError(f"{file} is there already; edit it, or choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(project_text(documents=quoted(documents, folder), questions=quoted(questions, folder)), "utf-8")
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(IGNORED, "utf-8")
    except OSError as error:
        raise click.UsageError(f"the project cannot be made: {error}") from error
    click.echo(f"made {file}")
    report = check_project(open_project(folder))
    _tell(report)
    click.echo(f"Next: bluffline run --project {folder}" if report.ok else "Next: mend these, then `bluffline check`.")
    sys.exit(0 if report.ok else 2)


def _answered_by(counts: Counts) -> str:
    if counts.relevant and not counts.needles:
        return f"{plural(counts.relevant, 'relevant document')} (document-level relevance)"
    return plural(counts.needles, "needle")


def project_text(documents: str, questions: str, sweep: str = "", more: str = "") -> str:
    """The text of a new project file.

    Args:
        documents: Their path, as TOML.
        questions: Their path, as TOML.
        sweep: Lines of the sweep's table that are not left at their defaults.
        more: Tables below it.
    """
    return _FILE.format(documents=documents, questions=questions, sweep=sweep, more=more)


def quoted(path: Path, folder: Path) -> str:
    """A path as TOML, relative to the project where both lie below a common folder of their own."""
    absolute, root = path.resolve(), folder.resolve()
    near = absolute.is_relative_to(root) or absolute.is_relative_to(root.parent)
    written = Path(os.path.relpath(absolute, root)) if near else absolute
    return json.dumps(written.as_posix(), ensure_ascii=False)


@click.command()
@project_option
def check(folder: Path | None) -> None:
    """Check documents, questions and retrievers of one's own; report every fault at once: file, line, value, advice.

    Exits with 2 when there is a fault.
    """
    from experiments.own_measuring import own_faults

    project = open_project(folder)
    report = check_project(project)
    own = own_faults(project, report)
    _tell(report, own)
    for warning in language_warnings(report.documents, report.queries, project.settings, {}):
        click.echo(f"Warning: {warning}")
    if project.settings.own:
        names = listed([one.name for one in project.settings.own])
        click.echo(f"Retrievers of your own: {names}; nothing was asked of them.")
    sys.exit(0 if report.ok and not own else 2)


def _tell(report: CheckReport, own: Sequence[Fault] = ()) -> None:
    faults = [*report.faults, *own]
    for line in shown([fault.sentence for fault in faults]):
        click.echo(line)
    if faults:
        click.echo("")
    counts = report.counts
    phrasings = [f"{count} {phrasing or 'without a phrasing'}" for phrasing, count in counts.answerable.items()]
    by_phrasing = f" ({listed(phrasings)})" if any(counts.answerable) else ""
    click.echo(
        f"{plural(counts.documents, 'document')}, {counts.characters:,} characters, "
        f"{plural(counts.sections, 'section')}; {_answered_by(counts)}, "
        f"{plural(sum(counts.answerable.values()), 'answerable question')}{by_phrasing}, "
        f"{counts.unanswerable} unanswerable ({counts.near} near, {counts.far} far)."
    )
    for overlap in report.overlaps:
        of = f", phrasing {overlap.phrasing}" if overlap.phrasing else ", without a phrasing" if by_phrasing else ""
        click.echo(
            f"Share of the needle's words that stand in the question{of}: mean {overlap.mean:.0%}, "
            f"median {overlap.median:.0%}, over {plural(overlap.n, 'question')}."
        )
    for document in report.guessed:
        click.echo(f"{document.source}: read as {document.encoding}, which was guessed; save it as UTF-8 to be sure.")
    if report.skipped:
        click.echo(f"Not read, because of a format that is not: {listed(report.skipped[:5])}"
                   + (f" and {len(report.skipped) - 5} more" if len(report.skipped) > 5 else "") + ".")  # fmt: skip
    click.echo(f"{plural(len(faults), 'fault')}." if faults else "No faults.")


@click.command()
@project_option
@click.option(
    "--difference",
    type=FloatRange(0.1, 100),
    default=10,
    show_default=True,
    help="Of R@k that is to be seen, in points.",
)
@click.option(
    "--bluffs-at-most",
    "bluffs",
    type=FloatRange(0.1, 50),
    default=10,
    show_default=True,
    help="Per cent of bluffs that are to be promised.",
)
@click.option("--confidence", type=FloatRange(50, 99.9), default=95, show_default=True,
              help="Of that promise, in per cent.")  # fmt: skip
def plan(folder: Path | None, difference: float, bluffs: float, confidence: float) -> None:
    """Say what `run` would do: combinations, chunks, texts to embed, and what these questions could show.

    How many questions a difference takes is reckoned from how often the combinations of the newest finished sweep
    differ, where there is one.
    """
    from experiments.planning import Wanted, planned

    wanted = Wanted(difference / 100, bluffs / 100, confidence / 100)
    for line in planned(open_project(folder), wanted):
        click.echo(line)
