"""The sweep, told once: documents -> chunks -> index -> rankings -> outcomes -> numbers -> record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.chunking import chunk_corpus
from experiments.conditions import OWN
from experiments.language_checks import language_warnings
from experiments.lexical import BM25Index
from experiments.outcomes import HITS_KEPT
from experiments.own_measuring import OwnRetrievers
from experiments.progress import CancelledError, Progress
from experiments.project import Project
from experiments.ranking import rank
from experiments.recorder import Recorder, Say
from experiments.relevance import precision_omegas
from experiments.retrieval import Cut, Index, cut, retrieve
from experiments.sweep import Inputs, begin, gate_model, read_inputs
from experiments.workbench import Workbench
from store import reads, writes
from store.tables import CombinationRow


class SweepResult(NamedTuple):
    """How a sweep ended."""

    sweep_id: int
    recorded: int
    failed: int
    unjudged: int  # retrievers of one's own that left too many questions without an answer
    reused: int  # of the recorded: read from an earlier sweep of the same inputs
    embedded: int  # texts that were in no cache
    tracking_error: str | None


def run_sweep(
    engine: Engine, project: Project, *, fresh: bool = False, skip_faults: bool = False, say: Say = lambda _: None
) -> SweepResult:
    """Measure every combination of a project and record it.

    Args:
        engine: The store.
        project: What to measure.
        fresh: Retrieve and time again even where an earlier sweep of the same inputs is recorded; vectors stay cached.
        skip_faults: Measure without faulty documents and questions.
        say: Told what a person should read.

    Returns:
        How it ended. A combination that failed is recorded as failed, with its reason; the others go on.

    Raises:
        InputError: If documents or questions cannot be measured.
        CancelledError: If somebody cancelled it; what was recorded stays.
    """
    inputs = read_inputs(project, skip_faults=skip_faults)
    sweep_id = begin(engine, project, inputs, say)
    recorder = Recorder(engine, project, sweep_id, inputs.queries, say)
    try:
        bench = Workbench(project, inputs, fresh=fresh)
        recorder.warn(language_warnings(inputs.documents, inputs.queries, project.settings, bench.languages))
        waiting = [row for row in reads.combinations(engine, sweep_id) if row.state != "recorded"]
        waiting = _read_again(engine, project, inputs, bench, recorder, waiting, fresh)
        own = OwnRetrievers(project, inputs, bench, recorder, sweep_key=_key(engine, sweep_id), say=say)
        _measure(engine, sweep_id, project, inputs, bench, recorder, own, waiting, fresh)
        recorder.keep_warnings(tuple(bench.unread_questions()))
    except CancelledError:
        recorder.end("cancelled", "cancelled on request")
        raise
    except BaseException as error:
        recorder.end("interrupted", f"interrupted by {type(error).__name__}; run again to take it up where it stopped")
        raise
    recorded = sum(row.state == "recorded" for row in reads.combinations(engine, sweep_id))
    recorder.end("finished" if recorded else "failed", None if recorded else "every combination failed")
    return SweepResult(
        sweep_id,
        recorded,
        recorder.failed,
        recorder.unjudged,
        recorder.reused,
        bench.embedded,
        recorder.tracking_error,
    )


def _read_again(
    engine: Engine,
    project: Project,
    inputs: Inputs,
    bench: Workbench,
    recorder: Recorder,
    waiting: Sequence[CombinationRow],
    fresh: bool,
) -> list[CombinationRow]:
    """Record what an earlier sweep of the same inputs retrieved already.

    Returns:
        The combinations that are still to be measured.
    """
    strategies = {strategy.name: strategy for strategy in project.settings.strategies}
    keys: dict[str, CombinationRow] = {}
    for row in waiting:
        key = bench.retrieval_key(row)
        if key is not None:
            writes.update_combination(engine, row.id or 0, retrieval_key=key)
            keys[key] = row
    if fresh:
        return list(waiting)
    done = set()
    omegas: dict[str, dict[str, float]] = {OWN: {}}  # of the cutting: once a strategy
    for key, earlier in reads.recorded_retrievals(engine, list(keys)).items():
        row = keys[key]
        stamp = bench.encoder(gate_model(row, project.settings)).stamp
        if row.strategy not in omegas:
            chunks = chunk_corpus(inputs.documents, strategies[row.strategy])
            omegas[row.strategy] = precision_omegas(chunks, inputs.queries)
        if recorder.read_again(row, earlier, stamp, bench.seconds.stamp(row), omegas[row.strategy]):
            done.add(row.id)
    return [row for row in waiting if row.id not in done]


def _measure(
    engine: Engine,
    sweep_id: int,
    project: Project,
    inputs: Inputs,
    bench: Workbench,
    recorder: Recorder,
    own: OwnRetrievers,
    waiting: Sequence[CombinationRow],
    fresh: bool,
) -> None:
    """Strategies one after the other, then a team's own retrievers; each combination is written whole or not at all."""
    cuts = {
        strategy.name: cut(inputs.documents, inputs.queries, strategy)
        for strategy in project.settings.strategies
        if any(row.strategy == strategy.name for row in waiting)
    }
    indexed: dict[str, list[Cut]] = {}
    for name, strategy_cut in cuts.items():
        for model in {gate_model(row, project.settings) for row in waiting if row.strategy == name}:
            indexed.setdefault(model, []).append(strategy_cut)
    asked = [row for row in waiting if row.strategy == OWN]
    totals = {
        "texts": bench.to_embed(indexed),
        **bench.seconds.plans(waiting, cuts, len(inputs.queries)),
        "requests": sum(own.waiting(row.retriever) for row in asked),
    }
    expected = bench.seconds.expected(engine, waiting)
    with Progress(engine, sweep_id, totals, expected) as progress:
        for name, strategy_cut in cuts.items():
            rows = [row for row in waiting if row.strategy == name]
            _strategy(strategy_cut, rows, project, inputs, bench, recorder, progress)
        for row in asked:
            with recorder.attempt(row):
                own.measure(row, gate_model(row, project.settings), progress, fresh=fresh)


def _strategy(
    cut: Cut,
    rows: Sequence[CombinationRow],
    project: Project,
    inputs: Inputs,
    bench: Workbench,
    recorder: Recorder,
    progress: Progress,
) -> None:
    """One strategy: one lexical index, one vector index a model, every retriever over them."""
    settings = project.settings
    lexical = BM25Index(cut.texts, settings.bm25)
    bm25 = rank(lexical.scores([query.text for query in inputs.queries]), positive_only=True)
    depth = max(HITS_KEPT, *settings.ks)
    indexes: dict[str, Index] = {}
    for row in rows:
        with recorder.attempt(row):
            model = gate_model(row, settings)
            if model not in indexes:
                indexes[model] = bench.index(cut, model, progress)
            second = bench.seconds.model(row, cut, progress)
            retrieval = retrieve(indexes[model], row.retriever, lexical, bm25, depth, second, fusion=settings.fusion)
            recorder.record(row, retrieval, bench.encoder(model).stamp, second.stamp if second else None)


def _key(engine: Engine, sweep_id: int) -> str:
    sweep = reads.sweep(engine, sweep_id)
    return sweep.key if sweep is not None else ""
