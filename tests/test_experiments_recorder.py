"""Recording: whole or not at all, and one broken combination costs no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import small_project
from sqlalchemy import Engine

from experiments.models import ModelError
from experiments.progress import CancelledError
from experiments.recorder import Recorder
from experiments.sweep import begin, read_inputs
from experiments.tracking import TrackingError
from store import reads
from store.tables import CombinationRow


class World:
    def __init__(self, folder: Path, engine: Engine) -> None:
        self.project = small_project(folder)
        self.engine = engine
        self.said: list[str] = []
        self.sweep_id = begin(engine, self.project, read_inputs(self.project))
        self.recorder = Recorder(engine, self.project, self.sweep_id, (), self.said.append)

    @property
    def first(self) -> CombinationRow:
        return reads.combinations(self.engine, self.sweep_id)[0]


@pytest.fixture
def world(tmp_path: Path, engine: Engine) -> World:
    return World(tmp_path, engine)


def test_a_model_error_is_the_reason_as_it_is(world: World) -> None:
    with world.recorder.attempt(world.first):
        raise ModelError("no such model")
    assert (world.first.state, world.first.reason) == ("failed", "no such model")
    assert world.said == [f"failed: {world.first.key}: no such model"]
    assert not (world.project.var / "logs").exists()


def test_another_error_is_named_in_one_line_and_its_traceback_is_in_the_log(world: World) -> None:
    with world.recorder.attempt(world.first):
        raise ValueError("two\nlines " + "x" * 2000)
    log = world.project.var / "logs" / f"sweep-{world.sweep_id}.log"
    reason = world.first.reason or ""
    assert reason.startswith("ValueError: two lines xxx")
    assert reason.endswith(f"(details in {log})")
    assert len(reason) < 800
    assert "Traceback" in log.read_text("utf-8")
    assert world.recorder.failed == 1


@pytest.mark.parametrize("end", [CancelledError, KeyboardInterrupt])
def test_the_end_of_the_sweep_is_no_failure_of_a_combination(world: World, end: type[BaseException]) -> None:
    with pytest.raises(end), world.recorder.attempt(world.first):
        raise end
    assert (world.first.state, world.recorder.failed) == ("queued", 0)


def test_a_server_that_is_away_is_asked_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def away(*_: object) -> None:
        nonlocal asked
        asked += 1
        raise TrackingError("away")

    monkeypatch.setattr("experiments.tracking.Ledger.push", away)
    for _ in range(3):
        world.recorder.push()
    assert (asked, world.recorder.tracking_error) == (1, "away")
