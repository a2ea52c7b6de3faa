"""What a team's own retriever answered, and how often it did not."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from corpus.characters import unusable

Status = Literal["ok", "empty", "timeout", "error", "not asked"]
STATUSES: tuple[Status, ...] = ("ok", "empty", "timeout", "error", "not asked")
FAILED: frozenset[Status] = frozenset({"timeout", "error", "not asked"})
CANNOT_BE_JUDGED = "cannot be judged"  # state of a combination that has a reason and no numbers
WITHOUT_NUMBERS = frozenset({"failed", CANNOT_BE_JUDGED})  # states that end a combination and say why
MOST_FAILED = 0.05  # share of questions beyond which the rest says too little


class OwnError(Exception):
    """A retriever of one's own cannot be asked at all; the message says why."""


class Returned(NamedTuple):
    """One result, as the retriever gave it; None for what it did not say."""

    text: str | None
    id: str | None = None
    score: float | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None


class Answer(NamedTuple):
    """What came of asking one question."""

    status: Status
    returned: tuple[Returned, ...] = ()
    milliseconds: float | None = None  # of the attempt that was answered
    reason: str = ""  # of a failure


class Tally(NamedTuple):
    """How the requests of one retriever went."""

    ok: int
    empty: int
    timeout: int
    error: int
    not_asked: int

    @property
    def n(self) -> int:
        """Questions."""
        return sum(self)

    @property
    def answered(self) -> int:
        """Questions with an answer, an empty one included."""
        return self.ok + self.empty

    @property
    def failed(self) -> int:
        """Questions without one."""
        return self.n - self.answered

    @property
    def judged(self) -> bool:
        """Whether enough was answered to say anything of the retriever's quality."""
        return self.failed <= MOST_FAILED * self.n

    @property
    def words(self) -> str:
        """`61 of 64 requests answered: 60 ok, 1 empty, 2 timeouts, 1 error`."""
        parts = [f"{self.ok:,} ok", f"{self.empty:,} empty"]
        parts.append(f"{self.timeout:,} {'timeout' if self.timeout == 1 else 'timeouts'}")
        parts.append(f"{self.error:,} {'error' if self.error == 1 else 'errors'}")
        if self.not_asked:
            parts.append(f"{self.not_asked:,} not asked")
        return f"{self.answered:,} of {self.n:,} requests answered: {', '.join(parts)}"


def tally(answers: Iterable[Answer]) -> Tally:
    """Count answers by how they went."""
    found = [answer.status for answer in answers]
    return Tally(*(found.count(status) for status in STATUSES))


def answered(returned: Sequence[Returned], milliseconds: float | None) -> Answer:
    """An answer that came, empty or not."""
    return Answer("ok" if returned else "empty", tuple(returned), milliseconds)


def returned_from(value: Any, place: int) -> Returned:
    """Read one result: a text, or a mapping with any of `text`, `id`, `score`, `document`, `start` and `end`.

    Args:
        value: What the retriever gave.
        place: Its place in the list from 1, for the message.

    Raises:
        ValueError: If it is neither, or a value is of the wrong kind.
    """
    if isinstance(value, str):
        return checked(Returned(value), place)
    if not isinstance(value, Mapping):
        raise ValueError(f"result {place} is {type(value).__name__}, not a text or a mapping with 'text' or 'id'")
    unknown = [str(name) for name in value if name not in Returned._fields]
    if unknown:
        raise ValueError(
            f"result {place} has the unknown field {unknown[0]!r}; known are {', '.join(Returned._fields)}"
        )
    return checked(Returned(**{"text": None, **value}), place)


def checked(one: Returned, place: int) -> Returned:
    """One result with every value of its kind; an id that is a number becomes a text.

    Raises:
        ValueError: If a value is of another kind, or neither text, id nor place is given.
    """
    for name in ("text", "document"):
        value = getattr(one, name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"result {place}: its {name} is {_shown(value)}, not a text")
    for name in ("text", "document", "id"):
        value = getattr(one, name)
        if isinstance(value, str) and (wrong := unusable(value)) is not None:
            raise ValueError(f"result {place}: its {name} {wrong.problem}")
    if one.id is not None and (isinstance(one.id, bool) or not isinstance(one.id, (str, numbers.Integral))):
        raise ValueError(f"result {place}: its id is {_shown(one.id)}, not a text or a whole number")
    if one.score is not None and not _is_number(one.score):
        raise ValueError(f"result {place}: its score is {_shown(one.score)}, not a number")
    for name in ("start", "end"):
        value = getattr(one, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, numbers.Integral)):
            raise ValueError(f"result {place}: its {name} is {_shown(value)}, not a whole number")
    placed = None not in (one.document, one.start, one.end)
    if one.text is None and one.id is None and not placed:
        raise ValueError(f"result {place} has neither text nor id nor document, start and end")
    return one._replace(
        id=None if one.id is None else str(one.id),
        score=None if one.score is None else float(one.score),
        start=None if one.start is None else int(one.start),
        end=None if one.end is None else int(one.end),
    )


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number too large for any score
        return False


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a very long number"
    return text if len(text) <= 60 else text[:59] + "…"
