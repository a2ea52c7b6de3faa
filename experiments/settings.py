"""What a sweep does, and reading it from the tables of a project file: typed, and every fault at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from corpus.extraction.limits import Limits
from corpus.faults import Fault
from experiments.conditions import (
    DEFAULT_RETRIEVERS,
    OWN,
    PRESETS,
    RETRIEVERS,
    Combination,
    Strategy,
    grid,
    strategy_from_settings,
)
from experiments.lexical import BM25Settings
from experiments.model_files import DEFAULT_LATE_MODEL, DEFAULT_MODEL, DEFAULT_RERANKER
from experiments.model_settings import chosen_models
from experiments.model_specs import Kind, ModelSpec, plain_spec
from experiments.own.spec import OwnRetriever
from experiments.ranking import DEFAULT_FUSION, Fusion
from experiments.toml_tables import Table, line_of

# Of the optional generator.
MAX_TOKENS = 256
TIME_LIMIT = 120.0  # seconds, loading not included
_OCR_LANGUAGE = re.compile(r"\w+(?:/\w+)?(?:\+\w+(?:/\w+)?)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a sweep does, all of it recorded with the sweep."""

    strategies: tuple[Strategy, ...] = PRESETS
    retrievers: tuple[str, ...] = DEFAULT_RETRIEVERS
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    rerankers: tuple[str, ...] = (DEFAULT_RERANKER,)
    late_models: tuple[str, ...] = (DEFAULT_LATE_MODEL,)
    named_models: tuple[ModelSpec, ...] = ()  # of [models.NAME] tables, and out of wheels
    rerank_depth: int = 25  # chunks of the hybrid ranking a cross-encoder reads
    ks: tuple[int, ...] = (1, 4, 8, 20)
    thresholds: tuple[float, ...] = tuple(round(0.3 + 0.025 * step, 3) for step in range(21))
    alpha: float = 0.05
    seed: int = 20260101
    bm25: BM25Settings = field(default_factory=BM25Settings)
    fusion: Fusion = DEFAULT_FUSION
    own: tuple[OwnRetriever, ...] = ()

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The grid."""
        own = tuple(one.name for one in self.own)
        return grid(self.strategies, self.retrievers, self.models, self.rerankers, self.late_models, own)

    def model(self, name: str, kind: Kind = "embedding") -> ModelSpec:
        """What a model's name means.

        Raises:
            ValueError: If it is a model of another kind.
        """
        spec = next((spec for spec in self.named_models if spec.name == name), None) or plain_spec(name, kind)
        if spec.kind != kind:
            raise ValueError(f"model {name!r} is of kind {spec.kind}, not {kind}")
        return spec

    @property
    def gate_model(self) -> str:
        """The model whose cosine distance the gate reads where the retriever itself has none."""
        return self.models[0]


@dataclass(frozen=True, slots=True)
class AskSettings:
    """What may answer a live question beside the gate; nothing is measured with it.

    Attributes:
        generator: A local model, as `experiments.asking.generation.find_generator` takes it; None where there is none.
        max_tokens: Tokens an answer may have.
        time_limit: Seconds an answer may take.
    """

    generator: str | None = None
    max_tokens: int = MAX_TOKENS
    time_limit: float = TIME_LIMIT


def own_strategies(file: Path, tables: Any, faults: list[Fault]) -> dict[str, Strategy]:
    """The presets and the strategies of `[strategies.NAME]` tables, by name."""
    known = {strategy.name: strategy for strategy in PRESETS}
    if not isinstance(tables, Mapping):
        faults.append(Fault(str(file), None, str(tables), "strategies: not a table", "write [strategies.NAME]"))
        return known
    for name, values in tables.items():
        try:
            if name in known:
                raise ValueError(f"strategy {name!r}: the presets A to F cannot be redefined, choose another name")
            if name == OWN:
                raise ValueError(f"strategy {name!r}: stands for retrievers of one's own, choose another name")
            if not isinstance(values, Mapping):
                raise ValueError(f"strategy {name!r}: not a table, write [strategies.{name}] and its settings below it")
            known[name] = strategy_from_settings(name, values)
        except ValueError as error:
            line = line_of(file, f"strategies.{name}") or line_of(file, "strategies", name)
            faults.append(Fault(str(file), line, name, str(error), "correct it"))
    return known


def read_settings(
    sweep: Table,
    bm25: Table,
    hybrid: Table,
    rerank: Table,
    strategies: Mapping[str, Strategy],
    models: Mapping[str, ModelSpec] | None = None,
    own: Mapping[str, OwnRetriever] | None = None,
) -> Settings:
    """Read `[sweep]`, `[bm25]`, `[hybrid]` and `[rerank]`; faults go to the tables' list, the defaults stand in."""
    named, own_retrievers = dict(models or {}), dict(own or {})
    plain = Settings()
    chosen = sweep.take_list("strategies", str, tuple(strategies), "strategy names")
    for name in [name for name in chosen if name not in strategies]:
        sweep.fault("strategies", name, "unknown strategy", f"known are {', '.join(strategies)}")
    retrievers = sweep.take_list("retrievers", str, plain.retrievers, "retriever names")
    known = (*RETRIEVERS, *own_retrievers)
    for name in [name for name in retrievers if name not in known]:
        advice = f"known are {', '.join(known)}; one of your own needs a table [retrievers.{name}]"
        sweep.fault("retrievers", name, "unknown retriever", advice)
    embedding = chosen_models(sweep, "models", "embedding", plain.models, "model names or folders", named)
    rerankers = chosen_models(
        sweep, "rerankers", "cross-encoder", plain.rerankers, "cross-encoders' names or folders", named
    )
    late_models = chosen_models(
        sweep, "late_models", "late-interaction", plain.late_models, "late-interaction models' names or folders", named
    )
    ks = sweep.take_list("k", int, plain.ks, "whole numbers")
    for k in [k for k in ks if k < 1]:
        sweep.fault("k", k, "must be at least 1", "correct it")
    thresholds = _thresholds(sweep, plain.thresholds)
    alpha = sweep.take("alpha", float, plain.alpha, "a number between 0 and 1")
    if not 0 < alpha < 1:
        sweep.fault("alpha", alpha, "must lie between 0 and 1", "0.05 is usual")
    seed = sweep.take("seed", int, plain.seed, "a whole number")
    if seed < 0:
        sweep.fault("seed", seed, "must not be negative", "any whole number from 0 is good")
    sweep.finish("strategies, retrievers, models, rerankers, late_models, k, thresholds, alpha, seed")
    return Settings(
        strategies=tuple(strategies[name] for name in dict.fromkeys(chosen) if name in strategies),
        retrievers=tuple(name for name in dict.fromkeys(retrievers) if name in RETRIEVERS),
        models=embedding,
        rerankers=rerankers,
        late_models=late_models,
        named_models=tuple(named.values()),
        rerank_depth=_rerank_depth(rerank, plain.rerank_depth),
        ks=tuple(sorted(set(ks))),
        thresholds=thresholds,
        alpha=alpha,
        seed=seed,
        bm25=_bm25(bm25),
        fusion=_fusion(hybrid),
        own=tuple(own_retrievers[name] for name in dict.fromkeys(retrievers) if name in own_retrievers),
    )


def _rerank_depth(table: Table, default: int) -> int:
    depth = int(table.take("depth", int, default, "a whole number"))
    if depth < 1:
        table.fault("depth", depth, "must be at least 1", f"{default} is usual")
    table.finish("depth")
    return depth


def read_ask(table: Table) -> AskSettings:
    """Read `[ask]`; faults go to the table's list, the defaults stand in."""
    plain = AskSettings()
    generator = table.take("generator", str, None, "a folder, a .gguf file, a wheel: spec or a hub name in quotes")
    max_tokens = table.take("max_tokens", int, plain.max_tokens, "a whole number")
    time_limit = table.take("time_limit", (int, float), plain.time_limit, "a number of seconds")
    if max_tokens < 1:
        table.fault("max_tokens", max_tokens, "must be at least 1", f"{plain.max_tokens} is usual")
    if not 0 < time_limit < float("inf"):
        table.fault("time_limit", time_limit, "must be above 0", f"{plain.time_limit:g} is usual")
    table.finish("generator, max_tokens, time_limit")
    return AskSettings((generator or "").strip() or None, max_tokens, float(time_limit))


def read_extraction(table: Table) -> Limits:
    """Read `[extraction]`; faults go to the table's list, the defaults stand in."""
    plain = Limits()

    def whole(key: str, default: int, least: int) -> int:
        value: int = table.take(key, int, default, "a whole number")
        if value < least:
            table.fault(key, value, f"must be at least {least}", f"{default} is usual")
            return default
        return value

    seconds = table.take("time_limit", (int, float), plain.seconds, "a number of seconds")
    if not 0 < seconds < float("inf"):
        table.fault("time_limit", seconds, "must be above 0", f"{plain.seconds:g} is usual")
    language = table.take("ocr_language", str, plain.ocr_language, "a Tesseract language in quotes, as deu+eng")
    if not _OCR_LANGUAGE.fullmatch(language):
        table.fault("ocr_language", language, "is no Tesseract language", "eng, deu or deu+eng are some")
    limits = Limits(
        megabytes=whole("megabytes", plain.megabytes, 1),
        unpacked_megabytes=whole("unpacked_megabytes", plain.unpacked_megabytes, 1),
        pages=whole("pages", plain.pages, 1),
        seconds=float(seconds),
        memory_megabytes=whole("memory_megabytes", plain.memory_megabytes, 500),
        ocr=table.take("ocr", bool, plain.ocr, "true or false"),
        ocr_language=language,
        processes=whole("processes", plain.processes, 0),
    )
    table.finish("megabytes, unpacked_megabytes, pages, time_limit, memory_megabytes, ocr, ocr_language, processes")
    return limits


def _bm25(table: Table) -> BM25Settings:
    plain = BM25Settings()
    k1 = table.take("k1", (int, float), plain.k1, "a number")
    b = table.take("b", (int, float), plain.b, "a number")
    tokeniser = table.take("tokeniser", str, plain.tokeniser, "a tokeniser's name in quotes")
    stemming = table.take("stemming", str, None, "a Snowball language in quotes")
    table.finish("k1, b, tokeniser, stemming")
    try:
        return BM25Settings(k1=float(k1), b=float(b), tokeniser=tokeniser, stemming=stemming)
    except ValueError as error:
        table.fault("", f"{k1}, {b}, {tokeniser}, {stemming}", str(error), "correct it")
        return plain


def _fusion(table: Table) -> Fusion:
    plain = DEFAULT_FUSION
    k, dense, bm25 = (
        float(table.take(key, (int, float), default, "a number"))
        for key, default in (("k", plain.k), ("dense", plain.dense), ("bm25", plain.bm25))
    )
    table.finish("k, dense, bm25")
    try:
        return Fusion(k=k, dense=dense, bm25=bm25)
    except ValueError as error:
        table.fault("", f"{k:g}, {dense:g}, {bm25:g}", str(error), "k = 60 and weights of 1 are usual")
        return plain


def _thresholds(sweep: Table, default: tuple[float, ...]) -> tuple[float, ...]:
    """A list of distances, or a table `{from, to, step}`; read in decimal, so that 0.675 is 0.675."""
    values = sweep.take("thresholds", (list, dict), None, "a list of distances or {from, to, step}")
    if values is None:
        return default
    try:
        if isinstance(values, dict):
            if set(values) != {"from", "to", "step"}:
                raise ValueError("a table needs from, to and step")
            low, high, step = (Decimal(str(values[key])) for key in ("from", "to", "step"))
            if step <= 0 or high < low or (high - low) / step > 1000:
                raise ValueError("step must be positive, from at most to, and there are at most 1,000 thresholds")
            values = [low + step * count for count in range(int((high - low) / step) + 1)]
        distances = sorted({float(Decimal(str(value))) for value in values})
        if not distances or not all(0 < distance <= 2 for distance in distances):
            raise ValueError("a cosine distance lies above 0 and is at most 2")
    except (ValueError, InvalidOperation) as error:
        problem = "must be numbers" if isinstance(error, InvalidOperation) else str(error)
        sweep.fault("thresholds", values, problem, "write [0.5, 0.6] or { from = 0.3, to = 0.8, step = 0.025 }")
        return default
    return tuple(distances)
