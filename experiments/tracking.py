"""The ledger: a sweep as a parent run in MLflow, a combination as its child, a threshold as a child of that.

Runs are always written from what the store has recorded, never from memory: a tracking server that was away is given
the same runs later, and what it holds already is not written twice.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple, Self

from sqlalchemy import Engine

from experiments import ledger_files
from experiments.ledger_files import SWEEP_FILE
from experiments.project import Project
from experiments.run_writing import begin_sweep, describe_sweep, log_combination, log_failures, log_files, log_record
from experiments.tracking_client import TIMEOUT, TrackingError, client_of, is_remote, reason_of
from store import reads, writes
from store.addresses import without_password
from store.locks import LockedError, locked
from store.reads_exchange import combination_lines, every_sweep
from store.tables import CombinationRow, SweepRow

__all__ = ["Ledger", "Pushed", "TrackingError"]

_ALL = 10_000  # more rows than there are in any answer
_STATUS = {"finished": "FINISHED", "failed": "FAILED", "cancelled": "KILLED", "interrupted": "KILLED"}
_PATIENCE = 60.0  # seconds to wait for another process that logs the same sweep


class Pushed(NamedTuple):
    """What one push wrote."""

    combinations: int
    runs: int


class Ledger:
    """A connection to one experiment of a tracking server, made when the first run is written."""

    def __init__(self, uri: str, experiment: str, artifacts: Path, timeout: float = TIMEOUT) -> None:
        """Remember where to write.

        Args:
            uri: Tracking URI.
            experiment: Name of the experiment; made when missing.
            artifacts: Where artifacts go when the tracking URI is a local database.
            timeout: Seconds for one request.
        """
        self.uri = without_password(uri)  # shown, recorded and compared; only connecting takes the other
        self._address = uri
        self.experiment = experiment
        self._artifacts = artifacts
        self._timeout = timeout
        self._connected: tuple[Any, str] | None = None
        self._parents: dict[int, str] = {}  # runs of sweeps that are known to be there
        self._tidied: set[int] = set()  # sweeps whose leftovers of earlier pushes are dealt with

    @classmethod
    def of(cls, project: Project) -> Self:
        """The ledger of a project."""
        return cls(project.tracking_uri, project.experiment, project.var / "mlartifacts", project.tracking_timeout)

    def find(self) -> tuple[Any, str] | None:
        """The client and the experiment to read from; None where there is no such experiment, or it was deleted.

        Raises:
            TrackingError: If the server is away or refuses.
        """
        try:
            client = client_of(self._address, self._timeout)
            found = client.get_experiment_by_name(self.experiment)
        except Exception as error:  # network, server, database: MLflow lets each library's own family through
            raise TrackingError(f"MLflow at {self.uri} cannot be read: {reason_of(error)}") from error
        return None if found is None or found.lifecycle_stage == "deleted" else (client, found.experiment_id)

    def _connect(self) -> tuple[Any, str]:
        if self._connected is None:
            client = client_of(self._address, self._timeout)
            found = client.get_experiment_by_name(self.experiment)
            if found is not None and found.lifecycle_stage == "deleted":
                client.restore_experiment(found.experiment_id)
            experiment_id = found.experiment_id if found is not None else self._create(client)
            self._connected = client, experiment_id
        return self._connected

    def _create(self, client: Any) -> str:
        """Make the experiment, unless another machine was faster."""
        location = None if is_remote(self.uri) else self._artifacts.resolve().as_uri()
        try:
            return str(client.create_experiment(self.experiment, artifact_location=location))
        except Exception:  # MLflow lets each library's own family through
            found = client.get_experiment_by_name(self.experiment)
            if found is None:
                raise
            return str(found.experiment_id)

    def waiting(self, engine: Engine) -> list[int]:
        """Sweeps made here, oldest first, of which this server does not hold all that the store does.

        A running one is left to its own process, one that was pulled to whoever made it.
        """
        lines = combination_lines(engine)
        return [
            row.id or 0
            for row in every_sweep(engine)
            if row.pulled_from is None
            and row.state != "running"
            and (row.mlflow_uri != self.uri or row.mlflow_record != _digest(row, lines.get(row.id or 0, ())))
        ]

    def push(self, engine: Engine, sweep_id: int) -> Pushed:
        """Write what the store has recorded of a sweep and the server does not hold yet.

        Raises:
            TrackingError: If the server is away or refuses; what was written stays and is not written again.
        """
        sweep = reads.sweep(engine, sweep_id)
        if sweep is None:
            raise ValueError(f"there is no sweep {sweep_id}")
        try:
            with locked(engine, f"push-{sweep.key}", seconds=_PATIENCE):  # two who push one sweep would log it twice
                return self._push(engine, sweep_id, *self._connect())
        except LockedError as error:
            raise TrackingError(f"another process is logging sweep {sweep_id} to {self.uri}") from error
        except Exception as error:  # network, server, database: MLflow lets each library's own family through
            self._tidied.discard(sweep_id)
            reason = reason_of(error)
            writes.update_sweep(engine, sweep_id, mlflow_error=reason)
            raise TrackingError(f"MLflow at {self.uri} cannot be written to: {reason}") from error

    def _push(self, engine: Engine, sweep_id: int, client: Any, experiment_id: str) -> Pushed:
        parent = self._parent(engine, sweep_id, client, experiment_id)
        sweep = _sweep(engine, sweep_id)
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
        self._close(engine, sweep, parent, client)
        return Pushed(len(waiting), runs)

    def _close(self, engine: Engine, sweep: SweepRow, parent: str, client: Any) -> None:
        """Write down how the sweep stands, last: whoever reads it finds all that it names."""
        sweep_id = sweep.id or 0
        record = ledger_files.sweep_file(sweep, combination_lines(engine, [sweep_id]).get(sweep_id, ()))
        if ledger_files.digest(record) != sweep.mlflow_record:
            log_failures(client, parent, reads.combinations(engine, sweep_id))
            log_record(client, parent, SWEEP_FILE, record)
            if sweep.state in _STATUS:
                client.set_terminated(parent, _STATUS[sweep.state])
            writes.update_sweep(engine, sweep_id, mlflow_record=ledger_files.digest(record))
        if sweep.mlflow_error:
            writes.update_sweep(engine, sweep_id, mlflow_error=None)

    def _parent(self, engine: Engine, sweep_id: int, client: Any, experiment_id: str) -> str:
        """The sweep's own run: the one the store names, one that an interrupted push left, or a new one."""
        if sweep_id not in self._parents:
            sweep = _sweep(engine, sweep_id)
            runs = _search(client, experiment_id, sweep, "sweep")
            run = next((run for run in runs if run.info.run_id == sweep.mlflow_run_id), None)
            if run is not None and sweep.mlflow_uri == self.uri:
                run_id = run.info.run_id
                if sweep.state == "running" and run.info.status != "RUNNING":  # taken up again
                    client.update_run(run_id, "RUNNING")
            else:
                run_id = runs[0].info.run_id if runs else begin_sweep(client, experiment_id, sweep)
                describe_sweep(client, run_id, sweep)
                log_files(client, run_id, _inputs(engine, sweep))
                for row in reads.combinations(engine, sweep_id):  # another server than before starts from nothing
                    writes.update_combination(engine, row.id or 0, mlflow_run_id=None)
                writes.update_sweep(engine, sweep_id, mlflow_uri=self.uri, mlflow_run_id=run_id, mlflow_record=None)
            self._parents[sweep_id] = run_id
        return self._parents[sweep_id]


def _sweep(engine: Engine, sweep_id: int) -> SweepRow:
    sweep = reads.sweep(engine, sweep_id)
    if sweep is None:
        raise ValueError(f"there is no sweep {sweep_id}")
    return sweep


def _digest(sweep: SweepRow, lines: Sequence[CombinationRow]) -> str:
    return ledger_files.digest(ledger_files.sweep_file(sweep, lines))


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
    return ledger_files.input_files(documents, texts, reads.queries(engine, sweep.questions_hash))
