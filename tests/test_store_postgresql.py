"""The store on a real PostgreSQL: migrations, decisions that cannot be changed, an exchange, locks and a page."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_world import Machine, Machines, empty_ledger, machines
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError
from test_experiments_exchange import contents, decide, measured

from experiments.deciding.decision_tags import DecisionLedger
from store import reads
from store.decisions import decisions
from store.engine import open_store
from store.locks import LockedError, locked
from webapp.app import create_app

pytest.importorskip("psycopg", reason="no PostgreSQL driver is installed (pip install bluffline[postgresql])")
__all__ = ["empty_ledger", "machines"]  # fixtures, which pytest finds by their names
NOBODY = 65534


def _programs() -> Path | None:
    """Where PostgreSQL's programs are; Debian keeps them off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server of this test's own on a free port, as a user that may run it: root may not."""
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed: initdb is neither on the path nor in /usr/lib/postgresql")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="bluffline-postgresql-"))
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if as_nobody:
        os.chown(folder, NOBODY, NOBODY)
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)}
    data = folder / "data"

    def run(*command: str) -> None:
        done = subprocess.run([str(programs / command[0]), *command[1:]], cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              **as_nobody)  # fmt: skip
        assert done.returncode == 0, done.stdout

    run("initdb", "-D", str(data), "-U", "bluffline", "-A", "trust", "-E", "UTF8", "--no-sync")
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    run("pg_ctl", "-D", str(data), "-w", "-t", "120", "-l", str(folder / "log"), "-o", settings, "start")
    yield f"postgresql+psycopg://bluffline@127.0.0.1:{port}"
    run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    """An empty database."""
    name = f"d{abs(hash(request.node.name))}"
    admin = open_admin(f"{server}/postgres")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return f"{server}/{name}"


def open_admin(url: str) -> Engine:
    from sqlalchemy import create_engine

    return create_engine(url, isolation_level="AUTOCOMMIT")


def test_two_who_open_an_empty_database_at_once_both_get_a_store(url: str) -> None:
    engines: list[Engine] = []
    threads = [threading.Thread(target=lambda: engines.append(open_store(url))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(engines) == 3
    assert reads.sweeps(engines[0]) == []
    for engine in engines:
        engine.dispose()


def test_a_lock_is_held_by_one_and_free_afterwards(url: str) -> None:
    one, other = open_store(url), open_store(url)
    with locked(one, "sync"):
        with pytest.raises(LockedError), locked(other, "sync"):
            pass
        with pytest.raises(LockedError), locked(other, "sync", seconds=0.2):
            pass
        with locked(other, "another"):
            pass
    with locked(other, "sync"):
        pass
    one.dispose()
    other.dispose()


def test_what_others_logged_is_read_decided_on_and_shown(url: str, machines: Machines, tmp_path: Path) -> None:
    ci, team = machines("ci"), Machine(open_store(url), DecisionLedger(machines.uri, "bluffline", tmp_path), tmp_path)
    measured(ci, "a")
    measured(ci, "b", 1)
    decide(ci, 2)
    ci.sync()
    done = team.sync()
    assert (done.new, done.decisions, done.faults) == (2, 1, ())
    assert contents(team) == contents(ci)
    assert [row.id for row in reads.sweeps(team.engine)] == [2, 1]
    assert measured(team, "c", 2) == 3  # the counter goes on behind the numbers that were given
    (made,) = decisions(team.engine)
    assert (made.sweep_id, made.threshold) == (2, 0.6)
    for statement in ("UPDATE decision SET who = 'x'", "DELETE FROM decision", "TRUNCATE decision"):
        with pytest.raises(DatabaseError, match="never changed or deleted"), team.engine.begin() as connection:
            connection.execute(text(statement))
    decide(team, 2, 0.5)
    assert len(decisions(team.engine)) == 2
    client = create_app(team.engine, root=tmp_path, allowed_hosts={"localhost"}).test_client()
    page = client.get("/").get_data(as_text=True)
    assert "Threshold 0.5 for" in page
    assert client.get("/decisions").status_code == 200
    team.engine.dispose()
