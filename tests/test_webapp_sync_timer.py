"""The exchange on a timer: started now, and then every so often until the process ends."""

from __future__ import annotations

import threading
from pathlib import Path

from experiments import launching
from webapp import background
from webapp.sync_timer import keep_syncing


def test_it_starts_at_once_and_again_after_the_minutes_until_the_end(tmp_path: Path, monkeypatch) -> None:
    started, waited, over = [], [], threading.Event()

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        if len(waited) == 3:
            over.set()
        return len(waited) == 3

    monkeypatch.setattr(background, "wait", wait)
    monkeypatch.setattr(launching, "start_sync", lambda root, *, has_project: started.append((root, has_project)))
    keep_syncing(tmp_path, has_project=True, minutes=1.5)
    assert over.wait(10)
    assert waited == [90.0] * 3
    assert started == [(tmp_path, True)] * 3


def test_one_that_is_at_work_is_left_to_it(tmp_path: Path, monkeypatch) -> None:
    import sys

    monkeypatch.setattr(launching, "_command", lambda *_, **__: [sys.executable, "-c", "input()"])
    held = []
    spawn = launching.subprocess.Popen

    def popen(arguments, **more):
        more["stdin"] = launching.subprocess.PIPE
        held.append(spawn(arguments, **more))
        return held[-1]

    monkeypatch.setattr(launching.subprocess, "Popen", popen)
    assert launching.start_sync(tmp_path, has_project=False)
    assert not launching.start_sync(tmp_path, has_project=False)
    held[0].stdin.close()
    held[0].wait(timeout=60)
    assert len(held) == 1
