"""Answers that were received, kept in a file of JSON lines, so that a killed sweep does not ask again.

Failures are not kept: they are asked again. A line that a kill tore apart is skipped.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import BinaryIO

from experiments.own.responses import Answer, Returned, answered, checked
from experiments.own.spec import OwnRetriever


class KeptAnswers:
    """The answers of one retriever under settings and a version that are the same."""

    def __init__(self, file: Path) -> None:
        """Read what is there."""
        self._file = file
        self._answers: dict[str, Answer] = {}
        if file.is_file():
            for line in file.read_bytes().split(b"\n"):
                self._remember(line)

    def get(self, query: str) -> Answer | None:
        """The answer to a question, None where none was received."""
        return self._answers.get(query)

    def writing(self) -> BinaryIO:
        """The file, to add answers at its end; a torn line before is closed first."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        torn = self._file.is_file() and self._file.read_bytes()[-1:] not in (b"", b"\n")
        out = self._file.open("ab", buffering=0)  # a line is one write
        if torn:
            out.write(b"\n")
        return out

    def add(self, out: BinaryIO, query: str, answer: Answer) -> None:
        """Keep an answer; a failure is not one."""
        if answer.status not in ("ok", "empty"):
            return
        line = {"query": query, "milliseconds": answer.milliseconds, "returned": [list(one) for one in answer.returned]}
        out.write(json.dumps(line).encode() + b"\n")
        self._answers[query] = answer

    def forget(self) -> None:
        """Begin anew."""
        self._answers.clear()
        self._file.unlink(missing_ok=True)

    def _remember(self, line: bytes) -> None:
        try:
            kept = json.loads(line)
            returned = [checked(Returned(*one), place) for place, one in enumerate(kept["returned"], 1)]
            self._answers[kept["query"]] = answered(returned, kept["milliseconds"])
        except (ValueError, KeyError, TypeError):  # torn, or not ours
            return


def kept_answers(own: OwnRetriever, var: Path, sweep_key: str) -> KeptAnswers:
    """The answers of a retriever as it is: of its version where it has one, else of one sweep alone.

    Args:
        own: The retriever.
        var: The folder of the project's state.
        sweep_key: Of the sweep.
    """
    of = own.version if own.version is not None else f"sweep {sweep_key}"
    digest = hashlib.sha256(f"{own.identity} {of}".encode()).hexdigest()
    return KeptAnswers(var / "answers" / f"{own.name}-{digest[:16]}.jsonl")
