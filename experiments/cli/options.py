"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

project_option: Callable[[Any], Any] = click.option(
    "--project",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder; else the one the working directory lies in, else the bundled corpus.",
)
