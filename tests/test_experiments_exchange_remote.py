"""Exchange over HTTP: a real MLflow server that two machines write to at once, and servers that misbehave."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ledger_world import Machine, Server, empty_ledger, machine
from test_experiments_exchange import contents, decide, measured, states

from experiments.tracking_client import TrackingError
from store import reads
from store.decisions import decisions
from store.syncs import latest_sync

__all__ = ["empty_ledger"]  # a fixture, which pytest finds by its name


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, empty_ledger: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(empty_ledger, folder / "mlflow.db")
    server = Server(folder)
    server.start()
    yield server
    server.kill()


def test_two_machines_log_at_once_and_a_third_reads_all_of_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "120")  # a busy machine is no server that is away
    one, two, team = (machine(tmp_path / name, server.uri, tmp_path) for name in ("one", "two", "team"))
    measured(one, "a")
    measured(two, "b", 1)
    decide(two, 1)
    errors: list[Exception] = []
    faults: list[str] = []

    def push(who: Machine) -> None:
        try:
            faults.extend(who.sync(pull=False).faults)
        except TrackingError as error:
            errors.append(error)

    threads = [threading.Thread(target=push, args=(who,)) for who in (one, two, one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {str(error) for error in errors} <= {"another sync of this store is at work; nothing was done by this one"}
    assert faults == []
    done = team.sync()
    assert (done.new, done.decisions, done.faults) == (2, 1, ())
    assert states(team) == {"a": "finished", "b": "finished"}
    assert len(one.runs("sweep")) == 2
    assert len(one.runs("combination")) == 4
    both = contents(team)
    for who in (one, two):
        assert all(row in both["hits"] for row in contents(who)["hits"])
    assert team.sync().files == 0
    for who in (one, two, team):
        who.engine.dispose()


class Misbehaving(BaseHTTPRequestHandler):
    """Answers every request with one status, or late."""

    status, seconds = 500, 0.0

    def answer(self) -> None:
        time.sleep(self.seconds)
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"<html>no</html>")

    do_GET = do_POST = answer  # noqa: N815 - names of the library

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("status", "seconds", "said"),
    [
        (401, 0.0, "the server answered 401: it does not let this user in; set MLFLOW_TRACKING_USERNAME"),
        (500, 0.0, "the server answered 500"),
        (200, 3.0, "the server did not answer in time; [tracking] timeout sets how many seconds"),
        (None, 0.0, "nothing answers there"),
    ],
)
def test_a_server_that_misbehaves_is_told_in_a_line_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, seconds: float, said: str
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    handler = type("Handler", (Misbehaving,), {"status": status or 500, "seconds": seconds})
    fake = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    fake.daemon_threads = True
    thread = threading.Thread(target=fake.serve_forever, daemon=True)
    thread.start()
    uri = f"http://127.0.0.1:{fake.server_port}"
    if status is None:
        fake.shutdown()
        fake.server_close()
    one = machine(tmp_path / "one", uri, tmp_path)
    measured(one, "a")
    decide(one, 1)
    with pytest.raises(TrackingError) as caught:
        one.sync()
    if status is not None:
        fake.shutdown()
        fake.server_close()
    thread.join()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert states(one) == {"a": "finished"}
    assert len(decisions(one.engine)) == 1
    assert len(reads.combinations(one.engine, 1)) == 2
    row = latest_sync(one.engine)
    assert row is not None
    assert row.state == "failed"
    assert said in row.faults[-1]
    assert one.ledger.waiting(one.engine) == [1]
    one.engine.dispose()
