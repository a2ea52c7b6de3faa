"""`bluffline serve`: where it listens, what it refuses, and how it ends."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_project import small_project

from experiments.provenance import PIPELINE
from store import files
from store.engine import open_store
from store.tables import FileRow
from webapp import command
from webapp.command import serve

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory without a project: the bundled corpus."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BLUFFLINE_STORE_URL", raising=False)
    return tmp_path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*arguments):
    return CliRunner().invoke(serve, arguments)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.20", "example.org", "::"])
def test_any_address_but_loopback_is_refused_in_one_line(here, host):
    result = run("--host", host)
    assert result.exit_code == 2
    assert len(result.output.splitlines()) == 1
    assert f"will not listen on '{host}'" in result.output
    assert not (here / "var").exists()  # refused before anything was made


def test_a_busy_port_is_one_line(here):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        result = run("--port", str(port))
    assert result.exit_code == 2
    assert result.output == (
        f"Error: cannot listen on 127.0.0.1:{port}: something already listens there, perhaps another dashboard; "
        "choose another port with --port\n"
    )


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_is_none_is_refused(here, port):
    assert run("--port", port).exit_code == 2


def test_it_says_its_address_and_serves_the_projects_store(here, monkeypatch):
    served = []
    monkeypatch.setattr("webapp.app.serve", lambda app, host, port: served.append((app, host, port)))
    port = free_port()
    result = run("--port", str(port))
    assert result.exit_code == 0, result.output
    assert result.output == f"bundled corpus: http://127.0.0.1:{port}/ (stop with Ctrl-C)\n"
    app, host, at = served[0]
    assert (host, at) == ("127.0.0.1", port)
    assert app.test_client().get("/patterns", base_url=f"http://127.0.0.1:{port}").status_code == 200
    assert app.test_client().get("/patterns", base_url="http://example.org").status_code == 400
    assert (here / "var" / "bluffline.db").is_file()


def test_the_projects_host_and_port_are_taken_unless_others_are_given(here, monkeypatch):
    port = free_port()
    (here / "documents").mkdir()
    (here / "questions.jsonl").touch()
    (here / "bluffline.toml").write_text(f'[server]\nhost = "localhost"\nport = {port}\n', "utf-8")
    served = []
    monkeypatch.setattr("webapp.app.serve", lambda _app, host, port: served.append((host, port)))
    assert f"http://localhost:{port}/" in run("--project", str(here)).output
    run("--host", "127.0.0.1", "--port", str(port), "--project", str(here))
    assert served == [("localhost", port), ("127.0.0.1", port)]


def test_it_starts_without_torch_and_mlflow_and_ctrl_c_ends_it_quietly(here):
    port = free_port()
    program = (
        "import atexit, sys\n"
        "from experiments.cli import main\n"
        "heavy = {'torch', 'mlflow', 'sentence_transformers', 'transformers'}\n"
        "atexit.register(lambda: print('HEAVY', sorted(heavy & set(sys.modules))))\n"
        f"main(['serve', '--port', '{port}'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=here, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert answers(port, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=15)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert f"http://127.0.0.1:{port}/" in out
    assert "HEAVY []" in out


def answers(port, process):
    """Whether the server answers within fifteen seconds."""
    end = time.monotonic() + 15
    while time.monotonic() < end and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/patterns")
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    return False


def test_what_an_upgrade_made_stale_is_taken_up_when_the_dashboard_starts(tmp_path, monkeypatch):
    project, started = small_project(tmp_path / "project"), []
    monkeypatch.setattr(command, "start_indexing", lambda *arguments, **more: bool(started.append(more)) or True)
    assert not command._take_up(project)  # nothing was ever indexed
    engine = open_store(project.store_url)
    row = FileRow(
        document_id="a.md", bytes=1, file_sha256="0" * 64, state="indexed", changed_at=files.now(),
        stamp={"name": "old"}, pipeline=PIPELINE, extractor="old/0", extraction={"format": "markdown"},
    )  # fmt: skip
    files.add_files(engine, [row])
    assert command._take_up(project)
    assert started == [{"has_project": True}]
    files.set_state(engine, ["a.md"], "failed")
    assert not command._take_up(project)
    engine.dispose()
