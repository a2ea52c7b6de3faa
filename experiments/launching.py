"""Starting and stopping a sweep from outside: a process of its own, watched through its rows in the store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sqlalchemy import Engine

from experiments.sweep import settle_interrupted
from store import reads, writes


class AlreadyRunningError(Exception):
    """A sweep of this store is running; two at once would only slow each other down."""

    def __init__(self, sweep_id: int) -> None:
        """Name the sweep that runs."""
        self.sweep_id = sweep_id
        super().__init__(f"sweep {sweep_id} is running; wait for it or cancel it first")


def start_sweep(engine: Engine, root: Path, *, has_project: bool, fresh: bool = False) -> int:
    """Start `bluffline run` in a process of its own, which outlives this one.

    Args:
        engine: The store.
        root: The project's folder, or the working directory where the bundled corpus is the project.
        has_project: Whether there is a project file in `root`.
        fresh: Retrieve again what an earlier sweep recorded.

    Returns:
        The process id.

    Raises:
        AlreadyRunningError: If a sweep is running.
    """
    settle_interrupted(engine)
    running = reads.running_sweeps(engine)
    if running:
        raise AlreadyRunningError(running[0].id or 0)
    logs = root / "var" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    arguments = [sys.executable, "-m", "experiments.cli", "run"]
    arguments += ["--project", str(root)] if has_project else []
    arguments += ["--fresh"] if fresh else []
    with (logs / "started-from-browser.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            arguments, cwd=root, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    return process.pid


def request_cancel(engine: Engine, sweep_id: int) -> None:
    """Ask a running sweep to stop; it does so after the batch it is working on, and keeps what it recorded."""
    writes.update_sweep(engine, sweep_id, cancel_requested=True)
