"""The gate, told once: which sweep, against what, which combinations, and every rule's result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.gate_rules import GateRules
from experiments.gating.limits import judge_bluffs, judge_destroyed, judge_latency
from experiments.gating.losses import judge_losses
from experiments.gating.results import Result, State, worst
from experiments.naming import names_of
from experiments.provenance import provenance
from experiments.reviewing.baselines import read_baseline
from experiments.reviewing.references import ReferenceUnknownError, find_sweep
from experiments.reviewing.sides import Line, Side, line_of, sides
from store import reads, reads_compare
from store.decisions import decision_in_force
from store.tables import SweepRow

_NAMED = 6  # combinations, where it is said what there is


class CannotJudgeError(Exception):
    """Nothing at all can be judged; the message says what is missing."""


class GateInputError(ValueError):
    """What is asked of the gate makes no sense; the message says what to do."""


class Judged(NamedTuple):
    """The whole gate.

    Attributes:
        candidate: What was judged.
        baseline: What it was compared with; why there is nothing, in a sentence, else.
        results: One a rule and combination.
        asides: What a reader should know beside.
    """

    candidate: Side
    baseline: Side | str
    results: tuple[Result, ...]
    asides: tuple[str, ...]

    @property
    def state(self) -> State:
        """What it comes to."""
        return worst(self.results)


def candidate_of(engine: Engine, root: Path, wanted: str | None) -> tuple[Side, tuple[str, ...]]:
    """The sweep to judge: the one named, else that of what is checked out, else the newest.

    Returns:
        It, with what a reader should know of the choice.

    Raises:
        CannotJudgeError: If there is none, or it did not finish.
        ReferenceUnknownError: If the named one is not here.
    """
    here = provenance(root)
    asides: list[str] = []
    if wanted is not None:
        row: SweepRow | None = find_sweep(engine, wanted, root)
    elif here.commit is not None:
        rows = reads_compare.sweeps_named(engine, "", number=None, prefix=here.commit)
        if not rows:
            raise CannotJudgeError(
                f"no sweep here measured what is checked out, commit {here.commit[:12]}: `bluffline run` first, or "
                "name the sweep to judge"
            )
        row = next((each for each in rows if each.patch_hash == here.patch_hash), rows[0])
        if row.patch_hash != here.patch_hash:
            asides.append(f"The files have uncommitted changes that sweep {row.id} did not measure, or no longer have.")
    else:
        row = reads.latest_sweep(engine)
    if row is None:
        raise CannotJudgeError("the store holds no sweep: `bluffline run` first")
    if row.state != "finished":
        reason = f" ({row.reason})" if row.reason else ""
        raise CannotJudgeError(f"sweep {row.id} is {row.state}{reason}, and a gate judges a finished one")
    return sides(engine, [row])[0], tuple(asides)


def baseline_of(engine: Engine, root: Path, wanted: str | None, candidate: Side) -> Side | str:
    """What is compared with, or in a sentence why there is nothing.

    A branch means its newest finished sweep before the candidate's commit, so that a sweep of the main branch is
    compared with the commit before and not with itself.

    Raises:
        BaselineError: If a baseline file is there and cannot be used.
        ReferenceUnclearError: If the name could mean several sweeps.
    """
    if wanted is None:
        return 'There is no baseline: name a sweep or a file, `baseline = "main"` in [gate] or --against.'
    if Path(wanted).is_file():
        return read_baseline(Path(wanted))
    if wanted.endswith(".json"):
        how = f"`bluffline gate --save-baseline {wanted}` writes it"
        return f"There is no baseline: the file {wanted} is not there; {how}."
    try:
        row = find_sweep(engine, wanted, root, but_not=candidate.sweep)
    except ReferenceUnknownError as error:
        return f"There is no baseline: {error}."
    return sides(engine, [row])[0]


def judge(
    engine: Engine, rules: GateRules, candidate: Side, baseline: Side | str, asides: Sequence[str] = ()
) -> Judged:
    """Hold a sweep to its rules.

    Args:
        engine: The store, asked for the decision in force.
        rules: At least one.
        candidate: The sweep.
        baseline: What is compared with, or why there is nothing.
        asides: What is known of the choice of the sweep.

    Raises:
        GateInputError: If there is no rule, or `combinations` names none of the sweep's.
    """
    if rules.empty:
        raise GateInputError("[gate] has no rule; write one, such as no_significant_loss = { at = 20, alpha = 0.05 }")
    line = line_of(decision_in_force(engine)) or (baseline.line if isinstance(baseline, Side) else None)
    keys = chosen(rules.combinations, candidate, baseline, line)
    if isinstance(baseline, Side) and baseline.sweep.key == candidate.sweep.key:
        asides = [*asides, f"The baseline is {candidate.name} itself, so nothing can have been lost."]
    names = names_of([row.key for row in candidate.combinations] + keys)
    results: list[Result] = []
    if rules.loss is not None:
        results += judge_losses(rules.loss, keys, names, baseline, candidate)
    if rules.destroyed is not None:
        results += judge_destroyed(rules.destroyed, keys, names, candidate)
    if rules.bluffs is not None:
        results.append(judge_bluffs(rules.bluffs, line, names, candidate))
    if rules.latency is not None:
        results += judge_latency(rules.latency, keys, names, baseline, candidate)
    return Judged(candidate, baseline, tuple(results), tuple(asides))


def chosen(wanted: Sequence[str], candidate: Side, baseline: Side | str, line: Line | None) -> list[str]:
    """The combinations that are judged: those named, else the one decided on, else all.

    A name picks every combination that begins with it, by whole parts: `E` all of a strategy, `E/dense` a retriever.
    One that only the baseline has is judged too, so that nothing passes by having been taken out of the grid.

    Raises:
        GateInputError: If a name picks nothing on either side.
    """
    there = [row.key for row in candidate.combinations]
    before = [row.key for row in baseline.combinations] if isinstance(baseline, Side) else []
    known = list(dict.fromkeys([*there, *before]))
    if not wanted:
        return [line.combination] if line and line.combination else known
    picked: list[str] = []
    for name in wanted:
        fits = [key for key in known if key == name or key.startswith(f"{name}/")]
        if not fits:
            there_are = ", ".join(known[:_NAMED]) or "none"
            raise GateInputError(f"[gate] combinations: {name!r} is in neither sweep; there are {there_are}")
        picked += fits
    return list(dict.fromkeys(picked))
