"""A decision in the ledger: a run of its own that holds all of it, and tags on the runs it chose.

The tags are there so that `mlflow.search_runs` finds what is in force and why; they can be set again at any time from
what the store has recorded. That the server is away never keeps anybody from deciding.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine

from experiments.deciding.decisions import decided_at
from experiments.ledger_files import DECISION_FILE, decision_file
from experiments.run_writing import log_record
from experiments.tracking import Ledger, TrackingError
from experiments.tracking_client import reason_of
from store.decisions import decision as read_decision
from store.decisions import decision_keys
from store.locks import LockedError, locked
from store.tables import DecisionRow

TAG = "bluffline.decision"
SUPERSEDED = f"{TAG}.superseded"
_LONGEST = 4000  # characters of a tag's value; MLflow's own limit has been 5,000 and more
_ALL = 10_000  # more runs than a sweep has
KIND, KEY = "decision", "bluffline.decision.key"  # of a decision's own run
_PATIENCE = 60.0  # seconds to wait for another process that logs decisions


class DecisionLedger(Ledger):
    """The ledger, as far as decisions go."""

    def log(self, engine: Engine) -> int:
        """Give every decision that has none a run of its own.

        Returns:
            How many were written.

        Raises:
            TrackingError: If the server is away or refuses; what was written stays.
        """
        keys = decision_keys(engine)
        if not keys:
            return 0
        try:
            with locked(engine, "push-decisions", seconds=_PATIENCE):  # two who log one decision would log it twice
                client, experiment_id = self._connect()
                held = _logged(client, experiment_id)
                waiting = [number for number, key in keys.items() if key not in held]
                for number in waiting:
                    decision = read_decision(engine, number)
                    if decision is not None:
                        before = keys.get(decision.supersedes or 0)
                        _log_decision(client, experiment_id, decision, before)
                return len(waiting)
        except LockedError as error:
            raise TrackingError(f"another process is logging decisions to {self.uri}") from error
        except Exception as error:  # network, server, database: MLflow lets each library's own family through
            raise TrackingError(f"MLflow at {self.uri} cannot be written to: {reason_of(error)}") from error

    def tag(self, engine: Engine, decision: DecisionRow) -> list[str]:
        """Tag the runs a decision chose, and those of the decision it supersedes as superseded.

        Args:
            engine: The store, for the decision before this one.
            decision: The decision in force.

        Returns:
            The ids of the tagged runs: the combination's, and its threshold's where there is one.

        Raises:
            TrackingError: If the server is away, refuses, or holds no run of the combination.
        """
        try:
            client, experiment_id = self._connect()
            before = None if decision.supersedes is None else read_decision(engine, decision.supersedes)
            if before is not None:
                _mark_superseded(client, experiment_id, before.key, decision.key)
            runs = _chosen_runs(client, experiment_id, decision)
            for run in runs:
                _set_tags(client, run, decision)
        except Exception as error:  # network, server, database: MLflow lets each library's own family through
            raise TrackingError(f"MLflow at {self.uri} cannot be written to: {reason_of(error)}") from error
        if not runs:
            raise TrackingError(
                f"MLflow at {self.uri} holds no run of {decision.combination} of sweep {decision.sweep_key[:8]}; "
                "`bluffline sync` logs it"
            )
        return [run.info.run_id for run in runs]


def tags(decision: DecisionRow) -> dict[str, str]:
    """What the tags of a decision say."""
    return {
        TAG: decision.key,
        f"{TAG}.threshold": f"{decision.threshold:g}",
        f"{TAG}.reason": decision.reason[:_LONGEST],
        f"{TAG}.who": decision.who,
        f"{TAG}.when": decided_at(decision).isoformat(timespec="seconds"),
    }


def _mark_superseded(client: Any, experiment_id: str, before: str, by: str) -> None:
    found = client.search_runs([experiment_id], filter_string=f"tags.`{TAG}` = '{before}'", max_results=_ALL)
    for run in found:
        client.set_tag(run.info.run_id, SUPERSEDED, by)


def _chosen_runs(client: Any, experiment_id: str, decision: DecisionRow) -> list[Any]:
    """The combination's run, then its threshold's; the latter only where the threshold is one of the sweep's."""
    where = f"tags.`bluffline.sweep` = '{decision.sweep_key}' and tags.`bluffline.kind` = 'combination'"
    runs = client.search_runs([experiment_id], filter_string=where, max_results=_ALL)
    chosen = next((run for run in runs if run.info.run_name == decision.combination), None)
    if chosen is None:
        return []
    children = client.search_runs(
        [experiment_id], filter_string=f"tags.`mlflow.parentRunId` = '{chosen.info.run_id}'", max_results=_ALL
    )
    label = f"{decision.threshold:g}"
    return [chosen, *(child for child in children if child.data.params.get("threshold") == label)]


def _set_tags(client: Any, run: Any, decision: DecisionRow) -> None:
    for name, value in tags(decision).items():
        client.set_tag(run.info.run_id, name, value)
    # The same run may have been chosen before, superseded, and chosen again.
    if client.get_run(run.info.run_id).data.tags.get(SUPERSEDED) is not None:
        client.delete_tag(run.info.run_id, SUPERSEDED)


def _logged(client: Any, experiment_id: str) -> set[str]:
    """Keys of the decisions whose runs are whole; what an interrupted push left is deleted."""
    held = set()
    for run in client.search_runs([experiment_id], f"tags.`bluffline.kind` = '{KIND}'", max_results=_ALL):
        if run.info.status == "FINISHED":
            held.add(run.data.tags.get(KEY, ""))
        else:
            client.delete_run(run.info.run_id)
    return held


def _log_decision(client: Any, experiment_id: str, decision: DecisionRow, supersedes: str | None) -> None:
    run = client.create_run(
        experiment_id,
        run_name=f"decision {decision.key[:8]}",
        tags={"bluffline.kind": KIND, KEY: decision.key, "bluffline.sweep": decision.sweep_key},
        start_time=int(decided_at(decision).timestamp() * 1000),
    )
    log_record(client, run.info.run_id, DECISION_FILE, decision_file(decision, supersedes))
    client.set_terminated(run.info.run_id)
