"""What a sweep would do before it does it, and what its questions could show at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.conditions import describe
from experiments.language_checks import language_warnings
from experiments.own.kept_answers import kept_answers
from experiments.own.spec import Function, OwnRetriever, Results
from experiments.project import Project
from experiments.provenance import document_level
from experiments.reading import observed_in
from experiments.recording import query_rows
from experiments.retrieval import cut
from experiments.reviewing.question_planning import needed_rows
from experiments.reviewing.question_set import balance, bound_rows
from experiments.settings import Settings
from experiments.stats.intervals import wilson
from experiments.stats.resolution import fewest_discordant
from experiments.sweep import Inputs, queued, read_inputs
from experiments.verdicts.questions import on_difference, on_target
from experiments.verdicts.strategies import on_depth
from experiments.words import interval, listed, plural
from experiments.workbench import Workbench
from store import reads
from store.engine import open_store
from store.reads_sweeps import recorded_keys
from store.tables import CombinationRow


class Wanted(NamedTuple):
    """What a sweep is to show."""

    difference: float = 0.1  # between two combinations, of R@k
    bluffs: float = 0.1  # share that is to be promised at most
    confidence: float = 0.95  # of that promise


DEFAULT = Wanted()


def planned(project: Project, wanted: Wanted = DEFAULT) -> Iterator[str]:
    """Lines that describe the sweep.

    Args:
        project: What would be measured; the newest finished sweep in its store tells how often combinations differ.
        wanted: What is to be shown.

    Raises:
        InputError: If documents or questions cannot be measured.
    """
    inputs = read_inputs(project)
    settings = project.settings
    bench = Workbench(project, inputs)
    combinations = settings.combinations
    own = f", and your own {listed([one.name for one in settings.own])}" if settings.own else ""
    yield (
        f"{plural(len(combinations), 'combination')}: {plural(len(settings.strategies), 'strategy', 'strategies')} x "
        f"{', '.join(settings.retrievers)} x {', '.join(settings.models)}{own}; "
        f"{plural(len(settings.thresholds), 'threshold')} and none are read from each."
    )
    cuts = []
    for strategy in settings.strategies:
        one = cut(inputs.documents, inputs.queries, strategy)
        destroyed = {
            query.answer_id for query, answer in zip(inputs.queries, one.answers, strict=True) if answer.destroyed
        }
        chunks = plural(len(one.chunks), "chunk")
        lost = "" if document_level(inputs.hit_rule) else f", {plural(len(destroyed), 'needle')} destroyed"
        yield f"  {strategy.name}  {describe(strategy):32} {chunks}{lost}"
        cuts.append(one)
    shallow = on_depth({one.strategy.name: len(one.chunks) for one in cuts}, settings.ks)
    if shallow:
        yield f"Warning: {shallow}"
    for warning in language_warnings(inputs.documents, inputs.queries, settings, bench.languages):
        yield f"Warning: {warning}"
    for mine in settings.own:
        yield f"{mine.name}: {_to_ask(mine, project, inputs)}"
    for name in settings.models:
        if bench.has(name):
            yield f"{name}: {plural(bench.to_embed({name: cuts}), 'text')} to embed, the others are cached."
        else:
            yield f"{name}: {bench.why_missing(name)}; its combinations will fail."
    engine = open_store(project.store_url)
    yield from bench.seconds.planned(
        engine, _waiting(engine, settings, bench), {one.strategy.name: one for one in cuts}, len(inputs.queries)
    )
    answerable = sum(query.answerable for query in inputs.queries)
    pairs = len(combinations) * (len(combinations) - 1) // 2
    half = wilson(answerable // 2, answerable)
    yield (
        f"With {answerable} answerable questions a share near one half is known to within "
        f"{interval(half.low, half.high)}; one pair of combinations alone can be resolved from "
        f"{fewest_discordant(settings.alpha)} discordant questions that all go one way, "
        f"and among all {pairs} pairs from {fewest_discordant(settings.alpha, max(pairs, 1))}."
    )
    held, k = balance(query_rows(inputs.queries, inputs.questions_hash)), max(settings.ks)
    observed = observed_in(engine, reads.latest_sweep(engine, "finished"), k)
    rows = needed_rows(wanted.difference, observed, settings.alpha, max(pairs, 1))
    yield on_difference(wanted.difference, observed, rows, k, max(pairs, 1), answerable)
    yield on_target(wanted.bluffs, wanted.confidence, bound_rows(wanted.bluffs, wanted.confidence), held)


def _waiting(engine: Engine, settings: Settings, bench: Workbench) -> list[CombinationRow]:
    """The combinations that no sweep of the same inputs has recorded."""
    keys = [(row, bench.retrieval_key(row)) for row in queued(settings)]
    recorded = recorded_keys(engine, {key for _, key in keys if key})
    return [row for row, key in keys if key not in recorded]


def _to_ask(own: OwnRetriever, project: Project, inputs: Inputs) -> str:
    """What measuring a retriever of one's own would ask of it."""
    if isinstance(own.source, Results):
        return f"one combination, read from {own.source.file}; nothing is asked."
    questions = {query.text for query in inputs.queries}
    # Without a version its answers are kept for one sweep only, so that a new one asks everything.
    kept = kept_answers(own, project.var, "") if own.version else None
    todo = sum(kept is None or kept.get(text) is None for text in questions)
    known = f", {len(questions) - todo} answers are kept" if todo < len(questions) else ""
    at_once = (
        "all in one call" if isinstance(own.source, Function) and own.source.batch else f"{own.concurrency} at once"
    )
    return f"one combination, {plural(todo, 'request')} to {own.source.words}, {at_once}{known}."
