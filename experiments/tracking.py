"""The ledger: a sweep as a parent run in MLflow, a combination as its child, a threshold as a child of that.

Runs are always written from what the store has recorded, never from memory: a tracking server that was away is given
the same runs later, and what it holds already is not written twice.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Set
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Engine

from experiments import run_contents
from experiments.run_writing import begin_sweep, describe_sweep, log_combination, log_failures, log_files
from store import reads, writes
from store.tables import SweepRow

_ALL = 10_000  # more rows than there are in any answer
_STATUS = {"finished": "FINISHED", "failed": "FAILED", "cancelled": "KILLED"}


class TrackingError(Exception):
    """The tracking server cannot be written to; nothing is lost, `bluffline sync --push` logs it later."""


class Pushed(NamedTuple):
    """What one push wrote."""

    combinations: int
    runs: int


class Ledger:
    """A connection to one experiment of a tracking server, made when the first run is written."""

    def __init__(self, uri: str, experiment: str, artifacts: Path) -> None:
        """Remember where to write.

        Args:
            uri: Tracking URI.
            experiment: Name of the experiment; made when missing.
            artifacts: Where artifacts go when the tracking URI is a local database.
        """
        self.uri = uri
        self._experiment = experiment
        self._artifacts = artifacts
        self._connected: tuple[Any, str] | None = None
        self._parents: dict[int, str] = {}  # runs of sweeps that are known to be there
        self._tidied: set[int] = set()  # sweeps whose leftovers of earlier pushes are dealt with

    def _connect(self) -> tuple[Any, str]:
        if self._connected is None:
            # A server that is away is a normal event here: seconds, not the minutes of MLflow's defaults.
            os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
            os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
            os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
            os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")
            os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
            from mlflow import MlflowClient  # noqa: PLC0415 - a second of imports

            if self.uri.startswith("sqlite:///"):
                _prepare_database(Path(self.uri.removeprefix("sqlite:///")))
            client = MlflowClient(self.uri)
            found = client.get_experiment_by_name(self._experiment)
            if found is not None and found.lifecycle_stage == "deleted":
                client.restore_experiment(found.experiment_id)
            local = not self.uri.startswith(("http:", "https:", "databricks"))
            experiment_id = (
                found.experiment_id
                if found is not None
                else client.create_experiment(
                    self._experiment, artifact_location=self._artifacts.resolve().as_uri() if local else None
                )
            )
            self._connected = client, experiment_id
        return self._connected

    def waiting(self, engine: Engine) -> list[int]:
        """Sweeps, oldest first, that this server does not hold whole; a running one is left to its own process."""
        known = {row.id: row for row in reads.sweeps(engine, limit=_ALL)}
        elsewhere = {
            sweep_id
            for sweep_id, row in known.items()
            if sweep_id is not None and row.mlflow_run_id is not None and row.mlflow_uri != self.uri
        }
        found = elsewhere.union(reads.unlogged_sweeps(engine))
        return sorted(sweep_id for sweep_id in found if known[sweep_id].state != "running")

    def push(self, engine: Engine, sweep_id: int) -> Pushed:
        """Write what the store has recorded of a sweep and the server does not hold yet.

        Raises:
            TrackingError: If the server is away or refuses; what was written stays and is not written again.
        """
        sweep = reads.sweep(engine, sweep_id)
        if sweep is None:
            raise ValueError(f"there is no sweep {sweep_id}")
        try:
            return self._push(engine, sweep, *self._connect())
        except Exception as error:  # network, server, database: MLflow lets each library's own family through
            self._tidied.discard(sweep_id)
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            writes.update_sweep(engine, sweep_id, mlflow_error=reason)
            raise TrackingError(f"MLflow at {self.uri} cannot be written to: {reason}") from error

    def _push(self, engine: Engine, sweep: SweepRow, client: Any, experiment_id: str) -> Pushed:
        sweep_id = sweep.id or 0
        parent = self._parent(engine, sweep, client, experiment_id)
        combinations = reads.combinations(engine, sweep_id)
        waiting = [row for row in combinations if row.state == "recorded" and row.mlflow_run_id is None]
        runs = 0
        if waiting and sweep_id not in self._tidied:
            self._tidied.add(sweep_id)
            held = _tidy(client, experiment_id, sweep, parent, {row.mlflow_run_id for row in combinations})
            for row in (row for row in waiting if row.key in held):
                writes.update_combination(engine, row.id or 0, mlflow_run_id=held[row.key])
            waiting = [row for row in waiting if row.key not in held]
        if waiting:
            numbers = reads.measures(engine, sweep_id)
            files = reads.hits(engine, [row.id or 0 for row in waiting])
            for row in waiting:
                run_id, written = log_combination(
                    client, experiment_id, parent, sweep, row, numbers.get(row.id or 0, {}), files[row.id or 0]
                )
                writes.update_combination(engine, row.id or 0, mlflow_run_id=run_id)
                runs += written
        if sweep.state in _STATUS:
            log_failures(client, parent, combinations)
            client.set_terminated(parent, _STATUS[sweep.state])
        if sweep.mlflow_error:
            writes.update_sweep(engine, sweep_id, mlflow_error=None)
        return Pushed(len(waiting), runs)

    def _parent(self, engine: Engine, sweep: SweepRow, client: Any, experiment_id: str) -> str:
        """The sweep's own run: the one the store names, one that an interrupted push left, or a new one."""
        sweep_id = sweep.id or 0
        if sweep_id not in self._parents:
            runs = _search(client, experiment_id, sweep, "sweep")
            run_id = next((run.info.run_id for run in runs if run.info.run_id == sweep.mlflow_run_id), None)
            if run_id is None or sweep.mlflow_uri != self.uri:
                run_id = runs[0].info.run_id if runs else begin_sweep(client, experiment_id, sweep)
                describe_sweep(client, run_id, sweep)
                log_files(client, run_id, {"sweep.json": run_contents.sweep_file(sweep), **_inputs(engine, sweep)})
                for row in reads.combinations(engine, sweep_id):  # another server than before starts from nothing
                    writes.update_combination(engine, row.id or 0, mlflow_run_id=None)
                writes.update_sweep(engine, sweep_id, mlflow_uri=self.uri, mlflow_run_id=run_id)
            self._parents[sweep_id] = run_id
        return self._parents[sweep_id]


def _prepare_database(file: Path) -> None:
    """Make MLflow's database with a write-ahead log: a run is six commits, and each then costs a third of the syncs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, timeout=20)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def _search(client: Any, experiment_id: str, sweep: SweepRow, kind: str) -> list[Any]:
    """All runs of one kind that the server holds of a sweep."""
    filter_string = f"tags.`bluffline.sweep` = '{sweep.key}' and tags.`bluffline.kind` = '{kind}'"
    return list(client.search_runs([experiment_id], filter_string=filter_string, max_results=_ALL))


def _tidy(client: Any, experiment_id: str, sweep: SweepRow, parent: str, known: Set[str | None]) -> dict[str, str]:
    """Look at combination runs that the store does not know of, left by a push that was interrupted.

    Returns:
        Run ids by combination key of those that are whole; the others are deleted, with their thresholds.
    """
    held: dict[str, str] = {}
    for run in _search(client, experiment_id, sweep, "combination"):
        run_id, key = run.info.run_id, run.info.run_name
        if run_id in known:
            continue
        whole = run.info.status == "FINISHED" and run.data.tags.get("mlflow.parentRunId") == parent
        if whole and key not in held:
            held[key] = run_id
            continue
        children = client.search_runs(
            [experiment_id], filter_string=f"tags.`mlflow.parentRunId` = '{run_id}'", max_results=_ALL
        )
        for leftover in (*children, run):
            client.delete_run(leftover.info.run_id)
    return held


def _inputs(engine: Engine, sweep: SweepRow) -> dict[str, bytes]:
    documents = reads.documents(engine, sweep.corpus_hash)
    texts = reads.texts(engine, [row.text_sha256 for row in documents])
    return run_contents.input_files(documents, texts, reads.queries(engine, sweep.questions_hash))
