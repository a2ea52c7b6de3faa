"""The indexer: what becomes of every file, what is done again and what is not, and what refuses to be asked."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from odd_folder import closing
from small_project import WordEncoder, cannot_be_found, small_project, typed
from sqlmodel import Session

from corpus.folder_listing import list_folder
from experiments.chunking import chunk_document
from experiments.indexing import indexer, scanning, stamps
from experiments.indexing.indexer import FolderError, index_documents, retry, settle_interrupted
from experiments.indexing.stamps import Stamps, refusal, why_stale
from experiments.indexing.standing import counts, standings
from experiments.indexing.watching import watch
from experiments.models import ModelError
from experiments.progress import CancelledError
from experiments.provenance import PIPELINE
from store import files, reads
from store.engine import open_store
from store.files import IndexingElsewhereError
from store.tables import IndexingRow

BROKEN = {"empty.md": b"", "blank.txt": b" \n", "binary.txt": b"\x00\x01\x02\xff" * 40, "picture.png": b"\x89PNG\r\n"}


@pytest.fixture
def project(tmp_path):
    made = small_project(tmp_path / "project")
    for name, content in BROKEN.items():
        (made.documents / name).write_bytes(content)
    return made


def index(engine, project, encoder=None, **more):
    return index_documents(engine, project, find=lambda _: encoder or WordEncoder(), stream=io.StringIO(), **more)


def states(engine):
    return {row.document_id: row.state for row in files.files(engine)}


def test_every_file_is_indexed_or_failed_with_its_reason_and_none_stops_the_others(engine, project):
    said = []
    done = index(engine, project, say=said.append)
    assert (done.indexed, done.failed, done.removed) == (2, 4, 0)
    rows = {row.document_id: row for row in files.files(engine)}
    assert {name: rows[name].kind for name in BROKEN} == {
        "empty.md": "empty", "blank.txt": "empty", "binary.txt": "damaged", "picture.png": "unsupported"
    }  # fmt: skip
    assert all(rows[name].reason and rows[name].advice and rows[name].chunks is None for name in BROKEN)
    assert len(said) == 4
    assert any(line.startswith("empty.md: failed (empty): the file is empty") for line in said)
    whole = rows["vectors.md"]
    (document,) = [one for one in project.load_documents().documents if one.id == "vectors.md"]
    assert whole.chunks == {one.name: len(chunk_document(document, one)) for one in project.settings.strategies}
    assert (whole.state, whole.characters, whole.sections) == ("indexed", len(document.text), 2)
    assert (whole.stamp["name"], whole.pipeline, whole.extractor) == ("words", PIPELINE, document.extractor)
    assert list(whole.times) == ["queued", "extracting", "indexed"]
    assert reads.texts(engine, [whole.text_sha256])[whole.text_sha256] == document.text
    run = files.latest_indexing(engine)
    assert (run.state, run.done, run.total) == ("finished", 6, 6)


def test_pipes_devices_and_links_out_of_the_folder_are_named_and_never_opened(engine, project):
    os.mkfifo(project.documents / "pipe.md")
    (project.documents / "endless.md").symlink_to("/dev/zero")
    (project.documents / "itself.md").symlink_to("itself.md")
    Path(os.fsdecode(bytes(project.documents) + b"/name\xff.md")).write_text("A text.")
    index(engine, project)
    rows = {row.document_id: row for row in files.files(engine)}
    assert "it is no file that holds something" in rows["pipe.md"].reason
    assert "leads out of the documents folder" in rows["endless.md"].reason
    assert "the file's name is not valid UTF-8" in rows["name\\udcff.md"].reason
    assert "leads nowhere" in rows["itself.md"].reason
    assert {rows[name].state for name in ("pipe.md", "endless.md", "itself.md")} == {"failed"}


def test_a_second_run_reads_nothing_and_an_edited_file_only_itself(engine, project):
    index(engine, project)
    before = {row.document_id: row.changed_at for row in files.files(engine)}
    encoder = WordEncoder()
    assert index(engine, project, encoder) == (0, 0, 0, 0)
    assert encoder.encoded == []
    edited = project.documents / "vectors.md"
    edited.write_text(edited.read_text() + "\n## Zero\n\nThe zero vector has no direction.\n")
    done = index(engine, project, encoder)
    assert (done.indexed, done.failed) == (1, 0)
    assert all("direction" in text for text in encoder.encoded if "Zero" in text)
    changed = {row.document_id for row in files.files(engine) if row.changed_at != before[row.document_id]}
    assert changed == {"vectors.md"}


def test_a_file_that_was_only_touched_is_not_read_again(engine, project):
    index(engine, project)
    os.utime(project.documents / "vectors.md")
    assert index(engine, project).indexed == 0


def test_a_file_that_is_gone_leaves_the_index(engine, project):
    index(engine, project)
    (project.documents / "vectors.md").unlink()
    assert index(engine, project).removed == 1
    assert "vectors.md" not in states(engine)


def test_counts_of_an_edited_document_stay_those_of_its_old_text_until_it_is_done(engine, project, monkeypatch):
    index(engine, project)
    before = files.file(engine, "vectors.md")
    (project.documents / "vectors.md").write_text("# Short\n\nAlmost nothing.\n")
    seen = []

    def looking(*arguments, **more):
        row = files.file(engine, "vectors.md")
        seen.append((row.state, row.characters, row.chunks))
        return chunk_document(*arguments, **more)

    monkeypatch.setattr(indexer, "chunk_document", looking)
    index(engine, project)
    assert set(map(str, seen)) == {str(("extracting", before.characters, before.chunks))}
    assert files.file(engine, "vectors.md").characters == len("# Short\n\nAlmost nothing.\n")


def test_failed_documents_are_tried_again_when_asked_and_not_before(engine, project):
    index(engine, project)
    (project.documents / "picture.png").unlink()
    assert index(engine, project).failed == 0  # the same files still: nothing is tried
    assert set(retry(engine)) == {"empty.md", "blank.txt", "binary.txt"}
    assert states(engine)["empty.md"] == "queued"
    assert index(engine, project).failed == 3
    (project.documents / "empty.md").write_text("# No longer\n\nIt says something now.\n")
    assert index(engine, project).indexed == 1  # another content needs no asking
    with pytest.raises(KeyError):
        retry(engine, ["nowhere.md"])
    with pytest.raises(ValueError, match=r"vectors\.md' has not failed: it is indexed"):
        retry(engine, ["vectors.md"])


def test_what_failed_is_tried_again_once_another_extractor_reads_it(engine, project, monkeypatch):
    index(engine, project)
    monkeypatch.setattr(scanning, "extractor_for", lambda path: "new/2" if path.name == "empty.md" else None)
    found = scanning.changes(
        scanning.look(project, list_folder(project.documents)),
        files.files(engine),
        Stamps(PIPELINE, WordEncoder().stamp),
    )
    assert [seen.file.name for seen in found.waiting if seen.file.name == "empty.md"] == ["empty.md"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pipeline": "0"}, f"t was indexed by pipeline 0; this is pipeline {PIPELINE}"),
        ({"extractor": "old/0"}, "t was read by old/0; documents of its format are read by"),
        ({"stamp": {**WordEncoder("other").stamp._asdict()}}, "t was embedded by other"),
    ],
)
def test_after_an_upgrade_the_stale_are_listed_refused_and_indexed_again(engine, project, change, words):
    index(engine, project)
    now = Stamps(PIPELINE, WordEncoder().stamp)
    files.set_state(engine, ["vectors.md"], "indexed", **change)
    rows = files.files(engine)
    (stale,) = [one for one in standings(rows, now) if one.state == "stale"]
    assert stale.id == "vectors.md"
    assert words in stale.reason
    assert counts(standings(rows, now)) == {"indexed": 1, "stale": 1, "failed": 4}
    said = refusal(rows, now)
    assert "half-migrated: 1 of 2 documents" in said
    assert "at hand is words (files " in said
    assert "Run `bluffline documents index`" in said
    assert index(engine, project).indexed == 1
    assert refusal(files.files(engine), now) == ""
    assert why_stale(files.file(engine, "vectors.md"), now) == ""


def test_an_index_that_is_stale_as_a_whole_is_not_called_half_migrated(engine, project):
    index(engine, project)
    said = refusal(files.files(engine), Stamps("another", WordEncoder().stamp))
    assert said.startswith("the index, all of it, was made with words (files ")
    assert refusal([], Stamps("2", None)) == ""


def test_an_interrupted_run_leaves_what_it_did_and_the_next_goes_on(engine, project, monkeypatch):
    real, calls = indexer.chunk_document, []

    def breaks(document, strategy):
        calls.append(document.id)
        if len(set(calls)) == 2:
            raise KeyboardInterrupt
        return real(document, strategy)

    monkeypatch.setattr(indexer, "chunk_document", breaks)
    with pytest.raises(KeyboardInterrupt):
        index(engine, project)
    assert files.latest_indexing(engine).state == "interrupted"
    assert sorted(states(engine).values()) == ["failed", "failed", "failed", "failed", "indexed", "queued"]
    monkeypatch.undo()
    assert index(engine, project).indexed == 1


def test_a_cancelled_run_stops_after_what_it_is_at(engine, project, monkeypatch):
    real = indexer.chunk_document
    monkeypatch.setattr("experiments.indexing.progress.BETWEEN_WRITES", 0.0)

    def cancels(document, strategy):
        files.cancel_indexing(engine, files.latest_indexing(engine).id)
        return real(document, strategy)

    monkeypatch.setattr(indexer, "chunk_document", cancels)
    with pytest.raises(CancelledError):
        index(engine, project)
    assert files.latest_indexing(engine).state == "cancelled"
    assert "extracting" not in states(engine).values()


def test_two_never_index_at_once_and_a_dead_one_is_taken_over(engine, project):
    files.begin_indexing(engine, pid=os.getpid(), host=indexer.socket.gethostname(), total=0)
    with pytest.raises(IndexingElsewhereError, match="indexing 1 is running"):
        index(engine, project)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    files.end_indexing(engine, 1, "finished")
    files.begin_indexing(engine, pid=gone.pid, host=indexer.socket.gethostname(), total=0)
    settle_interrupted(engine)
    assert files.latest_indexing(engine).state == "interrupted"
    assert index(engine, project).indexed == 2


def test_without_its_model_or_its_folder_nothing_is_changed(engine, project):
    def missing(name):
        raise ModelError(cannot_be_found(name))

    with pytest.raises(ModelError):
        index_documents(engine, project, find=missing)
    assert files.files(engine) == []
    assert stamps.stamps_of(project, missing).model is None
    with pytest.raises(FolderError, match="does not exist"):
        index(engine, replace(project, documents=project.root / "nowhere"))
    latest = files.latest_indexing(engine)
    assert (latest.state, latest.reason) == (
        "failed",
        f"{project.root / 'nowhere'}: the documents folder does not exist",
    )


def test_what_arrives_while_it_works_is_taken_up_before_it_ends(engine, project, monkeypatch):
    real = indexer.chunk_document

    def arrives(document, strategy):
        (project.documents / "late.md").write_text("# Late\n\nIt came late.\n")
        return real(document, strategy)

    monkeypatch.setattr(indexer, "chunk_document", arrives)
    index(engine, project)
    assert states(engine)["late.md"] == "indexed"


def test_a_media_file_belongs_to_its_transcript_and_else_says_what_is_missing(engine, project):
    for name in ("talk.mp4", "alone.mp3"):
        (project.documents / name).write_bytes(b"media")
    (project.documents / "talk.vtt").write_text("WEBVTT\n\n00:00.000 --> 00:02.000\nHello there.\n")
    index(engine, project)
    assert "talk.mp4" not in states(engine)
    assert "alone.vtt" in files.file(engine, "alone.mp3").advice


def test_a_watched_folder_is_indexed_when_it_changed_and_came_to_rest(tmp_path):
    (tmp_path / "a.md").write_text("one")
    looks, indexed = iter(["write", "more", "", "", "stop"]), []

    def sleep(_seconds):
        what = next(looks)
        if what == "stop":
            raise KeyboardInterrupt
        if what:
            (tmp_path / f"{what}.md").write_text("new")

    with pytest.raises(KeyboardInterrupt):
        watch(tmp_path, lambda: indexed.append(len(list(tmp_path.iterdir()))), sleep=sleep)
    assert indexed == [1, 3]


_SLOWLY = """
import sys
sys.path.insert(0, {tests!r})
import experiments.embedding, experiments.indexing.indexer as indexer
from small_project import WordEncoder
experiments.embedding.BATCH = 1
encoder = WordEncoder(seconds=0.1)
indexer.index_documents.__kwdefaults__["find"] = lambda name: encoder
from experiments.cli import main
main(sys.argv[1:])
"""


def test_a_killed_indexer_goes_on_where_it_was(tmp_path):
    project = small_project(tmp_path / "project")
    code = _SLOWLY.format(tests=str(Path(__file__).parent))
    arguments = [sys.executable, "-c", code, "documents", "index", "--project", str(project.root)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        time.sleep(0.05)
        if (project.var / "bluffline.db").is_file():
            engine = open_store(project.store_url)
            found = states(engine)
            engine.dispose()
            if "indexed" in found.values():
                break
    process.send_signal(signal.SIGKILL)
    process.wait()
    engine = open_store(project.store_url)
    before = states(engine)
    assert "indexed" in before.values()
    index(engine, project)
    assert set(states(engine).values()) == {"indexed"}
    assert files.latest_indexing(engine).id == 2
    engine.dispose()


@pytest.fixture
def documents(capsys):
    """`bluffline documents` of a project."""
    return lambda project, *more: typed(capsys, "documents", *more, "--project", project.root)


def test_documents_are_listed_added_and_removed_from_the_terminal(tmp_path, documents):
    project = small_project(tmp_path / "project")
    documents = partial(documents, project)
    assert "Nothing is indexed yet." in documents().out
    other = tmp_path / "other.md"
    other.write_text("# Other\n\nAnother document.\n")
    assert documents("add", other, "--no-index").out.startswith("other.md: added")
    other.write_text("# Other\n\nAnother text.\n")
    refused = documents("add", other, "--no-index")
    assert (refused.code, refused.error) == (
        2, "Error: other.md is there already, with other content; --replace replaces it\n"
    )  # fmt: skip
    tricky = documents("add", other, "--into", "../..", "--no-index")
    assert tricky.code == 2
    assert "leads out of the documents folder" in tricky.error
    kept = documents("remove", "vectors.md")
    assert kept.code == 2
    assert "question n1 has its needle there: Can the norm of a vector be negative?" in kept.error
    assert "2 questions could not be answered any more; nothing was removed" in kept.error
    assert (project.documents / "vectors.md").is_file()
    assert documents("remove", "vectors.md", "--force").code == 0
    assert not (project.documents / "vectors.md").exists()
    removed = documents("remove", "other.md")
    assert removed.out == "other.md: removed.\n"
    assert "questions.jsonl has 2 faults: what the questions behind them need is not known" in removed.error
    assert documents("retry").code == 2


def test_the_listing_is_data_too(engine, project, documents, monkeypatch):
    index(engine, project)
    monkeypatch.setenv("BLUFFLINE_STORE_URL", str(engine.url))
    documents = partial(documents, project)
    listed = documents("--json")
    data = {one["document_id"]: one for one in json.loads(listed.out)}
    assert data["empty.md"]["state"] == "failed"
    assert data["empty.md"]["reason"] == "The file is empty. Write the document, or remove the file."
    words = documents("--state", "failed").out
    assert "failed (empty)" in words
    assert "4 failed" in words
    assert documents("--state", "odd").code == 2


def test_a_question_waits_for_no_extraction_and_says_what_failed(engine, project, monkeypatch):
    from experiments.asking.asker import Asker

    index(engine, project)
    asker = Asker.of(project, find=lambda _: WordEncoder(), index=files.files(engine))
    assert set(asker.documents) == {"vectors.md", "serving.md"}
    assert {Path(fault.file).name for fault in asker.faults} == {"empty.md", "blank.txt", "binary.txt"}
    assert asker.current


def test_documents_that_all_lie_in_one_file_are_indexed_line_by_line(engine, project):
    path = project.root / "all.jsonl"
    lines = [{"_id": "a", "title": "A", "text": "Alpha stands here."}, {"_id": "b", "title": "B", "text": "Beta."}]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    collected = replace(project, documents=path)
    assert index(engine, collected).indexed == 2
    assert states(engine) == {"a": "indexed", "b": "indexed"}
    path.write_text("".join(json.dumps(one) + "\n" for one in [{**lines[0], "text": "Alpha moved."}]))
    assert index(engine, collected) == (1, 0, 1, 2)


def test_locators_survive_indexing_again_and_follow_an_edit(engine, project):
    path = project.documents / "talk.vtt"
    path.write_text("WEBVTT\n\n00:00.000 --> 00:02.000\nHello there.\n\n00:05.000 --> 00:07.000\nGoodbye then.\n")
    index(engine, project)
    before = files.file(engine, "talk.vtt")
    assert [place for _, _, place in before.locators] == ["t=0,2", "t=5,7"]
    files.set_state(engine, ["talk.vtt"], "indexed", pipeline="0")  # an upgrade: the file is the same
    assert index(engine, project).indexed == 1
    after = files.file(engine, "talk.vtt")
    assert (after.locators, after.text_sha256) == (before.locators, before.text_sha256)
    shutil.rmtree(project.extracted, ignore_errors=True)  # and where nothing is remembered of the first time
    files.set_state(engine, ["talk.vtt"], "indexed", pipeline="0")
    assert index(engine, project).indexed == 1
    assert files.file(engine, "talk.vtt").locators == before.locators
    path.write_text(path.read_text().replace("00:05", "00:04"))
    index(engine, project)
    assert [place for _, _, place in files.file(engine, "talk.vtt").locators] == ["t=0,2", "t=4,7"]


def test_a_run_on_another_machine_that_fell_silent_does_not_block_for_ever(engine, project):
    run = files.begin_indexing(engine, pid=1, host="elsewhere", total=0)
    with pytest.raises(IndexingElsewhereError):
        index(engine, project)
    with Session(engine) as session:
        row = session.get_one(IndexingRow, run)
        row.heartbeat_at = files.now() - timedelta(seconds=1_000)
        session.commit()
    assert index(engine, project).indexed == 2


def test_watching_takes_up_a_change_and_ends_cleanly_with_ctrl_c(tmp_path):
    project = small_project(tmp_path / "project")
    code = _SLOWLY.format(tests=str(Path(__file__).parent)).replace("seconds=0.1", "seconds=0")
    arguments = [sys.executable, "-c", code, "documents", "watch", "--every", "0.2", "--project", str(project.root)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    engine = None

    def wait_for(name):
        nonlocal engine
        for _ in range(300):
            time.sleep(0.1)
            if (project.var / "bluffline.db").is_file():
                engine = engine or open_store(project.store_url)
                if states(engine).get(name) == "indexed":
                    return
        raise AssertionError(f"{name} was not indexed")

    try:
        wait_for("vectors.md")
        (project.documents / "later.md").write_text("# Later\n\nIt came later.\n")
        wait_for("later.md")
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    engine.dispose()
    assert process.returncode == 0, err
    assert out.startswith(f"watching {project.documents}")
    assert re.search(r"[12] indexed, 0 failed", out)  # the first look may have found both already
    assert "stopped; what is indexed is kept." in out
    assert "Traceback" not in err


def test_what_lies_in_a_folder_that_cannot_be_read_now_is_not_called_gone(engine, project, monkeypatch):
    (project.documents / "sub").mkdir()
    (project.documents / "vectors.md").rename(project.documents / "sub" / "vectors.md")
    index(engine, project)
    with monkeypatch.context() as while_closed:
        closing(while_closed, project.documents / "sub")
        said = []
        done = index(engine, project, say=said.append)
        assert (done.failed, done.removed) == (1, 0)
        assert said == ["sub: failed (failed): the folder cannot be read (Permission denied)"]
        assert states(engine)["sub/vectors.md"] == "indexed"
        closing(while_closed, project.documents)
        with pytest.raises(FolderError, match="the documents folder cannot be read"):
            index(engine, project)
    assert index(engine, project).removed == 1  # the folder's own line
    assert "sub" not in states(engine)


def test_a_link_to_a_folder_says_that_it_is_one(engine, project):
    (project.documents / "again").symlink_to(project.documents)
    index(engine, project)
    row = files.file(engine, "again")
    assert (row.kind, row.reason) == ("unsupported", "it is a link to a folder, which is not followed")


def test_a_file_that_never_rests_is_left_waiting_after_a_few_tries(engine, project):
    tries = []

    class Restless(WordEncoder):
        def encode_documents(self, texts):
            tries.append(len(texts))
            (project.documents / "log.md").write_text(f"# Log\n\nLine {len(tries)} of the log.\n")
            return super().encode_documents(texts)

    (project.documents / "log.md").write_text("# Log\n\nThe first line of the log.\n")
    index(engine, project, Restless())
    assert len(tries) < 20
    row = files.file(engine, "log.md")
    assert (row.state, row.reason) == ("queued", "the file changed")
    index(engine, project)
    assert states(engine)["log.md"] == "indexed"


def test_the_list_says_how_failed_documents_are_tried_again(project, documents):
    engine = open_store(project.store_url)
    index(engine, project)
    assert "Failed ones, once mended: bluffline documents retry --all" in documents(project).out
    for name in BROKEN:
        (project.documents / name).unlink()
    index(engine, project)
    assert "retry" not in documents(project).out
    engine.dispose()
