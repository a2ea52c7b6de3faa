"""A folder of documents."""

import hashlib
import os
from pathlib import Path

import pytest
from odd_folder import closing

from corpus.documents import load_documents
from corpus.faults import Fault
from corpus.fingerprint import corpus_hash


def write(folder: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def test_documents_come_by_id_with_title_and_canonical_text(tmp_path: Path) -> None:
    write(
        tmp_path,
        b_dot_txt="Plain words.",
        sub__a_dot_MD=b"\xef\xbb\xbf# Alpha\r\n\r\nWords.\r\n",
        sub__z_dot_markdown="Zed",
    )
    loaded = load_documents(tmp_path)
    assert loaded.faults == ()
    assert [(d.id, d.title, d.text) for d in loaded.documents] == [
        ("b.txt", "b", "Plain words."),
        ("sub/a.MD", "Alpha", "# Alpha\n\nWords.\n"),
        ("sub/z.markdown", "z", "Zed"),
    ]
    alpha = loaded.documents[1]
    assert alpha.sha256 == hashlib.sha256(b"# Alpha\n\nWords.\n").hexdigest()
    assert alpha.source == f"{tmp_path.as_posix()}/sub/a.MD"


def test_hidden_files_are_ignored_and_other_suffixes_are_listed(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="A", _dot_hidden__b_dot_md="B", _dot_c_dot_md="C", sub__d_dot_png=b"\x89PNG", README="E")
    loaded = load_documents(tmp_path)
    assert [d.id for d in loaded.documents] == ["a.md"]
    assert loaded.skipped == ("README", "sub/d.png")
    assert loaded.faults == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Front\n---\n# Heading\n", "Heading"),
        ("---\ntitle: Front\n---\nUnderlined\n===\n", "Front"),
        ("Underlined\n===\n", "Underlined"),
        ("## Only a section\n", "name"),
    ],
)
def test_the_title_is_the_heading_then_the_front_matter_then_the_file_name(
    tmp_path: Path, text: str, title: str
) -> None:
    write(tmp_path, name_dot_md=text)
    assert load_documents(tmp_path).documents[0].title == title


def test_front_matter_and_bibliography_are_cut_off_when_asked(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="---\ntitle: T\n---\n\nWords.\n\n## References\n\nBook.\n")
    assert load_documents(tmp_path).documents[0].text == "Words.\n\n## References\n\nBook.\n"
    assert load_documents(tmp_path, strip_bibliography=("References",)).documents[0].text == "Words.\n"
    kept = load_documents(tmp_path, strip_front_matter=False).documents[0]
    assert kept.text.startswith("---\ntitle: T")
    assert kept.title == "T"


def only_fault(folder: Path, **options: object) -> Fault:
    (fault,) = load_documents(folder, **options).faults  # type: ignore[arg-type]
    return fault


def test_one_unreadable_file_does_not_hide_the_others(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_dot_md="Fine.",
        b_dot_md=b"",
        c_dot_md=" \n\n",
        d_dot_md="Größe – ja\nLänge – ".encode() + b"\xff",
        e_dot_md=b"\x00\x01\x02",
        f_dot_md="---\ntitle: nothing else\n---\n",
    )
    loaded = load_documents(tmp_path)
    assert [d.id for d in loaded.documents] == ["a.md"]
    assert [(f.file.rsplit("/", 1)[1], f.line, f.value, f.problem) for f in loaded.faults] == [
        ("b.md", None, "", "the file is empty"),
        ("c.md", None, "", "the file holds white space only"),
        ("d.md", 2, "0xff", "the bytes are damaged UTF-8"),
        ("e.md", None, "", "the file is not text (it holds zero bytes)"),
        ("f.md", None, "", "nothing is left of the file without its front matter and bibliography"),
    ]


def test_a_missing_a_wrong_and_an_empty_folder_are_faults(tmp_path: Path) -> None:
    assert only_fault(tmp_path / "nowhere").problem == "the documents folder does not exist"
    assert only_fault(tmp_path).problem == "the documents folder holds no documents"
    write(tmp_path, a_dot_md="A")
    assert only_fault(tmp_path / "a.md").problem == "the documents folder is not a folder"


def test_links_must_not_leave_the_folder(tmp_path: Path) -> None:
    write(tmp_path, secret_dot_md="Secret.", docs__a_dot_md="A.", docs__sub__b_dot_md="B.")
    docs = tmp_path / "docs"
    (docs / "out.md").symlink_to(tmp_path / "secret.md")
    (docs / "outside").symlink_to(tmp_path)
    (docs / "loop").symlink_to(docs)
    (docs / "dangling.md").symlink_to(docs / "gone.md")
    (docs / "itself.md").symlink_to("itself.md")
    (docs / "inside.md").symlink_to(docs / "sub" / "b.md")
    loaded = load_documents(docs)
    assert [d.id for d in loaded.documents] == ["a.md", "inside.md", "sub/b.md"]
    assert [(f.file.rsplit("/", 1)[1], f.problem) for f in loaded.faults] == [
        ("dangling.md", "the link leads nowhere"),
        ("itself.md", "the link leads nowhere"),
        ("out.md", "the link leads out of the documents folder"),
        ("outside", "the link leads out of the documents folder"),
    ]
    assert loaded.skipped == ("loop",)


def test_a_pipe_with_a_document_suffix_does_not_hang(tmp_path: Path) -> None:
    write(tmp_path, a_dot_md="A")
    os.mkfifo(tmp_path / "pipe.md")
    assert load_documents(tmp_path).skipped == ("pipe.md",)


def test_a_file_far_too_large_is_a_fault(tmp_path: Path) -> None:
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(100_000_001)
    fault = only_fault(tmp_path)
    assert (fault.problem, fault.value) == ("the file is larger than 100 MB", "100000001 bytes")


def test_the_corpus_hash_knows_texts_titles_and_names_but_not_the_folder(tmp_path: Path) -> None:
    def hashed(place: str, **files: str) -> str:
        return corpus_hash(load_documents(write(tmp_path / place, **files)).documents)

    first = hashed("one", a_dot_md="Words.\n", b_dot_md="More.\n")
    assert first == hashed("two", b_dot_md="More.\r\n", a_dot_md="\ufeffWords.\n")
    assert first != hashed("three", a_dot_md="Words!\n", b_dot_md="More.\n")
    assert first != hashed("four", c_dot_md="Words.\n", b_dot_md="More.\n")
    assert first != hashed("five", a_dot_md="---\ntitle: T\n---\nWords.\n", b_dot_md="More.\n")
    documents = load_documents(tmp_path / "one").documents
    assert first == corpus_hash(documents[::-1])


def test_a_fault_is_one_line_with_place_value_and_advice() -> None:
    fault = Fault("a/b.md", 7, "two\nlines " + "x" * 500, "it is wrong", "Mend it.")
    assert fault.sentence.startswith("a/b.md:7: it is wrong: 'two\\nlines xxx")
    assert fault.sentence.endswith("…'. Mend it.")
    assert len(fault.value) < 110
    assert Fault("a.md", None, "", "it is empty", "Fill it.").sentence == "a.md: it is empty. Fill it."


@pytest.mark.parametrize(
    ("name", "shown"),
    [("two\nlines.md", r"two\nlines.md"), ("red\x1b[1m.md", r"red\x1b[1m.md"), ("a\u202edm.md", r"a\u202edm.md")],
)  # fmt: skip
def test_a_name_that_breaks_the_line_it_stands_in_is_a_fault_that_shows_it_in_one(
    tmp_path: Path, name: str, shown: str
) -> None:
    write(tmp_path, fine_dot_md="Fine.")
    (tmp_path / name).write_text("Words.", encoding="utf-8")
    (fault,) = load_documents(tmp_path).faults
    assert fault.file == f"{tmp_path.as_posix()}/{shown}"
    assert "signs in it that nobody sees" in fault.sentence


def test_a_folder_that_cannot_be_read_is_a_fault_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a_dot_md="A.", closed__b_dot_md="B.")
    closing(monkeypatch, tmp_path / "closed")
    loaded = load_documents(tmp_path)
    assert [one.id for one in loaded.documents] == ["a.md"]
    assert [fault.sentence for fault in loaded.faults] == [
        f"{tmp_path.as_posix()}/closed: the folder cannot be read (Permission denied). Check its permissions."
    ]
    closing(monkeypatch, tmp_path)
    assert only_fault(tmp_path).problem == "the documents folder cannot be read (Permission denied)"
