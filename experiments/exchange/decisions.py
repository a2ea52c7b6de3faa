"""Pulling decisions: each is a run of its own, kept here for good even when that run is deleted."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Engine

from experiments.deciding.decision_tags import KEY, KIND
from experiments.exchange.fetching import Fetcher
from experiments.exchange.pulling import Tell, all_runs
from experiments.ledger_files import DECISION_FILE, read_decision_file
from experiments.row_files import UnreadableFileError
from store.decisions import add_pulled, decision_keys


class PulledDecisions(NamedTuple):
    """What came, and a line for each that could not be read."""

    new: int = 0
    faults: tuple[str, ...] = ()


def pull_decisions(engine: Engine, fetcher: Fetcher, client: Any, experiment_id: str, tell: Tell) -> PulledDecisions:
    """Record the decisions that were made elsewhere.

    Raises:
        TrackingError: If the server went away.
    """
    known = set(decision_keys(engine).values())
    runs = {
        run.data.tags.get(KEY, ""): run
        for run in all_runs(client, experiment_id, f"tags.`bluffline.kind` = '{KIND}'")
        if run.info.status == "FINISHED"
    }
    waiting = {key: run for key, run in runs.items() if key not in known}
    found, faults = [], []
    for place, (key, run) in enumerate(waiting.items()):
        tell("fetching decisions", place, len(waiting))
        try:
            decision = read_decision_file(fetcher.file(run.info.run_id, DECISION_FILE))
            if decision.key != key:
                raise UnreadableFileError(f"{DECISION_FILE} is that of another decision")
            found.append(decision)
        except UnreadableFileError as error:
            faults.append(f"decision {key[:8]} (run {run.info.run_id}): {error}")
    return PulledDecisions(len(add_pulled(engine, found)), tuple(faults))
