"""The workflows and pages about CI: they can be read, and every command and option in them exists."""

from __future__ import annotations

import importlib
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest
import yaml
from small_project import make_project

from experiments.cli import COMMANDS
from experiments.project import open_project

DOCS = Path(__file__).parent.parent / "docs"
GITHUB, GITLAB = DOCS / "ci" / "github-actions.yml", DOCS / "ci" / "gitlab-ci.yml"
PAGE = (DOCS / "ci.md").read_text("utf-8")
CALL = re.compile(r"\bbluffline ((?:[a-z]+)(?: [^;\n`|&]*)?)")


def calls():
    """Every call of the command in the workflows and in the page's shell blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    texts = [*(line for file in (GITHUB, GITLAB) for line in commands_of(yaml.safe_load(file.read_text("utf-8")))),
             *blocks]  # fmt: skip
    return [call for text in texts for call in CALL.findall(text) if not call.startswith("bluffline")]


def commands_of(workflow):
    """The shell lines of a workflow of either service."""
    if "jobs" in workflow:
        return [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    job = workflow["retrieval"]
    return [line for part in ("before_script", "script", "after_script") for line in job[part]]


@pytest.mark.parametrize("call", sorted(set(calls())))
def test_every_command_and_option_exists(call):
    name, *words = shlex.split(call)
    module, attribute = COMMANDS[name][0].split(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word.split("=")[0] for word in words if word.startswith("-")} <= known
    # Whatever stands there is accepted by the command's own parser, with the right number of arguments.
    command.make_context(name, [str(DOCS) if word == "evaluation" else word for word in words])


def test_the_calls_were_found():
    assert len(calls()) >= 14
    assert {call.split()[0] for call in calls()} == {"check", "run", "gate", "compare", "sync"}


def test_the_github_workflow_is_complete():
    workflow = yaml.safe_load(GITHUB.read_text("utf-8"))
    assert set(workflow) == {"name", True, "permissions", "concurrency", "jobs"}  # YAML reads `on` as true
    job = workflow["jobs"]["gate"]
    steps = job["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert [step["uses"].split("@")[0] for step in steps if "uses" in step] == [
        "actions/checkout", "actions/setup-python", "actions/cache", "actions/upload-artifact",
    ]  # fmt: skip
    cache = next(step for step in steps if step.get("uses", "").startswith("actions/cache"))
    assert cache["with"]["path"] == "evaluation/var/vectors"
    assert "MLFLOW_TRACKING_URI" in job["env"]


def test_the_gitlab_job_is_complete():
    job = yaml.safe_load(GITLAB.read_text("utf-8"))["retrieval"]
    assert job["artifacts"]["reports"]["junit"] == "reports/gate.xml"
    assert any("evaluation/var/vectors" in cache["paths"] for cache in job["cache"])
    assert all(isinstance(line, str) for part in ("before_script", "script", "after_script") for line in job[part])


def test_the_rules_on_the_page_are_rules(tmp_path):
    (rules,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    gate = open_project(make_project(tmp_path, more=rules)).gate
    assert set(tomllib.loads(rules)["gate"]) == {
        "baseline", "combinations", "no_significant_loss", "destroyed_at_most", "bluffs_at_most",
        "latency_ratio_at_most",
    }  # fmt: skip
    assert None not in (gate.baseline, gate.loss, gate.destroyed, gate.bluffs, gate.latency)


def test_the_numbers_on_the_page_are_those_of_the_bound():
    from experiments.stats.intervals import questions_for_bound

    assert (questions_for_bound(0.1), questions_for_bound(0.05)) == (29, 59)
