"""The Ask page's words: who says how a question is asked, what came of it, and what else must be known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from experiments.asking.answers import Answer
from experiments.asking.verdict import on_answers, on_gate
from experiments.conditions import describe
from experiments.deciding.decisions import decided_at
from experiments.deciding.validity import holds
from experiments.naming import names_of
from experiments.thresholds import read_thresholds
from experiments.words import listed
from store.tables import QueryRow
from webapp.ask_reads import AskRead, Plan
from webapp.asking import AskFault, Result
from webapp.contexts.ask_columns import Column, Heading, Offer, Places


class Notice(NamedTuple):
    """Something that must be read."""

    kind: str
    title: str
    words: str


class Link(NamedTuple):
    """Words that lead somewhere, where that page exists."""

    words: str
    url: str | None


class Files(NamedTuple):
    """The chunks as files."""

    csv: str
    json: str
    md: str


class Links(NamedTuple):
    """Where things are."""

    here: str
    asking: Callable[[Mapping[str, str]], str]  # this page with other parameters
    decision: str | None
    threshold: str | None
    known: Callable[[QueryRow], str | None]  # the page of a question of the set
    places: Places
    files: Files


def names(read: AskRead) -> dict[str, str]:
    """What combinations are called."""
    return names_of([*read.keys, read.leading.key, *(plan.way.combination.key for plan in read.plans)])


def not_offered(read: AskRead) -> str:
    """Why a project's own retrievers cannot be chosen; empty where it has none."""
    if not read.own:
        return ""
    are, they = ("is", "it is") if len(read.own) == 1 else ("are", "they are")
    return f"Your own {listed(read.own)} {are} asked in sweeps only, so {they} not offered here."


def line(threshold: float | None) -> str:
    """A threshold, or that there is none."""
    return "no threshold" if threshold is None else f"threshold {threshold:g}"


def by(read: AskRead) -> str:
    """How questions are asked, and who says so."""
    plan = read.plans[0]
    name, decision = names(read)[plan.way.combination.key], read.decision
    if plan.source == "decided" and decision is not None:
        chosen = f"chosen by {decision.who} on {decided_at(decision):%Y-%m-%d}"
        return f"Asked by decision {decision.id}: {name}, {line(plan.way.threshold)}, {chosen}."
    if plan.source == "given" or read.slots[0].key:
        return f"Asked of {name}, {line(plan.way.threshold)}, as this address says."
    if read.sweep is None:
        return f"Nothing is measured and nothing decided: {name} is asked without a threshold, so nothing is refused."
    return (
        f"No decision is in force: {name}, which finds most in sweep {read.sweep.id}, is asked without a threshold, "
        "so nothing is refused."
    )


def leads(read: AskRead, links: Links) -> tuple[Link, ...]:
    """Where to read on about how it was asked; without a decision, how to make one."""
    if read.decision is not None:
        decided = read.plans[0].source == "decided"
        return (Link(f"Decision {read.decision.id}" if decided else "The decision in force", links.decision),)
    if read.sweep is None:
        return (Link("Measure first, with `bluffline run`; then choose a threshold.", None),)
    return (Link("Choose a threshold", links.threshold), Link("or record one with `bluffline decide`.", None))


def heading(read: AskRead, plan: Plan, number: int, links: Links) -> Heading:
    """What stands above a column."""
    combination, threshold, decision = plan.way.combination, plan.way.threshold, read.decision
    strategies = {one.name: describe(one) for one in read.project.settings.strategies}
    compared = "the decision" if decision else "the first column"
    sources = {
        "decided": f"of decision {plan.way.decision_id}",
        "given": "chosen here",
        "none": "nothing is refused",
        "equal": f"answers as many of sweep {read.sweep.id if read.sweep else '-'}'s questions as {compared}",
    }
    same = plan.source == "equal" and decision is not None and decision.combination == combination.key
    return Heading(
        number=number,
        name=names(read)[combination.key],
        what=strategies.get(combination.strategy, ""),
        threshold="none" if threshold is None else f"{threshold:g}",
        source=f"as in decision {decision.id}" if same and decision else sources[plan.source],
        url=links.decision if plan.source == "decided" else None,
    )


def gate(read: AskRead, plan: Plan) -> str:
    """What this line did with the newest sweep's questions; empty where that was not measured."""
    outcomes = read.outcomes.get(plan.way.combination.key)
    if not outcomes or read.sweep is None:
        return ""
    return on_gate(read_thresholds(outcomes, [plan.way.threshold])[0], read.sweep.id or 0)


def offers(read: AskRead, plan: Plan, fault: AskFault, links: Links) -> list[Offer]:
    """Out of a decision that does not fit: its line asked all the same, which then is nobody's decision."""
    way = plan.way
    if fault.kind != "mismatch" or way.combination.key not in read.keys:
        return []
    changes = {"q": read.question, "c1": way.combination.key, "t1": f"{way.threshold:g}"}
    return [Offer(f"Ask {names(read)[way.combination.key]} at {way.threshold:g} all the same", links.asking(changes))]


def verdict(read: AskRead, columns: Sequence[Column], result: Result | None, fault: str) -> tuple[str, str]:
    """The page's first sentence, and how firm its line is drawn."""
    if not read.question or read.fault:
        return by(read), "" if read.decision else "open"
    if fault:
        return "The question could not be asked.", "warns"
    if result is None:
        return "Loading: the answer comes by itself.", "open"
    said = [
        (column.heading, answer)
        for column, answer in zip(columns, result.said, strict=True)
        if isinstance(answer, Answer)
    ]
    if len(said) < 2:
        one = next((column for column in columns if not column.trouble), columns[0])
        return one.verdict, _kind(one)
    taken = [above.name for above, _ in said]
    told = [
        (above.name if taken.count(above.name) == 1 else f"{above.name} at {line(answer.threshold)}", answer)
        for above, answer in said
    ]
    return on_answers(told), "open" if any(column.refused for column in columns) else ""


def notices(read: AskRead, result: Result | None, fault: str) -> tuple[Notice, ...]:
    """What must be read beside the answers."""
    if fault:
        return (Notice("bad", "Nothing was searched.", f"{fault[:1].upper()}{fault[1:]}."),)
    if result is None:
        return ()
    found, asker = [], result.asker
    if asker.faults:
        said = " ".join(one.sentence for one in asker.faults[:3])
        more = f" And {len(asker.faults) - 3} more." if len(asker.faults) > 3 else ""
        found.append(Notice("warn", "Not every document could be read; the others are searched.", said + more))
    here = read.sweep is not None and read.sweep.corpus_hash == asker.corpus_hash
    if read.validity is not None and here and any(plan.source == "decided" for plan in read.plans):
        kind = "" if holds(read.validity) else "bad"
        found.append(Notice(kind, "Documents have changed since it was decided.", read.validity.verdict))
    if read.sweep is not None and not here:
        found.append(
            Notice(
                "warn",
                f"The documents are not those of sweep {read.sweep.id}.",
                "Answers come from the documents as they are now; links open them as they were measured, so places may "
                "have moved. `bluffline run` measures them anew.",
            )
        )
    return tuple(found)


def _kind(column: Column) -> str:
    if column.trouble or (column.kept and column.heading.threshold == "none"):
        return "warns"
    return "open" if column.refused else ""
