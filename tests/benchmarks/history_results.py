"""What a combination of the long history gives: ranks are drawn, everything else follows from them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from history_world import Cuts, Era

from experiments.conditions import Combination
from experiments.evaluation import Cutting, score
from experiments.gate import GATE_SIZE
from experiments.outcomes import Outcome
from experiments.recording import SCHEMA

DEPTH = 20
KS = (1, 4, 8, 20)
MODELS = ("sentence-transformers/all-MiniLM-L6-v2", "intfloat/e5-small-v2")
STRATEGY_EFFECT = {"A": -0.5, "B": -0.3, "E": 0.5, "F": 0.3, "E256": 0.2, "E768": 0.3, "A1024": -0.7}
RETRIEVER_EFFECT = {"dense": 0.2, "bm25": 0.0, "hybrid": 0.6}


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


class Drawing:
    """Draws results, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed, self.numbers = seed, np.random.default_rng(seed)
        self.difficulty: np.ndarray | None = None

    def result(self, cell: Combination, era: Era, key: str, share: float) -> Result:
        """Draw what a combination gives, `share` of the history having passed."""
        cuts = era.cuts[cell.strategy]
        wanted = self._ranks(cell, era, share)
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

    def _ranks(self, cell: Combination, era: Era, share: float) -> np.ndarray:
        """Where each needle stands, from 1; 0 where it is not returned."""
        if self.difficulty is None:
            hard = {query.needle.id: self.numbers.normal(2.4, 1.3) for query in era.queries if query.needle}
            self.difficulty = np.array(
                [hard[q.needle.id] + 0.7 * (q.phrasing == "ticket") if q.needle else 0 for q in era.queries]
            )
        quality = STRATEGY_EFFECT.get(cell.strategy, 0.0) + RETRIEVER_EFFECT[cell.retriever]
        quality += 0.15 * (cell.model == MODELS[1]) + 0.7 * share
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
        pa.StructArray.from_arrays(
            [
                pa.array(values[field.name], type=field.type)
                if field.name in values
                else pa.nulls(len(flat), field.type)
                for field in fields
            ],
            fields=fields,
        ),
    )
    columns = [
        hits if field.name == "hits" else pa.array([getattr(one, field.name) for one in outcomes], type=field.type)
        for field in SCHEMA
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), buffer, compression="zstd")
    return buffer.getvalue()
