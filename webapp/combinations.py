"""Which combinations of a sweep a page shows: chosen by strategy, retriever and models, any number of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flask import request

from experiments.conditions import describe_spec, spec_in
from experiments.naming import names_of, short_model
from experiments.own.responses import CANNOT_BE_JUDGED
from experiments.reading import chunks_of
from experiments.verdicts.own import on_answered
from experiments.verdicts.strategies import on_depth
from store.tables import CombinationRow, SweepRow
from webapp import params


class Chip(NamedTuple):
    """One value that can be ticked."""

    value: str
    words: str
    title: str
    chosen: bool


class Chips(NamedTuple):
    """The values of one ingredient; none ticked means all."""

    name: str
    label: str
    chips: tuple[Chip, ...]


class Head(NamedTuple):
    """A combination as the head of a row or column."""

    id: int
    key: str
    name: str
    strategy: str
    what: str  # what the strategy does; empty where the sweep does not say
    retriever: str
    model: str  # short; empty where there is none, or only one to speak of
    scorer: str = ""  # the same of the second model


class Group(NamedTuple):
    """Neighbouring columns of one strategy."""

    strategy: str
    what: str
    span: int


class Note(NamedTuple):
    """Something a reader must know before the numbers: kind is "", warn, bad or info."""

    kind: str
    title: str
    words: str


class Shown(NamedTuple):
    """The recorded combinations of a sweep that the filters let through."""

    rows: tuple[CombinationRow, ...]
    heads: tuple[Head, ...]
    chips: tuple[Chips, ...]
    total: int  # of the sweep, whatever their state

    @property
    def ids(self) -> list[int]:
        """Their ids."""
        return [head.id for head in self.heads]

    @property
    def by_id(self) -> dict[int, Head]:
        """Heads by id."""
        return {head.id: head for head in self.heads}

    @property
    def names(self) -> dict[str, str]:
        """Names by key."""
        return {head.key: head.name for head in self.heads}

    @property
    def groups(self) -> tuple[Group, ...]:
        """Runs of columns that belong to one strategy."""
        found: list[Group] = []
        for head in self.heads:
            if found and found[-1].strategy == head.strategy:
                found[-1] = found[-1]._replace(span=found[-1].span + 1)
            else:
                found.append(Group(head.strategy, head.what, 1))
        return tuple(found)


def shown(sweep: SweepRow, rows: Sequence[CombinationRow]) -> Shown:
    """Filter a sweep's combinations by what this request's address asks for.

    Raises:
        BadParameterError: If a strategy, retriever, model or scorer is named that the sweep does not have.
    """
    (strategies, retrievers, models, scorers), chosen = _values(rows), _chosen(rows)
    kept = tuple(row for row in rows if row.state == "recorded" and _passes(row, *chosen))
    does = {name: _what(sweep, name) for name in strategies}
    groups = (
        _chips("strategy", "Strategy", strategies, chosen[0], {name: name for name in strategies}, does),
        _chips("retriever", "Retriever", retrievers, chosen[1], {name: name for name in retrievers}, {}),
        _chips("model", "Model", models, chosen[2], {name: short_model(name) for name in models}, {}),
        _chips("scorer", "Second model", scorers, chosen[3], {name: short_model(name) for name in scorers}, {}),
    )
    return Shown(
        kept,
        heads(sweep, kept),
        tuple(group for group in groups if len(group.chips) > 1 or any(chip.chosen for chip in group.chips)),
        len(rows),
    )


def missing(rows: Sequence[CombinationRow]) -> tuple[CombinationRow, ...]:
    """The combinations without numbers that the filters of this request's address let through."""
    chosen = _chosen(rows)
    return tuple(row for row in rows if row.state != "recorded" and _passes(row, *chosen))


def heads(sweep: SweepRow, rows: Sequence[CombinationRow]) -> tuple[Head, ...]:
    """How combinations are headed."""
    names = names_of(row.key for row in rows)
    several = len({row.model for row in rows if row.model}) > 1
    scorers = {(row.retriever, row.scorer) for row in rows if row.scorer}
    of_one_kind = Counter(retriever for retriever, _ in scorers)
    return tuple(
        Head(
            id=row.id or 0,
            key=row.key,
            name=names[row.key],
            strategy=row.strategy,
            what=_what(sweep, row.strategy),
            retriever=row.retriever,
            model=short_model(row.model) if row.model and several else "",
            scorer=short_model(row.scorer) if row.scorer and of_one_kind[row.retriever] > 1 else "",
        )
        for row in rows
    )


def notes_on(sweep: SweepRow, rows: Sequence[CombinationRow]) -> tuple[Note, ...]:
    """What is missing of a sweep, and why."""
    found = []
    recorded = sum(row.state == "recorded" for row in rows)
    failed = [row for row in rows if row.state == "failed"]
    unjudged = [row for row in rows if row.state == CANNOT_BE_JUDGED]
    so_far = f"{recorded} of {len(rows)} combinations are recorded and shown"
    if sweep.state in ("running", "queued"):
        found.append(Note("", f"This sweep is {sweep.state}.", f"{so_far}; load the page again for more."))
    elif sweep.state != "finished":
        reason = f" ({sweep.reason})" if sweep.reason else ""
        advice = "run it again with `bluffline run`: what is recorded is not measured twice."
        found.append(Note("bad", f"This sweep is {sweep.state}{reason}.", f"{so_far}; {advice}"))
    if failed:
        reasons = "; ".join(f"{row.key}: {row.reason or 'no reason was recorded'}" for row in failed[:3])
        more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
        what = "1 combination failed" if len(failed) == 1 else f"{len(failed)} combinations failed"
        found.append(Note("bad", f"{what} and cannot be shown.", f"{reasons}{more}."))
    found += [Note("warn", f"{row.key} cannot be judged.", f"{row.reason}.") for row in unjudged]
    found += [
        Note("info", f"{row.key} did not answer every question.", on_answered(row))
        for row in rows
        if row.state == "recorded" and row.stamp.get("own", {}).get("failures")
    ]
    shallow = on_depth(chunks_of(rows), sweep.settings["k"])
    if shallow:
        found.append(Note("warn", "This corpus is small for these depths.", shallow))
    found += [Note("warn", "Something cannot read this corpus.", words) for words in sweep.settings.get("warnings", ())]
    return tuple(found)


def _values(rows: Sequence[CombinationRow]) -> tuple[list[str], list[str], list[str], list[str]]:
    """The strategies, retrievers, models and second models of a sweep, in grid order."""
    return (
        _distinct(row.strategy for row in rows),
        _distinct(row.retriever for row in rows),
        _distinct(row.model for row in rows if row.model),
        _distinct(row.scorer for row in rows if row.scorer),
    )


def _chosen(rows: Sequence[CombinationRow]) -> tuple[tuple[str, ...], ...]:
    """Those of them that this request's address names, each kind by itself; none stands for all."""
    strategies, retrievers, models, scorers = _values(rows)
    return (
        params.words(request.args, "strategy", strategies),
        params.words(request.args, "retriever", retrievers),
        params.words(request.args, "model", models),
        params.words(request.args, "scorer", scorers),
    )


def _passes(
    row: CombinationRow,
    strategies: Sequence[str],
    retrievers: Sequence[str],
    models: Sequence[str],
    scorers: Sequence[str],
) -> bool:
    return (
        (not strategies or row.strategy in strategies)
        and (not retrievers or row.retriever in retrievers)
        # One without a model or scorer belongs to every one of them.
        and (not models or row.model is None or row.model in models)
        and (not scorers or row.scorer is None or row.scorer in scorers)
    )


def _what(sweep: SweepRow, strategy: str) -> str:
    return describe_spec(strategy, spec_in(sweep.settings, strategy, ""))


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _chips(
    name: str, label: str, values: Sequence[str], chosen: Sequence[str], words: dict[str, str], titles: dict[str, str]
) -> Chips:
    return Chips(
        name, label, tuple(Chip(value, words[value], titles.get(value, ""), value in chosen) for value in values)
    )
