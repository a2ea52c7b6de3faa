"""The documents folder: names made safe, files put there whole, nothing replaced or lost unasked."""

from __future__ import annotations

import io

import pytest
from small_project import small_project

from experiments.indexing.folder import ExistsError, FolderRefusedError, add, file_of, questions_about, remove, safe_id
from experiments.project import open_project


@pytest.mark.parametrize(
    "name",
    [
        "", " ", ".", "..", "/", "//a.md", "/etc/passwd", "C:\\boot.ini", "c:a.md", "\\\\host\\share\\a.md", "../a.md",
        "a/../../b.md", "a/..\\..\\b.md", "a//b.md", "./a.md", ".hidden", "a/.git/config", "a\0b.md", "a\nb.md",
        "a\u202emd.exe", "con", "NUL.txt", "nul .md", "com¹.md", "conin$",
        "a/lpt1.md", "a.md.", "a .md/ b", "a:stream.md", "what?.md", "x" * 256,
        "é" * 128 + ".md", "/".join(["a"] * 21), "\udc80.md",
    ],
)  # fmt: skip
def test_names_that_trick_are_refused(name):
    with pytest.raises(FolderRefusedError, match="give it a plain name"):
        safe_id(name)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.md", "a.md"),
        ("Ordner\\Übung 1.md", "Ordner/Übung 1.md"),
        ("cafe\u0301.md", "caf\u00e9.md"),
        ("a..b.md", "a..b.md"),
        ("نامه\u200cها.md", "نامه\u200cها.md"),
    ],
)  # fmt: skip
def test_plain_names_are_kept(name, written):
    assert safe_id(name) == written


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "project")


def test_a_file_is_added_whole_and_replaced_only_when_asked(project):
    assert add(project, "sub/new.md", io.BytesIO(b"one")) == ("sub/new.md", 3, True, False)
    assert add(project, "sub/new.md", io.BytesIO(b"one")) == ("sub/new.md", 3, False, False)
    with pytest.raises(ExistsError, match="is there already, with other content"):
        add(project, "sub/new.md", io.BytesIO(b"two"))
    assert (project.documents / "sub/new.md").read_bytes() == b"one"
    assert add(project, "sub/new.md", io.BytesIO(b"two"), replace=True).replaced
    assert (project.documents / "sub/new.md").read_bytes() == b"two"
    with pytest.raises(FolderRefusedError, match="is a folder"):
        add(project, "sub", io.BytesIO(b"three"))


class _Endless(io.RawIOBase):
    def read(self, size: int = -1) -> bytes:
        return b"x" * size


class _Broken(io.RawIOBase):
    def read(self, size: int = -1) -> bytes:
        raise OSError("the connection was lost")


def test_a_file_that_is_too_large_or_breaks_off_leaves_nothing_behind(project):
    with pytest.raises(FolderRefusedError, match="is larger than 100 MB"):
        add(project, "large.md", _Endless())
    with pytest.raises(OSError, match="connection"):
        add(project, "half.md", _Broken())
    assert sorted(path.name for path in project.documents.iterdir()) == ["serving.md", "vectors.md"]


def test_a_linked_folder_that_leads_out_takes_and_gives_nothing(project, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret")
    (project.documents / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(FolderRefusedError, match="leads out"):
        add(project, "link/new.md", io.BytesIO(b"x"))
    with pytest.raises(FolderRefusedError, match="leads out"):
        remove(project, "link/secret.md")
    assert file_of(project, "link/secret.md") is None
    assert file_of(project, "../bluffline.toml") is None
    assert file_of(project, "a\0b") is None
    assert file_of(project, "vectors.md") == project.documents / "vectors.md"


def test_the_questions_that_point_to_a_document_are_known_before_it_is_removed(project):
    assert [query.id for query in questions_about(project, "vectors.md").questions] == ["n1", "n2"]
    assert questions_about(project, "nowhere.md") == ((), 0)
    whole = project.questions.read_text()
    project.questions.write_text(whole + "no question\n")
    assert questions_about(project, "nowhere.md") == ((), 1)
    project.questions.unlink()
    assert questions_about(project, "vectors.md") == ((), 0)
    project.questions.write_text(whole)
    remove(project, "vectors.md")
    with pytest.raises(FolderRefusedError, match="there is no document"):
        remove(project, "vectors.md")


def test_a_document_that_is_not_read_yet_is_read_before_it_is_removed(project):
    (project.documents / "vectors.md").unlink()
    (project.documents / "page.html").write_text("<h1>Norms</h1><p>The norm of a vector is never negative.</p>")
    assert [query.id for query in questions_about(project, "page.html").questions] == ["n1", "n2"]


def test_the_bundled_corpus_is_not_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FolderRefusedError, match="bluffline init"):
        add(open_project(), "a.md", io.BytesIO(b"x"))
