"""Starting and stopping a sweep from outside: a process of its own, watched through its rows in the store.

Between the start and the first row of a sweep lie some seconds in which the process loads its libraries and reads its
inputs, and in which it may refuse them. `launched` tells of that time.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.processes import lives, utc
from experiments.sweep import settle_interrupted
from store import files, reads, writes

_TAG_LOG = "decision-tagged.log"
_WORDS_SHOWN = 6  # lines of the log
_STARTING = threading.Lock()


class Kind(NamedTuple):
    """A kind of process that is started from outside: where its words go, and where it is noted."""

    log: str
    note: str


SWEEP = Kind("started-from-browser.log", "started-from-browser.json")
INDEXING = Kind("indexing.log", "indexing.json")
SYNC = Kind("sync.log", "sync.json")


class AlreadyRunningError(Exception):
    """A sweep of this store is running or about to; two at once would only slow each other down."""

    def __init__(self, sweep_id: int | None) -> None:
        """Name the sweep that runs; None where it has just been started and has no number yet."""
        self.sweep_id = sweep_id
        which = "a sweep was started a moment ago" if sweep_id is None else f"sweep {sweep_id} is running"
        super().__init__(f"{which}; wait for it or cancel it first")


class Launched(NamedTuple):
    """The last process of its kind that was started from outside."""

    pid: int
    since: datetime  # UTC
    lives: bool
    words: tuple[str, ...]  # the last it said; empty while it lives


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
        AlreadyRunningError: If a sweep is running, or one was started that has not begun yet.
    """
    arguments = _command("run", root, has_project=has_project) + (["--fresh"] if fresh else [])
    with _STARTING:
        settle_interrupted(engine)
        running = reads.running_sweeps(engine)
        if running:
            raise AlreadyRunningError(running[0].id or 0)
        before = launched(root)
        if before is not None and before.lives:
            raise AlreadyRunningError(None)
        return _noted(arguments, root, SWEEP)


def start_indexing(engine: Engine, root: Path, *, has_project: bool) -> bool:
    """Start `bluffline documents index` in a process of its own, unless one is about to look at the folder anyway.

    While an indexing runs the new process waits for its end: the running one may have looked for the last time.

    Returns:
        Whether a process was started.
    """
    with _STARTING:
        before, latest = launched(root, INDEXING), files.latest_indexing(engine)
        if before is not None and before.lives:
            began = latest is not None and latest.pid == before.pid and utc(latest.started_at) >= before.since
            if not began:
                return False
        _noted([*_command("documents", root, has_project=has_project), "index", "--wait"], root, INDEXING)
    return True


def start_sync(root: Path, *, has_project: bool) -> bool:
    """Start `bluffline sync` in a process of its own, unless one that was started here is at it.

    Returns:
        Whether a process was started.
    """
    with _STARTING:
        before = launched(root, SYNC)
        if before is not None and before.lives:
            return False
        _noted(_command("sync", root, has_project=has_project), root, SYNC)
    return True


def _noted(arguments: list[str], root: Path, what: Kind) -> int:
    """Start a process and note it; its id."""
    process = _spawn(arguments, root, what.log)
    note = {"pid": process.pid, "since": datetime.now(UTC).isoformat()}
    (_logs(root) / what.note).write_text(json.dumps(note), "utf-8")
    return process.pid


def tag_decision(root: Path, *, has_project: bool) -> int:
    """Log the decision in force to MLflow in a process of its own: the web process does without MLflow.

    Args:
        root: The project's folder, or the working directory where the bundled corpus is the project.
        has_project: Whether there is a project file in `root`.

    Returns:
        The process id. What it says is kept in the project's logs; `bluffline decide --tag` does the same again.
    """
    return _spawn([*_command("decide", root, has_project=has_project), "--show", "--tag"], root, _TAG_LOG).pid


def _command(name: str, root: Path, *, has_project: bool) -> list[str]:
    place = ["--project", str(root)] if has_project else []
    return [sys.executable, "-m", "experiments.cli", name, *place]


def _spawn(arguments: list[str], root: Path, log_name: str) -> subprocess.Popen[bytes]:
    """Start a command that outlives this process; what it says goes to a log of the project."""
    logs = _logs(root)
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / log_name).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            arguments, cwd=root, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    # Whoever waits for a child takes note of its end; else it would stay in the process table as if it lived.
    threading.Thread(target=process.wait, daemon=True).start()
    return process


def launched(root: Path, what: Kind = SWEEP) -> Launched | None:
    """The last process of a kind that was started; None when there was none, or its note cannot be read."""
    try:
        note = json.loads((_logs(root) / what.note).read_text("utf-8"))
        pid, since = int(note["pid"]), datetime.fromisoformat(note["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    alive = lives(pid, since)
    return Launched(pid, since, alive, () if alive else _last_words(_logs(root) / what.log))


def request_cancel(engine: Engine, sweep_id: int) -> None:
    """Ask a running sweep to stop; it does so after the batch it is working on, and keeps what it recorded."""
    writes.update_sweep(engine, sweep_id, cancel_requested=True)


def _logs(root: Path) -> Path:
    return root / "var" / "logs"


def _last_words(log: Path) -> tuple[str, ...]:
    """The last lines of a log; a progress bar that was drawn over and over is one line, its last state."""
    try:
        text = log.read_bytes()[-20_000:].decode("utf-8", "replace")
    except OSError:
        return ()
    drawn = [line.rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n")]
    plain = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).strip() for line in drawn]
    return tuple(line for line in plain if line)[-_WORDS_SHOWN:]
