"""What the strategies page shows: every combination of a sweep with its numbers, and two of them compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments import measures
from experiments.conditions import describe, strategy_from_spec
from experiments.duel import Duel, Family, family
from experiments.reading import LoadedSweep
from experiments.verdicts import Arm, Verdict, leader_of, on_pair, on_strategies
from store.tables import CombinationRow, MeasureRow, SweepRow
from webapp.contexts import strategy_figures, strategy_notes, strategy_table
from webapp.contexts.strategy_table import Choice, Row
from webapp.exports import Column
from webapp.sweeps import Strip, strip_of
from webapp.whiskers import Kind


class Links(NamedTuple):
    """Where other pages are; None for one that does not exist."""

    here: str
    csv: str
    json: str
    md: str
    pairs: str | None
    threshold: str | None


class Stage(NamedTuple):
    """A timed stage."""

    name: str
    seconds: float


class Line(NamedTuple):
    """A row of the table."""

    id: int
    strategy: str
    what: str
    retriever: str
    settings: str  # BM25's; empty where there are none to state
    model: str | None
    kind: Kind
    picked: bool
    recalls: tuple[MeasureRow | None, ...]
    mrr: MeasureRow | None
    destroyed: MeasureRow | None
    truncated: MeasureRow | None
    unquotable: MeasureRow | None
    chunks: float | None
    tokens: float | None
    header: float | None
    context: MeasureRow | None
    stages: tuple[Stage, ...]


class Failed(NamedTuple):
    """A combination without numbers."""

    name: str
    reason: str


class Card(NamedTuple):
    """Two combinations compared."""

    first: str
    second: str
    sentence: str
    kind: str
    duel: Duel
    pairs: int


@dataclass(frozen=True, slots=True)
class StrategiesContext:
    """Everything `templates/strategies/page.html` uses."""

    strip: Strip
    verdict: Verdict
    verdict_kind: str
    choice: Choice
    sort: str
    ks: tuple[int, ...]
    depths: tuple[tuple[str, str], ...]
    strategies: tuple[tuple[str, str], ...]
    retrievers: tuple[tuple[str, str], ...]
    models: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    total: int
    best: float | None
    failed: tuple[Failed, ...]
    waiting: int
    notes: tuple[str, ...]
    card: Card | None
    figure_spec: dict[str, Any]
    figure_summary: str
    figure_size: str
    links: Links


def build(loaded: LoadedSweep, choice: Choice, sources: Mapping[str, int], links: Links) -> StrategiesContext:
    """The page for one sweep and one choice.

    Args:
        loaded: The sweep.
        choice: Filters, k, sort order and picked rows.
        sources: Ids of the earlier sweeps that retrievals were read from, by key.
        links: Addresses.
    """
    sweep, arms = loaded.sweep, loaded.arms
    ks, alpha = tuple(sweep.settings["k"]), sweep.settings["alpha"]
    rows = rows_of(loaded, choice)
    verdict = on_strategies(arms, choice.k, alpha)
    relatives = family({arm.key: arm.outcomes for arm in arms}, choice.k, alpha)
    leader = leader_of(arms, choice.k)
    lines = tuple(_line(row, sweep, choice, leader) for row in rows)
    best = max((line.recalls[ks.index(choice.k)].value or 0 for line in lines if line.recalls), default=None)  # type: ignore[union-attr]
    return StrategiesContext(
        strip=strip_of(sweep, csv_url=links.csv, json_url=links.json),
        verdict=verdict,
        verdict_kind=_kind(arms, leader, choice.k, alpha),
        choice=choice,
        sort=choice.sort or f"-r{choice.k}",
        ks=ks,
        depths=tuple((str(k), str(k)) for k in ks),
        strategies=(("", "all"), *((name, name) for name in sweep.settings["strategies"])),
        retrievers=(("", "all"), *((name, name) for name in sweep.settings["retrievers"])),
        models=(("", "all"), *((name, short_model(name)) for name in sweep.settings["models"])),
        columns=strategy_notes.glossary(ks, choice.k),
        lines=lines,
        total=len(loaded.combinations),
        best=best,
        failed=tuple(Failed(name_of(row, sweep), row.reason or "no reason was recorded") for row in failed_of(loaded)),
        waiting=sum(row.state in ("queued", "running") for row in loaded.combinations),
        notes=strategy_notes.notes(loaded, sources),
        card=_card(loaded, relatives, choice),
        figure_spec=strategy_figures.dots(rows, relatives, leader, choice.k, lambda row: name_of(row, sweep)),
        figure_summary=strategy_figures.summary(rows, choice.k, lambda row: name_of(row, sweep)),
        figure_size=strategy_figures.size(len(rows)),
        links=links,
    )


def rows_of(loaded: LoadedSweep, choice: Choice) -> list[Row]:
    """The recorded combinations that the filters let through, in the chosen order."""
    rows = [
        Row(one, loaded.measures.get(one.id or 0, {})) for one in loaded.recorded if strategy_table.matches(one, choice)
    ]
    return strategy_table.ordered(rows, loaded.sweep.settings["k"], choice)


def failed_of(loaded: LoadedSweep) -> list[CombinationRow]:
    """Combinations that failed."""
    return [row for row in loaded.combinations if row.state == "failed"]


def short_model(name: str) -> str:
    """A model without its owner."""
    return name.rpartition("/")[2] or name


def name_of(row: CombinationRow, sweep: SweepRow) -> str:
    """A combination in a few words; its model only where there is more than one."""
    several = row.model and len(sweep.settings["models"]) > 1
    return f"{row.strategy} {row.retriever}" + (f" {short_model(row.model or '')}" if several else "")


def _kind(arms: Sequence[Arm], leader: Arm | None, k: int, alpha: float) -> str:
    """How firm the verdict is: whether the leader's lead over any other strategy is resolved."""
    if leader is None:
        return "open"
    rivals = [arm for arm in arms if (arm.retriever, arm.model) == (leader.retriever, leader.model)]
    found = family({arm.key: arm.outcomes for arm in rivals}, k, alpha)
    resolved = found and any(found.holm_p(leader.key, arm.key) <= alpha for arm in rivals if arm.key != leader.key)
    return "" if resolved else "open"


def _line(row: Row, sweep: SweepRow, choice: Choice, leader: Arm | None) -> Line:
    one, numbers = row
    destroyed = numbers.get(measures.DESTROYED.name)
    kind: Kind = "best" if leader and one.key == leader.key else "plain"
    chunks, tokens, header = (
        numbers.get(each.name) for each in (measures.CHUNKS, measures.TOKENS, measures.HEADER_SHARE)
    )
    return Line(
        id=one.id or 0,
        strategy=one.strategy,
        what=describe(strategy_from_spec(one.strategy, sweep.settings["strategies"][one.strategy])),
        retriever=one.retriever,
        settings=sweep.settings.get("bm25", "").partition(", tokens")[0] if one.retriever == "bm25" else "",
        model=short_model(one.model) if one.model else None,
        kind=kind,
        picked=one.id in choice.pick,
        recalls=tuple(numbers.get(measures.recall(k).name) for k in sweep.settings["k"]),
        mrr=numbers.get(measures.MRR.name),
        destroyed=destroyed,
        truncated=numbers.get(measures.TRUNCATED.name),
        unquotable=numbers.get(measures.NOT_QUOTABLE.name),
        chunks=chunks.value if chunks else None,
        tokens=tokens.value if tokens else None,
        header=header.value if header else None,
        context=numbers.get(measures.tokens(choice.k).name),
        stages=tuple(Stage(*stage) for stage in strategy_table.stages(numbers)),
    )


def _card(loaded: LoadedSweep, relatives: Family | None, choice: Choice) -> Card | None:
    by_id = {row.id: row for row in loaded.recorded}
    picked = [by_id[one] for one in choice.pick if one in by_id]
    if relatives is None or len(picked) != 2:
        return None
    first, second = (name_of(row, loaded.sweep) for row in picked)
    duel = relatives.duel(picked[0].key, picked[1].key, loaded.sweep.settings["seed"])
    return Card(
        first, second, on_pair(duel.pair, first, second), "" if duel.pair.resolved else "open", duel, relatives.pairs
    )
