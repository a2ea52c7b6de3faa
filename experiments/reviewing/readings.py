"""Numbers that exist only once a threshold is fixed, of one combination in many sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments.measures import AT_THRESHOLD, Measure
from experiments.stats.intervals import Proportion
from experiments.thresholds import Gated, read_thresholds

SHARES = {measure.name: share for share, measure in AT_THRESHOLD.items()}  # of a `ThresholdRow`, by measure name


class Reading(NamedTuple):
    """One share, read at a threshold."""

    key: str  # the combination
    value: float | None  # None where there is no such question
    low: float | None
    high: float | None
    n: int


def at(measure: Measure, threshold: float | None) -> Measure:
    """The measure, called by the threshold it is read at: `bluffs at 0.525`."""
    where = "with no threshold" if threshold is None else f"at {threshold:g}"
    return measure._replace(label=f"{measure.label} {where}")


def read(
    outcomes: Mapping[int, Sequence[Gated]], key: str, name: str, threshold: float | None
) -> dict[int, list[Reading]]:
    """Read one number of each sweep.

    Args:
        outcomes: Of the combination, by sweep.
        key: The combination.
        name: One of `SHARES`.
        threshold: A cosine distance; None for no threshold.

    Returns:
        By sweep, with Wilson 95 % intervals.
    """
    found = {}
    for sweep_id, gated in outcomes.items():
        share: Proportion = getattr(read_thresholds(gated, [threshold])[0], SHARES[name])
        found[sweep_id] = [Reading(key, share.estimate, share.low, share.high, share.n)]
    return found
