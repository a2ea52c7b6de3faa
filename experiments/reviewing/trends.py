"""A number over the sweeps of a history: one combination followed, or the best of each sweep; and where it breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from experiments.measures import Measure
from experiments.reviewing.wordings import same_questions

# What must be equal for the numbers of two sweeps to stand on one line, with the word for it.
CONDITIONS = {
    "corpus_hash": "documents",
    "questions_hash": "questions",
    "hit_rule": "hit rule",
    "pipeline": "pipeline",
}


class Measured(Protocol):
    """One number of one combination."""

    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> float | None: ...  # noqa: D102
    @property
    def low(self) -> float | None: ...  # noqa: D102
    @property
    def high(self) -> float | None: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102


class Swept(Protocol):
    """What of a sweep a history shows."""

    @property
    def id(self) -> int | None: ...  # noqa: D102
    @property
    def state(self) -> str: ...  # noqa: D102
    @property
    def commit(self) -> str | None: ...  # noqa: D102
    @property
    def branch(self) -> str | None: ...  # noqa: D102
    @property
    def dirty(self) -> bool | None: ...  # noqa: D102
    @property
    def created_at(self) -> datetime: ...  # noqa: D102
    @property
    def corpus_hash(self) -> str: ...  # noqa: D102
    @property
    def questions_hash(self) -> str: ...  # noqa: D102
    @property
    def hit_rule(self) -> str: ...  # noqa: D102
    @property
    def pipeline(self) -> str: ...  # noqa: D102
    @property
    def settings(self) -> Mapping[str, Any]: ...  # noqa: D102


class TrendPoint(NamedTuple):
    """One sweep of a trend."""

    sweep_id: int
    commit: str | None
    branch: str | None
    dirty: bool | None
    created_at: datetime
    key: str  # the combination
    value: float
    low: float | None
    high: float | None
    n: int
    changed: tuple[str, ...]  # what differs from the point before, so that the line is broken in front of this one


def best(measure: Measure, numbers: Sequence[Measured]) -> Measured | None:
    """The combination with the best number, the earlier one of equals; None where none is better than another.

    Raises:
        ValueError: If neither more nor less of the measure is better.
    """
    if measure.higher_is_better is None:
        raise ValueError(f"{measure.name} is a size: no combination has the best one")
    known = [number for number in numbers if number.value is not None]
    sign = 1.0 if measure.higher_is_better else -1.0
    return max(known, key=lambda number: sign * (number.value or 0.0), default=None)  # max keeps the first of equals


def trend(
    sweeps: Sequence[Swept], numbers: Mapping[int, Sequence[Measured]], measure: Measure, key: str | None
) -> list[TrendPoint]:
    """A number over sweeps.

    Args:
        sweeps: Oldest first.
        numbers: The measure's numbers by sweep.
        measure: What they are.
        key: The combination to follow. None: the best of each *finished* sweep, because a part of a grid has a
            smaller best than the whole.

    Returns:
        One point a sweep that has the number.
    """
    points: list[TrendPoint] = []
    before: Swept | None = None
    for sweep in sweeps:
        found = numbers.get(sweep.id or 0, ())
        if key is not None:
            number = next((one for one in found if one.key == key), None)
        else:
            number = best(measure, found) if sweep.state == "finished" else None
        if number is None or number.value is None:
            continue
        points.append(
            TrendPoint(
                sweep_id=sweep.id or 0,
                commit=sweep.commit,
                branch=sweep.branch,
                dirty=sweep.dirty,
                created_at=sweep.created_at,
                key=number.key,
                value=number.value,
                low=number.low,
                high=number.high,
                n=number.n,
                changed=changed(before, sweep),
            )
        )
        before = sweep
    return points


def changed(before: Swept | None, after: Swept) -> tuple[str, ...]:
    """What differs between two sweeps that must not; nothing where there is none before."""
    if before is None:
        return ()
    return tuple(
        word
        for name, word in CONDITIONS.items()
        if getattr(before, name) != getattr(after, name)
        and not (name == "questions_hash" and same_questions(before, after))
    )


def segments(points: Sequence[TrendPoint]) -> list[list[int]]:
    """Indices of the points that one line may join: it is broken wherever something changed."""
    found: list[list[int]] = []
    for index, point in enumerate(points):
        if point.changed or not found:
            found.append([])
        found[-1].append(index)
    return found
