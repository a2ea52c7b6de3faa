"""Where a sweep comes from: the commit, and the versions of everything that shaped its numbers."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from corpus.canonical import EXTRACTOR

# Raised by hand whenever chunking, embedding, ranking or scoring gives other numbers for the same input.
PIPELINE = "1"
HIT_RULE = "whole-needle-in-embedded-range/1"

_LIBRARIES = ("torch", "sentence-transformers", "transformers", "rank-bm25", "numpy", "scipy", "mlflow", "bluffline")


class Provenance(NamedTuple):
    """The state of the code and documents; all None outside a git repository."""

    commit: str | None
    branch: str | None
    tag: str | None
    author_date: datetime | None
    dirty: bool | None
    patch_hash: str | None  # of the uncommitted changes, so that two dirty sweeps can be told apart


NO_GIT = Provenance(None, None, None, None, None, None)

# What a CI service checks out is a detached commit; it says the branch in its environment.
_BRANCH_VARIABLES = (
    *("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "CI_COMMIT_BRANCH", "BRANCH_NAME"),
    *("BUILDKITE_BRANCH", "CIRCLE_BRANCH", "BITBUCKET_BRANCH", "TRAVIS_BRANCH", "BUILD_SOURCEBRANCHNAME"),
)
# Set inside a git hook; they would turn every question towards the hook's repository.
_REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
_WHOLE_FILE = 20_000_000  # bytes; of a larger untracked file size and time stand for the content


def provenance(folder: Path) -> Provenance:
    """Read the git state of the repository that `folder` lies in; `NO_GIT` where there is none.

    The project's own state under `folder/var` never makes it dirty.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return NO_GIT
    branch = _git(folder, "symbolic-ref", "--short", "-q", "HEAD") or next(
        (os.environ[name] for name in _BRANCH_VARIABLES if os.environ.get(name)), None
    )
    date = _git(folder, "show", "-s", "--format=%aI", "HEAD")
    dirty, patch = _changes(folder)
    return Provenance(
        commit=commit,
        branch=branch,
        tag=_git(folder, "describe", "--tags", "--exact-match", "HEAD"),
        author_date=datetime.fromisoformat(date).astimezone(UTC) if date else None,
        dirty=dirty,
        patch_hash=patch,
    )


def _changes(folder: Path) -> tuple[bool | None, str | None]:
    """Whether anything of the repository is uncommitted, and a hash of it, the content of new files included."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top:  # a bare repository has no working tree
        return None, None
    root = Path(top)
    own_state = (folder.resolve() / "var").relative_to(root.resolve()).as_posix()
    everything_but = ("--", ":(top)", f":(top,exclude,literal){own_state}")
    changes = _git(root, "status", "--porcelain", "-z", "--untracked-files=all", *everything_but)
    if not changes:
        return (None if changes is None else False), None
    difference = _git(root, "diff", "HEAD", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", *everything_but)
    digest = hashlib.sha256(f"{changes}\0{difference}".encode("utf-8", "surrogateescape"))
    for entry in changes.split("\0"):
        if entry.startswith("?? "):
            digest.update(_content(root / entry.removeprefix("?? ")))
    return True, digest.hexdigest()


def _content(file: Path) -> bytes:
    try:
        facts = file.stat()
        if not file.is_file() or facts.st_size > _WHOLE_FILE:
            return f"{facts.st_size} {facts.st_mtime_ns}".encode()
        return hashlib.sha256(file.read_bytes()).digest()
    except OSError:
        return b"unreadable"


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            timeout=30,
            check=False,
            env={
                **{name: value for name, value in os.environ.items() if name not in _REDIRECTIONS},
                "GIT_OPTIONAL_LOCKS": "0",
                "LC_ALL": "C",
            },
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape").strip() if done.returncode == 0 else None


def versions() -> dict[str, str]:
    """Versions of the libraries that shape the numbers, of what reads documents, of Python and of the machine."""
    found = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "extractor": EXTRACTOR,
    }
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "-"
    return found
