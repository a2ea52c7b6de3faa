"""A sweep as a whole: what is done once, what is done again, and what survives an end in the middle."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from small_project import DOCUMENTS, QUESTIONS, WordEncoder, cannot_be_found, make_project, slow_sweep, small_project
from sqlalchemy import Engine

from experiments.models import ModelError
from experiments.progress import CancelledError
from experiments.reading import load_sweep
from experiments.recording import from_parquet
from experiments.runner import SweepResult, run_sweep
from experiments.sweep import InputError
from store import reads, writes
from store.engine import open_store

Sweep = Callable[..., SweepResult]


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    encoder = WordEncoder()
    monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: encoder)
    monkeypatch.setattr("experiments.workbench.embedding_latency", lambda _encoder, questions: [1.0] * len(questions))
    return encoder


@pytest.fixture(autouse=True)
def no_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """These sweeps are about the store; the ledger has tests of its own."""
    monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)


@pytest.fixture
def sweep(tmp_path: Path, engine: Engine) -> Sweep:
    def run(settings: str | None = None, **options: object) -> SweepResult:
        if settings is not None or not (tmp_path / "bluffline.toml").exists():
            make_project(tmp_path, **({} if settings is None else {"sweep": settings}))
        from experiments.project import open_project

        return run_sweep(engine, open_project(tmp_path), **options)  # type: ignore[arg-type]

    return run


def parquets(engine: Engine, sweep_id: int) -> dict[str, bytes]:
    rows = [row for row in reads.combinations(engine, sweep_id) if row.state == "recorded"]
    files = reads.hits(engine, [row.id or 0 for row in rows])
    return {row.key: files[row.id or 0] for row in rows}


def test_a_sweep_records_every_combination_with_its_numbers(encoder: WordEncoder, sweep: Sweep, engine: Engine) -> None:
    result = sweep()
    assert (result.recorded, result.failed, result.reused) == (6, 0, 0)
    loaded = load_sweep(engine, result.sweep_id)
    assert loaded.sweep.state == "finished"
    assert [row.key.split("/")[:2] for row in loaded.combinations] == [
        [strategy, retriever] for strategy in "AE" for retriever in ("dense", "bm25", "hybrid")
    ]
    assert result.embedded == len(encoder.encoded) == len(set(encoder.encoded))
    for row in loaded.recorded:
        outcomes = loaded.outcomes[row.id or 0]
        assert [outcome.query_id for outcome in outcomes] == [question["id"] for question in QUESTIONS]
        assert loaded.measures[row.id or 0]["recall_at_20"].n == 4
        assert row.stamp["model"]["name"] == "words"
        assert row.stamp["depth"] == 20
        assert row.measured_in is None


def test_the_second_sweep_embeds_and_retrieves_nothing(encoder: WordEncoder, sweep: Sweep, engine: Engine) -> None:
    first = sweep()
    before = len(encoder.encoded)
    second = sweep()
    assert second.sweep_id != first.sweep_id
    assert (second.recorded, second.reused, second.embedded) == (6, 6, 0)
    assert len(encoder.encoded) == before
    assert parquets(engine, first.sweep_id) == parquets(engine, second.sweep_id)
    key = load_sweep(engine, first.sweep_id).sweep.key
    third = sweep()
    assert {row.measured_in for row in reads.combinations(engine, third.sweep_id)} == {key}


def test_an_edited_document_embeds_only_its_changed_chunks(encoder: WordEncoder, sweep: Sweep, tmp_path: Path) -> None:
    sweep('strategies = ["E"]\nthresholds = [0.5]\n')
    encoder.encoded.clear()
    text = DOCUMENTS["serving.md"].replace("Larger batches wait longer", "Larger ones wait much longer")
    (tmp_path / "documents" / "serving.md").write_text(text, encoding="utf-8")
    result = sweep()
    assert result.reused == 0
    assert len(encoder.encoded) == result.embedded == 1
    assert encoder.encoded[0].startswith("[Serving > Batches]\nA batch shares")


def test_changing_only_thresholds_retrieves_nothing(encoder: WordEncoder, sweep: Sweep, engine: Engine) -> None:
    first = sweep('strategies = ["A", "E"]\nthresholds = [0.3]\n')
    second = sweep('strategies = ["A", "E"]\nthresholds = [0.2, 0.4, 0.6]\nk = [1, 3]\n')
    assert (second.reused, second.embedded) == (6, 0)
    assert parquets(engine, first.sweep_id) == parquets(engine, second.sweep_id)
    numbers = load_sweep(engine, second.sweep_id)
    assert {"recall_at_1", "recall_at_3"} <= set(numbers.measures[numbers.recorded[0].id or 0])


def test_a_deeper_k_than_recorded_retrieves_again_and_a_shallower_one_does_not(
    encoder: WordEncoder, sweep: Sweep, engine: Engine
) -> None:
    sweep('strategies = ["E"]\nthresholds = [0.3]\nk = [4]\n')
    deeper = sweep('strategies = ["E"]\nthresholds = [0.3]\nk = [30]\n')
    assert (deeper.reused, deeper.embedded) == (0, 0)
    assert {row.stamp["depth"] for row in reads.combinations(engine, deeper.sweep_id)} == {30}
    assert sweep('strategies = ["E"]\nthresholds = [0.3]\nk = [2]\n').reused == 3


def test_fresh_retrieves_again_and_finds_the_same_to_the_byte(
    encoder: WordEncoder, sweep: Sweep, engine: Engine
) -> None:
    first = sweep()
    fresh = sweep(fresh=True)
    assert (fresh.reused, fresh.embedded) == (0, 0)
    assert parquets(engine, first.sweep_id) == parquets(engine, fresh.sweep_id)
    assert len(parquets(engine, fresh.sweep_id)) == 6


def test_other_bm25_settings_leave_dense_retrievals_as_they_are(
    encoder: WordEncoder, sweep: Sweep, tmp_path: Path, engine: Engine
) -> None:
    sweep()
    make_project(tmp_path, more="[bm25]\nb = 0.5\n")
    result = sweep()
    assert result.reused == 2
    again = {row.retriever for row in reads.combinations(engine, result.sweep_id) if row.measured_in is None}
    assert again == {"bm25", "hybrid"}


def test_a_model_that_is_missing_fails_its_own_combinations_only(
    encoder: WordEncoder, sweep: Sweep, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(_project: object, name: str) -> WordEncoder:
        if name == "./nowhere":
            raise ModelError(cannot_be_found(name))
        return encoder

    monkeypatch.setattr("experiments.workbench.find_encoder", find)
    said: list[str] = []
    result = sweep('strategies = ["E"]\nmodels = ["words", "./nowhere"]\nthresholds = [0.3]\n', say=said.append)
    assert (result.recorded, result.failed) == (3, 2)
    rows = reads.combinations(engine, result.sweep_id)
    assert {row.key: row.reason for row in rows if row.state == "failed"} == {
        f"E/{retriever}/./nowhere": cannot_be_found("./nowhere") for retriever in ("dense", "hybrid")
    }
    assert {row.key for row in rows if row.state == "recorded"} == {"E/dense/words", "E/bm25", "E/hybrid/words"}
    assert said == [f"failed: E/{retriever}/./nowhere: {cannot_be_found('./nowhere')}" for retriever in
                    ("dense", "hybrid")]  # fmt: skip
    sweep_row = reads.sweep(engine, result.sweep_id)
    assert sweep_row is not None
    assert sweep_row.state == "finished"


def test_a_sweep_in_which_everything_failed_is_failed(
    sweep: Sweep, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(_project: object, name: str) -> WordEncoder:
        raise ModelError(cannot_be_found(name))

    monkeypatch.setattr("experiments.workbench.find_encoder", find)
    result = sweep()
    assert (result.recorded, result.failed) == (0, 6)
    row = reads.sweep(engine, result.sweep_id)
    assert row is not None
    assert (row.state, row.reason) == ("failed", "every combination failed")
    assert load_sweep(engine, result.sweep_id).measures == {}


def test_a_model_whose_files_changed_gets_vectors_of_its_own(
    encoder: WordEncoder, sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sweep()
    other = WordEncoder("words, trained further")
    other.stamp = other.stamp._replace(name="words")
    monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: other)
    second = sweep()
    assert second.reused == 0
    assert second.embedded == first.embedded == len(other.encoded)
    assert len(list((tmp_path / "var" / "vectors").glob("*.db"))) == 2


def test_a_cache_of_another_model_is_refused_with_both_stamps(
    encoder: WordEncoder, sweep: Sweep, tmp_path: Path, engine: Engine
) -> None:
    sweep()
    (cache,) = (tmp_path / "var" / "vectors").glob("*.db")
    with closing(sqlite3.connect(cache)) as connection, connection:
        connection.execute('UPDATE stamp SET json = \'{"files": "of another model"}\'')
    result = sweep(fresh=True)
    assert (result.recorded, result.failed) == (0, 6)
    reasons = {row.reason or "" for row in reads.combinations(engine, result.sweep_id)}
    assert all("of another model" in reason and encoder.stamp.files in reason for reason in reasons)


def test_vectors_of_another_length_fail_the_combination_with_the_reason(
    encoder: WordEncoder, sweep: Sweep, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = encoder._vector
    monkeypatch.setattr(encoder, "_vector", lambda text: vector(text) * (1.01 if "[Serving" in text else 1))
    result = sweep()
    assert (result.recorded, result.failed) == (3, 3)
    failed = [row for row in reads.combinations(engine, result.sweep_id) if row.state == "failed"]
    assert {row.strategy for row in failed} == {"E"}
    assert "length 1.01 instead of 1" in (failed[0].reason or "")
    log = tmp_path / "var" / "logs" / f"sweep-{result.sweep_id}.log"
    assert "Traceback" in log.read_text("utf-8")


def test_a_cancelled_sweep_keeps_what_it_recorded(
    encoder: WordEncoder, sweep: Sweep, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = writes.beat

    def cancel_at_the_second_strategy(*arguments: object, stage: str, **values: object) -> bool:
        beat(*arguments, stage=stage, **values)  # type: ignore[arg-type]
        return stage == "strategy E"

    monkeypatch.setattr(writes, "beat", cancel_at_the_second_strategy)
    with pytest.raises(CancelledError, match="was cancelled; what it recorded is kept"):
        sweep()
    row = reads.latest_sweep(engine)
    assert row is not None
    assert (row.state, row.reason, row.pid) == ("cancelled", "cancelled on request", None)
    states = [combination.state for combination in reads.combinations(engine, row.id or 0)]
    assert states == ["recorded"] * 3 + ["queued"] * 3
    monkeypatch.setattr(writes, "beat", beat)
    after = sweep()
    assert after.sweep_id != row.id
    assert after.reused == 3


def test_a_failing_disk_leaves_the_sweep_interrupted_and_it_goes_on_under_its_id(
    encoder: WordEncoder, sweep: Sweep, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = writes.record_combination

    def three_only(*arguments: object, **values: object) -> None:
        if sum(row.state == "recorded" for row in reads.combinations(engine, 1)) == 3:
            raise KeyboardInterrupt
        record(*arguments, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(writes, "record_combination", three_only)
    with pytest.raises(KeyboardInterrupt):
        sweep()
    row = reads.latest_sweep(engine)
    assert row is not None
    assert row.state == "interrupted"
    recorded = {one.id: one.recorded_at for one in reads.combinations(engine, 1) if one.state == "recorded"}
    assert {one.state for one in reads.combinations(engine, 1)} == {"recorded", "queued"}
    monkeypatch.setattr(writes, "record_combination", record)
    encoded = len(encoder.encoded)
    result = sweep()
    assert (result.sweep_id, result.recorded, result.embedded) == (1, 6, 0)
    assert len(encoder.encoded) == encoded
    after = {one.id: one.recorded_at for one in reads.combinations(engine, 1)}
    assert {one: after[one] for one in recorded} == recorded


def test_faulty_questions_are_refused_unless_they_are_to_be_skipped(
    encoder: WordEncoder, sweep: Sweep, tmp_path: Path, engine: Engine
) -> None:
    wrong = {"id": "x", "question": "What?", "needle": "This stands nowhere."}
    make_project(tmp_path, questions=[*QUESTIONS, wrong])
    with pytest.raises(InputError, match="This stands nowhere"):
        sweep()
    assert reads.latest_sweep(engine) is None
    result = sweep(skip_faults=True)
    row = reads.sweep(engine, result.sweep_id)
    assert row is not None
    assert (row.settings["left_out"], row.answerable) == (1, 4)


def test_a_corpus_without_one_answerable_question_is_refused(sweep: Sweep, tmp_path: Path) -> None:
    make_project(tmp_path, questions=QUESTIONS[4:])
    with pytest.raises(InputError, match="nothing to measure"):
        sweep()


def test_a_corpus_without_latin_letters_is_measured(encoder: WordEncoder, sweep: Sweep, tmp_path: Path) -> None:
    make_project(
        tmp_path,
        documents={"a.md": "# 向量\n\n## 范数\n\n向量的范数从不为负。\n\n## 其他\n\n别的东西。\n"},
        questions=[
            {"id": "1", "question": "范数可以为负吗？", "needle": "向量的范数从不为负。"},
            {"id": "2", "question": "如何做海鲜饭？", "stratum": "far"},
        ],
    )
    result = sweep()
    assert (result.recorded, result.failed) == (6, 0)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            pytest.fail("what the test waits for did not happen")
        time.sleep(0.02)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[], bool]]:
    """Whether a sweep of another process has recorded three combinations and embeds the next strategy."""

    def in_the_middle() -> bool:
        file = tmp_path / "var" / "bluffline.db"
        if not file.exists():
            return False
        with closing(sqlite3.connect(file)) as connection:
            try:
                ((count, stage),) = connection.execute(
                    "SELECT (SELECT count(*) FROM combination WHERE state = 'recorded'), (SELECT stage FROM sweep)"
                )
            except sqlite3.OperationalError:  # no tables yet
                return False
        return bool(count == 3 and stage == "strategy E")

    yield in_the_middle


def test_a_killed_sweep_loses_nothing_embedded_and_goes_on_under_its_id(
    tmp_path: Path, encoder: WordEncoder, started: Callable[[], bool]
) -> None:
    project = small_project(tmp_path, more='[tracking]\nuri = "http://127.0.0.1:9"\n')
    process = slow_sweep(tmp_path)
    try:
        wait_for(started)
        time.sleep(0.4)
    finally:
        process.kill()
        process.communicate()
    engine = open_store(project.store_url)
    row = reads.latest_sweep(engine)
    assert row is not None
    assert (row.id, row.state) == (1, "running")  # nobody had the time to say otherwise
    (cache,) = project.vectors.glob("*.db")
    with closing(sqlite3.connect(cache)) as connection:
        kept = connection.execute("SELECT count(*) FROM vector").fetchone()[0]
    before = {one.id: one.recorded_at for one in reads.combinations(engine, 1) if one.state == "recorded"}
    assert kept > len(QUESTIONS)
    assert len(before) == 3
    result = run_sweep(engine, project)
    assert (result.sweep_id, result.recorded) == (1, 6)
    with closing(sqlite3.connect(cache)) as connection:
        assert connection.execute("SELECT count(*) FROM vector").fetchone()[0] == kept + result.embedded
    assert len(encoder.encoded) == result.embedded
    after = {one.id: one.recorded_at for one in reads.combinations(engine, 1)}
    assert {one: after[one] for one in before} == before
    engine.dispose()


def test_ctrl_c_is_one_line_and_the_sweep_is_interrupted(tmp_path: Path, started: Callable[[], bool]) -> None:
    project = small_project(tmp_path, more='[tracking]\nuri = "http://127.0.0.1:9"\n')
    process = slow_sweep(tmp_path)
    try:
        wait_for(started)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out == ""
    last = "bluffline: interrupted; what is measured is kept, run again to go on"
    assert [line for line in error.splitlines() if "; sweep: " not in line] == [
        last
    ]  # how far it is, on a slow machine
    engine = open_store(project.store_url)
    row = reads.latest_sweep(engine)
    assert row is not None
    assert (row.state, row.pid) == ("interrupted", None)
    assert "running" not in {one.state for one in reads.combinations(engine, 1)}
    engine.dispose()


def test_outcomes_read_from_the_file_are_those_of_the_store(encoder: WordEncoder, sweep: Sweep, engine: Engine) -> None:
    result = sweep()
    loaded = load_sweep(engine, result.sweep_id)
    for row in loaded.recorded:
        kept = from_parquet(parquets(engine, result.sweep_id)[row.key])
        for outcome, record in zip(kept, loaded.outcomes[row.id or 0], strict=True):
            for name in record._fields[1:]:
                assert getattr(outcome, name) == getattr(record, name)
            assert json.dumps([hit.score for hit in outcome.hits])
