"""What a CI service says about the commit it checked out, in its environment variables.

A service checks out a commit without a branch, and sometimes hands over the files without their repository. Each is
known by a variable of its own, so that a stray `BRANCH_NAME` on somebody's machine is not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")  # SHA-1 or SHA-256


class Service(NamedTuple):
    """The variables of one service; of several the first that is set counts."""

    known_by: str
    commit: str
    branch: tuple[str, ...]  # the branch of a proposed change comes first
    tag: tuple[str, ...]


class Checkout(NamedTuple):
    """What a service says; None where it does not."""

    commit: str | None = None
    branch: str | None = None
    tag: str | None = None


SERVICES = (
    Service("GITHUB_ACTIONS", "GITHUB_SHA", ("GITHUB_HEAD_REF", "GITHUB_REF"), ("GITHUB_REF",)),
    Service("GITLAB_CI", "CI_COMMIT_SHA", ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH"),
            ("CI_COMMIT_TAG",)),
    Service("BUILDKITE", "BUILDKITE_COMMIT", ("BUILDKITE_BRANCH",), ("BUILDKITE_TAG",)),
    Service("CIRCLECI", "CIRCLE_SHA1", ("CIRCLE_BRANCH",), ("CIRCLE_TAG",)),
    Service("BITBUCKET_BUILD_NUMBER", "BITBUCKET_COMMIT", ("BITBUCKET_BRANCH",), ("BITBUCKET_TAG",)),
    Service("TRAVIS", "TRAVIS_COMMIT", ("TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"), ("TRAVIS_TAG",)),
    Service("TF_BUILD", "BUILD_SOURCEVERSION", ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"),
            ("BUILD_SOURCEBRANCH",)),
    Service("JENKINS_URL", "GIT_COMMIT", ("CHANGE_BRANCH", "BRANCH_NAME", "GIT_LOCAL_BRANCH"), ("TAG_NAME",)),
)  # fmt: skip
_HEADS, _TAGS, _REFS = "refs/heads/", "refs/tags/", "refs/"


def checkout(environment: Mapping[str, str]) -> Checkout:
    """What the CI service this process runs in says about its checkout; nothing where it runs in none.

    Args:
        environment: Variables, usually `os.environ`.
    """
    service = next((one for one in SERVICES if environment.get(one.known_by)), None)
    if service is None:
        return Checkout()
    commit = environment.get(service.commit, "").strip().lower()
    branch = _first(environment, service.branch, _HEADS)
    tag = _first(environment, service.tag, _TAGS, in_full=service.branch)
    # Some services give a tag's name as the branch of its build.
    return Checkout(commit if _COMMIT.fullmatch(commit) else None, None if branch == tag else branch, tag)


def _first(environment: Mapping[str, str], names: Sequence[str], kind: str, in_full: Sequence[str] = ()) -> str | None:
    """The first variable that names a reference of this kind, in short or in full (`in_full`: in full only)."""
    for name in names:
        value = environment.get(name, "").strip()
        if value.startswith(kind):
            return value.removeprefix(kind)
        if value and not value.startswith(_REFS) and name not in in_full:
            return value
    return None
