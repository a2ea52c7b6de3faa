"""Reading what a question is to be asked of: the decision in force, and the combinations the address names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments import measures
from experiments.asking.answers import QuestionError, check_question
from experiments.conditions import OWN, Combination
from experiments.deciding.decision_fit import combination_of
from experiments.deciding.equal_coverage import at_equal_coverage
from experiments.deciding.validity import Validity, holds, judge
from experiments.outcomes import Recorded
from experiments.project import Project
from experiments.reading import LoadedSweep
from store import files, reads
from store.decisions import decision_in_force
from store.reads import OutcomeRecord
from store.reads_sweeps import values
from store.tables import CombinationRow, DecisionRow, QueryRow, SweepRow
from webapp import params
from webapp.asking import Way
from webapp.dashboard import dashboard
from webapp.params import BadParameterError
from webapp.projects import project_here
from webapp.sweeps import remember_sweep

COLUMNS = 4
LARGEST = 2.0  # a cosine distance
Args = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of the chooser, as the address fills it; both are empty where it leaves them open."""

    key: str
    threshold: str


class Plan(NamedTuple):
    """A way to ask and where its threshold comes from: decided, given, equal, or none."""

    way: Way
    source: str


@dataclass(frozen=True, slots=True)
class AskRead:
    """Everything a question is asked with.

    Attributes:
        project: Whose documents.
        question: Without white space at its ends; empty where nothing is asked.
        fault: Why it cannot be asked; empty where it can.
        slots: The chooser.
        keys: What can be chosen.
        own: Retrievers of the project's own, which are asked in sweeps only.
        decision: The one in force.
        sweep: The newest finished one.
        validity: Whether the decision holds on that sweep; None where both are about the same documents.
        outcomes: Of the combinations that are asked, in that sweep, by key.
        queries: Its question set.
        measured: Ids of its documents and of the indexed ones: those that have a page.
        plans: The ways to ask; one at least.
        leading: What is asked where nothing is chosen: the decision's combination, else the one that finds most.
        placeholders: The threshold each filled place of the chooser has, by its number from 1.
    """

    project: Project
    question: str
    fault: str
    slots: tuple[Slot, ...]
    keys: tuple[str, ...]
    own: tuple[str, ...]
    decision: DecisionRow | None
    sweep: SweepRow | None
    validity: Validity | None
    outcomes: Mapping[str, Sequence[Recorded]]
    queries: Sequence[QueryRow]
    measured: frozenset[str]
    plans: tuple[Plan, ...]
    leading: Combination
    placeholders: Mapping[int, str]


class Reference(NamedTuple):
    """The line that others are compared with."""

    key: str
    threshold: float | None


def read(args: Args) -> AskRead:
    """Read an address, or a form that carries what an address would.

    Raises:
        BadParameterError: If a combination or a threshold is none.
        NoProjectError: If the project file is faulty.
    """
    engine, project = dashboard().engine, project_here()
    question, fault = _question(args.get("q") or "")
    decision, sweep = decision_in_force(engine), reads.latest_sweep(engine, "finished")
    remember_sweep(sweep.id if sweep else None)
    combinations = {one.key: one for one in project.settings.combinations if one.strategy != OWN}
    decided = combination_of(decision) if decision else None
    if decided and decided.strategy != OWN:  # one's own retriever cannot be asked live
        combinations.setdefault(decided.key, decided)
    slots = _slots(args, tuple(combinations))
    rows = reads.combinations(engine, sweep.id or 0) if sweep else []
    leading = decided or _leading(sweep, rows, combinations)
    filled = {number: slot for number, slot in enumerate(slots, 1) if slot.key or number == 1}
    chosen = {number: combinations.get(slot.key, leading) for number, slot in filled.items()}
    outcomes = _outcomes(sweep, rows, {one.key for one in [*chosen.values(), leading]})
    reference = _reference(decision, chosen[1], slots[0])
    validity = _validity(decision, sweep, rows, outcomes)
    holds_on = sweep.corpus_hash if sweep and validity and holds(validity) else ""
    plans = {
        number: _plan(slot, chosen[number], decision, holds_on, reference, outcomes) for number, slot in filled.items()
    }
    return AskRead(
        project=project,
        question=question,
        fault=fault,
        slots=slots,
        keys=tuple(combinations),
        own=tuple(dict.fromkeys(one.retriever for one in project.settings.combinations if one.strategy == OWN)),
        decision=decision,
        sweep=sweep,
        validity=validity,
        outcomes=outcomes,
        queries=reads.queries(engine, sweep.questions_hash) if sweep else (),
        measured=frozenset((*_documents(sweep), *files.indexed_ids(engine))),
        plans=tuple(dict.fromkeys(plans.values())),
        leading=leading,
        placeholders={
            number: "none" if plan.way.threshold is None else f"{plan.way.threshold:g}"
            for number, plan in plans.items()
        },
    )


def _documents(sweep: SweepRow | None) -> list[str]:
    return [row.document_id for row in reads.document_heads(dashboard().engine, sweep.corpus_hash)] if sweep else []


def _question(raw: str) -> tuple[str, str]:
    if not raw.strip():
        return "", ""
    try:
        return check_question(raw), ""
    except QuestionError as error:
        return raw.strip(), str(error)


def _slots(args: Args, keys: Sequence[str]) -> tuple[Slot, ...]:
    found = []
    for number in range(1, COLUMNS + 1):
        key = params.choice(args, f"c{number}", keys, "")
        written = (args.get(f"t{number}") or "").strip()
        if written != "none":
            value = params.decimal(args, f"t{number}", 0.0, LARGEST, None)
            written = "" if value is None else f"{value:g}"
        if written and not key and number > 1:
            raise BadParameterError(f"t{number}", written, f"given where c{number} names a combination")
        found.append(Slot(key, written))
    return tuple(found)


def _leading(
    sweep: SweepRow | None, rows: Sequence[CombinationRow], combinations: Mapping[str, Combination]
) -> Combination:
    """Where nothing is decided: the combination that finds most in the newest sweep, else the project's first."""
    first = next(iter(combinations.values()))
    if sweep is None:
        return first
    found = values(dashboard().engine, sweep.id or 0, measures.recall(max(sweep.settings["k"])).name)
    known = [row for row in rows if row.id in found and row.key in combinations]
    best = max(known, key=lambda row: found[row.id or 0], default=None)  # max keeps the first of equals
    return combinations[best.key] if best else first


def _outcomes(sweep: SweepRow | None, rows: Sequence[CombinationRow], keys: set[str]) -> dict[str, list[OutcomeRecord]]:
    ids = {row.id or 0: row.key for row in rows if row.key in keys and row.state == "recorded"}
    if sweep is None or not ids:
        return {}
    found = reads.outcomes(dashboard().engine, sweep.id or 0, list(ids))
    return {ids[one]: outcomes for one, outcomes in found.items()}


def _validity(
    decision: DecisionRow | None,
    sweep: SweepRow | None,
    rows: Sequence[CombinationRow],
    outcomes: Mapping[str, list[OutcomeRecord]],
) -> Validity | None:
    """Judged on what was read already: the decision's combination is one of those that are asked."""
    if decision is None or sweep is None or sweep.corpus_hash == decision.corpus_hash:
        return None
    own = [row for row in rows if row.key == decision.combination]
    found = {row.id or 0: outcomes[row.key] for row in own if row.key in outcomes}
    return judge(decision, LoadedSweep(sweep, own, {}, found))


def _reference(decision: DecisionRow | None, first: Combination, slot: Slot) -> Reference | None:
    """What the others' thresholds are made comparable with: the decision, else a threshold in the first place."""
    if decision is not None:
        return Reference(decision.combination, decision.threshold)
    return Reference(first.key, _typed(slot)) if slot.threshold else None


def _typed(slot: Slot) -> float | None:
    return None if slot.threshold in ("", "none") else float(slot.threshold)


def _plan(
    slot: Slot,
    combination: Combination,
    decision: DecisionRow | None,
    holds_on: str,
    reference: Reference | None,
    outcomes: Mapping[str, Sequence[Recorded]],
) -> Plan:
    model = str(decision.stamp["name"]) if decision and decision.stamp.get("name") and not slot.key else None
    if slot.threshold:
        return Plan(Way(combination, _typed(slot), model), "given")
    if decision is not None and not slot.key:
        return Plan(Way(combination, decision.threshold, model, decision.id, holds_on, decision), "decided")
    if reference is None or reference.threshold is None:
        return Plan(Way(combination, None), "none")
    if combination.key == reference.key:
        return Plan(Way(combination, reference.threshold), "equal")
    mine, others = outcomes.get(combination.key), outcomes.get(reference.key)
    if not mine or not others:
        return Plan(Way(combination, None), "none")
    return Plan(Way(combination, at_equal_coverage(reference.threshold, others, mine)), "equal")
