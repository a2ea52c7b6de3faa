"""The words of the threshold page: promises, what stands in its inputs, and its figures in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from experiments.gate import GATE_SIZE
from experiments.naming import short_model
from experiments.outcomes import Recorded
from experiments.stats.calibration import Certification
from experiments.thresholds import Extremes, read_thresholds
from experiments.verdicts.hit_rules import by_rule
from experiments.words import plural
from store.tables import CombinationRow
from webapp.contexts.threshold_reading import Certificate, Terms


class Typed(NamedTuple):
    """What stands in the inputs."""

    bluff: str
    wrong: str
    refusal: str
    share: str  # percent
    most: str  # percent


class Promise(NamedTuple):
    """What can be promised about one stratum; `label` is a threshold to go to, or empty."""

    stratum: str
    words: str
    label: str
    rest: str
    here: str  # what the line itself would promise


class DistanceRow(NamedTuple):
    """One question of the table behind the distances."""

    query_id: str
    kind: str
    needle: float | None
    nearest: float | None
    lead: float | None


def typed(terms: Terms) -> Typed:
    """Terms as one types them."""
    costs = terms.costs
    numbers = (costs.bluff, costs.wrong, costs.refusal, 100 * terms.share, 100 * terms.most)
    return Typed(*(f"{number:.6g}" for number in numbers))


def promises(certificates: Sequence[Certificate]) -> tuple[Promise, ...]:
    """Near and far apart: they are different promises."""
    return tuple(_promise(one) for one in certificates)


def _promise(one: Certificate) -> Promise:
    found = one.found
    here = f"at most {100 * one.upper:.3g} % of {one.stratum}" if one.n else ""
    if found.threshold is not None:
        seen = f": {found.bluffs} of {found.n} are bluffs there"
        return Promise(one.stratum, "certified up to", f"{found.threshold:g}", seen, here)
    return Promise(one.stratum, _not_certifiable(found), "", "", here)


def _not_certifiable(found: Certification) -> str:
    without = f"with {plural(found.n, 'question')}" if found.n else "without questions"
    if found.questions_needed is not None:
        return f"not certifiable {without}, about {found.questions_needed:,} needed"
    return f"not certifiable {without}, nor with more: {found.bluffs} bluffs already at the strictest threshold"


def gate(combination: CombinationRow) -> str:
    """What the gate looks at, in one line."""
    name = combination.stamp.get("model", {}).get("name")
    return f"gate: the first {GATE_SIZE} chunks" + (f", distances by {short_model(name)}" if name else "")


def outcomes_words(outcomes: Sequence[Recorded], ends: tuple[float, float]) -> str:
    """The stacked areas in words."""
    strict, loose = read_thresholds(outcomes, list(ends))
    return (
        f"Stacked areas over the threshold. At {ends[0]:g}, of {strict.right.n} answerable questions "
        f"{strict.right.hits} are answered right, and of {strict.bluffs.n} unanswerable ones {strict.bluffs.hits} are "
        f"bluffs; at {ends[1]:g}, {loose.right.hits} are right, {loose.wrong.hits} wrong, {loose.bluffs.hits} bluffs."
    )


def distances_words(found: Extremes, rule: str) -> str:
    """The distances in words."""
    said = []
    if found.worst_answerable is not None:
        said.append(
            f"The worst answerable question, {found.worst_query}, lies {found.worst_answerable:.3f} from "
            + by_rule("its needle's chunk", rule)
        )
    if found.best_unanswerable is not None:
        said.append(
            f"the nearest unanswerable one, {found.best_query}, {found.best_unanswerable:.3f} from some other chunk"
        )
    return f"Points for every question. {'; '.join(said)}." if said else "No distances were measured."


def distance_rows(outcomes: Sequence[Recorded]) -> tuple[DistanceRow, ...]:
    """Every question's distances."""
    return tuple(
        DistanceRow(
            one.query_id,
            "answerable" if one.needle_id is not None else one.stratum or "unanswerable",
            one.chunk_distance,
            one.nearest,
            one.gap,
        )
        for one in outcomes
    )
