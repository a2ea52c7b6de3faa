"""`models`: what the models of a project are, and fetching those that are not here yet."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.cli.options import project_option
from experiments.model_stamps import changes_words
from experiments.project import Project, open_project

if TYPE_CHECKING:
    from experiments.model_list import ModelEntry


@click.group(invoke_without_command=True)
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print everything that is known of every model as JSON.")
@click.pass_context
def models(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List the models of the project: what each is, what is kept of it, and why one is missing.

    Nothing is downloaded and nothing is loaded; the exit code is 0 whatever is missing.
    """
    context.obj = folder, as_json
    if context.invoked_subcommand is None:
        from experiments.model_list import project_models

        found = list(project_models(open_project(folder)))
        _tell(found, as_json)
        if not as_json and any(one.problem for one in found):
            click.echo("Next: bluffline models fetch")


@models.command()
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print everything that is known of what was fetched as JSON.")
@click.argument("names", nargs=-1)
@click.pass_context
def fetch(context: click.Context, folder: Path | None, as_json: bool, names: tuple[str, ...]) -> None:
    """Download what is not here yet: NAMES, or every model of the project.

    Exits with 2 when one of them cannot be had; the others are fetched all the same.
    """
    from experiments.model_list import project_models

    project = open_project(folder or context.obj[0])
    _refuse_unknown(project, names)
    found = list(project_models(project, names, fetch=True))
    _tell(found, as_json or context.obj[1])
    if any(one.problem for one in found):
        sys.exit(2)


def _refuse_unknown(project: Project, names: tuple[str, ...]) -> None:
    from experiments.model_list import known_names

    known = known_names(project)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.UsageError(f"the project has no model {unknown[0]!r}, it has {', '.join(known)}")


def _tell(found: list[ModelEntry], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([one.data for one in found], indent=1, ensure_ascii=False))
        return
    for one in found:
        unused = "" if one.measured else ", named and not measured"
        click.echo(f"{one.spec.name}  {one.spec.kind}, {one.spec.precision}{unused}")
        if one.spec.label:
            click.echo(f"  {one.spec.label}")
        if one.stamp is None:
            click.echo(f"  missing: {one.problem}")
            continue
        stamp = one.stamp
        gives = "a score a pair" if stamp.kind == "cross-encoder" else f"{stamp.dimensions} dimensions"
        size = f"{(one.size or 0) / 1e6:.1f} MB"
        click.echo(
            f"  {gives}, window {stamp.window} tokens, "
            f"language {stamp.language or 'not said by its card'}, {size}, {one.kept_words}"
        )
        changes = f", {changes_words(stamp.changes)}" if stamp.changes else ""
        click.echo(f"  {stamp.source}; weights {stamp.weights[:12]}, files {stamp.files[:12]}{changes}")
