"""Locks of a store: one holder at a time, over threads and processes, and none is left behind by a dead one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine

from store.engine import open_store
from store.locks import LockedError, locked

ROOT = Path(__file__).parent.parent
HOLDS = """
import sys
from store.engine import open_store
from store.locks import locked
with locked(open_store(sys.argv[1]), "sync"):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(engine: Engine) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", HOLDS, engine.url.render_as_string(hide_password=False)],
                             cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_lock_that_another_process_holds_is_refused_and_free_when_that_process_is_killed(engine: Engine) -> None:
    child = holder(engine)
    with pytest.raises(LockedError), locked(engine, "sync"):
        pass
    with locked(engine, "another"):
        pass
    child.kill()
    child.communicate()
    with locked(engine, "sync", seconds=5):
        pass


def test_a_lock_is_free_again_after_an_error(engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError), locked(engine, "sync"):
        raise ZeroDivisionError
    with locked(engine, "sync"), pytest.raises(LockedError), locked(engine, "sync"):
        pass


def test_a_store_in_memory_needs_none() -> None:
    engine = open_store("sqlite://")
    with locked(engine, "sync"):
        pass
    engine.dispose()
