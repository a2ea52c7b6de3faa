"""What a sweep would do before it does it, and what its questions could show at all."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.conditions import describe
from experiments.language_checks import language_warnings
from experiments.project import Project
from experiments.provenance import document_level
from experiments.retrieval import cut
from experiments.stats.intervals import questions_for_bound, wilson
from experiments.stats.resolution import fewest_discordant
from experiments.sweep import read_inputs
from experiments.verdicts.strategies import on_depth
from experiments.words import interval, plural
from experiments.workbench import Workbench

_BOUND = 0.1  # a bluff rate teams ask for


def planned(project: Project) -> Iterator[str]:
    """Lines that describe the sweep.

    Raises:
        InputError: If documents or questions cannot be measured.
    """
    inputs = read_inputs(project)
    settings = project.settings
    bench = Workbench(project, inputs)
    combinations = settings.combinations
    yield (
        f"{plural(len(combinations), 'combination')}: {plural(len(settings.strategies), 'strategy', 'strategies')} x "
        f"{', '.join(settings.retrievers)} x {', '.join(settings.models)}; "
        f"{plural(len(settings.thresholds), 'threshold')} and none are read from each."
    )
    cuts = []
    for strategy in settings.strategies:
        one = cut(inputs.documents, inputs.queries, strategy)
        destroyed = {
            query.answer_id for query, answer in zip(inputs.queries, one.answers, strict=True) if answer.destroyed
        }
        chunks = plural(len(one.chunks), "chunk")
        lost = "" if document_level(inputs.hit_rule) else f", {len(destroyed)} needles destroyed"
        yield f"  {strategy.name}  {describe(strategy):32} {chunks}{lost}"
        cuts.append(one)
    shallow = on_depth({one.strategy.name: len(one.chunks) for one in cuts}, settings.ks)
    if shallow:
        yield f"Warning: {shallow}"
    for warning in language_warnings(inputs.documents, inputs.queries, settings, bench.languages):
        yield f"Warning: {warning}"
    for name in settings.models:
        if bench.has(name):
            yield f"{name}: {plural(bench.to_embed({name: cuts}), 'text')} to embed, the others are cached."
        else:
            yield f"{name}: {bench.why_missing(name)}; its combinations will fail."
    answerable = sum(query.answerable for query in inputs.queries)
    unanswerable = len(inputs.queries) - answerable
    pairs = len(combinations) * (len(combinations) - 1) // 2
    half = wilson(answerable // 2, answerable)
    yield (
        f"With {answerable} answerable questions a share near one half is known to within "
        f"{interval(half.low, half.high)}; one pair of combinations alone can be resolved from "
        f"{fewest_discordant(settings.alpha)} discordant questions that all go one way, "
        f"and among all {pairs} pairs from {fewest_discordant(settings.alpha, max(pairs, 1))}."
    )
    needed = questions_for_bound(_BOUND)
    yield (
        f"To certify at most {_BOUND:.0%} bluffs with 95 % confidence takes {needed} unanswerable questions "
        f"without one bluff; there are {unanswerable}."
    )
