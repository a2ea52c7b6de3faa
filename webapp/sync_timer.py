"""The exchange with MLflow on a timer: a process of its own each time, so that this one stays light."""

from __future__ import annotations

from pathlib import Path

from experiments import launching
from webapp import background


def keep_syncing(root: Path, *, has_project: bool, minutes: float) -> None:
    """Start an exchange now and then every so often, until this process ends; one that is still at work is left to it.

    Args:
        root: The project's folder.
        has_project: Whether there is a project file in it.
        minutes: Between two starts.
    """

    def work() -> None:
        while True:
            launching.start_sync(root, has_project=has_project)
            if background.wait(60 * minutes):
                return

    background.start("sync timer", work)
