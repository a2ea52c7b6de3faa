import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError
from worlds import DOCUMENTS, QUERIES, combination_row, filled, sweep_row

from experiments.recording import document_rows, query_rows
from store import reads, writes
from store.tables import MeasureRow, OutcomeRow, TextRow

ROOT = Path(__file__).parent.parent


def begun(engine, *strategies, **sweep):
    rows = [combination_row(strategy, "dense", position) for position, strategy in enumerate(strategies or ("A",))]
    sweep_id = writes.add_sweep(engine, sweep_row(**sweep), rows)
    return sweep_id, [row.id or 0 for row in reads.combinations(engine, sweep_id)]


def numbers(combination_id, **values):
    return [MeasureRow(combination_id=combination_id, name=name, value=value, n=1) for name, value in values.items()]


def record(engine, combination_id, measures, outcomes=(), parquet=b"hits"):
    writes.record_combination(
        engine,
        combination_id,
        measures=measures,
        outcomes=outcomes,
        parquet=parquet,
        stamp={"depth": 20},
        measured_in=None,
    )


def test_a_combination_is_recorded_with_all_that_belongs_to_it(engine):
    sweep_id, (one,) = begun(engine)
    writes.add_questions(engine, query_rows(QUERIES[:1], sweep_row().questions_hash))
    before = datetime.now(UTC)
    record(engine, one, numbers(one, mrr=0.5), [OutcomeRow(combination_id=one, query_id="moon-course", rank=2)])
    (row,) = reads.combinations(engine, sweep_id)
    assert (row.state, row.reason, row.stamp, row.measured_in) == ("recorded", None, {"depth": 20}, None)
    assert row.recorded_at is not None
    assert before <= row.recorded_at <= datetime.now(UTC)
    assert reads.measures(engine, sweep_id)[one]["mrr"].value == 0.5
    assert [outcome.rank for outcome in reads.outcomes(engine, sweep_id)[one]] == [2]
    assert reads.hits(engine, [one]) == {one: b"hits"}


def test_a_combination_is_recorded_whole_or_not_at_all(engine):
    sweep_id, (one,) = begun(engine)
    twice = [OutcomeRow(combination_id=one, query_id="same"), OutcomeRow(combination_id=one, query_id="same")]
    with pytest.raises(IntegrityError):
        record(engine, one, numbers(one, mrr=0.5), twice)
    assert reads.combinations(engine, sweep_id)[0].state == "queued"
    assert reads.measures(engine, sweep_id) == {}
    assert reads.hits(engine, [one]) == {}


def test_a_recording_that_fails_keeps_the_earlier_one(engine):
    sweep_id, (one,) = begun(engine)
    record(engine, one, numbers(one, mrr=0.5), parquet=b"first")
    with pytest.raises(IntegrityError):
        record(engine, one, [*numbers(one, mrr=0.6), *numbers(one, mrr=0.7)], parquet=b"second")
    assert reads.measures(engine, sweep_id)[one]["mrr"].value == 0.5
    assert reads.hits(engine, [one]) == {one: b"first"}


def test_recording_again_replaces_everything(engine):
    sweep_id, (one, other) = begun(engine, "A", "B")
    record(engine, other, numbers(other, mrr=0.9))
    record(engine, one, numbers(one, mrr=0.5, old=1.0))
    writes.update_combination(engine, one, state="failed", reason="the second attempt broke")
    record(engine, one, numbers(one, mrr=0.6), parquet=b"new")
    found = reads.measures(engine, sweep_id)
    assert {name: row.value for name, row in found[one].items()} == {"mrr": 0.6}
    assert found[other]["mrr"].value == 0.9
    assert reads.hits(engine, [one]) == {one: b"new"}
    assert reads.combinations(engine, sweep_id)[0].reason is None


def test_nothing_is_recorded_for_a_combination_that_does_not_exist(engine):
    with pytest.raises(IntegrityError):
        record(engine, 99, [])
    assert reads.hits(engine, [99]) == {}


def test_a_corpus_and_its_questions_are_kept_once(engine):
    documents, texts = document_rows(DOCUMENTS, "c")
    for _ in range(2):
        writes.add_corpus(engine, *document_rows(DOCUMENTS, "c"))
        writes.add_questions(engine, query_rows(QUERIES, "q"))
    writes.add_corpus(engine, [], [])
    assert [row.document_id for row in reads.documents(engine, "c")] == [row.document_id for row in documents]
    assert [row.query_id for row in reads.queries(engine, "q")] == [query.id for query in QUERIES]
    assert reads.texts(engine, [row.sha256 for row in texts]) == {one.sha256: one.text for one in DOCUMENTS}


def test_a_document_without_its_text_is_refused_and_its_neighbours_with_it(engine):
    documents, texts = document_rows(DOCUMENTS, "c")
    with pytest.raises(IntegrityError):
        writes.add_corpus(engine, documents, texts[1:])
    assert reads.documents(engine, "c") == []
    assert reads.texts(engine, [row.sha256 for row in texts]) == {}


def test_text_of_any_script_comes_back_as_it_was(engine):
    text = "Ελληνικά, 日本語, 👩‍👩‍👧, e\u0301, \u2028 and a zero: \x00."
    writes.add_corpus(engine, [], [TextRow(sha256="t", text=text)])
    assert reads.texts(engine, ["t"]) == {"t": text}


def test_a_heartbeat_says_how_far_and_hears_of_a_cancellation(engine):
    sweep_id, _ = begun(engine, state="running")
    assert writes.beat(engine, sweep_id, stage="strategy A", done=3, total=9, eta_seconds=1.5) is False
    writes.update_sweep(engine, sweep_id, cancel_requested=True)
    assert writes.beat(engine, sweep_id, stage="strategy B", done=6, total=9, eta_seconds=None) is True
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    assert (row.stage, row.done, row.total, row.eta_seconds) == ("strategy B", 6, 9, None)
    assert row.heartbeat_at is not None


@pytest.mark.parametrize(
    ("state", "taken"),
    [
        ("interrupted", True),
        ("queued", True),
        ("running", False),
        ("finished", False),
        ("cancelled", False),
        ("failed", False),
    ],
)
def test_only_a_waiting_sweep_can_be_claimed(engine, state, taken):
    sweep_id, _ = begun(engine, state=state, reason="earlier")
    assert writes.claim_sweep(engine, sweep_id, pid=7, host="here") is taken
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    assert (row.state, row.pid, row.reason) == (("running", 7, None) if taken else (state, None, "earlier"))


def test_of_many_that_claim_a_sweep_one_gets_it(engine):
    sweep_id, _ = begun(engine, state="interrupted")
    start, won = threading.Barrier(6), []

    def claim(pid):
        start.wait()
        if writes.claim_sweep(engine, sweep_id, pid=pid, host="here"):
            won.append(pid)

    threads = [threading.Thread(target=claim, args=(pid,)) for pid in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    assert won == [row.pid]


def test_an_interrupted_sweep_queues_what_it_was_at_and_keeps_what_it_had(engine):
    sweep_id, (done, at, waiting) = begun(engine, "A", "B", "C", state="running", pid=7)
    record(engine, done, [])
    writes.update_combination(engine, at, state="running")
    writes.mark_interrupted(engine, [reads.sweep(engine, sweep_id)], "its process ended")
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    assert (row.state, row.reason, row.pid) == ("interrupted", "its process ended", None)
    states = {one.id: one.state for one in reads.combinations(engine, sweep_id)}
    assert states == {done: "recorded", at: "queued", waiting: "queued"}


def test_a_sweep_that_ended_meanwhile_is_not_marked_interrupted(engine):
    sweep_id, (one,) = begun(engine, state="finished")
    writes.update_combination(engine, one, state="running")
    as_it_was = reads.sweep(engine, sweep_id).model_copy(update={"state": "running"})
    writes.mark_interrupted(engine, [as_it_was], "its process ended")
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    assert (row.state, row.reason) == ("finished", None)
    assert reads.combinations(engine, sweep_id)[0].state == "running"


def test_many_writers_and_a_reader_do_not_lock_each_other_out(engine):
    sweep_id = filled(engine, retrievers=("dense",), state="running")
    faults = []

    def beats(writer):
        try:
            for done in range(20):
                writes.beat(engine, sweep_id, stage=str(writer), done=done, total=20, eta_seconds=None)
                reads.measures(engine, sweep_id)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=beats, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = reads.sweep(engine, sweep_id)
    assert faults == []
    assert row is not None
    assert row.done == 19


RECORDER = """
import sys
from store import writes
from store.engine import open_store
from store.tables import MeasureRow
engine, ids = open_store(sys.argv[1]), [int(number) for number in sys.argv[2:]]
for value in range(1_000_000):
    for one in ids:
        writes.record_combination(engine, one, outcomes=[], parquet=str(value).encode(), stamp={"value": value},
            measured_in=None,
            measures=[MeasureRow(combination_id=one, name=f"m{n}", value=value, n=1) for n in range(40)])
    print(value, flush=True)
"""


def test_a_process_killed_while_recording_leaves_each_combination_whole(engine):
    sweep_id, ids = begun(engine, "A", "B", "C")
    url = engine.url.render_as_string(hide_password=False)
    child = subprocess.Popen(
        [sys.executable, "-c", RECORDER, url, *map(str, ids)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    for _ in range(4):
        child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    found, files = reads.measures(engine, sweep_id), reads.hits(engine, ids)
    for row in reads.combinations(engine, sweep_id):
        one = row.id or 0
        assert row.state == "recorded"
        assert row.stamp["value"] >= 3
        assert files[one] == str(row.stamp["value"]).encode()
        assert [measure.value for measure in found[one].values()] == [row.stamp["value"]] * 40
