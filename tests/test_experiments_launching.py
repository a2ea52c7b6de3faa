"""Starting a sweep from outside: once, in a process of its own, and what is known until it begins."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import psutil
import pytest
from worlds import filled, sweep_row

from experiments import launching
from experiments.launching import (
    AlreadyRunningError,
    launched,
    request_cancel,
    start_indexing,
    start_sweep,
    tag_decision,
)
from store import files, reads, writes


@pytest.fixture
def command(monkeypatch):
    """What is run instead of a sweep; the arguments it was given are kept."""
    kept = {}
    real = subprocess.Popen

    def instead(arguments, **options):
        kept["arguments"], kept["folder"] = arguments, options["cwd"]
        return real([sys.executable, "-c", kept["program"]], **options)

    monkeypatch.setattr(launching.subprocess, "Popen", instead)
    kept["program"] = "pass"
    return kept


def ended(root):
    """The note of a start, once its process has ended."""
    for _ in range(200):
        found = launched(root)
        if found is not None and not found.lives:
            return found
        time.sleep(0.02)
    raise AssertionError("the process did not end")


def test_a_sweep_is_started_in_the_projects_folder(engine, tmp_path, command):
    start_sweep(engine, tmp_path, has_project=True, fresh=True)
    assert command["arguments"][1:] == ["-m", "experiments.cli", "run", "--project", str(tmp_path), "--fresh"]
    assert command["folder"] == tmp_path
    ended(tmp_path)


def test_the_bundled_corpus_needs_no_project(engine, tmp_path, command):
    start_sweep(engine, tmp_path, has_project=False)
    assert "--project" not in command["arguments"]
    ended(tmp_path)


def test_a_process_that_waits_is_known_to_live_and_keeps_a_second_from_starting(engine, tmp_path, command):
    command["program"] = "import time; time.sleep(30)"
    pid = start_sweep(engine, tmp_path, has_project=False)
    try:
        found = launched(tmp_path)
        assert (found.pid, found.lives, found.words) == (pid, True, ())
        assert abs(found.since - datetime.now(UTC)) < timedelta(seconds=30)
        with pytest.raises(AlreadyRunningError, match="a sweep was started a moment ago"):
            start_sweep(engine, tmp_path, has_project=False)
    finally:
        psutil.Process(pid).kill()
    assert not ended(tmp_path).lives


def test_what_a_process_said_before_it_ended_is_told_without_its_progress_bars(engine, tmp_path, command):
    command["program"] = r"print('a\rb\r100%'); print(); print('\x1b[31mError: no documents\x1b[0m')"
    start_sweep(engine, tmp_path, has_project=False)
    assert ended(tmp_path).words == ("100%", "Error: no documents")


def test_a_start_writes_the_log_anew(engine, tmp_path, command):
    for words in ("first", "second"):
        command["program"] = f"print('{words}')"
        start_sweep(engine, tmp_path, has_project=False)
        assert ended(tmp_path).words == (words,)


def test_a_running_sweep_keeps_another_from_starting(engine, tmp_path, command):
    sweep_id = writes.add_sweep(engine, sweep_row(state="running", host="elsewhere", pid=1), [])
    with pytest.raises(AlreadyRunningError, match=f"sweep {sweep_id} is running") as caught:
        start_sweep(engine, tmp_path, has_project=False)
    assert caught.value.sweep_id == sweep_id
    assert "arguments" not in command


def test_a_sweep_whose_process_is_gone_does_not_keep_another_from_starting(engine, tmp_path, command):
    sweep_id = filled(engine, state="running", host=launching_host(), pid=2**22 - 3)
    start_sweep(engine, tmp_path, has_project=False)
    assert reads.sweep(engine, sweep_id).state == "interrupted"
    ended(tmp_path)


def launching_host():
    import socket

    return socket.gethostname()


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": "x", "since": 1}', '{"pid": 1}'])
def test_a_note_that_cannot_be_read_is_no_start(tmp_path, note):
    logs = tmp_path / "var" / "logs"
    logs.mkdir(parents=True)
    (logs / "started-from-browser.json").write_text(note)
    assert launched(tmp_path) is None


def test_a_process_that_took_over_the_number_is_not_the_one_that_was_started(tmp_path):
    logs = tmp_path / "var" / "logs"
    logs.mkdir(parents=True)
    other = psutil.Process().pid
    note = {"pid": other, "since": (datetime.now(UTC) - timedelta(days=400)).isoformat()}
    (logs / "started-from-browser.json").write_text(json.dumps(note))
    assert not launched(tmp_path).lives


def test_nothing_was_started_where_there_is_no_note(tmp_path):
    assert launched(tmp_path) is None


def test_a_cancel_is_a_wish_the_sweep_reads_with_its_next_sign_of_life(engine):
    sweep_id = writes.add_sweep(engine, sweep_row(state="running"), [])
    request_cancel(engine, sweep_id)
    assert writes.beat(engine, sweep_id, stage="s", done=1, total=2, eta_seconds=None)


def test_a_decision_is_logged_by_a_process_of_its_own(tmp_path, command):
    tag_decision(tmp_path, has_project=True)
    assert command["arguments"][1:] == [
        "-m", "experiments.cli", "decide", "--project", str(tmp_path), "--show", "--tag",
    ]  # fmt: skip
    assert command["folder"] == tmp_path


def test_an_indexing_is_started_once_and_again_when_the_last_one_may_have_looked_already(engine, tmp_path, command):
    command["program"] = "import time; time.sleep(30)"
    assert start_indexing(engine, tmp_path, has_project=True)
    assert command["arguments"][1:] == [
        *("-m", "experiments.cli", "documents", "--project", str(tmp_path), "index", "--wait")
    ]  # fmt: skip
    first = launched(tmp_path, launching.INDEXING)
    try:
        assert not start_indexing(engine, tmp_path, has_project=True)  # it has not looked yet
        files.begin_indexing(engine, pid=first.pid, host="here", total=0)
        assert start_indexing(engine, tmp_path, has_project=True)  # it may have looked: another waits for its end
        second = launched(tmp_path, launching.INDEXING)
        assert second.pid != first.pid
        assert not start_indexing(engine, tmp_path, has_project=True)
    finally:
        for one in (first, second):
            psutil.Process(one.pid).kill()
