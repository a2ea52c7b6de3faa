"""Writing what a sweep finds: each combination whole or not at all, into the store first and then into the ledger."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Engine

from corpus.questions import Query
from experiments import measures
from experiments.evaluation import Cutting, Number, score
from experiments.models import ModelError, ModelStamp
from experiments.own.responses import CANNOT_BE_JUDGED, OwnError
from experiments.progress import CancelledError
from experiments.project import Project
from experiments.recording import from_parquet, measure_rows, outcome_rows, to_parquet
from experiments.retrieval import Retrieval
from experiments.token_scores import token_numbers
from experiments.tracking import Ledger, TrackingError
from store import reads, writes
from store.tables import CombinationRow

Say = Callable[[str], None]
_UNKNOWN = frozenset({measures.TRUNCATED.name})  # of a retriever of a team's own


class Recorder:
    """Records the combinations of one sweep and counts how they went."""

    def __init__(self, engine: Engine, project: Project, sweep_id: int, queries: Sequence[Query], say: Say) -> None:
        """Prepare to record; the ledger is connected to when the first combination is done."""
        self._engine, self._settings, self._sweep_id, self._say = engine, project.settings, sweep_id, say
        self._queries = queries
        self._ledger = Ledger.of(project)
        self._log = project.var / "logs" / f"sweep-{sweep_id}.log"
        self.failed = self.reused = self.unjudged = 0
        self.tracking_error: str | None = None

    def record(
        self,
        row: CombinationRow,
        retrieval: Retrieval,
        stamp: ModelStamp,
        scorer: ModelStamp | None = None,
        measured_in: str | None = None,
    ) -> None:
        """Score one retrieval and write it.

        Args:
            row: The combination.
            retrieval: What it returned.
            stamp: Of the model whose distances its gate reads.
            scorer: Of its second model; None where it has none.
            measured_in: Key of the earlier sweep the retrieval was read from; None when it was made now.
        """
        numbers = score(
            retrieval.outcomes,
            retrieval.cutting,
            retrieval.milliseconds,
            token_bytes=retrieval.token_bytes,
            ks=self._settings.ks,
            seed=self._settings.seed,
        )
        numbers += token_numbers(
            retrieval.outcomes, self._queries, retrieval.omega, ks=self._settings.ks, seed=self._settings.seed
        )
        if retrieval.own is not None:  # whether its encoder reads its chunks to their end is not known, and no zero
            numbers = [Number(one.name, None, None, None, None, 0) if one.name in _UNKNOWN else one for one in numbers]
        combination_id = row.id or 0
        writes.record_combination(
            self._engine,
            combination_id,
            measures=measure_rows(combination_id, numbers),
            outcomes=outcome_rows(combination_id, retrieval.outcomes),
            parquet=to_parquet(retrieval.outcomes),
            stamp={
                "model": stamp._asdict(),
                **({"scorer": scorer._asdict()} if scorer is not None else {}),
                **({} if retrieval.cutting is None else {"cutting": retrieval.cutting._asdict()}),
                "milliseconds": retrieval.milliseconds,
                "identity_error": retrieval.identity_error,
                "depth": retrieval.depth,
                "token_bytes": retrieval.token_bytes,
                **({} if retrieval.own is None else {"own": retrieval.own}),
            },
            measured_in=measured_in,
        )
        self.reused += measured_in is not None
        self.push()

    def read_again(
        self,
        row: CombinationRow,
        earlier: reads.RecordedRetrieval,
        stamp: ModelStamp,
        scorer: ModelStamp | None = None,
        omega: Mapping[str, float] = MappingProxyType({}),
    ) -> bool:
        """Record a retrieval that an earlier sweep of the same inputs made.

        Args:
            row: The combination.
            earlier: What was recorded then.
            stamp: Of the model whose distances its gate reads.
            scorer: Of its second model.
            omega: Precision omega by question: it is of the cutting, and not recorded.

        Returns:
            False when it was not recorded deep enough for this sweep's k, or a retriever of one's own did not answer
            all its questions then: it must be made again.
        """
        own = earlier.stamp.get("own")
        if earlier.stamp["depth"] < max(self._settings.ks) or (own is not None and own["failures"]):
            return False
        cutting = earlier.stamp.get("cutting")
        retrieval = Retrieval(
            outcomes=from_parquet(earlier.parquet),
            cutting=None if cutting is None else Cutting(**cutting),
            milliseconds=earlier.stamp["milliseconds"],
            identity_error=earlier.stamp["identity_error"],
            depth=earlier.stamp["depth"],
            token_bytes=earlier.stamp.get("token_bytes"),
            omega=omega,
            own=own,
        )
        self.record(row, retrieval, stamp, scorer, earlier.measured_in or earlier.sweep_key)
        return True

    def warn(self, warnings: Sequence[str]) -> None:
        """Tell what a reader of the numbers must know before they come, and keep it with the sweep."""
        for warning in warnings:
            self._say(f"Warning: {warning}")
        self.keep_warnings(warnings)

    def keep_warnings(self, warnings: Sequence[str]) -> None:
        """Keep what a reader of the numbers must know with the sweep; every report of it says it."""
        sweep = reads.sweep(self._engine, self._sweep_id)
        if warnings and sweep is not None:
            told = dict.fromkeys([*sweep.settings.get("warnings", ()), *warnings])
            settings = {**sweep.settings, "warnings": list(told)}
            writes.update_sweep(self._engine, self._sweep_id, settings=settings)

    @contextmanager
    def attempt(self, row: CombinationRow) -> Iterator[None]:
        """Run one combination; whatever goes wrong in it is its reason, and the next one goes on."""
        writes.update_combination(self._engine, row.id or 0, state="running")
        try:
            yield
        except (ModelError, OwnError) as error:
            self._fail(row, str(error))
        except (CancelledError, KeyboardInterrupt):  # it is the sweep that ends, not this combination that failed
            writes.update_combination(self._engine, row.id or 0, state="queued")
            raise
        except Exception as error:  # one broken combination must not cost the others
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("a", encoding="utf-8") as log:
                log.write(f"{datetime.now(UTC).isoformat()} {row.key}\n{traceback.format_exc()}\n")
            reason = " ".join(str(error).split())[:500]
            self._fail(row, f"{type(error).__name__}: {reason} (details in {self._log})")

    def cannot_be_judged(self, row: CombinationRow, own: dict[str, Any], reason: str) -> None:
        """Record that a team's own retriever left too many questions without an answer: how it went, and no numbers."""
        values: dict[str, Any] = {"state": CANNOT_BE_JUDGED, "reason": reason, "stamp": {"own": own}}
        writes.update_combination(self._engine, row.id or 0, recorded_at=datetime.now(UTC), **values)
        self.unjudged += 1
        self._say(f"{CANNOT_BE_JUDGED}: {row.key}: {reason}")

    def _fail(self, row: CombinationRow, reason: str) -> None:
        writes.update_combination(self._engine, row.id or 0, state="failed", reason=reason)
        self.failed += 1
        self._say(f"failed: {row.key}: {reason}")

    def push(self) -> None:
        """Log what is recorded; when the server is away that is said once, and kept for later."""
        if self.tracking_error is not None:
            return
        try:
            self._ledger.push(self._engine, self._sweep_id)
        except TrackingError as error:
            self.tracking_error = str(error)

    def end(self, state: str, reason: str | None) -> None:
        """Say how the sweep ended."""
        values: dict[str, Any] = {"state": state, "reason": reason, "eta_seconds": None, "pid": None, "stage": None}
        writes.update_sweep(self._engine, self._sweep_id, finished_at=datetime.now(UTC), **values)
        if state in ("finished", "failed", "cancelled"):
            self.push()
