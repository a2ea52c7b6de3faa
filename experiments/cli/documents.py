"""`documents`: the files of the project, their states, and bringing them into the index."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.errors import InterruptedCommand
from experiments.cli.options import project_option
from experiments.project import Project, open_project
from experiments.words import listed, plural
from store.engine import open_store

if TYPE_CHECKING:
    from experiments.indexing.standing import Standing


class _RefusedError(click.ClickException):
    """What a user can mend."""

    exit_code = 2


@click.group(invoke_without_command=True)
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print everything that is known of every file as JSON.")
@click.option("--state", "states", multiple=True, help="Only files in this state; repeat it for several.")
@click.pass_context
def documents(context: click.Context, folder: Path | None, as_json: bool, states: tuple[str, ...]) -> None:
    """List the files of the documents folder with state, reason and time, or do something with them.

    The exit code is 0 whatever the states are; --json is for whoever wants to judge them.
    """
    context.obj = folder
    if context.invoked_subcommand is None:
        from store.files import STATES

        wrong = [state for state in states if state not in STATES]
        if wrong:
            raise click.UsageError(f"there is no state {wrong[0]!r}, states are {', '.join(STATES)}")
        _list(open_project(folder), states, as_json)


def _list(project: Project, states: Sequence[str], as_json: bool) -> None:
    from experiments.indexing.stamps import refusal, stamps_of
    from experiments.indexing.standing import counts, standings
    from store import files

    stamps = stamps_of(project)
    rows = files.files(open_store(project.store_url))
    everything = standings(rows, stamps)
    shown = [one for one in everything if not states or one.state in states]
    if as_json:
        click.echo(json.dumps([_data(one) for one in shown], indent=1, ensure_ascii=False))
        return
    for one in shown:
        facts = f"  {one.row.characters:,} characters" if one.state == "indexed" and one.row.characters else ""
        kind = f" ({one.row.kind})" if one.row.kind and one.state == "failed" else ""
        when = one.since.strftime("%Y-%m-%d %H:%M")
        click.echo(f"{one.state + kind:<22} {when}  {one.id}{facts}" + (f"\n  {one.reason}" if one.reason else ""))
    said = listed([f"{count:,} {state}" for state, count in counts(everything).items()])
    click.echo(f"{plural(len(everything), 'file')}: {said}." if everything else "Nothing is indexed yet.")
    if not everything or any(one.state in ("queued", "stale", "extracting") for one in everything):
        click.echo("Next: bluffline documents index")
    if any(one.state == "failed" and one.row.kind != "unsupported" for one in everything):
        click.echo("Failed ones, once mended: bluffline documents retry --all")
    if why := refusal(rows, stamps):
        click.echo(f"Not to be asked: {why}.")


def _data(one: Standing) -> dict[str, Any]:
    row = one.row.model_dump(mode="json", exclude={"locators"})
    return {**row, "state": one.state, "reason": one.reason or None}


@contextmanager
def _told() -> Iterator[None]:
    from experiments.indexing.folder import FolderRefusedError
    from experiments.indexing.indexer import FolderError
    from experiments.models import ModelError
    from store.files import IndexingElsewhereError

    try:
        yield
    except (FolderRefusedError, FolderError, ModelError, IndexingElsewhereError) as error:
        raise _RefusedError(str(error)) from error


def _project(context: click.Context, folder: Path | None) -> Project:
    return open_project(folder or context.obj)


def _index(project: Project, *, say_nothing_to_do: bool = True, wait: bool = False) -> int:
    """Index what has to be.

    Returns:
        How many documents failed.
    """
    from tqdm import tqdm  # its write leaves the progress bar whole

    from experiments.indexing.indexer import index_documents

    try:
        done = index_documents(
            open_store(project.store_url),
            project,
            say=lambda line: tqdm.write(line, file=sys.stderr),
            wait=wait,
        )
    except KeyboardInterrupt as stop:
        raise InterruptedCommand("what is indexed is kept, run again to go on") from stop
    if done.indexed or done.failed or done.removed or say_nothing_to_do:
        removed = f", {done.removed} removed" if done.removed else ""
        click.echo(
            f"{done.indexed} indexed, {done.failed} failed{removed}; {plural(done.embedded, 'chunk')} embedded."
            if done.indexed or done.failed or done.removed
            else "Nothing to do: the index is what the folder is."
        )
    return done.failed


@documents.command()
@project_option
@click.option("--wait", is_flag=True, help="Wait for the end of an indexing that runs, instead of refusing.")
@click.pass_context
def index(context: click.Context, folder: Path | None, wait: bool) -> None:
    """Bring what is new, changed, stale or waiting into the index; what is there and the same is not touched.

    Exits with 3 when a document failed.
    """
    with _told():
        if _index(_project(context, folder), wait=wait):
            sys.exit(3)


@documents.command()
@project_option
@click.argument("ids", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every failed document whose format is read.")
@click.pass_context
def retry(context: click.Context, folder: Path | None, ids: tuple[str, ...], every: bool) -> None:
    """Try failed documents again: the IDS, or all of them. Exits with 3 when one failed again."""
    from experiments.indexing.indexer import retry as try_again

    if every == bool(ids):
        raise click.UsageError("give either IDS or --all")
    project = _project(context, folder)
    try:
        waiting = try_again(open_store(project.store_url), None if every else ids)
    except KeyError as error:
        raise _RefusedError(f"there is no document {error.args[0]!r}; `bluffline documents` lists them") from error
    except ValueError as error:
        raise _RefusedError(str(error)) from error
    click.echo(f"{plural(len(waiting), 'document')} to be tried again.")
    with _told():
        if waiting and _index(project):
            sys.exit(3)


@documents.command()
@project_option
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--into", default="", help="A folder below the documents folder.")
@click.option("--replace", is_flag=True, help="Replace what is there under the same name.")
@click.option("--no-index", is_flag=True, help="Only copy.")
@click.pass_context
def add(
    context: click.Context, folder: Path | None, files: tuple[Path, ...], into: str, replace: bool, no_index: bool
) -> None:
    """Copy FILES into the documents folder and index them."""
    from experiments.indexing import folder as folders

    project = _project(context, folder)
    with _told():
        for path in files:
            with path.open("rb") as source:
                name = f"{into.rstrip('/')}/{path.name}" if into else path.name
                try:
                    added = folders.add(project, name, source, replace=replace)
                except folders.ExistsError as error:
                    raise _RefusedError(f"{error}; --replace replaces it") from error
            what = "replaced" if added.replaced else "added" if added.new else "is there already, the same"
            click.echo(f"{added.document_id}: {what} ({added.bytes:,} bytes)")
        if not no_index and _index(project):
            sys.exit(3)


@documents.command()
@project_option
@click.argument("document_id", metavar="ID")
@click.option("--force", is_flag=True, help="Remove it although questions point to it.")
@click.pass_context
def remove(context: click.Context, folder: Path | None, document_id: str, force: bool) -> None:
    """Take a document out of the folder and the index; refused while questions point to it."""
    from experiments.indexing import folder as folders
    from store import files as rows

    project = _project(context, folder)
    with _told():
        folders.require_own_folder(project)
        if folders.entry_of(project, document_id) is None:
            raise _RefusedError(f"there is no document {document_id!r}; `bluffline documents` lists them")
        pointing = folders.questions_about(project, document_id)
        for query in pointing.questions:
            click.echo(f"question {query.id} has its needle there: {query.text}", err=True)
        if pointing.faults:
            faults = f"{project.questions.name} has {plural(pointing.faults, 'fault')}"
            click.echo(f"{faults}: what the questions behind them need is not known (`bluffline check`)", err=True)
        if pointing.questions and not force:
            raise _RefusedError(
                f"{plural(len(pointing.questions), 'question')} could not be answered any more; nothing was removed "
                "(--force removes it all the same)"
            )
        folders.remove(project, document_id)
        rows.remove_files(open_store(project.store_url), [document_id])
    click.echo(f"{document_id}: removed.")


@documents.command()
@project_option
@click.option("--every", "seconds", default=2.0, show_default=True, help="Seconds between two looks at the folder.")
@click.pass_context
def watch(context: click.Context, folder: Path | None, seconds: float) -> None:
    """Index again whenever the documents folder changes; only what changed is read. Ends with Ctrl-C."""
    from experiments.indexing.watching import watch as watch_folder

    project = _project(context, folder)
    click.echo(f"watching {project.documents} (stop with Ctrl-C)")
    try:
        with _told():
            watch_folder(project.documents, lambda: _index(project, say_nothing_to_do=False), seconds=seconds)
    except (KeyboardInterrupt, InterruptedCommand):
        click.echo("stopped; what is indexed is kept.")
