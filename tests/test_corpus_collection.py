"""Collections: many documents in one JSONL file, streamed, with every fault of every line."""

import json
from pathlib import Path

import pytest

from corpus.collection import is_collection, read_collection
from corpus.documents import load_documents
from corpus.extraction.limits import Limits
from corpus.json_lines import json_lines, refusal


def collection(folder: Path, *entries: object) -> Path:
    file = folder / "documents.jsonl"
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def test_each_line_is_a_document_with_its_title_beside_its_text(tmp_path: Path) -> None:
    file = collection(
        tmp_path,
        {"_id": 2, "title": "Tides\n and moons", "text": "# Not a title\r\nThe moon pulls."},
        {"id": "a/1", "text": "---\nno: front matter\n---\nText."},
        {"id": "title-alone", "title": "Only a title", "text": ""},
    )
    loaded = load_documents(file)
    assert loaded.faults == ()
    assert [(one.id, one.title, one.text) for one in loaded.documents] == [
        ("2", "Tides and moons", "# Not a title\nThe moon pulls."),
        ("a/1", "", "---\nno: front matter\n---\nText."),
        ("title-alone", "Only a title", "Only a title"),
    ]
    assert {one.source for one in loaded.documents} == {file.as_posix()}
    assert len({one.sha256 for one in loaded.documents}) == 3


@pytest.mark.parametrize(
    ("entry", "value", "problem"),
    [
        ({"text": "x"}, "", "has no `id`"),
        ({"id": True, "text": "x"}, "True", "has no `id`"),
        ({"id": "a\u200b", "text": "x"}, "a\\u200b", "a character that cannot be seen"),
        ({"id": "b", "text": 5}, "5", "`text` is not a text"),
        ({"id": "b", "text": "  "}, "b", "neither text nor title"),
        ('{"id": "b", "text": "\\ud800"}', "\\ud800", "half a surrogate pair"),
        ('{"id": "b", "text": "a\\u0000"}', "a\\x00", "a zero character"),
        ('{"id": "b", "text": "x"', 'd": "b", "text": "x"', "the line is not JSON"),
        ('["b"]', '["b"]', "not a JSON object"),
        ({"id": "good", "text": "again"}, "good", "used already on line 1"),
    ],
)
def test_a_faulty_line_is_one_fault_and_the_others_are_read(
    tmp_path: Path, entry: object, value: str, problem: str
) -> None:
    loaded = load_documents(collection(tmp_path, {"id": "good", "text": "Text."}, entry, {"id": "z", "text": "Text."}))
    assert [one.id for one in loaded.documents] == ["good", "z"]
    (fault,) = loaded.faults
    assert (fault.line, fault.value) == (2, value)
    assert problem in fault.problem


def test_bytes_that_are_no_utf8_are_a_fault_of_their_line(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"id": "a", "text": "x"}\n{"id": "b", "text": "\xff"}\n')
    loaded = load_documents(file)
    assert [one.id for one in loaded.documents] == ["a"]
    assert [(one.line, one.value) for one in loaded.faults] == [(2, "0xff")]


def test_a_file_of_two_gigabytes_is_refused_without_being_opened(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    with file.open("wb") as stream:
        stream.truncate(2_000_000_000)  # a sparse file: it takes no space
    (fault,) = load_documents(file).faults
    assert "larger than 100 MB" in fault.problem
    assert fault.value == "2,000,000,000 bytes"
    (fault,) = load_documents(file, limits=Limits(megabytes=1_000)).faults
    assert "larger than 1,000 MB" in fault.problem


def test_a_line_without_end_is_a_fault_and_never_in_memory_whole(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    with file.open("wb") as stream:
        stream.write(b'{"id": "a", "text": "' + b"x" * 25_000_000 + b'"}\n{"id": "b", "text": "x"}\n')
    first, second = json_lines(file)
    assert "longer than 20 MB" in first.problem  # type: ignore[union-attr]
    assert second.line == 2


def test_a_missing_an_empty_and_a_blank_file_say_so(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    assert [one.problem for one in load_documents(file).faults] == ["the file does not exist"]
    file.write_text("")
    assert [one.problem for one in load_documents(file).faults] == ["the file is empty"]
    file.write_text("\n\n")
    assert [one.problem for one in read_collection(file)[1]] == ["the file holds no documents"]
    folder = refusal(tmp_path)
    assert folder is not None
    assert folder.problem == "the file is a folder"


def test_a_folder_is_no_collection_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "documents.jsonl"
    folder.mkdir()
    (folder / "a.md").write_text("Text.")
    assert not is_collection(folder)
    assert [one.id for one in load_documents(folder).documents] == ["a.md"]
