"""How a question is to be asked: by the decision in force, or by the combinations that options name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import click

from experiments.asking.answers import Answer, check_threshold, parse_combination
from experiments.asking.asker import Asker
from experiments.conditions import MODEL_FREE_RETRIEVERS, Combination
from experiments.deciding.decision_fit import combination_of
from experiments.deciding.validity import corpora_it_holds_on
from experiments.project import Project
from store.decisions import decision_in_force
from store.engine import open_store
from store.tables import DecisionRow


class Way(NamedTuple):
    """One way to ask: what is printed above its answer, and how to get that answer."""

    heading: str
    ask: Callable[[str], Answer]


def ways_to_ask(project: Project, asker: Asker, options: dict[str, Any]) -> list[Way]:
    """What is to be asked: the combinations named, else the decision in force with what the options change of it."""
    if options["combinations"]:
        if options["strategy"] or options["retriever"] or options["model"] or options["scorer"]:
            raise click.UsageError("--combination already names strategy, retriever and models")
        return [_named(project, asker, text, options["threshold"]) for text in options["combinations"]]
    engine = open_store(project.store_url)
    decision = decision_in_force(engine)
    changed = options["strategy"] or options["retriever"] or options["model"] or options["scorer"]
    if decision is None and not changed and options["threshold"] is None:
        raise click.UsageError(
            "no decision yet: record one with `bluffline decide`, or say what to ask with "
            "--strategy E --retriever dense --threshold 0.675"
        )
    if not changed and decision is not None:
        known = asker.corpus_hash == decision.corpus_hash
        holds_on = frozenset() if known else corpora_it_holds_on(engine, decision)
        return [_decided(asker, decision, options["threshold"], holds_on)]
    return [_of_options(project, asker, decision, options)]


def _named(project: Project, asker: Asker, text: str, threshold: float | None) -> Way:
    key, at, own = text.rpartition("@")
    if at and re.fullmatch(r"[\d.]+", own):
        return _way(asker, _parsed(project, key), float(own))
    return _way(asker, _parsed(project, text), threshold)


def _parsed(project: Project, key: str) -> Combination:
    settings = project.settings
    return parse_combination(key, settings.models, settings.rerankers, settings.late_models)


def _of_options(project: Project, asker: Asker, decision: DecisionRow | None, options: dict[str, Any]) -> Way:
    strategy = options["strategy"] or (decision.strategy if decision else "E")
    retriever = options["retriever"] or (decision.retriever if decision else "dense")
    settings = project.settings
    model = None if retriever in MODEL_FREE_RETRIEVERS else options["model"] or settings.models[0]
    scorers = {"rerank": settings.rerankers, "late": settings.late_models}.get(retriever, ())
    scorer = (options["scorer"] or scorers[0]) if scorers else None
    return _way(asker, Combination(strategy, retriever, model, scorer), options["threshold"])


def _way(asker: Asker, combination: Combination, threshold: float | None) -> Way:
    check_threshold(threshold)
    asker.strategy(combination.strategy)
    at = "no threshold: whatever comes first is kept" if threshold is None else f"threshold {threshold:g}"
    return Way(f"{combination.key}, {at}", lambda question: asker.ask(question, combination, threshold))


def _decided(asker: Asker, decision: DecisionRow, threshold: float | None, holds_on: Collection[str]) -> Way:
    asker.check_decision(decision, holds_on)
    if threshold is None:
        heading = f"{decision.combination}, threshold {decision.threshold:g}, decision {decision.id}"
        return Way(heading, lambda question: asker.ask_decided(question, decision, holds_on))
    check_threshold(threshold)
    combination = combination_of(decision)
    heading = f"{decision.combination}, threshold {threshold:g} instead of decision {decision.id}'s"
    model = str(decision.stamp["name"])
    return Way(heading, lambda question: asker.ask(question, combination, threshold, gate_model=model))
