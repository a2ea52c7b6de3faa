"""What every view may reach: the store, the project's folder and the title of this dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from flask import current_app
from sqlalchemy import Engine

EXTENSION = "bluffline"


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The things one application was made with."""

    engine: Engine
    root: Path
    title: str


def dashboard() -> Dashboard:
    """The dashboard of the application that handles this request."""
    return cast("Dashboard", current_app.extensions[EXTENSION])
