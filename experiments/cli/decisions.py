"""`decide`: choosing a threshold, recording it with its evidence, and asking whether it still holds."""

from __future__ import annotations

import getpass
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
from sqlalchemy import Engine

from experiments.cli.decide_options import Asked, decide_options
from experiments.deciding.choosing import Choice, NotCertifiableError
from experiments.deciding.decisions import decision_from, on_decision, record
from experiments.deciding.evidence import DecisionError, Evidence, consider, sentences_on
from experiments.deciding.finding import find_combination
from experiments.deciding.validity import decision_validity
from experiments.project import Project, open_project
from experiments.reading import LoadedSweep, UnknownSweepError, arm_of, load_sweep
from experiments.thresholds import extremes, read_thresholds
from experiments.verdicts.strategies import leader_of, on_threshold
from experiments.words import NOTHING, interval
from store import reads
from store.decisions import decision_in_force
from store.engine import open_store
from store.tables import CombinationRow, DecisionRow

Say = Callable[[str], None]


class Refused(click.ClickException):
    """A decision that cannot be made: the input is wrong."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """As every other fault is told."""
        click.echo(f"bluffline: {self.message}", file=file, err=file is None)


class NotEnoughEvidence(Refused):
    """A decision that cannot be made: it cannot be judged."""

    exit_code = 3


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except NotCertifiableError as error:
        raise NotEnoughEvidence(str(error)) from error
    except ValueError as error:
        raise Refused(str(error)) from error


@click.command()
@decide_options
def decide(**options: Any) -> None:
    """Choose the threshold under which the retriever may answer, and record who chose it and why.

    With none of --threshold, --cheapest and --at-most, the evidence is printed and nothing is chosen. Decisions are
    never edited: a new one supersedes the one in force.

    Exits with 3 when a bound is asked for that these questions cannot certify. With --show, exits with 1 when the
    decision in force no longer holds on the newest finished sweep, and with 3 when that cannot be judged.
    """
    asked = Asked(**options)
    project = open_project(asked.folder)
    engine = open_store(project.store_url)
    with _refusing():
        if asked.show or asked.tag:
            _in_force(engine, project, asked)
            return
        loaded = load_sweep(engine, asked.sweep_id if asked.sweep_id is not None else _newest(engine))
        way = asked.way
        if way is None and asked.form is not None:
            raise DecisionError("nothing was chosen to export; --show --export exports the decision in force")
        combination = _combination(loaded, asked)
        also = [] if asked.threshold is None else [asked.threshold]
        evidence = consider(loaded, combination, asked.terms, also)
        if way is None:
            _tell(evidence, asked.say)
        else:
            _decide(engine, project, evidence, evidence.choose(way), asked)


def _decide(engine: Engine, project: Project, evidence: Evidence, choice: Choice, asked: Asked) -> None:
    before = decision_in_force(engine)
    decision = decision_from(
        evidence,
        choice,
        who=asked.who if asked.who is not None else _somebody(project.root),
        reason=asked.reason or "",
        project=project.name,
        supersedes=before.id if before else None,
    )
    if not asked.dry_run:
        decision = record(engine, decision)
    for sentence in sentences_on(evidence, choice):
        asked.say(sentence)
    asked.say()
    if asked.dry_run:
        asked.say("Nothing was recorded (--dry-run).")
    else:
        asked.say(on_decision(decision))
        if before is not None:
            asked.say(f"It supersedes decision {before.id}.")
        _log(engine, project, decision, asked.say)
    _export(decision, asked.form)


def _combination(loaded: LoadedSweep, asked: Asked) -> CombinationRow:
    """The combination that was named, or, only to look at, the one that finds most."""
    if any(part is not None for part in (asked.key, asked.strategy, asked.retriever, asked.model, asked.scorer)):
        return find_combination(
            loaded,
            asked.key,
            strategy=asked.strategy,
            retriever=asked.retriever,
            model=asked.model,
            scorer=asked.scorer,
        )
    leader = leader_of(loaded.arms, max(loaded.sweep.settings["k"]))
    if leader is None:
        raise DecisionError(f"sweep {loaded.sweep.id} has no combination with numbers")
    if asked.way is not None:
        raise DecisionError(
            "name the combination the threshold is for: --combination, or --strategy and others "
            f"(the one that finds most is {leader.key})"
        )
    asked.say(f"No combination was named; this is the one that finds most, {leader.key}.")
    return find_combination(loaded, leader.key)


def _newest(engine: Engine) -> int:
    newest = reads.latest_sweep(engine, "finished") or reads.latest_sweep(engine)
    if newest is None or newest.id is None:
        raise UnknownSweepError("to decide on", None)
    return newest.id


def _tell(evidence: Evidence, say: Say) -> None:
    row = evidence.combination
    arm = arm_of(row, evidence.outcomes, evidence.sweep.settings)
    best = evidence.curve.cheapest.threshold
    at_best = read_thresholds(evidence.outcomes, [best])[0]
    for sentence in (*on_threshold(arm, at_best, extremes(evidence.outcomes)).sentences, *evidence.sentences):
        say(sentence)
    say("")
    for line in _lines(evidence):
        say(line)
    say("")
    say(f"Choose one: bluffline decide --sweep {evidence.sweep.id} --combination {row.key} "
        "(--threshold T | --cheapest | --at-most X) --reason WHY")  # fmt: skip


def _lines(evidence: Evidence) -> Iterator[str]:
    """One line a threshold: what the gate does, and what that costs."""
    yield "  threshold  right  wrong  refused  |  bluff  (near, far)  |  cost of 1,000 questions"
    cheapest = evidence.curve.cheapest.threshold
    for row in evidence.rows:
        cost = evidence.curve.at(row.threshold)
        price = f"{cost.cost:>7,.0f} {interval(cost.low, cost.high, 0)}" if cost else NOTHING
        told = "the cheapest" if row.threshold == cheapest else "cannot be told from the cheapest"
        mark = f"  {told}" if cost and cost.alike else ""
        yield (
            f"  {row.label:>9}  {row.right.hits:>5}  {row.wrong.hits:>5}  {row.refused.hits:>7}  |  "
            f"{row.bluffs.hits:>5}  ({row.bluffs_near.hits:>4}, {row.bluffs_far.hits:>3})  |  {price}{mark}"
        )


def _in_force(engine: Engine, project: Project, asked: Asked) -> None:
    say = asked.say
    decision = decision_in_force(engine)
    if decision is None:
        raise DecisionError("nothing was decided yet: `bluffline decide` prints the evidence and how to choose")
    say(on_decision(decision))
    for sentence in decision.evidence.get("sentences", []):
        say(f"  {sentence}")
    validity = decision_validity(engine, decision)
    say(validity.verdict)
    for check in validity.checks:
        say(f"  {check.state:<16} {check.name}: {check.sentence}")
    if asked.tag:
        _log(engine, project, decision, say)
    _export(decision, asked.form)
    sys.exit({"broken": 1, "cannot be judged": 3}.get(validity.state, 0))


def _log(engine: Engine, project: Project, decision: DecisionRow, say: Say) -> None:
    from experiments.deciding.decision_tags import DecisionLedger
    from experiments.tracking import TrackingError

    ledger = DecisionLedger.of(project)
    try:
        ledger.log(engine)
        runs = ledger.tag(engine, decision)
    except TrackingError as error:
        say(f"The decision is recorded, but MLflow does not say so: {error}. `bluffline decide --tag` tags it later.")
        return
    say(f"Tagged in MLflow: {', '.join(runs)}.")


def _export(decision: DecisionRow, form: str | None) -> None:
    from experiments.deciding.decision_export import FORMATS, export

    for known in FORMATS:
        if form == known:
            click.echo(export(decision, known), nl=False)


def _somebody(folder: Path) -> str:
    """Git's name for the user, else the machine's; empty where neither knows one."""
    try:
        done = subprocess.run(["git", "config", "user.name"], cwd=folder, capture_output=True, timeout=10, check=False)  # noqa: S607 - the user's own git
        name = done.stdout.decode("utf-8", "replace").strip()
    except (OSError, subprocess.TimeoutExpired):
        name = ""
    if name:
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
