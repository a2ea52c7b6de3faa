"""Where a sweep comes from, in repositories of every kind."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from experiments.provenance import _BRANCH_VARIABLES, NO_GIT, provenance, versions


def git(folder: Path, *arguments: str) -> str:
    facts = (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", "2026-03-04T05:06:07+02:00"))
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in facts}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env={**os.environ, **who}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in _BRANCH_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "trunk")
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def test_a_clean_repository_gives_commit_branch_tag_and_date(repository: Path) -> None:
    git(repository, "tag", "v1")
    found = provenance(repository)
    assert found.commit == git(repository, "rev-parse", "HEAD")
    assert (found.branch, found.tag, found.dirty, found.patch_hash) == ("trunk", "v1", False, None)
    assert found.author_date == datetime(2026, 3, 4, 3, 6, 7, tzinfo=UTC)
    assert found.author_date.tzinfo is UTC  # a store that drops the zone must not shift it


def test_different_changes_have_different_hashes_and_the_same_the_same(repository: Path) -> None:
    hashes = []
    for text in ("two\n", "three\n", "two\n"):
        (repository / "a.txt").write_text(text)
        found = provenance(repository)
        assert found.dirty is True
        hashes.append(found.patch_hash)
    assert hashes[0] == hashes[2] != hashes[1]
    git(repository, "add", "a.txt")  # staged or not, it is not committed
    assert provenance(repository).dirty is True


@pytest.mark.parametrize("name", ["new.txt", "deep/er/new file.txt", "ünïcode\nname.txt"])
def test_the_content_of_new_files_counts(repository: Path, name: str) -> None:
    file = repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    hashes = []
    for text in ("x", "y", "x"):
        file.write_text(text)
        hashes.append(provenance(repository).patch_hash)
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_project_below_the_top_sees_the_whole_repository(repository: Path) -> None:
    project = repository / "eval"
    project.mkdir()
    (project / "b.txt").write_text("x")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "second")
    assert provenance(project).dirty is False
    (repository / "a.txt").write_text("changed\n")
    assert provenance(project).dirty is True


def test_the_state_of_the_project_itself_is_no_change(repository: Path) -> None:
    project = repository / "eval [1]"
    (project / "var").mkdir(parents=True)
    (project / "bluffline.toml").write_text("")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "project")
    (project / "var" / "bluffline.db").write_text("rows")
    assert provenance(project)[4:] == (False, None)
    (repository / "var").mkdir()
    (repository / "var" / "other").write_text("not this project's")
    assert provenance(project).dirty is True
    assert provenance(repository).dirty is True  # to it, eval/var is a file like any other


def test_a_detached_head_has_the_branch_its_ci_names(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert provenance(repository).branch is None
    monkeypatch.setenv("CI_COMMIT_REF_NAME", "feature/x")
    assert provenance(repository).branch == "feature/x"
    monkeypatch.setenv("GITHUB_HEAD_REF", "")
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    assert provenance(repository).branch == "main"
    git(repository, "checkout", "-q", "trunk")
    assert provenance(repository).branch == "trunk"


def test_inside_a_git_hook_the_own_repository_is_read(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    found = provenance(repository)
    monkeypatch.delenv("GIT_DIR")
    assert found.commit == git(repository, "rev-parse", "HEAD")


def test_no_repository_no_commit_and_no_git_are_all_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert provenance(tmp_path) == NO_GIT
    git(tmp_path, "init", "-q")
    assert provenance(tmp_path) == NO_GIT
    (tmp_path / "a").write_text("x")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "x")
    assert provenance(tmp_path).commit is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance(tmp_path) == NO_GIT


def test_a_bare_repository_is_neither_clean_nor_dirty(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bare = tmp_path_factory.mktemp("bare")
    git(repository, "clone", "-q", "--bare", str(repository), str(bare))
    assert provenance(bare).commit == git(repository, "rev-parse", "HEAD")
    assert provenance(bare).dirty is None


def test_versions_name_what_shapes_the_numbers() -> None:
    found = versions()
    assert {"python", "machine", "torch", "sentence-transformers", "rank-bm25", "numpy", "scipy"} <= set(found)
    assert "-" not in {found["torch"], found["numpy"]}
