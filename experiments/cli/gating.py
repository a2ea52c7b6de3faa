"""`gate`: holding a sweep to the rules of the project, for CI."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

import click

from experiments.cli.options import project_option
from experiments.gating.judging import CannotJudgeError, GateInputError, baseline_of, candidate_of, judge
from experiments.gating.reports import junit, junit_unjudged, markdown, record, text
from experiments.gating.results import EXIT_CODES
from experiments.project import open_project
from experiments.reviewing.baselines import write_baseline
from experiments.reviewing.sides import Side, line_of
from store.decisions import decision_in_force
from store.engine import open_store

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


class Unjudged(click.ClickException):
    """Nothing at all can be judged."""

    exit_code = EXIT_CODES["cannot be judged"]

    def show(self, file: IO[Any] | None = None) -> None:
        """As every other fault is told."""
        click.echo(f"bluffline: cannot be judged: {self.message}", file=file, err=file is None)


@click.command()
@project_option
@click.argument("sweep", required=False)
@click.option("--against", help="The baseline: a sweep's name or a baseline file; instead of [gate] baseline.")
@click.option(
    "--junit",
    "junit_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write JUnit XML here, a test case a rule and combination.",
)
@click.option(
    "--markdown",
    "markdown_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a summary for a pull request here.",
)
@click.option("--step-summary", is_flag=True, help=f"Append the summary to the file that {SUMMARY_VARIABLE} names.")
@click.option(
    "--save-baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Judge nothing: write the sweep as a baseline file, with the decision in force.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def gate(
    folder: Path | None,
    sweep: str | None,
    against: str | None,
    junit_file: Path | None,
    markdown_file: Path | None,
    step_summary: bool,
    save_baseline: Path | None,
    form: str,
) -> None:
    """Hold SWEEP to the rules of [gate] in bluffline.toml: that of what is checked out when left out, or the newest.

    SWEEP and the baseline are each named as in `bluffline compare`. Each rule passes, fails or cannot be judged, which
    is never a pass.

    Exits with 0 when all rules pass, 1 when one fails, 2 when the input is wrong, and 3 when something cannot be
    judged: no baseline, other questions, another hit rule, too few questions, no decision.
    """  # fmt: skip
    project = open_project(folder)
    summary = _summary_file() if step_summary else None
    engine = open_store(project.store_url)
    try:
        candidate, asides = candidate_of(engine, project.root, sweep)
        if save_baseline is not None:
            _save(candidate, save_baseline, write_baseline(candidate, line_of(decision_in_force(engine))))
            return
        configured = project.gate.baseline
        if configured is not None and (project.root / configured).is_file():
            configured = str(project.root / configured)  # of the project, wherever the command was started
        baseline = baseline_of(engine, project.root, against or configured, candidate)
        if against is not None and isinstance(baseline, str):  # asked for by name: no rule may do without it
            raise CannotJudgeError(baseline)
        judged = judge(engine, project.gate, candidate, baseline, asides)
    except CannotJudgeError as error:
        _write_refusal(str(error), junit_file, markdown_file, summary)
        raise Unjudged(str(error)) from error
    except GateInputError as error:
        raise click.UsageError(str(error)) from error
    _hand_out(junit(judged), markdown(judged), junit_file, markdown_file, summary)
    if form == "json":
        click.echo(json.dumps(record(judged), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(text(judged), nl=False)
    sys.exit(EXIT_CODES[judged.state])


def _summary_file() -> Path:
    named = os.environ.get(SUMMARY_VARIABLE)
    if not named:
        raise click.UsageError(
            f"{SUMMARY_VARIABLE} is not set here; leave --step-summary out, or write --markdown FILE"
        )
    return Path(named)


def _save(candidate: Side, file: Path, content: str) -> None:
    _write(file, content)
    click.echo(f"Wrote {candidate.name} as the baseline {file}: {len(candidate.asked)} questions, "
               f"{len(candidate.outcomes)} combinations.")  # fmt: skip


def _write_refusal(why: str, junit_file: Path | None, markdown_file: Path | None, summary: Path | None) -> None:
    """A pull request is told that nothing could be judged, too."""
    said = f"## The gate cannot be judged\n\n{why[:1].upper()}{why[1:]}.\n"
    _hand_out(junit_unjudged(why), said, junit_file, markdown_file, summary)


def _hand_out(xml: str, said: str, junit_file: Path | None, markdown_file: Path | None, summary: Path | None) -> None:
    for file, content in ((junit_file, xml), (markdown_file, said)):
        if file is not None:
            _write(file, content)
    if summary is not None:
        with summary.open("a", encoding="utf-8") as end:
            end.write(said)


def _write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
