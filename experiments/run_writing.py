"""Writing runs to MLflow: a sweep, a combination, its thresholds; `experiments.tracking` says which are wanted."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments import run_contents
from experiments.ledger_files import COMBINATION_FILE, OUTCOMES_FILE, combination_file, digest
from experiments.own.responses import WITHOUT_NUMBERS
from experiments.recording import from_parquet
from experiments.thresholds import read_thresholds
from store.tables import CombinationRow, MeasureRow, SweepRow

ARTIFACT_FOLDER = "bluffline"
RECORD_TAG = "bluffline.record"  # hash of the file that says everything about a run
_ATTEMPTS = 5
_BATCH = 900  # metrics; MLflow takes at most 1,000 parameters and metrics at once


def begin_sweep(client: Any, experiment_id: str, sweep: SweepRow) -> str:
    """Make the run of a sweep.

    Returns:
        Its run id.
    """
    run = client.create_run(
        experiment_id,
        run_name=f"sweep {sweep.key[:8]}",
        tags=run_contents.tags(sweep, "sweep"),
        start_time=_milliseconds(sweep.created_at),
    )
    return str(run.info.run_id)


def describe_sweep(client: Any, run_id: str, sweep: SweepRow) -> None:
    """Write a sweep's parameters and datasets; written twice, they are the same."""
    _log(client, run_id, run_contents.sweep_params(sweep), {})
    _log_datasets(client, run_id, sweep)


def log_combination(
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
    _log(client, run_id, params, {**metrics, **run_contents.own_metrics(row)})
    _log_datasets(client, run_id, sweep)
    log_files(
        client,
        run_id,
        {OUTCOMES_FILE: parquet, COMBINATION_FILE: combination_file(row, list(numbers.values()), parquet)},
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
    logged = [Metric(name, value, now, 0) for name, value in metrics.items()]
    client.log_batch(run_id, params=[Param(name, value) for name, value in params.items()], metrics=logged[:_BATCH])
    for start in range(_BATCH, len(logged), _BATCH):
        client.log_batch(run_id, metrics=logged[start : start + _BATCH])


def _log_datasets(client: Any, run_id: str, sweep: SweepRow) -> None:
    from mlflow.entities import Dataset, DatasetInput  # noqa: PLC0415 - mlflow is imported late

    def dataset(name: str, digest: str, size: dict[str, int]) -> Any:
        source = json.dumps({"sha256": digest})
        return DatasetInput(Dataset(name, digest[:32], "bluffline", source, profile=json.dumps(size)))

    questions = {"answerable": sweep.answerable, "near": sweep.near, "far": sweep.far}
    datasets = [
        dataset("documents", sweep.corpus_hash, {"documents": sweep.documents}),
        dataset("questions", sweep.questions_hash, questions),
    ]
    for attempt in range(_ATTEMPTS):
        try:
            client.log_inputs(run_id, datasets)
            return
        except Exception as error:  # MLflow lets each library's own family through
            # Two machines that log the same documents for the first time at once: MLflow refuses the second.
            if "unique" not in str(error).lower() or attempt == _ATTEMPTS - 1:
                raise


def log_failures(client: Any, parent: str, combinations: Sequence[CombinationRow]) -> None:
    """Say on the sweep's run which combinations failed, and why."""
    failed = [
        {"combination": row.key, "state": row.state, "reason": row.reason}
        for row in combinations
        if row.state in WITHOUT_NUMBERS
    ]
    if failed:
        log_files(client, parent, {"failed.json": json.dumps(failed, indent=1, ensure_ascii=False).encode()})


def log_files(client: Any, run_id: str, files: dict[str, bytes]) -> None:
    """Write files as artifacts of a run, over those of the same names."""
    with _written(files) as folder:
        client.log_artifacts(run_id, str(folder), ARTIFACT_FOLDER)


def log_record(client: Any, run_id: str, name: str, content: bytes) -> None:
    """Write the file that says everything about a run, then its hash as a tag: who sees the tag finds the file."""
    log_files(client, run_id, {name: content})
    client.set_tag(run_id, RECORD_TAG, digest(content))


@contextmanager
def _written(files: dict[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_bytes(content)
        yield folder


def _milliseconds(moment: datetime) -> int:
    return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)  # SQLite gives UTC without saying so
