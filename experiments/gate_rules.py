"""What a sweep has to hold in CI: the `[gate]` table of a project file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from experiments.toml_tables import Table

STRATA = {"near": ("near",), "far": ("far",), "both": ("near", "far")}
_NO_LOSS = "write { at = 20, alpha = 0.05 }"
_BLUFFS = 'write 0.1 or { rate = 0.1, on = "near", confidence = 0.95 }'


@dataclass(frozen=True, slots=True)
class LossRule:
    """No combination may have lost significantly against the baseline."""

    at: int  # k of R@k
    alpha: float


@dataclass(frozen=True, slots=True)
class BluffRule:
    """At the decision's threshold the exact upper bound of the bluff rate may be this at most."""

    rate: float
    confidence: float
    on: tuple[str, ...] | None  # kinds of unanswerable questions; None: those the decision was made for


@dataclass(frozen=True, slots=True)
class GateRules:
    """The rules of a project; each is None where it is not asked for.

    Attributes:
        baseline: What is compared with: a sweep's name or a baseline file.
        combinations: Names or beginnings of names; empty: that of the decision in force, else all.
        loss: About answers found.
        destroyed: Needles a strategy may destroy.
        bluffs: About unanswerable questions.
        latency: How many times as long as in the baseline a question may take.
    """

    baseline: str | None = None
    combinations: tuple[str, ...] = ()
    loss: LossRule | None = None
    destroyed: int | None = None
    bluffs: BluffRule | None = None
    latency: float | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to hold."""
        return self.loss is None and self.destroyed is None and self.bluffs is None and self.latency is None


def read_gate(table: Table) -> GateRules:
    """Read `[gate]`; faults go to the table's list, and a faulty rule is left out."""
    baseline = table.take("baseline", str, None, "the name of a sweep or of a baseline file in quotes")
    combinations = table.take_list("combinations", str, (), "combinations in quotes")
    destroyed = table.take("destroyed_at_most", int, None, "a whole number")
    if destroyed is not None and destroyed < 0:
        table.fault("destroyed_at_most", destroyed, "must not be negative", "0 is the strictest")
    latency = table.take("latency_ratio_at_most", (int, float), None, "a number")
    if latency is not None and not 0 < latency < float("inf"):
        table.fault("latency_ratio_at_most", latency, "must be above 0", "1.5 allows half as long again")
    rules = GateRules(
        baseline=(baseline or "").strip() or None,
        combinations=tuple(dict.fromkeys(combinations)),
        loss=_loss(table),
        destroyed=destroyed,
        bluffs=_bluffs(table),
        latency=None if latency is None else float(latency),
    )
    table.finish(
        "baseline, combinations, no_significant_loss, destroyed_at_most, bluffs_at_most, latency_ratio_at_most"
    )
    return rules


def _loss(table: Table) -> LossRule | None:
    name = "no_significant_loss"
    given = table.take(name, dict, None, "a table with at and alpha")
    if given is None:
        return None
    at, alpha = given.get("at", 20), given.get("alpha", 0.05)
    known = _only_known(table, name, given, ("at", "alpha"), _NO_LOSS)
    if not isinstance(at, int) or isinstance(at, bool) or at < 1:
        table.fault(name, f"at = {at}", "at must be a whole number from 1", _NO_LOSS)
    elif not _fraction(alpha):
        table.fault(name, f"alpha = {alpha}", "alpha must lie between 0 and 1", _NO_LOSS)
    elif known:
        return LossRule(at, float(alpha))
    return None


def _bluffs(table: Table) -> BluffRule | None:
    name = "bluffs_at_most"
    value = table.take(name, (int, float, dict), None, "a rate between 0 and 1 or a table")
    if value is None:
        return None
    given: dict[str, Any] = value if isinstance(value, dict) else {"rate": value}
    rate, confidence, on = given.get("rate", 0), given.get("confidence", 0.95), given.get("on")
    known = _only_known(table, name, given, ("rate", "on", "confidence"), _BLUFFS)
    if not _fraction(rate):
        table.fault(name, f"rate = {rate}", "the rate must lie between 0 and 1", _BLUFFS)
    elif not _fraction(confidence):
        table.fault(name, f"confidence = {confidence}", "the confidence must lie between 0 and 1", _BLUFFS)
    elif on is not None and on not in tuple(STRATA):
        table.fault(name, f"on = {on}", "on must be near, far or both", _BLUFFS)
    elif known:
        return BluffRule(float(rate), float(confidence), None if on is None else STRATA[on])
    return None


def _only_known(table: Table, name: str, given: dict[str, Any], allowed: tuple[str, ...], advice: str) -> bool:
    """Whether a table has known settings only; a fault for every other."""
    unknown = [key for key in given if key not in allowed]
    for key in unknown:
        table.fault(name, key, "unknown setting", advice)
    return not unknown


def _fraction(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1
