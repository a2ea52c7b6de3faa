"""A fault: one thing that is wrong with the input, where it stands and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

VALUE_LENGTH = 100


def shortened(value: str, length: int = VALUE_LENGTH) -> str:
    """Return the value on one line, at most ``length`` characters of it, with invisible characters escaped."""
    cut = value if len(value) <= length else value[: length - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the input.

    Attributes:
        file: Path of the file the fault is in.
        line: Line number from 1, or None where the whole file is meant.
        value: The offending value, shortened when the fault is made; empty where there is none.
        problem: What is wrong, without a full stop.
        advice: What to do, as one or more sentences.
        kind: Of a document that cannot be read, why, as one word (see ``corpus.extraction.extracted.ErrorKind``).
    """

    file: str
    line: int | None
    value: str
    problem: str
    advice: str
    kind: str = ""

    def __post_init__(self) -> None:
        """Shorten the value, so that no caller has to."""
        object.__setattr__(self, "value", shortened(self.value))

    @property
    def sentence(self) -> str:
        """The fault as one line of text: ``file:line: problem: 'value'. advice``."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        shown = f": '{self.value}'" if self.value else ""
        return f"{place}: {self.problem}{shown}. {self.advice}"


def in_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults by file and line; faults of one line stay in the order they were found."""
    return tuple(sorted(faults, key=lambda fault: (fault.file, fault.line or 0)))
