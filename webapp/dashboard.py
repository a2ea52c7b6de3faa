"""What every view may reach: the store, the project's folder and the title of this dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from flask import current_app
from sqlalchemy import Engine

from experiments.project import PROJECT_FILE, Project, open_project

EXTENSION = "bluffline"


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The things one application was made with."""

    engine: Engine
    root: Path
    title: str
    sync_every: float | None = None  # minutes between two exchanges that are started by themselves
    tags_decisions: bool = False  # whether a decision made here is logged to the project's MLflow

    @property
    def has_project(self) -> bool:
        """Whether there is a project file; without one the bundled corpus is measured."""
        return (self.root / PROJECT_FILE).is_file()

    def project(self) -> Project:
        """What a sweep started now would measure, read anew.

        Raises:
            ProjectError: If the project file is faulty.
        """
        return open_project(self.root if self.has_project else None)


def dashboard() -> Dashboard:
    """The dashboard of the application that handles this request."""
    return cast("Dashboard", current_app.extensions[EXTENSION])
