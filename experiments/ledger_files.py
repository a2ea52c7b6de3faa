"""The files of the ledger: what a sweep's run and its combinations' runs hold, enough to make every row again.

A sweep's file names the runs of its combinations, so that what an interrupted push left behind is never taken for one
of them. Its hash is a tag of the run: who reads many sweeps fetches only those whose hash is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from sqlmodel import SQLModel

from experiments.row_files import UnreadableFileError, from_json, from_parquet, row_from, to_json, to_parquet, values
from store.tables import CombinationRow, DecisionRow, DocumentRow, MeasureRow, QueryRow, SweepRow, TextRow

SWEEP_FILE, COMBINATION_FILE, OUTCOMES_FILE = "sweep.json", "combination.json", "outcomes.parquet"
DECISION_FILE = "decision.json"
CORPUS_FILES: dict[str, type[SQLModel]] = {"documents.parquet": DocumentRow, "texts.parquet": TextRow}
QUESTION_FILES: dict[str, type[SQLModel]] = {"questions.parquet": QueryRow}

# What is known of a row in one store only: its number there, what passes while a sweep runs, how it was logged.
LOCAL: dict[type[SQLModel], frozenset[str]] = {
    SweepRow: frozenset(
        {
            *("id", "stage", "done", "total", "eta_seconds", "pid", "heartbeat_at", "cancel_requested"),
            *("mlflow_uri", "mlflow_run_id", "mlflow_error", "mlflow_record", "pulled_from"),
        }
    ),
    CombinationRow: frozenset({"id", "sweep_id"}),
    MeasureRow: frozenset({"combination_id"}),
    DecisionRow: frozenset({"id", "supersedes"}),
    DocumentRow: frozenset(),
    TextRow: frozenset(),
    QueryRow: frozenset(),
}


class SweepRecord(NamedTuple):
    """What a sweep's file says.

    Attributes:
        sweep: The row, without a number.
        number: Its number in the store that wrote it; None where it is not one.
        combinations: In grid order; a recorded one names the run that holds its stamp, numbers and outcomes.
    """

    sweep: SweepRow
    number: int | None
    combinations: tuple[CombinationRow, ...]


def digest(data: bytes) -> str:
    """Hash of a file, as the run's tag says it."""
    return sha256(data).hexdigest()


def sweep_file(sweep: SweepRow, combinations: Sequence[CombinationRow]) -> bytes:
    """A sweep with its combinations, as `store.reads_exchange.combination_lines` gives them."""
    return to_json(
        {
            "number": sweep.id,
            "sweep": values(sweep, LOCAL[SweepRow]),
            "combinations": [values(row, LOCAL[CombinationRow]) for row in combinations],
        }
    )


def read_sweep_file(data: bytes) -> SweepRecord:
    """What `sweep_file` wrote.

    Raises:
        UnreadableFileError: If it is damaged or of another version.
    """
    found = from_json(data)
    try:
        number = found["number"]
        return SweepRecord(
            row_from(SweepRow, found["sweep"], LOCAL[SweepRow]),
            number if isinstance(number, int) and number > 0 else None,
            tuple(row_from(CombinationRow, one, LOCAL[CombinationRow], sweep_id=0) for one in found["combinations"]),
        )
    except (KeyError, TypeError) as error:
        raise UnreadableFileError(f"it is damaged: {error} is missing or no list") from error


_IN_ITS_RUN = LOCAL[CombinationRow] | {"mlflow_run_id"}


def combination_file(row: CombinationRow, numbers: Sequence[MeasureRow], outcomes: bytes) -> bytes:
    """A combination with all its numbers, and the hash of the file of its outcomes."""
    return to_json(
        {
            "combination": values(row, _IN_ITS_RUN),
            "measures": [values(number, LOCAL[MeasureRow]) for number in numbers],
            "outcomes_sha256": digest(outcomes),
        }
    )


def read_combination_file(data: bytes, outcomes: bytes) -> tuple[CombinationRow, list[MeasureRow]]:
    """What `combination_file` wrote; which rows they belong to is still to be said.

    Raises:
        UnreadableFileError: If it is damaged or of another version, or the outcomes are not those it was written with.
    """
    found = from_json(data)
    try:
        if found["outcomes_sha256"] != digest(outcomes):
            raise UnreadableFileError(f"{OUTCOMES_FILE} is damaged: it is not the file that was written")
        return (
            row_from(CombinationRow, found["combination"], _IN_ITS_RUN, sweep_id=0),
            [row_from(MeasureRow, one, LOCAL[MeasureRow], combination_id=0) for one in found["measures"]],
        )
    except (KeyError, TypeError) as error:
        raise UnreadableFileError(f"it is damaged: {error} is missing or no list") from error


def decision_file(decision: DecisionRow, supersedes: str | None) -> bytes:
    """A decision; the one it supersedes by its key, because numbers are a store's own."""
    return to_json({"decision": values(decision, LOCAL[DecisionRow]), "supersedes": supersedes})


def read_decision_file(data: bytes) -> DecisionRow:
    """What `decision_file` wrote, without what it supersedes: that follows from the moments of all decisions.

    Raises:
        UnreadableFileError: If it is damaged or of another version.
    """
    found = from_json(data)
    try:
        return row_from(DecisionRow, found["decision"], LOCAL[DecisionRow])
    except KeyError as error:
        raise UnreadableFileError(f"it is damaged: {error} is missing") from error


def input_files(
    documents: Sequence[DocumentRow], texts: Mapping[str, str], queries: Sequence[QueryRow]
) -> dict[str, bytes]:
    """The corpus and the questions."""
    rows: dict[str, Sequence[SQLModel]] = {
        "documents.parquet": documents,
        "texts.parquet": [TextRow(sha256=key, text=text) for key, text in sorted(texts.items())],
        "questions.parquet": queries,
    }
    tables = {**CORPUS_FILES, **QUESTION_FILES}
    return {name: to_parquet(table, rows[name], LOCAL[table]) for name, table in tables.items()}


def read_input_file(name: str, data: bytes, expected: str) -> list[Any]:
    """The rows of one of the files of `input_files`.

    Args:
        name: Which.
        data: Its content.
        expected: Hash of the corpus or the question set it should hold.

    Raises:
        UnreadableFileError: If it is damaged, of another version, or of another corpus or question set.
    """
    table = {**CORPUS_FILES, **QUESTION_FILES}[name]
    rows: list[Any] = from_parquet(table, data, LOCAL[table])
    if table is TextRow:
        wrong = [row for row in rows if digest(row.text.encode()) != row.sha256]
    else:
        key = "corpus_hash" if name in CORPUS_FILES else "questions_hash"
        wrong = [row for row in rows if getattr(row, key) != expected]
    if wrong:
        raise UnreadableFileError("it is damaged: it does not hold what its hash says")
    return rows
