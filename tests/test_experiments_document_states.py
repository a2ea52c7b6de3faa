"""What became of documents: what a sweep keeps of those it left out, and a corpus beside its files."""

from __future__ import annotations

from pathlib import Path

from corpus.documents import load_documents
from corpus.faults import Fault
from experiments.reviewing.comparing import _written
from experiments.reviewing.document_states import (
    MOST_KEPT,
    as_setting,
    compare_with_files,
    failed_documents,
    of_faults,
)
from experiments.verdicts.documents import on_failed, on_files

FOLDER = Path("/documents")


def fault(file="/documents/a/b.md", line=None, value="", problem="the file is empty"):
    return Fault(file, line, value, problem, "Mend it.")


def test_a_fault_becomes_a_sentence_under_the_documents_id():
    plain, placed, folder = of_faults(
        [fault(), fault(line=3, value="\udc80", problem="this is not text"), fault(file="/documents")], FOLDER
    )
    assert plain == ("a/b.md", "The file is empty.", "Mend it.")
    assert placed.problem == r"Line 3: this is not text: '\udc80'."
    assert folder.file == "/documents"


def test_what_a_sweep_keeps_is_read_back_and_bounded():
    faults = [fault(file=f"/documents/{number}.md") for number in range(MOST_KEPT + 9)]
    kept = as_setting(faults, FOLDER)
    assert failed_documents(kept) == of_faults(faults[:MOST_KEPT], FOLDER)
    assert as_setting([], FOLDER) == {}
    assert failed_documents({"k": [1]}) == ()


def test_a_comparison_of_sweeps_names_the_files_alone():
    assert _written(as_setting([fault(), fault(file="/documents/c.md")], FOLDER)["failed_documents"]) == "a/b.md, c.md"


def test_another_title_is_a_change_as_it_goes_into_headers(tmp_path):
    (tmp_path / "a.md").write_text("---\ntitle: Old\n---\nWords.\n")
    (measured,) = load_documents(tmp_path).documents
    before = {measured.id: (measured.title, measured.sha256)}
    assert compare_with_files(before, load_documents(tmp_path), tmp_path).counts == {}
    (tmp_path / "a.md").write_text("---\ntitle: New\n---\nWords.\n")
    (document,) = load_documents(tmp_path).documents
    assert document.sha256 == measured.sha256
    found = compare_with_files(before, load_documents(tmp_path), tmp_path).findings
    assert found["a.md"].reason == "the file has another title than was measured"


def test_a_folder_without_documents_is_a_fault_and_no_document_is_gone(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        found = compare_with_files({"a.md": ("A", "0")}, load_documents(folder), folder)
        assert found.findings == {}
        assert found.fault


def test_sentences_count_in_words():
    assert on_failed(0, 3) == ""
    assert on_failed(1, 3).endswith("sweep 3 began and was left out: no number speaks of it.")
    assert "not looked at" in on_files(None, "")
    assert on_files({}, "/d") == "The files in /d are what this sweep measured."
    assert on_files({"gone since": 2, "new on disk": 1}, "/d").startswith(
        "Beside the files in /d: 2 gone since and 1 new on disk."
    )
