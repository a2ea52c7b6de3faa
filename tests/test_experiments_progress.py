"""Progress: a bar on a terminal, a line now and then elsewhere, and what is left of stage and sweep."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine

from experiments.progress import CancelledError, Pace, Progress
from store import reads, writes
from store.tables import SweepRow


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def sweep_id(engine: Engine) -> int:
    sizes = dict.fromkeys(("documents", "needles", "answerable", "near", "far"), 1)
    row = SweepRow(
        key="k", fingerprint="f", state="running", created_at=datetime.now(UTC), corpus_hash="c", questions_hash="q",
        hit_rule="h", pipeline="1", **sizes,
    )  # fmt: skip
    return writes.add_sweep(engine, row, [])


def test_the_time_left_is_that_of_the_pace_so_far() -> None:
    pace = Pace(100)
    assert pace.seconds_left is None
    pace.advance(25, 10.0)
    assert pace.seconds_left == 30.0
    pace.advance(105, 1.0)
    assert pace.seconds_left == 0.0


def test_pairs_have_a_pace_of_their_own_and_the_time_left_is_the_sum(engine: Engine, sweep_id: int) -> None:
    clock = Clock()
    totals = {"texts": 100, "pairs": 60, "token texts": 0}
    with Progress(engine, sweep_id, totals, clock=clock, stream=io.StringIO()) as progress:
        progress.stage("strategy A", 50)
        clock.now += 5
        progress.advance(50)
        assert progress.eta_seconds is None  # nobody knows yet how long a pair takes
        assert progress.line.endswith("sweep: 50/100 texts, 0/60 pairs, more than 5 s left")
        clock.now += 1000  # what is done between two stages is no text's and no pair's
        progress.stage("A/rerank/m/x", 20, "pairs", planned=30)
        clock.now += 40
        progress.advance(10)
        assert progress.line == ("A/rerank/m/x: 10/20, 40 s left; sweep: 50/100 texts, 10/50 pairs, 2 min 45 s left")


def test_the_pace_of_an_earlier_sweep_is_believed_until_there_is_one_of_this(engine: Engine, sweep_id: int) -> None:
    clock = Clock()
    totals, earlier = {"texts": 100, "pairs": 60}, {"pairs": 2.0}
    with Progress(engine, sweep_id, totals, earlier, clock=clock, stream=io.StringIO()) as progress:
        assert progress.eta_seconds is None  # of texts nothing is known
        progress.stage("strategy A", 100)
        clock.now += 5
        progress.advance(50)
        assert progress.eta_seconds == 5 + 60 * 2.0
        progress.stage("A/rerank/m/x", 30, "pairs")
        assert progress.line == "A/rerank/m/x: 0/30, 1 min 0 s left; sweep: 50/100 texts, 0/60 pairs, 2 min 5 s left"
        clock.now += 3
        progress.advance(1)
        assert progress.eta_seconds == 5 + 59 * 3.0


def test_a_stage_without_anything_to_do_counts_nothing_and_a_known_pace_holds_for_the_next_stage(
    engine: Engine, sweep_id: int
) -> None:
    clock = Clock()
    with Progress(engine, sweep_id, {"texts": 100}, clock=clock, stream=io.StringIO()) as progress:
        progress.stage("questions", 0)
        assert progress.line == "questions; sweep: 0/100 texts, ? left"
        progress.stage("strategy A", 40)
        clock.now += 10
        progress.advance(40)
        progress.stage("strategy B", 60)
        assert progress.line == "strategy B: 0/60, 15 s left; sweep: 40/100 texts, 15 s left"


def test_a_line_says_what_is_left_of_the_stage_and_of_the_sweep(engine: Engine, sweep_id: int) -> None:
    clock, out = Clock(), io.StringIO()
    with Progress(engine, sweep_id, {"texts": 1200}, clock=clock, stream=out) as progress:
        progress.stage("strategy A", 200)
        assert progress.line == "strategy A: 0/200, ? left; sweep: 0/1,200 texts, ? left"
        clock.now += 10
        progress.advance(100)
        clock.now += 10
        progress.advance(100)
        progress.stage("strategy B", 1000)
        clock.now += 40
        progress.advance(400)
        assert progress.line == "strategy B: 400/1,000, 1 min 0 s left; sweep: 600/1,200 texts, 1 min 0 s left"
    lines = out.getvalue().splitlines()
    assert lines[0] == "strategy A: 100/200, 10 s left; sweep: 100/1,200 texts, 1 min 50 s left"
    assert len(lines) == 3


def test_without_a_terminal_there_is_a_line_every_ten_seconds(engine: Engine, sweep_id: int) -> None:
    clock, out = Clock(), io.StringIO()
    with Progress(engine, sweep_id, {"texts": 100}, clock=clock, stream=out) as progress:
        progress.stage("strategy A", 100)
        for _ in range(100):
            clock.now += 0.99
            progress.advance(1)
    assert len(out.getvalue().splitlines()) == 9
    assert "\r" not in out.getvalue()


def test_a_sweep_goes_on_when_nobody_reads_its_progress_any_more(engine: Engine, sweep_id: int) -> None:
    class Closed(io.StringIO):
        writes = 0

        def write(self, _: str) -> int:
            self.writes += 1
            raise BrokenPipeError

    clock, out = Clock(), Closed()
    with Progress(engine, sweep_id, {"texts": 100}, clock=clock, stream=out) as progress:
        progress.stage("strategy A", 100)
        for _ in range(5):
            clock.now += 11
            progress.advance(20)
    assert out.writes == 1


def test_a_sweep_with_nothing_to_embed_says_nothing(engine: Engine, sweep_id: int) -> None:
    for stream in (io.StringIO(), Terminal()):
        clock = Clock()
        with Progress(engine, sweep_id, {"texts": 0}, clock=clock, stream=stream) as progress:
            clock.now += 60
            progress.stage("strategy A", 0)
        assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar_that_is_gone_at_the_end(engine: Engine, sweep_id: int) -> None:
    out = Terminal()
    with Progress(engine, sweep_id, {"texts": 100}, stream=out) as progress:
        progress.stage("strategy A", 100)
        progress._bar.mininterval = 0
        progress.advance(50)
    shown = out.getvalue().split("\r")
    assert any(one.startswith("█████      strategy A: 50/100, ") for one in shown)
    assert shown[-2].strip() == ""  # wiped


def test_the_row_says_how_far_the_sweep_is(engine: Engine, sweep_id: int) -> None:
    clock = Clock()
    with Progress(engine, sweep_id, {"texts": 100}, clock=clock, stream=io.StringIO()) as progress:
        progress.stage("strategy A", 100)
        clock.now += 5
        progress.advance(50)
        progress.advance(1)  # too soon after the last write
        row = reads.sweep(engine, sweep_id)
        assert row is not None
        assert (row.stage, row.done, row.total, row.eta_seconds) == ("strategy A", 50, 100, 5.0)


def test_a_wish_to_cancel_is_noticed(engine: Engine, sweep_id: int) -> None:
    clock = Clock()
    with (
        pytest.raises(CancelledError, match=f"sweep {sweep_id} was cancelled"),
        Progress(engine, sweep_id, {"texts": 100}, clock=clock, stream=io.StringIO()) as progress,
    ):
        progress.stage("strategy A", 100)
        writes.update_sweep(engine, sweep_id, cancel_requested=True)
        clock.now += 1
        progress.advance(1)
