"""A store with a long history: 100 sweeps of 50 combinations on 94 questions, the same for the same seed.

Documents, questions, chunks and destroyed needles are those of the bundled corpus; only where an answer stands in a
ranking is drawn. Rankings improve with time; a commit edits a document (the corpus hash and the places of its needles
change), a later one rewords a question; combinations fail, sweeps end early, some are of uncommitted changes.
Everything is written in bulk, hits included.
"""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, Engine

from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS
from corpus.check import check
from corpus.documents import Document
from corpus.fingerprint import corpus_hash, questions_hash
from corpus.questions import Query
from experiments.chunking import Chunk, chunk_corpus
from experiments.conditions import PRESETS, RETRIEVERS, Combination, Strategy, grid
from experiments.evaluation import Cutting, score
from experiments.gate import GATE_SIZE
from experiments.outcomes import Outcome
from experiments.recording import SCHEMA, document_rows, query_rows
from experiments.relevance import containing, quotable
from store import reads, writes
from store.tables import CombinationRow, SweepRow

SEED = 20_260_101
SWEEPS = 100
DEPTH = 20
KS = (1, 4, 8, 20)
THRESHOLDS = tuple(round(0.3 + 0.025 * step, 3) for step in range(21))
MODELS = ("sentence-transformers/all-MiniLM-L6-v2", "intfloat/e5-small-v2")
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
STRATEGY_EFFECT = {"A": -0.5, "B": -0.3, "E": 0.5, "F": 0.3, "E256": 0.2, "E768": 0.3, "A1024": -0.7}
RETRIEVER_EFFECT = {"dense": 0.2, "bm25": 0.0, "hybrid": 0.6}

OUTCOME = (
    "INSERT INTO outcome (combination_id, query_id, rank, destroyed, truncated, quotable, nearest, needle_distance, "
    "chunk_distance, gap) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
MEASURE = "INSERT INTO measure (combination_id, name, value, low, high, hits, n) VALUES (?, ?, ?, ?, ?, ?, ?)"
HITS = "INSERT INTO hits (combination_id, parquet) VALUES (?, ?)"


class Cuts(NamedTuple):
    """One strategy's chunks of one corpus."""

    chunks: tuple[Chunk, ...]
    columns: dict[str, np.ndarray]  # of the chunks, by the name of the hit's field
    holders: tuple[np.ndarray, ...]  # chunks that contain each question's needle whole
    quoting: tuple[np.ndarray, ...]  # those whose own words do


@dataclass(frozen=True)
class Era:
    """A corpus with its questions, until either changes."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    cuts: dict[str, Cuts]
    corpus: str
    questions: str


class Result(NamedTuple):
    """What one combination gave; it stays until a commit changes it."""

    outcomes: list[Outcome]
    parquet: bytes
    numbers: list[Any]
    stamp: dict[str, Any]
    made_in: str  # key of the sweep


class Weight(NamedTuple):
    """All that scoring asks of a hit."""

    tokens: int


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
    first = _era(*_bundled(), strategies)
    edited = _era(_edited(first.documents), None, strategies, first)
    reworded = _reworded(edited)
    for era in (first, edited, reworded):
        writes.add_corpus(engine, *document_rows(era.documents, era.corpus))
        writes.add_questions(engine, query_rows(era.queries, era.questions))
    history = _History(engine, grid(strategies, RETRIEVERS, MODELS), strategies, seed, sweeps)
    ids = []
    for place in range(sweeps):
        share = place / sweeps
        ids.append(history.add(place, first if share < EDITED else edited if share < REWORDED else reworded))
    return ids


def _bundled() -> tuple[tuple[Document, ...], tuple[Query, ...]]:
    report = check(BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS, strip_bibliography=BUNDLED_BIBLIOGRAPHY)
    return report.documents, report.queries


def _edited(documents: Sequence[Document]) -> tuple[Document, ...]:
    """The first document with a paragraph more in front, so that all its needles move."""
    text = "A paragraph was added here.\n\n" + documents[0].text
    return (replace(documents[0], text=text, sha256=hashlib.sha256(text.encode()).hexdigest()), *documents[1:])


def _reworded(era: Era) -> Era:
    first = era.queries[0]
    queries = (replace(first, text=first.text + " Please say exactly."), *era.queries[1:])
    return replace(era, queries=queries, questions=questions_hash(queries))


def _era(
    documents: tuple[Document, ...],
    queries: tuple[Query, ...] | None,
    strategies: Sequence[Strategy],
    before: Era | None = None,
) -> Era:
    if queries is None and before is not None:
        texts = {document.id: document.text for document in documents}
        queries = tuple(_moved(query, texts) for query in before.queries)
    asked = queries or ()
    cuts = {strategy.name: _cuts(documents, asked, strategy) for strategy in strategies}
    return Era(documents, asked, cuts, corpus_hash(documents), questions_hash(asked))


def _moved(query: Query, texts: dict[str, str]) -> Query:
    if query.needle is None:
        return query
    start = texts[query.needle.document].index(query.needle.text)
    end = start + len(query.needle.text)
    name = f"{query.needle.document}#char={start},{end}"
    return replace(query, needle=replace(query.needle, id=name, start=start, end=end))


def _cuts(documents: Sequence[Document], queries: Sequence[Query], strategy: Strategy) -> Cuts:
    chunks = chunk_corpus(documents, strategy)
    asked = [query.needle for query in queries if query.needle is not None]
    none = np.array([], np.intp)

    def by_query(found: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        remaining = iter(found)
        return tuple(none if query.needle is None else next(remaining) for query in queries)

    columns = {
        "document": np.array([chunk.document for chunk in chunks], object),
        "start": np.array([chunk.start for chunk in chunks]),
        "end": np.array([chunk.end for chunk in chunks]),
        "overlap_start": np.array([chunk.overlap_start for chunk in chunks]),
        "section": np.array([chunk.section for chunk in chunks], object),
        "tokens": np.array([len(chunk.text) // 4 + 1 for chunk in chunks]),
    }
    return Cuts(chunks, columns, by_query(containing(chunks, asked)), by_query(quotable(chunks, asked)))


class _History:
    """Adds one sweep after the other and remembers what the last one gave."""

    def __init__(
        self, engine: Engine, cells: Sequence[Combination], strategies: Sequence[Strategy], seed: int, sweeps: int
    ) -> None:
        self.engine, self.cells, self.sweeps = engine, cells, sweeps
        self.specs = {strategy.name: strategy.spec for strategy in strategies}
        self.random, self.numbers, self.seed = random.Random(seed), np.random.default_rng(seed), seed
        self.results: dict[str, Result] = {}
        self.era: Era | None = None
        self.difficulty: np.ndarray | None = None

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
            settings={"strategies": self.specs, "retrievers": list(RETRIEVERS), "models": list(MODELS),
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
            result = self._result(cell, era, sweep.key, place)
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

    def _result(self, cell: Combination, era: Era, key: str, place: int) -> Result:
        cuts = era.cuts[cell.strategy]
        wanted = self._ranks(cell, era, place)
        order, contains = _order(self.numbers, cuts, wanted)
        distances = self._distances(era, wanted, cell.retriever)
        outcomes = _outcomes(era, cuts, order, contains, distances, wanted)
        times = {"lexical": [0.1] * 25} if cell.retriever == "bm25" else {"embed": [9.8] * 25, "scan": [0.4] * 25}
        tokens = cuts.columns["tokens"]
        cutting = Cutting(
            chunks=len(cuts.chunks), characters=sum(len(chunk.text) for chunk in cuts.chunks),
            tokens=int(tokens.sum()), header_tokens=sum(len(chunk.header) // 4 for chunk in cuts.chunks),
            overlap_tokens=sum((chunk.start - chunk.overlap_start) // 4 for chunk in cuts.chunks),
            over_budget=sum(chunk.over_budget for chunk in cuts.chunks), over_window=int((tokens > 256).sum()),
        )  # fmt: skip
        weighed = [
            replace(one, hits=tuple(Weight(int(size)) for size in tokens[row]))  # type: ignore[arg-type]
            for one, row in zip(outcomes, order, strict=True)
        ]
        model = {"name": cell.model or MODELS[0], "source": "hub", "weights": "5" * 64, "files": "f" * 64,
                 "dimensions": 384, "window": 256, "precision": "fp32"}  # fmt: skip
        stamp = {"model": model, "cutting": cutting._asdict(), "milliseconds": times, "identity_error": 2.4e-07,
                 "depth": DEPTH}  # fmt: skip
        return Result(
            outcomes=outcomes,
            parquet=_parquet(cuts, outcomes, order, contains, distances),
            numbers=score(weighed, cutting, times, ks=KS, seed=self.seed),
            stamp=stamp,
            made_in=key,
        )

    def _ranks(self, cell: Combination, era: Era, place: int) -> np.ndarray:
        """Where each needle stands, from 1; 0 where it is not returned."""
        if self.difficulty is None:
            hard = {query.needle.id: self.numbers.normal(2.4, 1.3) for query in era.queries if query.needle}
            self.difficulty = np.array(
                [hard[q.needle.id] + 0.7 * (q.phrasing == "ticket") if q.needle else 0 for q in era.queries]
            )
        quality = STRATEGY_EFFECT.get(cell.strategy, 0.0) + RETRIEVER_EFFECT[cell.retriever]
        quality += 0.15 * (cell.model == MODELS[1]) + 0.7 * place / self.sweeps
        noise = self.numbers.normal(0, 0.55, len(era.queries))
        ranks = np.floor(np.exp(np.maximum(self.difficulty - quality + noise, 0))).astype(int)
        holders = era.cuts[cell.strategy].holders
        lost = np.array([not len(held) for held in holders]) | (ranks > (200 if cell.retriever == "bm25" else 700))
        return np.where(lost, 0, ranks)

    def _distances(self, era: Era, ranks: np.ndarray, retriever: str) -> np.ndarray:
        """Cosine distances of the returned chunks, shape (n, DEPTH); in order where the retriever reads vectors."""
        centres = {None: 0.42, "near": 0.58, "far": 0.74}
        least = np.array([centres[query.stratum] for query in era.queries]) + 0.025 * np.log(np.maximum(ranks, 1))
        least = np.clip(least + self.numbers.normal(0, 0.07, len(least)), 0.12, 0.97)
        steps = self.numbers.exponential(0.012, (len(least), DEPTH))
        steps[:, 0] = 0
        distances = least[:, None] + np.cumsum(steps, axis=1)
        if retriever != "dense":
            distances = self.numbers.permuted(distances, axis=1)
        return np.round(np.clip(distances, 0.05, 1.2), 6)


def _order(rng: np.random.Generator, cuts: Cuts, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returned chunks, shape (n, DEPTH), with the needle's chunk where it is wanted and nowhere else."""
    count = len(cuts.chunks)
    first = rng.integers(count, size=(len(wanted), 1))
    steps = rng.integers(1, max(count // (DEPTH + 10), 2), size=(len(wanted), DEPTH))
    order = (first + np.cumsum(steps, axis=1)) % count
    contains = np.zeros(order.shape, bool)
    for at, held in enumerate(cuts.holders):
        spare = int(first[at, 0])
        for place in np.flatnonzero(np.isin(order[at], held)):
            while spare in held:
                spare = (spare - 1) % count
            order[at, place] = spare
            spare = (spare - 1) % count
        if 1 <= wanted[at] <= DEPTH:
            order[at, wanted[at] - 1] = held[0]
            contains[at, wanted[at] - 1] = True
    return order, contains


def _outcomes(
    era: Era, cuts: Cuts, order: np.ndarray, contains: np.ndarray, distances: np.ndarray, ranks: np.ndarray
) -> list[Outcome]:
    outcomes = []
    for at, query in enumerate(era.queries):
        rank = int(ranks[at]) or None
        gated = distances[at, :GATE_SIZE]
        kept = gated[contains[at, :GATE_SIZE]]
        found = distances[at, rank - 1] if rank and rank <= DEPTH else distances[at].max() + 0.04
        destroyed = query.needle is not None and not len(cuts.holders[at])
        outcomes.append(
            Outcome(
                query_id=query.id,
                needle_id=query.needle.id if query.needle else None,
                phrasing=query.phrasing,
                stratum=query.stratum,
                rank=rank if query.needle else None,
                destroyed=destroyed,
                truncated=False,
                quotable=bool(np.isin(cuts.holders[at][0], cuts.quoting[at])) if query.needle and rank else None,
                nearest=float(gated.min()),
                needle_distance=float(kept.min()) if len(kept) else None,
                chunk_distance=float(found) if query.needle and not destroyed else None,
                gap=round(float(distances[at, 1] - distances[at, 0]), 6),
            )
        )
    return outcomes


def _parquet(
    cuts: Cuts, outcomes: Sequence[Outcome], order: np.ndarray, contains: np.ndarray, distances: np.ndarray
) -> bytes:
    """The file a run writes, made from arrays."""
    flat = order.ravel()
    quoting = np.array([np.isin(row, held) for row, held in zip(order, cuts.quoting, strict=True)])
    values = {name: column[flat] for name, column in cuts.columns.items()} | {
        "score": np.round(1 - distances, 6).ravel(),
        "distance": distances.ravel(),
        "contains": contains.ravel(),
        "quotable": (quoting & contains).ravel(),
    }
    kind = SCHEMA.field("hits").type.value_type
    fields = [kind.field(at) for at in range(kind.num_fields)]
    hits = pa.ListArray.from_arrays(
        pa.array(np.arange(0, len(flat) + 1, DEPTH, dtype=np.int32)),
        pa.StructArray.from_arrays([pa.array(values[field.name], type=field.type) for field in fields], fields=fields),
    )
    scalars = [field for field in SCHEMA if field.name != "hits"]
    columns = [pa.array([getattr(one, field.name) for one in outcomes], type=field.type) for field in scalars]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([*columns, hits], schema=SCHEMA), buffer, compression="zstd")
    return buffer.getvalue()


def _outcome_values(combination_id: int, one: Outcome) -> tuple[Any, ...]:
    return (combination_id, one.query_id, one.rank, one.destroyed, one.truncated, one.quotable, one.nearest,
            one.needle_distance, one.chunk_distance, one.gap)  # fmt: skip


def _number_values(number: Any) -> tuple[Any, ...]:
    return (number.name, number.value, number.low, number.high, number.hits, number.n)
