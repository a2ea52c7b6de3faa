"""`sync`: exchanging sweeps and decisions with MLflow, and building a store anew from it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from experiments.cli.errors import InterruptedCommand
from experiments.cli.options import project_option
from experiments.project import Project, open_project
from experiments.words import plural
from store.engine import open_store


@click.command()
@project_option
@click.option("--push", is_flag=True, help="Only log to MLflow what it does not hold.")
@click.option("--pull", is_flag=True, help="Only read from MLflow what the store does not hold.")
@click.option("--rebuild", "anew", is_flag=True, help="Build the store anew from MLflow alone.")
@click.option("--force", is_flag=True, help="With --rebuild: replace a store that holds something; a copy is kept.")
def sync(folder: Path | None, push: bool, pull: bool, anew: bool, force: bool) -> None:
    """Log to MLflow what it does not hold, and read from it what others logged.

    Only what is new or has changed is fetched. Sweeps that were deleted there disappear here too, unless they were
    made here; decisions are never deleted. What cannot be read is told in one line each, the others go on, and the
    exit code is then 3.
    """
    if (push or pull) and anew:
        raise click.UsageError("--rebuild reads everything anew; it goes without --push and --pull")
    if force and not anew:
        raise click.UsageError("--force belongs to --rebuild")
    project = open_project(folder)
    try:
        faults = _rebuild(project, force) if anew else _sync(project, push or not pull, pull or not push)
    except KeyboardInterrupt as stop:
        raise InterruptedCommand("what was exchanged is kept, sync again to go on") from stop
    for line in faults:
        click.echo(f"bluffline: {line}", err=True)
    if faults:
        sys.exit(3)


def _sync(project: Project, push: bool, pull: bool) -> tuple[str, ...]:
    from experiments.deciding.decision_tags import DecisionLedger
    from experiments.exchange.syncing import sync as exchange

    engine = open_store(project.store_url)
    with _Shown() as shown:
        done = exchange(engine, DecisionLedger.of(project), push=push, pull=pull, show=shown.show)
    if push:
        _tell(
            "Logged",
            [
                (done.pushed, _pushed(done.pushed, done.runs)),
                (done.decisions_pushed, plural(done.decisions_pushed, "decision")),
            ],
            "Everything is logged.",
        )
    if pull:
        _tell(
            "Read",
            [
                (done.new, f"{done.new:,} new"),
                (done.updated, f"{done.updated:,} changed"),
                (done.removed, f"{done.removed:,} deleted"),
                (done.decisions, plural(done.decisions, "decision")),
            ],
            f"Nothing is new ({plural(done.unchanged, 'sweep')} there).",
        )
    if done.others:
        click.echo(f"Left alone: {plural(done.others, 'run')} that other programs logged to this experiment.")
    for note in done.notes:
        click.echo(note)
    return done.faults


def _pushed(sweeps: int, runs: int) -> str:
    """A sweep may have changed since its runs were logged: it went on elsewhere, ended, or its database has moved."""
    named = plural(sweeps, "sweep")
    return f"{named} with {plural(runs, 'run')}" if runs else f"what changed of {named} (every run was there already)"


def _tell(what: str, counted: list[tuple[int, str]], nothing: str) -> None:
    some = [words for count, words in counted if count]
    click.echo(f"{what}: {', '.join(some)}." if some else nothing)


def _rebuild(project: Project, force: bool) -> tuple[str, ...]:
    from experiments.deciding.decision_tags import DecisionLedger
    from experiments.exchange.rebuilding import rebuild

    with _Shown() as shown:
        made = rebuild(project.store_url, DecisionLedger.of(project), force=force, show=shown.show)
    done = made.synced
    click.echo(f"Built from MLflow: {plural(done.new, 'sweep')}, {plural(done.decisions, 'decision')}.")
    for note in done.notes:
        click.echo(note)
    if made.copy is not None:
        click.echo(f"The store that was there is kept as {made.copy}.")
    if made.only_there:
        click.echo(f"{plural(made.only_there, 'sweep or decision', 'sweeps or decisions')} of it were never logged "
                   "or deleted from MLflow: only the copy holds them.")  # fmt: skip
    return done.faults


class _Shown:
    """How far it is, on standard error: one line that is written over on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._told = time.monotonic()
        self._between = 0.2 if self._terminal else 10.0

    def show(self, stage: str, done: int, total: int, seconds_left: float | None) -> None:
        now = time.monotonic()
        if not total or now - self._told < self._between:
            return
        self._told = now
        left = "" if seconds_left is None else f", about {seconds_left:.0f} s left"
        line = f"{stage}: {done:,} of {total:,}{left}"
        click.echo(f"\r\x1b[K{line}" if self._terminal else line, nl=not self._terminal, err=True)

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            click.echo("\r\x1b[K", nl=False, err=True)
