"""A store with a long history: 100 sweeps of 50 combinations on 94 questions, the same for the same seed.

Documents, questions, chunks and destroyed needles are those of the bundled corpus; only where an answer stands in a
ranking is drawn. Rankings improve with time; a commit edits a document (the corpus hash and the places of its needles
change), a later one rewords a question; combinations fail, sweeps end early, some are of uncommitted changes.
Everything is written in bulk, hits included.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from history_results import KS, MODELS, Drawing, Result
from history_world import Era, eras
from sqlalchemy import Connection, Engine

from experiments.conditions import DEFAULT_RETRIEVERS, PRESETS, Combination, Strategy, grid
from experiments.deciding.choosing import Cheapest, Way
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.outcomes import Outcome
from experiments.reading import load_sweep
from experiments.recording import document_rows, query_rows
from store import reads, writes
from store.decisions import decision_in_force
from store.tables import CombinationRow, SweepRow

SEED = 20_260_101
SWEEPS = 100
THRESHOLDS = tuple(round(0.3 + 0.025 * step, 3) for step in range(21))
STRATEGIES = (
    *PRESETS,
    Strategy("E256", "boundaries", header=True, overlap=0, budget=256),
    Strategy("E768", "boundaries", header=True, overlap=0, budget=768),
    Strategy("A1024", "blind", header=False, overlap=0, budget=1024),
    Strategy("C1024", "boundaries", header=False, overlap=0, budget=1024),
)
FIRST_DAY = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
EDITED, REWORDED = 0.4, 0.7  # shares of the history after which a document is edited and a question reworded
CHANGED = 0.3  # share of the combinations whose rankings a commit changes; the others are read again
EARLY = {17: "interrupted", 33: "failed", 58: "cancelled", 81: "interrupted"}  # by the sweep's place, from 0
REASONS = {
    "interrupted": "its process ended before it was finished",
    "cancelled": "cancelled on request",
    "failed": "every combination failed",
}
FAILURE = "ModelError: the model needs 2.1 GB and 1.6 GB are free"
BRANCHES = ("main", "main", "main", "main", "try-overlap", "reworded-headers")
OUTCOME = (
    "INSERT INTO outcome (combination_id, query_id, rank, destroyed, truncated, quotable, nearest, needle_distance, "
    "chunk_distance, gap) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
MEASURE = "INSERT INTO measure (combination_id, name, value, low, high, hits, n) VALUES (?, ?, ?, ?, ?, ?, ?)"
HITS = "INSERT INTO hits (combination_id, parquet) VALUES (?, ?)"


def fill(
    engine: Engine, *, sweeps: int = SWEEPS, seed: int = SEED, strategies: Sequence[Strategy] = STRATEGIES
) -> list[int]:
    """Fill an empty SQLite store.

    Args:
        engine: The store.
        sweeps: How many, oldest first.
        seed: Of everything that is drawn.
        strategies: Rows of the grid; each is combined with BM25 and, for every model, with dense and hybrid.

    Returns:
        The ids of the sweeps, oldest first.
    """
    first, edited, reworded = eras(strategies)
    for era in (first, edited, reworded):
        writes.add_corpus(engine, *document_rows(era.documents, era.corpus))
        writes.add_questions(engine, query_rows(era.queries, era.questions))
    history = _History(engine, grid(strategies, DEFAULT_RETRIEVERS, MODELS), strategies, seed, sweeps)
    ids = []
    for place in range(sweeps):
        share = place / sweeps
        ids.append(history.add(place, first if share < EDITED else edited if share < REWORDED else reworded))
    for place, reason in ((sweeps // 3, "The first that seemed safe."), (sweeps * 9 // 10, "Cheaper, and as safe.")):
        key = f"{strategies[min(4, len(strategies) - 1)].name}/dense/{MODELS[0]}"
        sweep = next((one for one in reversed(ids[: place + 1]) if history.recorded(one, key)), None)
        if sweep is not None:
            decide(engine, sweep, key, Cheapest(), reason)
    return ids


class _History:
    """Adds one sweep after the other and remembers what the last one gave."""

    def __init__(
        self, engine: Engine, cells: Sequence[Combination], strategies: Sequence[Strategy], seed: int, sweeps: int
    ) -> None:
        self.engine, self.cells, self.sweeps = engine, cells, sweeps
        self.specs = {strategy.name: strategy.spec for strategy in strategies}
        self.random, self.drawing, self.seed = random.Random(seed), Drawing(seed), seed
        self.results: dict[str, Result] = {}
        self.era: Era | None = None

    def add(self, place: int, era: Era) -> int:
        row = self._sweep(place, era)
        state = row.state
        kept = len(self.cells) if state == "finished" else 0 if state == "failed" else len(self.cells) * 3 // 5
        if era is not self.era and (self.era is None or self.era.corpus != era.corpus):
            self.results.clear()
        self.era = era
        combinations = [
            CombinationRow(sweep_id=0, position=at, key=cell.key, strategy=cell.strategy, retriever=cell.retriever,
                           model=cell.model, state="queued")
            for at, cell in enumerate(self.cells)
        ]  # fmt: skip
        sweep_id = writes.add_sweep(self.engine, row, combinations)
        sweep = reads.sweep(self.engine, sweep_id)
        with self.engine.begin() as connection:
            for at, (cell, one) in enumerate(zip(self.cells, reads.combinations(self.engine, sweep_id), strict=True)):
                fails = state == "failed" or (at < kept and self.random.random() < 0.01)
                if fails:
                    self._fail(connection, one.id or 0)
                elif at < kept:
                    self._record(connection, one.id or 0, cell, era, sweep, place)
        return sweep_id

    def recorded(self, sweep_id: int, key: str) -> bool:
        """Whether a decision can be made on a combination of a sweep."""
        sweep = reads.sweep(self.engine, sweep_id)
        states = {row.key: row.state for row in reads.combinations(self.engine, sweep_id)}
        return sweep is not None and sweep.state == "finished" and states.get(key) == "recorded"

    def _sweep(self, place: int, era: Era) -> SweepRow:
        began = FIRST_DAY + timedelta(days=2 * place, minutes=self.random.randrange(500))
        state = EARLY.get(place, "finished")
        commit = hashlib.sha1(f"{self.seed} {place // 2 if place % 10 == 1 else place}".encode()).hexdigest()
        needles = [query.needle.id for query in era.queries if query.needle is not None]
        strata = [query.stratum for query in era.queries]
        return SweepRow(
            key=hashlib.sha256(f"{self.seed} sweep {place}".encode()).hexdigest()[:32],
            fingerprint=hashlib.sha256(f"{era.corpus}{era.questions}".encode()).hexdigest(),
            state=state, reason=REASONS.get(state), created_at=began, started_at=began,
            finished_at=began + timedelta(minutes=6), heartbeat_at=began + timedelta(minutes=6), host="desk",
            commit=commit, branch=self.random.choice(BRANCHES), tag=f"v0.{place // 25}" if place % 25 == 24 else None,
            author_date=began - timedelta(hours=1), dirty=self.random.random() < 0.15,
            corpus_hash=era.corpus, questions_hash=era.questions,
            hit_rule="whole-needle-in-embedded-range/1", pipeline="1", documents=len(era.documents),
            needles=len(set(needles)), answerable=len(needles), near=strata.count("near"), far=strata.count("far"),
            settings={"strategies": self.specs, "retrievers": list(DEFAULT_RETRIEVERS), "models": list(MODELS),
                      "k": list(KS), "thresholds": list(THRESHOLDS), "alpha": 0.05, "seed": self.seed,
                      "bm25": "k1 = 1.2, b = 0.75, tokens: runs of a-z and 0-9", "left_out": 0},
            versions={"python": "3.11.7", "torch": "2.13.0", "numpy": "2.3.5" if place < 60 else "2.4.1",
                      "bluffline": "0.1.0"},
            done=9000, total=9000,
        )  # fmt: skip

    def _fail(self, connection: Connection, combination_id: int) -> None:
        connection.exec_driver_sql(
            "UPDATE combination SET state = 'failed', reason = ? WHERE id = ?", (FAILURE, combination_id)
        )

    def _record(
        self, connection: Connection, combination_id: int, cell: Combination, era: Era, sweep: SweepRow, place: int
    ) -> None:
        result = self.results.get(cell.key)
        if result is None or self.random.random() < CHANGED:
            result = self.drawing.result(cell, era, sweep.key, place / self.sweeps)
            self.results[cell.key] = result
        connection.exec_driver_sql(OUTCOME, [_outcome_values(combination_id, one) for one in result.outcomes])
        connection.exec_driver_sql(MEASURE, [(combination_id, *_number_values(one)) for one in result.numbers])
        connection.exec_driver_sql(HITS, (combination_id, result.parquet))
        connection.execute(
            CombinationRow.__table__.update()  # type: ignore[attr-defined]
            .where(CombinationRow.__table__.c.id == combination_id)  # type: ignore[attr-defined]
            .values(
                state="recorded",
                stamp=result.stamp,
                recorded_at=sweep.finished_at,
                measured_in=None if result.made_in == sweep.key else result.made_in,
                retrieval_key=hashlib.sha256(f"{cell.key} {result.made_in}".encode()).hexdigest(),
            )
        )


def _outcome_values(combination_id: int, one: Outcome) -> tuple[Any, ...]:
    return (combination_id, one.query_id, one.rank, one.destroyed, one.truncated, one.quotable, one.nearest,
            one.needle_distance, one.chunk_distance, one.gap)  # fmt: skip


def _number_values(number: Any) -> tuple[Any, ...]:
    return (number.name, number.value, number.low, number.high, number.hits, number.n)


def decide(engine: Engine, sweep_id: int, key: str, way: Way, reason: str) -> int:
    """Record a decision on a sweep of the history, with all its evidence.

    Returns:
        The decision's id.
    """
    loaded = load_sweep(engine, sweep_id)
    evidence = consider(loaded, find_combination(loaded, key), Terms())
    before = decision_in_force(engine)
    choice = evidence.choose(way)
    made = decision_from(
        evidence, choice, who="Ada", reason=reason, project="history", supersedes=before.id if before else None
    )
    return record(engine, made).id or 0
