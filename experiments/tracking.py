"""The ledger: a sweep as a parent run in MLflow, a combination as its child, a threshold as a child of that.

Runs are always written from what the store has recorded, never from memory: a tracking server that was away is given
the same runs later, and what it holds already is not written twice.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Engine

from experiments import run_contents
from experiments.recording import from_parquet
from experiments.thresholds import read_thresholds
from store import reads, writes
from store.tables import CombinationRow, MeasureRow, SweepRow

_ARTIFACT_FOLDER = "bluffline"
OUTCOMES_FILE = "outcomes.parquet"


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

    def _connect(self) -> tuple[Any, str]:
        if self._connected is None:
            # A server that is away is a normal event here: seconds, not the minutes of MLflow's defaults.
            os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
            os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
            os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
            os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")
            from mlflow import MlflowClient  # noqa: PLC0415 - a second of imports

            if self.uri.startswith("sqlite:///"):
                Path(self.uri.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
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
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            writes.update_sweep(engine, sweep_id, mlflow_error=reason)
            raise TrackingError(f"MLflow at {self.uri} cannot be written to: {reason}") from error

    def _push(self, engine: Engine, sweep: SweepRow, client: Any, experiment_id: str) -> Pushed:
        sweep_id = sweep.id or 0
        parent = self._parent(engine, sweep, client, experiment_id)
        combinations = reads.combinations(engine, sweep_id)
        waiting = [row for row in combinations if row.state == "recorded" and row.mlflow_run_id is None]
        runs = 0
        if waiting:
            self._drop_leftovers(client, experiment_id, sweep, [row.mlflow_run_id for row in combinations])
            numbers = reads.measures(engine, sweep_id)
            files = reads.hits(engine, [row.id or 0 for row in waiting])
            for row in waiting:
                run_id, written = _log_combination(
                    client, experiment_id, parent, sweep, row, numbers.get(row.id or 0, {}), files[row.id or 0]
                )
                writes.update_combination(engine, row.id or 0, mlflow_run_id=run_id)
                runs += written
        if sweep.state in _STATUS:
            _log_failures(client, parent, combinations)
            client.set_terminated(parent, _STATUS[sweep.state])
        if sweep.mlflow_error:
            writes.update_sweep(engine, sweep_id, mlflow_error=None)
        return Pushed(len(waiting), runs)

    def _parent(self, engine: Engine, sweep: SweepRow, client: Any, experiment_id: str) -> str:
        if sweep.mlflow_run_id is not None and sweep.mlflow_uri == self.uri:
            return sweep.mlflow_run_id
        run = client.create_run(
            experiment_id,
            run_name=f"sweep {sweep.key[:8]}",
            tags=run_contents.tags(sweep, "sweep"),
            start_time=_milliseconds(sweep.created_at),
        )
        run_id: str = run.info.run_id
        _log(client, run_id, run_contents.sweep_params(sweep), {})
        _log_datasets(client, run_id, sweep)
        _log_files(client, run_id, {"sweep.json": run_contents.sweep_file(sweep), **_inputs(engine, sweep)})
        for row in reads.combinations(engine, sweep.id or 0):  # another server than before starts from nothing
            writes.update_combination(engine, row.id or 0, mlflow_run_id=None)
        writes.update_sweep(engine, sweep.id or 0, mlflow_uri=self.uri, mlflow_run_id=run_id)
        return run_id

    def _drop_leftovers(self, client: Any, experiment_id: str, sweep: SweepRow, finished: Sequence[str | None]) -> None:
        """Delete combination runs that an interrupted push left half-written."""
        found = client.search_runs(
            [experiment_id],
            filter_string=f"tags.`bluffline.sweep` = '{sweep.key}' and tags.`bluffline.kind` = 'combination' "
            "and attributes.status = 'RUNNING'",
        )
        for run in found:
            if run.info.run_id not in finished:
                children = client.search_runs(
                    [experiment_id], filter_string=f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
                )
                for leftover in (*children, run):
                    client.delete_run(leftover.info.run_id)


_STATUS = {"finished": "FINISHED", "failed": "FAILED", "cancelled": "KILLED"}


def _log_combination(
    client: Any,
    experiment_id: str,
    parent: str,
    sweep: SweepRow,
    row: CombinationRow,
    numbers: dict[str, MeasureRow],
    parquet: bytes,
) -> tuple[str, int]:
    """Write one combination and its thresholds.

    Returns:
        The combination's run id and how many runs were written.
    """
    begun = _milliseconds(row.recorded_at or sweep.created_at)
    params = run_contents.combination_params(row)
    run = client.create_run(
        experiment_id, run_name=row.key, tags=run_contents.tags(sweep, "combination", parent), start_time=begun
    )
    run_id: str = run.info.run_id
    metrics = run_contents.combination_metrics(numbers)
    _log(client, run_id, params, metrics)
    _log_datasets(client, run_id, sweep)
    _log_files(
        client,
        run_id,
        {OUTCOMES_FILE: parquet, "combination.json": run_contents.combination_file(row, list(numbers.values()))},
    )
    rows = read_thresholds(from_parquet(parquet), [None, *sweep.settings["thresholds"]])
    for threshold in rows:
        child = client.create_run(
            experiment_id,
            run_name=f"{row.key} @ {threshold.label}",
            tags=run_contents.tags(sweep, "threshold", run_id),
            start_time=begun,
        )
        _log(
            client,
            child.info.run_id,
            {**params, "threshold": threshold.label},
            run_contents.threshold_metrics(threshold, metrics),
        )
        client.set_terminated(child.info.run_id)
    client.set_terminated(run_id)
    return run_id, 1 + len(rows)


def _log(client: Any, run_id: str, params: dict[str, str], metrics: dict[str, float]) -> None:
    from mlflow.entities import Metric, Param  # noqa: PLC0415 - mlflow is imported late

    now = int(time.time() * 1000)
    client.log_batch(
        run_id,
        params=[Param(name, value) for name, value in params.items()],
        metrics=[Metric(name, value, now, 0) for name, value in metrics.items()],
    )


def _log_datasets(client: Any, run_id: str, sweep: SweepRow) -> None:
    from mlflow.entities import Dataset, DatasetInput  # noqa: PLC0415 - mlflow is imported late

    def dataset(name: str, digest: str, size: dict[str, int]) -> Any:
        source = json.dumps({"sha256": digest})
        return DatasetInput(Dataset(name, digest[:32], "bluffline", source, profile=json.dumps(size)))

    questions = {"answerable": sweep.answerable, "near": sweep.near, "far": sweep.far}
    client.log_inputs(
        run_id,
        [
            dataset("documents", sweep.corpus_hash, {"documents": sweep.documents}),
            dataset("questions", sweep.questions_hash, questions),
        ],
    )


def _log_failures(client: Any, parent: str, combinations: Sequence[CombinationRow]) -> None:
    failed = [{"combination": row.key, "reason": row.reason} for row in combinations if row.state == "failed"]
    if failed:
        _log_files(client, parent, {"failed.json": json.dumps(failed, indent=1, ensure_ascii=False).encode()})


def _log_files(client: Any, run_id: str, files: dict[str, bytes]) -> None:
    with _written(files) as folder:
        client.log_artifacts(run_id, str(folder), _ARTIFACT_FOLDER)


@contextmanager
def _written(files: dict[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_bytes(content)
        yield folder


def _inputs(engine: Engine, sweep: SweepRow) -> dict[str, bytes]:
    documents = reads.documents(engine, sweep.corpus_hash)
    texts = reads.texts(engine, [row.text_sha256 for row in documents])
    return run_contents.input_files(documents, texts, reads.queries(engine, sweep.questions_hash))


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
