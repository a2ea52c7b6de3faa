"""What goes wrong, told in lines instead of tracebacks."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import click

SHOWN = 200  # faults; a questions file of the wrong kind has one a line
INTERRUPTED = 130
BROKEN_PIPE = 141  # as a program that SIGPIPE ended: whoever read the output has read enough


class ReaderGoneError(Exception):
    """Nobody reads the output any more."""


@contextmanager
def reading() -> Iterator[None]:
    """Notice a closed pipe before click does: it would end with 1, which means that a gate failed."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


class InterruptedCommand(click.ClickException):
    """Ctrl-C, with what that means for the work at hand."""

    exit_code = INTERRUPTED

    def show(self, file: IO[Any] | None = None) -> None:
        """One line; on a terminal it goes below the ^C."""
        click.echo("\n" if sys.stderr.isatty() else "", nl=False, err=True)
        click.echo(f"bluffline: interrupted; {self.message}", file=file or sys.stderr)


@contextmanager
def told() -> Iterator[None]:
    """Turn domain errors into lines on standard error and an exit code."""
    try:
        yield
    except click.ClickException as error:
        _show(error)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("bluffline: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except ReaderGoneError:
        # What is still in the buffer has no reader either: without this, the interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    except Exception as error:
        code = _code(error)
        if code is None:
            raise
        said = _said(error)
        for line in shown(said.splitlines() or [type(error).__name__]):
            click.echo(line if "\n" in said else f"bluffline: {line}", err=True)
        sys.exit(code)


def _said(error: Exception) -> str:
    """What went wrong; of a statement the database refused, its reason without the statement and its values."""
    from sqlalchemy.exc import DBAPIError

    if isinstance(error, DBAPIError):
        what, reason = "the store", " ".join(str(error.orig).split())
    elif isinstance(error, sqlite3.OperationalError):
        what, reason = "a file under the project's var/", str(error)
    else:
        return str(error)
    asked = "Is another process writing, the disk full, or the folder read-only?"
    return f"{what} cannot be read or written: {reason}. {asked}"


def _show(error: click.ClickException) -> None:
    """One line, as every other mistake has one: click would put two lines of usage and an empty one before it."""
    if not isinstance(error, click.UsageError):
        error.show()
        return
    command = error.ctx.command_path if error.ctx and type(error) is not click.UsageError else ""
    more = f" (see `{command} --help`)" if command else ""
    click.echo(f"bluffline: {error.format_message()}{more}", err=True)


def shown(lines: Sequence[str]) -> list[str]:
    """The first of many faults, and how many more there are."""
    return [*lines[:SHOWN], *([f"... and {len(lines) - SHOWN:,} more."] if len(lines) > SHOWN else [])]


def _code(error: Exception) -> int | None:
    """The exit code of a domain error; None for what is a fault of ours."""
    # Imported only when something went wrong: help must not wait for them.
    from sqlalchemy.exc import DBAPIError

    from experiments.progress import CancelledError
    from experiments.project import ProjectError
    from experiments.reading import UnknownSweepError
    from experiments.reviewing.baselines import BaselineError
    from experiments.reviewing.references import ReferenceUnclearError, ReferenceUnknownError
    from experiments.sweep import InputError
    from experiments.tracking import TrackingError
    from store.engine import StoreError
    from store.stamped import StampMismatchError

    if isinstance(error, (ProjectError, InputError, UnknownSweepError, StoreError, StampMismatchError)):
        return 2
    if isinstance(error, (BaselineError, ReferenceUnclearError, ReferenceUnknownError)):
        return 2
    if isinstance(error, (TrackingError, CancelledError)):
        return 3
    # A full disk, a folder without permission, a database that is locked or went away: nothing a traceback explains.
    return 2 if isinstance(error, (OSError, sqlite3.OperationalError, DBAPIError)) else None
