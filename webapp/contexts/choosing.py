"""What the form that chooses a threshold shows: what would be recorded, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from experiments.deciding.certification import STRATA
from experiments.deciding.choosing import AtMost, ByHand, Cheapest, Choice, Way
from experiments.deciding.evidence import Evidence, consider, sentences_on
from experiments.deciding.evidence import Terms as AskedTerms
from experiments.naming import name_of
from experiments.reading import LoadedSweep, arm_of
from experiments.thresholds import read_thresholds
from experiments.verdicts.strategies import Verdict, on_threshold
from store.tables import DecisionRow
from webapp import params
from webapp.contexts import threshold_reading
from webapp.contexts.threshold import Read
from webapp.contexts.threshold_reading import DEFAULT_TERMS, SideRow
from webapp.sweeps import Strip, strip_of

WAYS = ("hand", "cost", "bound")


class Option(NamedTuple):
    """A way to pick the threshold, and what it picks; `label` is empty where it can pick none."""

    words: str
    label: str
    fault: str
    url: str
    chosen: bool


class Filled(NamedTuple):
    """What stands in the form, and what is wrong with it."""

    who: str
    reason: str
    faults: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChoosingContext:
    """Everything `templates/choosing/page.html` uses."""

    strip: Strip
    name: str
    label: str  # empty where nothing can be chosen
    verdict: Verdict
    verdict_kind: str
    sides: tuple[SideRow, ...]
    options: tuple[Option, ...]
    filled: Filled
    hidden: tuple[tuple[str, str], ...]
    supersedes: tuple[str, str] | None  # which decision, and what it was
    sentences: tuple[str, ...]
    action: str
    back: str


def evidence_of(read: Read, way: str) -> Evidence:
    """Everything a choice rests on.

    Raises:
        DecisionError: If the sweep is not finished, or there is nothing to measure bluffs or answers on.
    """
    loaded = LoadedSweep(read.sweep, [read.combination], {}, {read.combination.id or 0: list(read.outcomes)})
    asked = way == "bound" or read.terms.most != DEFAULT_TERMS.most
    terms = AskedTerms(read.terms.costs, read.terms.share, read.terms.most if asked else None)
    return consider(loaded, read.combination, terms, [] if read.threshold is None else [read.threshold])


def way_of(read: Read, name: str) -> Way:
    """A way by its name.

    Raises:
        ValueError: If the line is to be taken and there is none.
    """
    if name == "cost":
        return Cheapest(read.terms.costs, read.terms.share)
    if name == "bound":
        return AtMost(read.terms.most, strata=_strata(read))
    if read.threshold is None:
        raise ValueError("no threshold is no line to choose: go back and set one")
    return ByHand(read.threshold)


def _strata(read: Read) -> tuple[str, ...]:
    """A promise can be asked for only where there are questions; the others are left out of it, and said so."""
    there = {one.stratum for one in read.outcomes if one.needle_id is None}
    return tuple(name for name in STRATA if name in there)


def build(read: Read, way: str, filled: Filled, *, action: str, page: str) -> ChoosingContext:
    """The form for one way to choose; there is nothing to send where that way picks no threshold.

    Raises:
        ValueError: If nothing can be chosen on this sweep at all.
    """
    evidence = evidence_of(read, way)
    options = tuple(_option(read, evidence, name, name == way, action) for name in WAYS)
    picks = any(option.chosen and option.label for option in options)
    choice = evidence.choose(way_of(read, way)) if picks else None
    verdict, kind = _verdict(read, evidence, choice)
    return ChoosingContext(
        strip=strip_of(read.sweep),
        name=name_of(read.combination.key),
        label=f"{choice.threshold:g}" if choice else "",
        verdict=verdict,
        verdict_kind=kind,
        sides=threshold_reading.side_rows("", choice, read.sweep.hit_rule) if choice else (),
        options=options,
        filled=filled,
        hidden=(*read.state, ("by", way), ("supersedes", str(read.decision.id) if read.decision else "")),
        supersedes=_superseded(read.decision) if read.decision else None,
        sentences=sentences_on(evidence, choice) if choice else evidence.sentences,
        action=action,
        back=page + read.query,
    )


def _verdict(read: Read, evidence: Evidence, choice: Choice | None) -> tuple[Verdict, str]:
    """What the chosen threshold does, and how its line is drawn."""
    row = read.combination
    if choice is None:
        return Verdict(f"Nothing can be chosen for {name_of(row.key)} in this way with these questions."), "open"
    arm = arm_of(row, read.outcomes, read.sweep.settings)
    whole = read_thresholds(read.outcomes, [choice.threshold])[0]
    return on_threshold(arm, whole, evidence.extremes), "warns" if whole.bluffs.hits else ""


def _option(read: Read, evidence: Evidence, name: str, chosen: bool, action: str) -> Option:
    words = {
        "hand": "the line, by hand",
        "cost": "the cheapest",
        "bound": f"bluffs at most {100 * read.terms.most:.3g} %",
    }[name]
    url = action + params.changed((*read.state, ("by", name)))
    try:
        return Option(words, f"{evidence.choose(way_of(read, name)).threshold:g}", "", url, chosen)
    except ValueError as error:
        return Option(words, "", str(error), url, chosen)


def _superseded(decision: DecisionRow) -> tuple[str, str]:
    what = f"Threshold {decision.threshold:g} for {name_of(decision.combination)}"
    return f"It supersedes decision {decision.id}.", f"{what}, chosen by {decision.who}: {decision.reason}"
