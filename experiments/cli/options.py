"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


class FloatRange(click.FloatRange):
    """A range that NaN does not lie in: it is neither below nor above anything, and passes click's own."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number of the range."""
        number = super().convert(value, param, ctx)
        if number != number:  # noqa: PLR0124 - NaN alone differs from itself
            self.fail(f"{value} is not a number", param, ctx)
        return number


project_option: Callable[[Any], Any] = click.option(
    "--project",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder; else the one the working directory lies in, else the bundled corpus.",
)
