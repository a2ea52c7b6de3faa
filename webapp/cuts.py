"""The threshold at which a page reads outcomes: the address says it, else the decision in force, else the sweep."""

from __future__ import annotations

from typing import NamedTuple

from flask import request

from store.tables import DecisionRow, SweepRow
from webapp import params

LARGEST = 2.0  # a cosine distance


class Cut(NamedTuple):
    """A threshold and why it is read at this one."""

    threshold: float | None
    value: str  # as the address writes it
    why: str  # empty where the reader chose it
    options: tuple[tuple[str, str], ...]


def cut_of(sweep: SweepRow, decision: DecisionRow | None) -> Cut:
    """Read the threshold `t` out of this request's address.

    Args:
        sweep: Its thresholds are those offered.
        decision: The one in force, whose threshold is taken where the address leaves it open.

    Raises:
        BadParameterError: If it is neither `none` nor a cosine distance.
    """
    grid = sorted(sweep.settings["thresholds"])
    threshold: float | None
    why = ""
    if request.args.get("t") == "none":
        threshold = None
    else:
        given = params.decimal(request.args, "t", 0.0, LARGEST, None)
        if given is not None:
            threshold = given
        elif decision is not None:
            threshold, why = decision.threshold, f"of decision {decision.id}, which is in force"
        else:
            threshold, why = (grid[len(grid) // 2] if grid else None), "the middle of those measured; none is decided"
    value = "none" if threshold is None else f"{threshold:g}"
    offered = dict.fromkeys([*(f"{one:g}" for one in grid), value, "none"])
    ordered = sorted((one for one in offered if one != "none"), key=float)
    return Cut(threshold, value, why, (*((one, one) for one in ordered), ("none", "no threshold")))
