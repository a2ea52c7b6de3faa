"""`run` and `show`: making sweeps and reading them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from sqlalchemy import Engine

from experiments.cli.errors import InterruptedCommand
from experiments.cli.options import project_option
from experiments.cli.tables import gain_lines, secondary_lines, strategy_lines, threshold_lines
from experiments.own.responses import WITHOUT_NUMBERS
from experiments.project import open_project
from experiments.reading import LoadedSweep, UnknownSweepError, chunks_of, load_sweep
from experiments.report import report
from experiments.thresholds import extremes, read_thresholds
from experiments.verdicts.hit_rules import on_questions
from experiments.verdicts.own import on_own
from experiments.verdicts.strategies import leader_of, on_depth, on_strategies, on_threshold
from experiments.words import plural
from store import reads
from store.addresses import without_password
from store.engine import open_store


@click.command()
@project_option
@click.option(
    "--fresh", is_flag=True, help="Retrieve and time again even what an earlier sweep of the same inputs recorded."
)
@click.option("--skip-faults", is_flag=True, help="Measure without faulty documents and questions instead of refusing.")
def run(folder: Path | None, fresh: bool, skip_faults: bool) -> None:
    """Measure every combination, record it, and print the sweep's id and what it shows.

    A sweep that was killed is taken up where it stopped. A combination that fails is recorded as failed and the
    others go on; the exit code is then 3.
    """
    from tqdm import tqdm  # its write leaves the progress bar whole

    from experiments.runner import run_sweep

    project = open_project(folder)
    engine = open_store(project.store_url)
    try:
        result = run_sweep(
            engine, project, fresh=fresh, skip_faults=skip_faults, say=lambda line: tqdm.write(line, file=sys.stderr)
        )
    except KeyboardInterrupt as stop:
        raise InterruptedCommand("what is measured is kept, run again to go on") from stop
    loaded = load_sweep(engine, result.sweep_id)
    unjudged = f", {result.unjudged} cannot be judged" if result.unjudged else ""
    click.echo(f"Sweep {result.sweep_id}: {result.recorded} combinations recorded, {result.failed} failed{unjudged}; "
               f"{plural(result.embedded, 'text')} embedded, "
               f"{plural(result.reused, 'retrieval')} read from earlier sweeps.")  # fmt: skip
    for line in on_own(loaded.combinations):
        click.echo(line)
    _verdicts(loaded)
    if result.tracking_error:
        click.echo(f"Not logged: {result.tracking_error}. Nothing is lost: `bluffline sync` logs it later.", err=True)
    else:
        click.echo(f"Logged to MLflow: {without_password(project.tracking_uri)}, experiment {project.experiment!r}.")
    click.echo(f"See it: bluffline serve, then http://{project.host}:{project.port}/sweeps/{result.sweep_id}")
    if result.failed or result.unjudged:
        sys.exit(3)


def _verdicts(loaded: LoadedSweep) -> None:
    arms = loaded.arms
    k = max(loaded.sweep.settings["k"])
    click.echo("")
    for sentence in on_strategies(arms, k, loaded.sweep.settings["alpha"]).sentences:
        click.echo(sentence)
    shallow = on_depth(chunks_of(loaded.combinations), loaded.sweep.settings["k"])
    for warning in (*filter(None, [shallow]), *loaded.sweep.settings.get("warnings", ())):
        click.echo(f"Warning: {warning}")
    leader = leader_of(arms, k)
    if leader is not None:
        rows = read_thresholds(leader.outcomes, [None, *loaded.sweep.settings["thresholds"]])
        click.echo("")
        for sentence in on_threshold(leader, rows[0], extremes(leader.outcomes)).sentences[:2]:
            click.echo(sentence)
        for line in threshold_lines(leader, rows):
            click.echo(line)
    click.echo("")


@click.command()
@project_option
@click.argument("sweep", type=click.IntRange(1, 2**63 - 1), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print every number of the sweep as JSON.")
def show(folder: Path | None, sweep: int | None, as_json: bool) -> None:
    """Print SWEEP (the newest when left out): verdicts and tables, or with --json every number there is."""
    project = open_project(folder)
    engine = open_store(project.store_url)
    loaded = load_sweep(engine, sweep if sweep is not None else newest(engine))
    if as_json:
        click.echo(json.dumps(report(loaded), indent=1, ensure_ascii=False, allow_nan=False))
        return
    row = loaded.sweep
    commit = f"{row.commit[:12]}{' with uncommitted changes' if row.dirty else ''}" if row.commit else "no git"
    reason = f" ({row.reason})" if row.reason else ""
    questions = f"{row.answerable} + {row.near + row.far} questions {on_questions(row.hit_rule, row.needles)}"
    click.echo(f"Sweep {row.id}, {row.state}{reason}, {commit}, branch {row.branch or '-'}")
    click.echo(f"{row.documents} documents {row.corpus_hash[:8]}, {questions} {row.questions_hash[:8]}, {row.hit_rule}")
    for line in strategy_lines(loaded):
        click.echo(line)
    for line in secondary_lines(loaded):
        click.echo(line)
    for line in gain_lines(loaded):
        click.echo(line)
    for line in on_own(loaded.combinations):
        click.echo(line)
    for one in loaded.combinations:
        if one.state in WITHOUT_NUMBERS:
            click.echo(f"{one.state}: {one.key}: {one.reason}")
    _verdicts(loaded)


def newest(engine: Engine) -> int:
    """The id of the newest sweep.

    Raises:
        UnknownSweepError: If there is none.
    """
    row = reads.latest_sweep(engine)
    if row is None or row.id is None:
        raise UnknownSweepError("to show", None)
    return row.id
