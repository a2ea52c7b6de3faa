"""Where a sweep comes from: the commit, and the versions of everything that shaped its numbers."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

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
_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME", "BUILDKITE_BRANCH")


def provenance(folder: Path) -> Provenance:
    """Read the git state of the repository that `folder` lies in; `NO_GIT` where there is none."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return NO_GIT
    branch = _git(folder, "symbolic-ref", "--short", "-q", "HEAD") or next(
        (os.environ[name] for name in _BRANCH_VARIABLES if os.environ.get(name)), None
    )
    date = _git(folder, "show", "-s", "--format=%aI", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=normal")
    patch = None
    if changes:
        difference = _git(folder, "diff", "HEAD", "--binary") or ""
        patch = hashlib.sha256(f"{changes}\n{difference}".encode("utf-8", "surrogateescape")).hexdigest()
    return Provenance(
        commit=commit,
        branch=branch,
        tag=_git(folder, "describe", "--tags", "--exact-match", "HEAD"),
        author_date=datetime.fromisoformat(date) if date else None,
        dirty=None if changes is None else bool(changes),
        patch_hash=patch,
    )


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            timeout=30,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape").strip() if done.returncode == 0 else None


def versions() -> dict[str, str]:
    """Versions of the libraries that shape the numbers, of Python and of the machine."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "-"
    return found
