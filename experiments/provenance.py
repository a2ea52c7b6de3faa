"""Where a sweep comes from: the commit, and the versions of everything that shaped its numbers."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from corpus.canonical import EXTRACTOR
from corpus.questions import Query
from experiments.ci_services import checkout

# Raised by hand whenever chunking, embedding, ranking or scoring gives other numbers for the same input.
PIPELINE = "2"
# What counts as a hit; a set of questions has one rule, and numbers of two rules are never compared.
HIT_RULE = "whole-needle-in-embedded-range/1"
DOCUMENT_HIT_RULE = "chunk-of-a-relevant-document/1"

_LIBRARIES = ("torch", "sentence-transformers", "transformers", "rank-bm25", "numpy", "scipy", "mlflow", "bluffline")


class Provenance(NamedTuple):
    """The state of the code and documents; all None where neither git nor a CI service knows any.

    `dirty` is None where only a CI service names the commit: nobody can tell what was changed since.
    """

    commit: str | None
    branch: str | None
    tag: str | None
    author_date: datetime | None
    dirty: bool | None
    patch_hash: str | None  # of the uncommitted changes, so that two dirty sweeps can be told apart
    remark: str | None = None  # why something is not known, where a person may have expected it


NO_GIT = Provenance(None, None, None, None, None, None)

# Set inside a git hook; they would turn every question towards the hook's repository.
_REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
_WHOLE_FILE = 20_000_000  # bytes; of a larger untracked file size and time stand for the content


def hit_rule(queries: Iterable[Query]) -> str:
    """The hit rule that a set of questions is measured by."""
    return DOCUMENT_HIT_RULE if any(query.relevant for query in queries) else HIT_RULE


def document_level(rule: str) -> bool:
    """Whether a hit rule judges whole documents: then there are no needles to destroy, to truncate or to quote."""
    return rule.startswith("chunk-of-a-relevant-document/")


def provenance(folder: Path) -> Provenance:
    """Read the git state of the repository that `folder` lies in, and what a CI service says where git knows less.

    The project's own state under `folder/var` never makes it dirty.
    """
    said = checkout(os.environ)
    head = _run(folder, "rev-parse", "--verify", "HEAD")
    commit = _output(head)
    if commit is None:
        remark = _why_not(folder, head)
        if said.commit is None:
            return NO_GIT._replace(remark=f"{remark}; the sweep says no commit" if remark else None)
        remark = f"{remark or 'there is no repository here'}; the commit is the one the CI service names, and whether "
        return Provenance(said.commit, said.branch, said.tag, None, None, None, f"{remark}files differ is not known")
    date = _git(folder, "show", "-s", "--format=%aI", "HEAD")
    dirty, patch = _changes(folder)
    return Provenance(
        commit=commit,
        # What a service checks out is a detached commit; it says the branch in its environment.
        branch=_git(folder, "symbolic-ref", "--short", "-q", "HEAD") or said.branch,
        tag=_git(folder, "describe", "--tags", "--exact-match", "HEAD")
        or (said.tag if said.commit == commit else None),
        author_date=datetime.fromisoformat(date).astimezone(UTC) if date else None,
        dirty=dirty,
        patch_hash=patch,
    )


def commit_of(folder: Path, name: str) -> str | None:
    """The commit that git knows by a name (`HEAD~1`, a tag, a branch, part of a hash); None where it knows none."""
    if not name.isprintable() or not name or name.startswith("-"):
        return None
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _why_not(folder: Path, asked: subprocess.CompletedProcess[bytes] | None) -> str | None:
    """Why git names no commit although there is a repository; None where there is none."""
    if not any((place / ".git").exists() for place in (folder.resolve(), *folder.resolve().parents)):
        return None
    if asked is None:
        return "there is a git repository, but git is not installed or does not answer"
    told = asked.stderr.decode("utf-8", "replace").strip().splitlines()
    if any("dubious ownership" in line for line in told):
        return "git refuses the repository, because it belongs to another user (see git's safe.directory)"
    if any("Needed a single revision" in line for line in told):
        return "the git repository has no commit yet"
    return f"git cannot read the repository: {told[0].removeprefix('fatal: ')}" if told else None


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
    plain = ("--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=diff")
    difference = _git(root, "diff", "HEAD", *plain, *everything_but)
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
    return _output(_run(folder, *arguments))


def _output(done: subprocess.CompletedProcess[bytes] | None) -> str | None:
    """What git printed; None where it failed or could not be asked."""
    return done.stdout.decode("utf-8", "surrogateescape").strip() if done and done.returncode == 0 else None


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(  # noqa: S603 - fixed arguments, no shell
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
