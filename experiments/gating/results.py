"""What one rule comes to for one combination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

State = Literal["pass", "fail", "cannot be judged"]
EXIT_CODES: dict[State, int] = {"pass": 0, "fail": 1, "cannot be judged": 3}


class Broken(NamedTuple):
    """One question that is behind a failure."""

    query_id: str
    text: str
    what: str  # such as `rank 3 → 27`


class Result(NamedTuple):
    """One rule, one combination.

    Attributes:
        rule: What it asks for, such as `no significant loss at R@20`.
        combination: Key.
        name: What the combination is called.
        state: What it comes to. What cannot be judged is never a pass.
        sentence: Why, with the numbers.
        numbers: The same as data: value, interval, n, p and limit, of those that apply.
        broken: The questions behind it.
    """

    rule: str
    combination: str
    name: str
    state: State
    sentence: str
    numbers: dict[str, Any]
    broken: tuple[Broken, ...] = ()


def worst(results: Sequence[Result]) -> State:
    """What the whole gate comes to: a failure outweighs what cannot be judged, and that a pass.

    Nothing judged cannot be judged.
    """
    states = {result.state for result in results}
    if "fail" in states:
        return "fail"
    return "pass" if states == {"pass"} else "cannot be judged"
