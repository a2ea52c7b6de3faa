"""What goes wrong, told in lines instead of tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def told() -> Iterator[None]:
    """Turn domain errors into lines on standard error and an exit code."""
    try:
        yield
    except Exception as error:
        code = _code(error)
        if code is None:
            raise
        click.echo(f"bluffline: {error}" if "\n" not in str(error) else str(error), err=True)
        sys.exit(code)


def _code(error: Exception) -> int | None:
    """The exit code of a domain error; None for what is a fault of ours."""
    # Imported only when something went wrong: help must not wait for them.
    from experiments.progress import CancelledError
    from experiments.project import ProjectError
    from experiments.reading import UnknownSweepError
    from experiments.sweep import InputError
    from experiments.tracking import TrackingError
    from store.engine import StoreError
    from store.vectors import StampMismatchError

    if isinstance(error, (ProjectError, InputError, UnknownSweepError, StoreError, StampMismatchError)):
        return 2
    if isinstance(error, (TrackingError, CancelledError)):
        return 3
    return None
