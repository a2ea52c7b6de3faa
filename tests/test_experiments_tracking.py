"""The ledger: real MLflow on SQLite and over HTTP, with servers that are away, die in the middle and come back."""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from ledger_world import Server, empty_ledger
from small_project import WordEncoder, make_project
from sqlalchemy import Engine

from experiments import run_writing
from experiments.project import Project, open_project
from experiments.reading import LoadedSweep, load_sweep
from experiments.recording import from_parquet
from experiments.run_contents import combination_metrics
from experiments.runner import SweepResult, run_sweep
from experiments.thresholds import read_thresholds
from experiments.tracking import Ledger, TrackingError
from store import reads, writes
from store.engine import open_store

__all__ = ["empty_ledger"]  # a fixture, which pytest finds by its name
RUNS = 1 + 6 * (1 + 3)  # a sweep, its six combinations, three readings of each


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = WordEncoder()
    monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: encoder)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture
def project(tmp_path: Path, empty_ledger: Path) -> Project:
    (tmp_path / "var").mkdir()
    shutil.copy(empty_ledger, tmp_path / "var" / "mlflow.db")
    return open_project(make_project(tmp_path))


def ledger_of(project: Project) -> Ledger:
    return Ledger(project.tracking_uri, project.experiment, project.var / "mlartifacts")


def all_runs(ledger: Ledger) -> list[Any]:
    client, experiment = ledger._connect()
    return list(client.search_runs([experiment], max_results=5000))


def kinds(runs: list[Any]) -> dict[str, int]:
    found = [run.data.tags["bluffline.kind"] for run in runs]
    return {kind: found.count(kind) for kind in ("sweep", "combination", "threshold")}


def assert_logged_once(ledger: Ledger, loaded: LoadedSweep) -> None:
    """Every combination and threshold of a sweep is there once, whole and nested."""
    runs = [run for run in all_runs(ledger) if run.data.tags["bluffline.sweep"] == loaded.sweep.key]
    assert kinds(runs) == {"sweep": 1, "combination": 6, "threshold": 18}
    by_id = {run.info.run_id: run for run in runs}
    names = [run.info.run_name for run in runs]
    assert len(set(names)) == len(names) == RUNS
    assert {run.info.status for run in runs} == {"FINISHED"}
    for run in runs:
        kind, parent = run.data.tags["bluffline.kind"], run.data.tags.get("mlflow.parentRunId")
        above = {"sweep": None, "combination": "sweep", "threshold": "combination"}[kind]
        assert (by_id[parent].data.tags["bluffline.kind"] if parent else None) == above
    assert {row.mlflow_run_id for row in loaded.recorded} == {
        run.info.run_id for run in runs if run.data.tags["bluffline.kind"] == "combination"
    }


def test_every_combination_with_its_threshold_is_a_run_that_a_search_finds(project: Project, engine: Engine) -> None:
    result = run_sweep(engine, project)
    assert result.tracking_error is None
    loaded = load_sweep(engine, result.sweep_id)
    assert_logged_once(ledger_of(project), loaded)
    client, experiment = ledger_of(project)._connect()
    query = "params.strategy = 'E' and params.retriever = 'dense' and params.threshold = '0.675'"
    (found,) = client.search_runs([experiment], query)
    row = next(row for row in loaded.recorded if row.key.startswith("E/dense"))
    metrics = found.data.metrics
    numbers = combination_metrics(loaded.measures[row.id or 0])
    for name in ("recall_at_1", "recall_at_20_low", "recall_at_20_high", "recall_at_20_n", "mrr", "destroyed"):
        assert metrics[name] == numbers[name]
    (reading,) = read_thresholds(loaded.outcomes[row.id or 0], [0.675])
    for name in ("right", "wrong", "refused", "refused_could_answer", "correctly_refused", "bluffs", "bluffs_near"):
        share = getattr(reading, name)
        assert (metrics[f"{name}_hits"], metrics[f"{name}_n"]) == (share.hits, share.n)
        logged = (metrics[name], metrics[f"{name}_low"], metrics[f"{name}_high"])
        assert logged == (share.estimate, share.low, share.high)
    assert found.data.params["model"] == row.model
    assert found.data.tags["corpus_hash"] == loaded.sweep.corpus_hash
    assert found.data.tags["questions_hash"] == loaded.sweep.questions_hash
    assert {found.data.tags[name] for name in ("commit", "branch")} == {"none"}
    assert found.data.tags["dirty"] == "unknown"


def test_a_combination_carries_its_numbers_datasets_and_outcomes(
    project: Project, engine: Engine, tmp_path: Path
) -> None:
    result = run_sweep(engine, project)
    loaded = load_sweep(engine, result.sweep_id)
    client, _ = ledger_of(project)._connect()
    row = loaded.recorded[0]
    run = client.get_run(row.mlflow_run_id)
    assert run.data.metrics == pytest.approx(combination_metrics(loaded.measures[row.id or 0]), abs=0)
    assert {(one.dataset.name, one.dataset.digest) for one in run.inputs.dataset_inputs} == {
        ("documents", loaded.sweep.corpus_hash[:32]),
        ("questions", loaded.sweep.questions_hash[:32]),
    }
    file = Path(client.download_artifacts(row.mlflow_run_id, "bluffline/outcomes.parquet", str(tmp_path)))
    kept = reads.hits(engine, [row.id or 0])[row.id or 0]
    assert file.read_bytes() == kept
    assert pq.read_table(io.BytesIO(kept)).num_rows == 6
    assert [outcome.query_id for outcome in from_parquet(kept)] == ["n1", "n2", "c1", "b1", "u1", "u2"]
    parent = client.get_run(loaded.sweep.mlflow_run_id)
    names = {file.path for file in client.list_artifacts(parent.info.run_id, "bluffline")}
    assert names == {
        f"bluffline/{name}" for name in ("sweep.json", "documents.parquet", "texts.parquet", "questions.parquet")
    }
    assert parent.data.params["k"] == "[1, 4, 8, 20]"


def test_the_commit_is_a_tag_of_every_run(project: Project, engine: Engine) -> None:
    git = ["git", "-C", str(project.root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
    subprocess.run([*git, "add", "bluffline.toml", "documents"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    run_sweep(engine, project)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    tags = [run.data.tags for run in all_runs(ledger_of(project))]
    assert {(one["commit"], one["branch"], one["dirty"]) for one in tags} == {(commit, "trunk", "true")}


def test_a_failed_combination_is_told_on_the_sweep_and_has_no_run(project: Project, engine: Engine) -> None:
    result = run_sweep(engine, project)
    rows = reads.combinations(engine, result.sweep_id)
    writes.update_combination(engine, rows[0].id or 0, state="failed", reason="broken", mlflow_run_id=None)
    writes.update_sweep(engine, result.sweep_id, mlflow_uri=None, mlflow_run_id=None)
    shutil.copy(project.var / "mlflow.db", project.var / "other.db")
    other = Ledger(f"sqlite:///{project.var / 'other.db'}", "elsewhere", project.var / "a")
    pushed = other.push(engine, result.sweep_id)
    assert pushed == (5, 20)
    client, _ = other._connect()
    sweep = reads.sweep(engine, result.sweep_id)
    assert sweep is not None
    assert "bluffline/failed.json" in {f.path for f in client.list_artifacts(sweep.mlflow_run_id, "bluffline")}


def away(project: Project) -> Project:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    (project.root / "bluffline.toml").write_text(
        (project.root / "bluffline.toml").read_text("utf-8") + f'[tracking]\nuri = "http://127.0.0.1:{port}"\n', "utf-8"
    )
    return open_project(project.root)


def test_a_server_that_is_away_costs_nothing_and_is_given_everything_later(project: Project, engine: Engine) -> None:
    result = run_sweep(engine, away(project))
    assert (result.recorded, result.failed) == (6, 0)
    assert result.tracking_error is not None
    assert "cannot be written to" in result.tracking_error
    row = reads.sweep(engine, result.sweep_id)
    assert row is not None
    assert row.state == "finished"
    assert row.mlflow_error
    back = ledger_of(project)
    assert back.waiting(engine) == [result.sweep_id]
    assert back.push(engine, result.sweep_id) == (6, 24)
    assert back.waiting(engine) == []
    assert back.push(engine, result.sweep_id) == (0, 0)
    assert_logged_once(back, load_sweep(engine, result.sweep_id))


class DeadError(Exception):
    """The server is gone in the middle of a push."""


BREAKS: list[tuple[str, int]] = [
    ("create_run", 1),  # nothing is there
    ("log_batch", 1),  # the sweep's run has no parameters
    ("log_artifacts", 1),  # nor files
    ("create_run", 2),  # before the first combination
    ("log_inputs", 2),  # in the middle of a combination
    ("create_run", 8),  # in the middle of the thresholds of the second
    ("set_terminated", 4),  # all of a combination is there but its end
    ("set_terminated", 9),
]


@pytest.mark.parametrize(("call", "number"), BREAKS)
def test_a_push_that_breaks_anywhere_leaves_no_duplicates_after_the_next(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    sweep_id = run_sweep(engine, away(project)).sweep_id
    broken = ledger_of(project)
    client, _ = broken._connect()
    works, calls = getattr(client, call), 0

    def breaks(*arguments: Any, **values: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            raise DeadError("connection lost")
        return works(*arguments, **values)

    monkeypatch.setattr(client, call, breaks)
    with pytest.raises(TrackingError, match="connection lost"):
        broken.push(engine, sweep_id)
    ledger = ledger_of(project)
    ledger.push(engine, sweep_id)
    assert ledger.waiting(engine) == []
    assert_logged_once(ledger, load_sweep(engine, sweep_id))


@pytest.mark.parametrize("forgotten", ["combination", "sweep"])
def test_a_process_that_dies_before_it_remembers_what_it_logged_logs_nothing_twice(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch, forgotten: str
) -> None:
    sweep_id = run_sweep(engine, away(project)).sweep_id
    name = {"combination": "update_combination", "sweep": "update_sweep"}[forgotten]
    update = getattr(writes, name)

    def dies(*arguments: Any, **values: Any) -> None:
        if values.get("mlflow_run_id"):
            raise KeyboardInterrupt
        update(*arguments, **values)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(writes, name, dies)
        ledger_of(project).push(engine, sweep_id)
    ledger = ledger_of(project)
    ledger.push(engine, sweep_id)
    assert_logged_once(ledger, load_sweep(engine, sweep_id))


def test_a_sweep_whose_runs_were_deleted_by_hand_is_written_again(project: Project, engine: Engine) -> None:
    sweep_id = run_sweep(engine, project).sweep_id
    client, _ = ledger_of(project)._connect()
    for run in all_runs(ledger_of(project)):
        if run.data.tags["bluffline.kind"] == "sweep":
            client.delete_run(run.info.run_id)  # the others hang in the air
    assert ledger_of(project).push(engine, sweep_id) == (6, 24)
    assert_logged_once(ledger_of(project), load_sweep(engine, sweep_id))


def test_a_sweep_on_another_server_waits_for_this_one_and_is_not_logged_twice_on_return(
    project: Project, engine: Engine
) -> None:
    sweep_id = run_sweep(engine, project).sweep_id
    here, there = ledger_of(project), Ledger(f"sqlite:///{project.root}/there.db", "bluffline", project.root / "there")
    assert here.waiting(engine) == []
    assert there.waiting(engine) == [sweep_id]
    assert there.push(engine, sweep_id) == (6, 24)
    assert_logged_once(there, load_sweep(engine, sweep_id))
    assert ledger_of(project).push(engine, sweep_id) == (0, 0)
    assert_logged_once(here, load_sweep(engine, sweep_id))


def test_a_run_that_was_left_open_between_the_last_combination_and_the_end_is_closed_by_the_next_push(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("experiments.recorder.Recorder.end", lambda *_: None)  # as if killed there
        sweep_id = run_sweep(engine, project).sweep_id
    writes.update_sweep(engine, sweep_id, state="finished")
    ledger = ledger_of(project)
    run = next(run for run in all_runs(ledger) if run.data.tags["bluffline.kind"] == "sweep")
    assert run.info.status == "RUNNING"
    assert ledger.waiting(engine) == [sweep_id]
    assert ledger.push(engine, sweep_id) == (0, 0)
    assert_logged_once(ledger, load_sweep(engine, sweep_id))
    assert ledger.waiting(engine) == []


def test_an_interrupted_sweep_is_killed_in_the_ledger_and_runs_again_when_it_is_taken_up(
    project: Project, engine: Engine
) -> None:
    sweep_id = run_sweep(engine, project).sweep_id
    writes.update_sweep(engine, sweep_id, state="interrupted", reason="power cut")
    ledger_of(project).push(engine, sweep_id)
    parent = reads.sweep(engine, sweep_id)
    assert parent is not None
    client, _ = ledger_of(project)._connect()
    assert client.get_run(parent.mlflow_run_id).info.status == "KILLED"
    writes.update_sweep(engine, sweep_id, state="running", reason=None)
    ledger_of(project).push(engine, sweep_id)
    assert client.get_run(parent.mlflow_run_id).info.status == "RUNNING"


def test_two_who_push_one_sweep_at_once_log_it_once(project: Project, engine: Engine) -> None:
    sweep_id = run_sweep(engine, away(project)).sweep_id
    ledgers = [ledger_of(project) for _ in range(3)]
    start = threading.Barrier(len(ledgers))
    errors: list[Exception] = []

    def push(ledger: Ledger) -> None:
        ledger._connect()
        start.wait()
        try:
            ledger.push(engine, sweep_id)
        except TrackingError as error:
            errors.append(error)

    threads = [threading.Thread(target=push, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert_logged_once(ledgers[0], load_sweep(engine, sweep_id))


def test_a_running_sweep_is_left_to_its_own_process(project: Project, engine: Engine) -> None:
    sweep_id = run_sweep(engine, away(project)).sweep_id
    writes.update_sweep(engine, sweep_id, state="running")
    assert ledger_of(project).waiting(engine) == []


def test_a_sweep_of_very_many_depths_fits_into_batches(project: Project, engine: Engine) -> None:
    depths = ", ".join(str(k) for k in range(1, 121))
    make_project(project.root, sweep=f'strategies = ["E"]\nretrievers = ["bm25"]\nthresholds = [0.5]\nk = [{depths}]\n')
    result = run_sweep(engine, open_project(project.root))
    assert result.tracking_error is None
    loaded = load_sweep(engine, result.sweep_id)
    client, _ = ledger_of(project)._connect()
    metrics = client.get_run(loaded.recorded[0].mlflow_run_id).data.metrics
    assert len(metrics) > 1000
    assert metrics == pytest.approx(combination_metrics(loaded.measures[loaded.recorded[0].id or 0]), abs=0)


@pytest.fixture
def server(tmp_path: Path, empty_ledger: Path) -> Iterator[Server]:
    folder = tmp_path / "server"
    folder.mkdir()
    shutil.copy(empty_ledger, folder / "mlflow.db")
    server = Server(folder)
    yield server
    server.kill()


def test_a_server_killed_in_the_middle_is_given_the_rest_when_it_is_back(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(tmp_path, more=f'[tracking]\nuri = "{server.uri}"\n')
    project = open_project(tmp_path)
    engine = open_store(project.store_url)
    server.start()
    log_combination: Callable[..., Any] = run_writing.log_combination
    logged = 0

    def dies_with_the_third(*arguments: Any) -> Any:
        nonlocal logged
        logged += 1
        if logged == 3:
            server.kill()
        return log_combination(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("experiments.tracking.log_combination", dies_with_the_third)
        result: SweepResult = run_sweep(engine, project)
    assert (result.recorded, result.failed) == (6, 0)
    assert result.tracking_error is not None
    assert sum(row.mlflow_run_id is not None for row in reads.combinations(engine, result.sweep_id)) == 2
    server.start()
    ledger = ledger_of(project)
    assert ledger.waiting(engine) == [result.sweep_id]
    assert ledger.push(engine, result.sweep_id) == (4, 16)
    loaded = load_sweep(engine, result.sweep_id)
    assert_logged_once(ledger, loaded)
    client, _ = ledger._connect()
    row = loaded.recorded[-1]
    file = Path(client.download_artifacts(row.mlflow_run_id, "bluffline/outcomes.parquet", str(tmp_path)))
    assert file.read_bytes() == reads.hits(engine, [row.id or 0])[row.id or 0]
    told = capsys.readouterr()
    assert "View run" not in told.out + told.err
    engine.dispose()
