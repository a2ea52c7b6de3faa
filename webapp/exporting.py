"""`bluffline export`: a sweep as files, for other tools and for people without the dashboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

import click
from sqlalchemy import Engine

from experiments.cli.options import project_option
from experiments.exporting import file_name, json_file, parquet_files, trec_files
from experiments.project import open_project
from experiments.reading import UnknownSweepError, load_sweep
from experiments.words import plural
from store import reads
from store.engine import open_store
from webapp.command import dashboard_of
from webapp.report_file import report_file
from webapp.report_pages import Pages

Form = Literal["html", "json", "csv", "parquet", "trec"]
FORMS: tuple[Form, ...] = get_args(Form)


@click.command()
@project_option
@click.argument("sweep", type=click.IntRange(1, 2**63 - 1), required=False)
@click.option(
    "--to",
    "target",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder to write into; made when it is not there.",
)
@click.option(
    "--as",
    "forms",
    type=click.Choice(FORMS),
    multiple=True,
    help="What to write; may be given several times. All of it when left out.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")  # fmt: skip
def export(folder: Path | None, sweep: int | None, target: Path, forms: tuple[Form, ...], force: bool) -> None:
    """Write SWEEP (the newest when left out) as files.

    \b
    html     report.html: all its pages in one file that opens from disk and prints
    json     sweep.json: every number there is
    csv      the tables of the pages, as their CSV links hand them out
    parquet  every outcome with its hits, all numbers, questions and documents
    trec     a run for each combination, and the qrels to judge them by
    """  # noqa: D301 - a raw string would show the mark that keeps these lines apart
    project = open_project(folder)
    engine = open_store(project.store_url)
    if sweep is None:
        newest = reads.latest_sweep(engine, "finished") or reads.latest_sweep(engine)
        if newest is None or newest.id is None:
            raise UnknownSweepError("to export", None)
        sweep = newest.id
    loaded = load_sweep(engine, sweep)
    if not loaded.recorded:
        raise click.UsageError(f"sweep {sweep} has no recorded combination: there is nothing to export")
    asked = Pages(dashboard_of(project, project.host, project.port), loaded)
    written = 0
    for form in dict.fromkeys(forms or FORMS):
        for name, content in _files(form, engine, asked):
            _write(target / name, content, force)
            written += 1
    click.echo(f"Sweep {sweep}: {plural(written, 'file')} in {target}.")


def _files(form: Form, engine: Engine, asked: Pages) -> Iterator[tuple[str, str | bytes]]:
    if form == "html":
        yield "report.html", report_file(asked)
    elif form == "json":
        yield "sweep.json", json_file(asked.loaded)
    elif form == "csv":
        yield from _tables(asked)
    elif form == "parquet":
        yield from ((f"parquet/{name}", content) for name, content in parquet_files(engine, asked.loaded))
    else:
        yield from ((f"trec/{name}", content) for name, content in trec_files(engine, asked.loaded))


def _tables(asked: Pages) -> Iterator[tuple[str, bytes]]:
    """Every table that a page of the report offers as CSV."""
    offered: dict[str, str] = {}
    for page in asked.of_report():
        for anchor in asked.document(page.address).iter("a"):
            link = anchor.get("href", "")
            if asked.hands_out(link) == "csv":
                offered.setdefault(link, page.title)
    taken: set[str] = set()
    for link, title in offered.items():
        answer = asked.answer(link)
        named = re.search(r'filename="([^"]+)\.csv"', answer.headers.get("Content-Disposition", ""))
        name = named[1] if named else Path(urlsplit(link).path).stem
        if name in taken:  # the same table of another combination
            name = f"{name}-{file_name(title.partition(': ')[2] or title)}"
        taken.add(name)
        yield f"csv/{name}.csv", answer.get_data()


def _write(path: Path, content: str | bytes, force: bool) -> None:
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if force else "xb") as file:
            file.write(data)
    except FileExistsError as error:
        raise click.UsageError(f"{path} is there already; --force replaces it") from error
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror or error}") from error
