"""Which sweep a name means."""

from __future__ import annotations

import os
import subprocess

import pytest
from web_worlds import reviewed

from experiments.reviewing.references import ReferenceUnclearError, ReferenceUnknownError, find_sweep
from store.engine import open_store

A, B, C = "abcd1" + "0" * 35, "abcd2" + "0" * 35, "1234" + "0" * 36


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """1 to 3 on main, 4 on a branch that never finished, 5 failed, 6 of the same commit as 1 and dirty."""
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('references') / 'store.db'}")
    reviewed(opened, keys=[], commit=A, tag="v1")
    reviewed(opened, keys=[], commit=B, key="feed" + "0" * 28)
    reviewed(opened, keys=[], commit=C, state="interrupted")
    reviewed(opened, keys=[], commit=C, branch="try", state="interrupted", tag="main/old")
    reviewed(opened, keys=[], commit=None, branch=None, state="failed")
    reviewed(opened, keys=[], commit=A, branch="v1", dirty=True)
    yield opened
    opened.dispose()


@pytest.mark.parametrize(
    ("name", "sweep_id"),
    [
        ("1", 1), ("4", 4), ("main", 2), (A, 1), ("abcd1", 1), ("ABCD1", 1), ("abcd2", 2), ("feed", 2),
        ("commit:abcd1", 1), ("tag:v1", 1), ("branch:v1", 6), ("sweep:3", 3), ("key:feed0", 2),
    ],
)  # fmt: skip
def test_a_sweep_is_found_by_id_key_commit_tag_and_branch(engine, name, sweep_id):
    assert find_sweep(engine, name, None).id == sweep_id


def test_of_a_commit_the_sweep_without_uncommitted_changes_is_meant(engine):
    assert find_sweep(engine, A, None).id == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("v1", "'v1' could mean tag:v1 (sweep 1) or branch:v1 (sweep 6); say which"),
        ("abcd", "'abcd' begins several commits: abcd10000000 or abcd20000000; write more of it"),
    ],
)
def test_a_name_of_several_sweeps_is_refused_with_all_of_them(engine, name, words):
    with pytest.raises(ReferenceUnclearError) as error:
        find_sweep(engine, name, None)
    assert str(error.value) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "gone",
            "there is no sweep 'gone'; the store holds 5 sweeps (6, 4, 3, 2, 1); branches v1, try, main; "
            "tags main/old, v1",
        ),
        ("99", "there is no sweep '99'; the store holds"),
        ("try", "branch try has no finished sweep: sweep 4 is interrupted; name it".replace("it", "one by its id")),
        ("1234", "commit 1234 has no finished sweep: sweep 4 is interrupted and sweep 3 is interrupted; name one"),
        ("5", "sweep 5 holds no numbers: it is failed"),
        ("%", "there is no sweep '%'"),
        ("tag:main", "there is no sweep 'tag:main'"),
        ("", "there is no sweep ''"),
    ],
)
def test_a_name_of_none_is_refused_with_what_there_is(engine, name, words):
    with pytest.raises(ReferenceUnknownError) as error:
        find_sweep(engine, name, None)
    assert str(error.value).startswith(words)


def test_what_only_git_knows_leads_to_its_commit_and_an_unmeasured_one_says_so(engine, tmp_path):
    who = {f"GIT_{role}_{part}": "a" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=tmp_path, env={**os.environ, **who}, check=True,
                              capture_output=True, text=True)  # fmt: skip
        return done.stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    reviewed(engine, keys=[], commit=git("rev-parse", "HEAD"), branch="other")
    git("tag", "later")
    assert find_sweep(engine, "HEAD", tmp_path).id == find_sweep(engine, "later", tmp_path).id == 7
    git("commit", "-q", "--allow-empty", "-m", "two")
    assert find_sweep(engine, "HEAD~1", tmp_path).id == 7
    with pytest.raises(ReferenceUnknownError, match=r"commit [0-9a-f]{12} \(HEAD\) was not measured: check it out"):
        find_sweep(engine, "HEAD", tmp_path)


def test_an_empty_store_says_how_to_make_a_sweep(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    with pytest.raises(ReferenceUnknownError, match="no sweep with numbers: make one with `bluffline run`"):
        find_sweep(opened, "main", tmp_path)
    opened.dispose()
