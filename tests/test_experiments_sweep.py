"""Beginning a sweep: what is taken up again, what is not, and what a retrieval depends on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_project import QUESTIONS, WordEncoder, make_project, small_project
from sqlalchemy import Engine

from corpus.canonical import EXTRACTOR
from experiments.conditions import PRESETS, Strategy
from experiments.lexical import BM25Settings
from experiments.project import open_project
from experiments.reviewing.trends import changed
from experiments.settings import Settings
from experiments.sweep import InputError, begin, read_inputs, retrieval_key, settle_interrupted
from store import reads, writes
from store.tables import SweepRow


def _row(engine: Engine, sweep_id: int) -> SweepRow:
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    return row


def state_of(engine: Engine, sweep_id: int) -> tuple[str, str | None]:
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    return row.state, row.reason


def test_a_sweep_begins_with_its_inputs_settings_and_combinations(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    inputs = read_inputs(project)
    sweep_id = begin(engine, project, inputs)
    row = reads.sweep(engine, sweep_id)
    assert row is not None
    assert (row.state, row.pid, row.host) == ("running", os.getpid(), socket.gethostname())
    assert (row.documents, row.needles, row.answerable, row.near, row.far) == (2, 3, 4, 1, 1)
    assert row.settings["thresholds"] == [0.3, 0.675]
    assert row.settings["strategies"]["E"] == PRESETS[4].spec
    assert [one.state for one in reads.combinations(engine, sweep_id)] == ["queued"] * 6
    assert [one.text for one in reads.queries(engine, row.questions_hash)] == [q["question"] for q in QUESTIONS]
    documents = reads.documents(engine, row.corpus_hash)
    texts = reads.texts(engine, [one.text_sha256 for one in documents])
    assert {one.document_id for one in documents} == {"vectors.md", "serving.md"}
    assert "The norm of a vector is never negative." in texts[documents[1].text_sha256]


def test_documents_that_were_left_out_are_kept_with_the_sweep(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    whole = begin(engine, project, read_inputs(project))
    writes.update_sweep(engine, whole, state="finished")
    (project.documents / "old").mkdir()
    (project.documents / "old" / "empty.md").write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        read_inputs(project)
    project.questions.write_text(project.questions.read_text() + "{}\n")  # a question's fault is not a document's
    sweep_id = begin(engine, project, read_inputs(project, skip_faults=True))
    row, before = reads.sweep(engine, sweep_id), reads.sweep(engine, whole)
    assert row is not None
    assert before is not None
    assert "failed_documents" not in before.settings
    assert row.settings["left_out"] > 1
    assert row.settings["failed_documents"] == [
        {
            "file": "old/empty.md",
            "problem": "The file is empty.",
            "advice": "Write the document, or remove the file.",
        }
    ]
    assert row.versions["extractor"] == EXTRACTOR


def test_a_sweep_taken_up_again_says_what_is_left_out_now(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    first = begin(engine, project, read_inputs(project))
    writes.mark_interrupted(engine, [_row(engine, first)], "killed")
    (project.documents / "empty.md").write_text("")
    assert begin(engine, project, read_inputs(project, skip_faults=True)) == first
    row = reads.sweep(engine, first)
    assert row is not None
    assert [one["file"] for one in row.settings["failed_documents"]] == ["empty.md"]


def test_only_the_same_inputs_settings_and_code_are_taken_up_again(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    first = begin(engine, project, read_inputs(project))
    writes.mark_interrupted(engine, [_row(engine, first)], "killed")
    make_project(tmp_path, sweep='strategies = ["A", "E"]\nthresholds = [0.4]\n')
    other = open_project(tmp_path)
    assert begin(engine, other, read_inputs(other)) != first
    make_project(tmp_path, questions=QUESTIONS[1:])
    fewer = open_project(tmp_path)
    assert begin(engine, fewer, read_inputs(fewer)) != first
    again = small_project(tmp_path)
    assert begin(engine, again, read_inputs(again)) == first
    assert state_of(engine, first) == ("running", None)


@pytest.mark.parametrize("name", ["PIPELINE", "HIT_RULE"])
def test_another_hit_rule_or_pipeline_is_another_fingerprint_and_retrieval(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    project = small_project(tmp_path)
    inputs, settings, stamp = read_inputs(project), project.settings, WordEncoder().stamp
    before = reads.sweep(engine, begin(engine, project, inputs))
    key = retrieval_key(inputs, settings.strategies[0], "dense", stamp, settings)
    monkeypatch.setattr("experiments.sweep.PIPELINE" if name == "PIPELINE" else "experiments.provenance.HIT_RULE", "x")
    inputs = read_inputs(project)
    after = reads.sweep(engine, begin(engine, project, inputs))
    assert before is not None
    assert after is not None
    assert before.fingerprint != after.fingerprint
    assert key != retrieval_key(inputs, settings.strategies[0], "dense", stamp, settings)


def test_an_edit_in_front_of_a_needle_moves_it_and_leaves_the_wording_of_the_questions(
    tmp_path: Path, engine: Engine
) -> None:
    project = small_project(tmp_path)
    before = reads.sweep(engine, begin(engine, project, read_inputs(project)))
    file = project.documents / "vectors.md"
    file.write_text(file.read_text("utf-8").replace("Before the first", "Before the very first"), encoding="utf-8")
    after = reads.sweep(engine, begin(engine, project, read_inputs(project)))
    assert before is not None
    assert after is not None
    assert before.questions_hash != after.questions_hash
    assert before.settings["wording"] == after.settings["wording"]
    assert changed(before, after) == ("documents",)
    make_project(tmp_path, questions=[{**QUESTIONS[0], "question": "Is a norm negative?"}, *QUESTIONS[1:]])
    again = reads.sweep(engine, begin(engine, project, read_inputs(project)))
    assert again is not None
    assert changed(after, again) == ("documents", "questions")


def test_a_sweep_says_why_git_names_no_commit(tmp_path: Path, engine: Engine) -> None:
    project, said = small_project(tmp_path), list[str]()
    begin(engine, project, read_inputs(project), said.append)
    assert said == []  # a folder that never was a repository needs no words
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    begin(engine, project, read_inputs(project), said.append)
    assert said == ["Git cannot read the repository: not a git repository: /nowhere; the sweep says no commit."]


def test_a_sweep_whose_process_is_gone_is_settled(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    sweep_id = begin(engine, project, read_inputs(project))
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    writes.update_sweep(engine, sweep_id, pid=gone.pid)
    first, *_ = reads.combinations(engine, sweep_id)
    writes.update_combination(engine, first.id or 0, state="running")
    settle_interrupted(engine)
    assert state_of(engine, sweep_id) == ("interrupted", "its process ended before it was finished")
    assert {one.state for one in reads.combinations(engine, sweep_id)} == {"queued"}


def test_a_sweep_that_another_process_took_up_meanwhile_is_not_marked(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    sweep_id = begin(engine, project, read_inputs(project))
    writes.update_sweep(engine, sweep_id, pid=999_999_999)
    as_it_was = _row(engine, sweep_id)
    writes.mark_interrupted(engine, [as_it_was], "its process ended")
    assert writes.claim_sweep(engine, sweep_id, pid=1, host=socket.gethostname())
    writes.mark_interrupted(engine, [as_it_was], "its process ended")  # somebody who looked before that
    assert state_of(engine, sweep_id) == ("running", None)


def test_an_interrupted_sweep_of_another_machine_is_not_taken_up_here(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    first = begin(engine, project, read_inputs(project))
    writes.mark_interrupted(engine, [_row(engine, first)], "half-written")
    writes.update_sweep(engine, first, pulled_from="bluffline")
    assert begin(engine, project, read_inputs(project)) != first


def test_a_living_process_and_another_machine_are_left_alone(tmp_path: Path, engine: Engine) -> None:
    project = small_project(tmp_path)
    sweep_id = begin(engine, project, read_inputs(project))
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        writes.update_sweep(engine, sweep_id, pid=living.pid, heartbeat_at=datetime.now(UTC) + timedelta(seconds=1))
        settle_interrupted(engine)
        assert state_of(engine, sweep_id)[0] == "running"
        # The same number, but born after the sweep was last heard of: another process by now.
        writes.update_sweep(engine, sweep_id, heartbeat_at=datetime.now(UTC) - timedelta(hours=1))
        settle_interrupted(engine)
        assert state_of(engine, sweep_id)[0] == "interrupted"
        writes.update_sweep(engine, sweep_id, state="running", host="another machine")
        settle_interrupted(engine)
        assert state_of(engine, sweep_id)[0] == "running"
    finally:
        living.communicate()


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_zone_of_the_machine_does_not_matter(
    tmp_path: Path, engine: Engine, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    from experiments.run_writing import _milliseconds

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        test_a_living_process_and_another_machine_are_left_alone(tmp_path, engine)
        row = reads.sweep(engine, 1)
        assert row is not None
        assert abs(_milliseconds(row.created_at) / 1000 - time.time()) < 60
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_retrieval_depends_on_what_changes_it_and_on_nothing_else(tmp_path: Path) -> None:
    inputs = read_inputs(small_project(tmp_path))
    plain, stamp, strategy = Settings(), WordEncoder().stamp, PRESETS[4]

    def key(retriever: str = "dense", **settings: object) -> str:
        return retrieval_key(inputs, strategy, retriever, stamp, Settings(**settings))  # type: ignore[arg-type]

    assert key(ks=(1,), thresholds=(0.1,), alpha=0.1, seed=3) == key()
    assert key(bm25=BM25Settings(b=0.5)) == key()
    assert key("bm25", bm25=BM25Settings(b=0.5)) != key("bm25")
    assert len({key("dense"), key("bm25"), key("hybrid")}) == 3
    renamed = Strategy("mine", "boundaries", header=True, overlap=0)
    assert retrieval_key(inputs, renamed, "dense", stamp, plain) == key()
    assert retrieval_key(inputs, PRESETS[5], "dense", stamp, plain) != key()
    other = stamp._replace(files="x")
    assert retrieval_key(inputs, strategy, "dense", other, plain) != key()
    elsewhere = stamp._replace(name="./copy", source="local folder")
    assert retrieval_key(inputs, strategy, "dense", elsewhere, plain) == key()
