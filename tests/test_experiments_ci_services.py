"""What CI services say of the commit they checked out."""

from __future__ import annotations

import pytest

from experiments.ci_services import SERVICES, Checkout, checkout

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GITHUB_ACTIONS": "true", "GITHUB_SHA": SHA, "GITHUB_REF": "refs/heads/feature/x"}, (SHA, "feature/x", None)),
        ({"GITHUB_ACTIONS": "true", "GITHUB_SHA": SHA, "GITHUB_REF": "refs/tags/v2"}, (SHA, None, "v2")),
        (
            {"GITHUB_ACTIONS": "true", "GITHUB_SHA": SHA, "GITHUB_REF": "refs/pull/7/merge", "GITHUB_HEAD_REF": "fix"},
            (SHA, "fix", None),
        ),
        ({"GITLAB_CI": "true", "CI_COMMIT_SHA": SHA, "CI_COMMIT_BRANCH": "main"}, (SHA, "main", None)),
        ({"GITLAB_CI": "true", "CI_COMMIT_SHA": SHA, "CI_COMMIT_TAG": "v2"}, (SHA, None, "v2")),
        ({"GITLAB_CI": "true", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix"}, (None, "fix", None)),
        ({"BUILDKITE": "true", "BUILDKITE_COMMIT": "HEAD", "BUILDKITE_BRANCH": "main"}, (None, "main", None)),
        ({"BUILDKITE": "true", "BUILDKITE_BRANCH": "v2", "BUILDKITE_TAG": "v2"}, (None, None, "v2")),
        ({"TF_BUILD": "True", "BUILD_SOURCEVERSION": SHA, "BUILD_SOURCEBRANCH": "refs/heads/a/b"}, (SHA, "a/b", None)),
        ({"TF_BUILD": "True", "BUILD_SOURCEBRANCH": "refs/tags/v2"}, (None, None, "v2")),
        ({"JENKINS_URL": "https://ci", "GIT_COMMIT": SHA, "BRANCH_NAME": "main"}, (SHA, "main", None)),
        ({"GITHUB_SHA": SHA, "BRANCH_NAME": "main"}, (None, None, None)),
    ],
)
def test_commit_branch_and_tag_are_read_of_the_service_the_process_runs_in(environment, expected):
    assert checkout(environment) == Checkout(*expected)


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_names_a_commit_and_a_branch(service):
    assert checkout({service.known_by: "1", service.commit: SHA.upper(), service.branch[0]: "main"})[:2] == (
        SHA,
        "main",
    )


def test_an_empty_variable_says_nothing():
    assert checkout({"GITHUB_ACTIONS": "true", "GITHUB_SHA": "", "GITHUB_HEAD_REF": " "}) == Checkout()
