"""Ledgers for tests: MLflow on SQLite without its migrations, a real server, and machines that share one."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from once import made_once
from sqlalchemy import Engine

from experiments.deciding.decision_tags import DecisionLedger
from experiments.exchange.syncing import Synced, sync
from store.engine import open_store


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database without runs: its migrations take longer than a sweep of a small project."""

    def migrate(folder: Path) -> None:
        DecisionLedger(f"sqlite:///{folder / 'mlflow.db'}", "another", folder)._connect()
        with closing(sqlite3.connect(folder / "mlflow.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    return made_once(tmp_path_factory, "ledger", migrate) / "mlflow.db"


class Machine(NamedTuple):
    """A store, and the ledger it shares with others."""

    engine: Engine
    ledger: DecisionLedger
    folder: Path

    def sync(self, **ways: bool) -> Synced:
        return sync(self.engine, self.ledger, **ways)

    @property
    def client(self) -> Any:
        return self.ledger._connect()[0]

    def runs(self, kind: str) -> list[Any]:
        client, experiment = self.ledger._connect()
        return list(client.search_runs([experiment], f"tags.`bluffline.kind` = '{kind}'", max_results=5000))


def machine(folder: Path, uri: str, artifacts: Path) -> Machine:
    """A new store in `folder` that shares the ledger at `uri`."""
    folder.mkdir(parents=True, exist_ok=True)
    return Machine(
        open_store(f"sqlite:///{folder / 'store.db'}"), DecisionLedger(uri, "bluffline", artifacts, 5), folder
    )


class Machines:
    """Makes machines that share one ledger on SQLite."""

    def __init__(self, folder: Path, empty: Path) -> None:
        self.folder = folder
        self.uri = f"sqlite:///{folder / 'mlflow.db'}"
        self.made: list[Machine] = []
        shutil.copy(empty, folder / "mlflow.db")

    def __call__(self, name: str) -> Machine:
        made = machine(self.folder / name, self.uri, self.folder / "artifacts")
        self.made.append(made)
        return made


@pytest.fixture
def machines(tmp_path: Path, empty_ledger: Path) -> Iterator[Machines]:
    made = Machines(tmp_path, empty_ledger)
    yield made
    for one in made.made:
        one.engine.dispose()


class Server:
    """A real `mlflow server` on loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port),
             "--workers", "1", "--backend-store-uri", f"sqlite:///{self._folder / 'mlflow.db'}",
             "--artifacts-destination", str(self._folder / "artifacts")],
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        end = time.monotonic() + 180
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        pytest.fail("mlflow server did not start")

    def kill(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, 9)
            self._process.wait()
            self._process = None
