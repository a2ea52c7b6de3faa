"""What the decision pages show: all decisions, and one with what was known when it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from experiments.conditions import describe_spec
from experiments.deciding.validity import Validity
from experiments.naming import name_of
from store.tables import DecisionRow
from webapp.contexts import decision_evidence, decision_figure, in_force
from webapp.contexts.decision_evidence import Evidence
from webapp.exports import Column, Table
from webapp.whiskers import Estimate

PICKED = {"hand": "by hand", "cost": "least expected cost", "bound": "certified bound"}

COLUMNS = (
    Column("id", "Decision"),
    Column("threshold", "Threshold", "cosine distance", "Chunks strictly under it are kept, at most four."),
    Column("combination", "Combination"),
    Column("right", "Answered right", description="On questions that had no part in the choice, Wilson 95 %."),
    Column("bluffs", "Bluffs", description="On unanswerable questions that had no part in the choice, Wilson 95 %."),
    Column("picked_by", "Picked by"),
    Column("who", "Who"),
    Column("created_at", "When", "UTC"),
    Column("sweep", "Sweep"),
    Column("commit", "Commit"),
    Column("superseded_by", "Superseded by"),
    Column("reason", "Reason"),
)


class DecisionLine(NamedTuple):
    """One row of the list."""

    decision_id: int
    url: str
    threshold: float
    name: str
    right: Estimate
    bluffs: Estimate
    picked_by: str
    who: str
    created_at: datetime
    sweep_id: int
    commit: str | None
    dirty: bool | None
    in_force: bool
    reason: str


class CheckRow(NamedTuple):
    """One check of whether a decision holds."""

    name: str
    state: str
    tag: str
    sentence: str


class Neighbour(NamedTuple):
    """The decision before or after."""

    decision_id: int
    url: str


class Links(NamedTuple):
    """Addresses of one decision's page."""

    all: str
    sweep: str | None
    threshold: str | None
    newest: str | None
    toml: str
    json: str
    evidence: tuple[str, str, str]
    costs: tuple[str, str, str]
    ask: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionsContext:
    """Everything `templates/decisions/page.html` uses."""

    verdict: str
    verdict_kind: str
    lines: tuple[DecisionLine, ...]
    columns: tuple[Column, ...]
    thresholds_url: str | None
    exports: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """Everything `templates/decision/page.html` uses."""

    decision: DecisionRow
    name: str
    what: str
    verdict: str
    verdict_kind: str
    in_force: bool
    picked_by: str
    promised: str
    checks: tuple[CheckRow, ...]
    judged_on: int | None
    evidence: Evidence
    figure_spec: dict[str, Any] | None
    figure_summary: str
    production: str
    before: Neighbour | None
    after: Neighbour | None
    links: Links


def build_list(
    decisions: Sequence[DecisionRow],
    validity: Validity | None,
    urls: Mapping[int, str],
    thresholds_url: str | None,
    exports: tuple[str, str, str],
) -> DecisionsContext:
    """All decisions, newest first.

    Args:
        decisions: Newest first.
        validity: Whether the one in force holds.
        urls: Their pages.
        thresholds_url: Where one is chosen; None while nothing is measured.
        exports: CSV, JSON and Markdown.
    """
    if decisions:
        verdict, kind = in_force.headline(decisions[0], validity), in_force.line_kind(validity)
    else:
        verdict, kind = "No threshold has been decided yet.", "open"
    return DecisionsContext(
        verdict=verdict,
        verdict_kind=kind,
        lines=tuple(_line(one, urls[one.id or 0], place == 0) for place, one in enumerate(decisions)),
        columns=COLUMNS,
        thresholds_url=thresholds_url,
        exports=exports,
    )


def build_one(
    decision: DecisionRow,
    after: DecisionRow | None,
    validity: Validity | None,
    production: str,
    urls: Mapping[int, str],
    links: Links,
) -> DecisionContext:
    """One decision.

    Args:
        decision: The decision.
        after: The one that superseded it, if any.
        validity: Whether it holds on the newest sweep.
        production: What a production config says.
        urls: Pages of this decision's neighbours.
        links: Addresses.
    """
    evidence = decision_evidence.read(decision)
    before = decision.supersedes
    return DecisionContext(
        decision=decision,
        name=name_of(decision.combination),
        what=describe_spec(decision.strategy, decision.strategy_spec),
        verdict=in_force.headline(decision, validity) if after is None else _superseded(decision, after),
        verdict_kind=in_force.line_kind(validity) if after is None else "open",
        in_force=after is None,
        picked_by=PICKED.get(decision.picked_by, decision.picked_by),
        promised="nothing" if decision.target is None else f"at most {100 * decision.target:g} %",
        checks=_checks(validity),
        judged_on=validity.sweep_id if validity else None,
        evidence=evidence,
        figure_spec=decision_figure.spec(evidence, decision.threshold),
        figure_summary=decision_figure.summary(evidence, decision.threshold),
        production=production,
        before=Neighbour(before, urls[before]) if before is not None else None,
        after=Neighbour(after.id or 0, urls[after.id or 0]) if after is not None else None,
        links=links,
    )


def table(decisions: Sequence[DecisionRow]) -> Table:
    """All decisions as data."""
    columns = [column for column in COLUMNS if column.name not in ("right", "bluffs")]
    shares = [
        Column(f"{name}_{part}", f"{name} {part}")
        for name in ("right", "bluffs")
        for part in ("value", "low", "high", "n")
    ]
    later = {one.supersedes: one.id for one in decisions}
    rows = []
    for one in decisions:
        right, bluffs = _evaluated(one)
        rows.append(
            (
                one.id, one.threshold, one.combination, one.picked_by, one.who,
                one.created_at.isoformat(timespec="seconds"), one.sweep_id, one.commit, later.get(one.id), one.reason,
                right.value, right.low, right.high, right.n, bluffs.value, bluffs.low, bluffs.high, bluffs.n,
            )
        )  # fmt: skip
    return Table("decisions", (*columns, *shares), tuple(rows))


def _line(one: DecisionRow, url: str, is_in_force: bool) -> DecisionLine:
    right, bluffs = _evaluated(one)
    return DecisionLine(
        one.id or 0, url, one.threshold, name_of(one.combination), right, bluffs,
        PICKED.get(one.picked_by, one.picked_by), one.who, one.created_at, one.sweep_id, one.commit, one.dirty,
        is_in_force, one.reason,
    )  # fmt: skip


def _evaluated(one: DecisionRow) -> tuple[Estimate, Estimate]:
    """Right answers and bluffs on questions that had no part in the choice."""
    row = ((one.evidence.get("choice") or {}).get("evaluation") or {}).get("row") or {}
    return decision_evidence.share(row.get("right")), decision_evidence.share(row.get("bluffs"))


def _checks(validity: Validity | None) -> tuple[CheckRow, ...]:
    if validity is None:
        return ()
    return tuple(CheckRow(one.name, one.state, in_force.TAGS[one.state], one.sentence) for one in validity.checks)


def _superseded(decision: DecisionRow, after: DecisionRow) -> str:
    return (
        f"Decision {decision.id} is no longer in force: decision {after.id} superseded it, by {after.who}, with "
        f"threshold {after.threshold:g} for {name_of(after.combination)}."
    )
