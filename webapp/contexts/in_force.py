"""The decision in force, as the overview and the decision pages show it in short."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from experiments.deciding.validity import Validity
from experiments.naming import name_of
from store.tables import DecisionRow

# How each state of a check is shown: the tag's kind, and the kind of the verdict's line.
TAGS = {"ok": "good", "changed": "warn", "cannot be judged": "warn", "broken": "bad"}
WORDS = {"ok": "holds", "changed": "holds, with changes", "cannot be judged": "cannot be judged", "broken": "broken"}
LINES = {"ok": "", "changed": "open", "cannot be judged": "open", "broken": "warns"}


class InForce(NamedTuple):
    """A decision in a few facts."""

    decision_id: int
    url: str | None
    threshold: float
    name: str
    who: str
    reason: str
    created_at: datetime
    sweep_words: str  # the sweep it stands on; never the number of one that is not there
    state: str
    tag: str
    judged_on: int | None


def in_force(decision: DecisionRow, validity: Validity | None, url: str | None, *, sweep_gone: bool) -> InForce:
    """The facts of a decision and whether it holds.

    Args:
        decision: The one in force.
        validity: Whether it holds, where that can be judged.
        url: Its page.
        sweep_gone: Whether the sweep it stands on is not in this store any more.
    """
    state = validity.state if validity else "cannot be judged"
    return InForce(
        decision_id=decision.id or 0,
        url=url,
        threshold=decision.threshold,
        name=name_of(decision.combination),
        who=decision.who,
        reason=decision.reason,
        created_at=decision.created_at,
        sweep_words="a sweep that is not in this store any more" if sweep_gone else f"sweep {decision.sweep_id}",
        state=WORDS[state],
        tag=TAGS[state],
        judged_on=validity.sweep_id if validity else None,
    )


def headline(decision: DecisionRow, validity: Validity | None) -> str:
    """What is in force and whether it still fits."""
    said = f"Threshold {decision.threshold:g} for {name_of(decision.combination)} is in force."
    if validity is None:
        return f"{said} Whether it still fits cannot be judged: no sweep here has finished."
    return f"{said} {validity.verdict}"


def line_kind(validity: Validity | None) -> str:
    """How firm the verdict's line is drawn."""
    return LINES[validity.state] if validity else "open"
