"""Where a sweep comes from, in repositories of every kind."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from experiments.ci_services import SERVICES
from experiments.provenance import NO_GIT, commit_of, provenance, versions


def git(folder: Path, *arguments: str) -> str:
    facts = (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", "2026-03-04T05:06:07+02:00"))
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in facts}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env={**os.environ, **who}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for service in SERVICES:
        for name in (service.known_by, service.commit, *service.branch, *service.tag):
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
    assert provenance(project)[4:6] == (False, None)
    (repository / "var").mkdir()
    (repository / "var" / "other").write_text("not this project's")
    assert provenance(project).dirty is True
    assert provenance(repository).dirty is True  # to it, eval/var is a file like any other


def test_a_detached_head_has_the_branch_its_ci_names(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert provenance(repository).branch is None
    monkeypatch.setenv("CI_COMMIT_BRANCH", "feature/x")
    assert provenance(repository).branch is None  # a variable without its service is no service
    monkeypatch.setenv("GITLAB_CI", "true")
    assert provenance(repository).branch == "feature/x"
    git(repository, "checkout", "-q", "trunk")
    assert provenance(repository).branch == "trunk"


def test_a_tag_that_was_not_fetched_is_the_one_the_ci_builds(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository, "checkout", "-q", "--detach")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_REF", "refs/tags/v1")
    monkeypatch.setenv("GITHUB_SHA", git(repository, "rev-parse", "HEAD"))
    assert provenance(repository)[1:3] == (None, "v1")
    monkeypatch.setenv("GITHUB_SHA", "b" * 40)
    assert provenance(repository)[1:3] == (None, None)


def test_without_a_repository_the_commit_is_the_one_a_ci_names_and_dirty_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILDKITE", "true")
    monkeypatch.setenv("BUILDKITE_COMMIT", "ab" * 20)
    monkeypatch.setenv("BUILDKITE_BRANCH", "main")
    found = provenance(tmp_path)
    assert found[:6] == ("ab" * 20, "main", None, None, None, None)
    assert found.remark and found.remark.startswith("there is no repository here; the commit is the one")


def test_a_repository_that_git_cannot_read_says_why_there_is_no_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = tmp_path_factory.mktemp("empty")
    git(empty, "init", "-q")
    assert (provenance(empty).remark or "").startswith("the git repository has no commit yet")
    broken = tmp_path_factory.mktemp("broken")
    (broken / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert "git cannot read the repository: not a git repository: /nowhere" in (provenance(broken).remark or "")
    monkeypatch.setenv("PATH", str(empty))
    assert (provenance(repository).remark or "").startswith("there is a git repository, but git is not installed")
    assert provenance(repository).commit is None


def test_a_shallow_clone_and_a_second_worktree_are_as_good_as_the_whole(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("copies")
    head = git(repository, "rev-parse", "HEAD")
    git(place, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    git(repository, "worktree", "add", "-q", "-b", "side", str(place / "second"))
    assert provenance(place / "shallow")[:5] == provenance(repository)[:5]
    assert provenance(place / "second")[:2] == (head, "side")
    (place / "second" / "a.txt").write_text("changed\n")
    assert (provenance(place / "second").dirty, provenance(repository).dirty) == (True, False)


def test_a_submodule_has_its_own_commit_and_what_changed_in_it_changes_the_patch(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    inner = tmp_path_factory.mktemp("inner")
    git(inner, "init", "-q", "-b", "trunk")
    (inner / "b.txt").write_text("one\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(repository, "commit", "-q", "-m", "with submodule")
    assert provenance(repository / "sub").commit == git(inner, "rev-parse", "HEAD")
    assert provenance(repository).dirty is False
    hashes = []
    for text in ("two\n", "three\n", "two\n"):
        (repository / "sub" / "b.txt").write_text(text)
        hashes.append(provenance(repository).patch_hash)
    assert None not in hashes
    assert hashes[0] == hashes[2] != hashes[1]


def test_git_names_the_commit_of_whatever_it_knows_and_of_nothing_else(repository: Path) -> None:
    git(repository, "tag", "-a", "v1", "-m", "first")
    head = git(repository, "rev-parse", "HEAD")
    assert {commit_of(repository, name) for name in ("HEAD", "trunk", "v1", head[:8])} == {head}
    assert [commit_of(repository, name) for name in ("", "gone", "--help", "HEAD~7", "-q")] == [None] * 5


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
    assert provenance(tmp_path)[:6] == NO_GIT[:6]
    (tmp_path / "a").write_text("x")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "x")
    assert provenance(tmp_path).commit is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance(tmp_path)[:6] == NO_GIT[:6]


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
