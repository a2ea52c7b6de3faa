"""What the strategies page shows: every combination of a sweep with its numbers, and two of them compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments import measures
from experiments.conditions import describe_spec, spec_in
from experiments.naming import names_of, short_model
from experiments.pairs import compare
from experiments.provenance import document_level
from experiments.reading import LoadedSweep
from experiments.reviewing.winloss import WinLoss, compare_all
from experiments.verdicts.hit_rules import on_hits
from experiments.verdicts.own import tally_of
from experiments.verdicts.strategies import (
    Arm,
    destroyed_by_strategy,
    leader_of,
    leading_strategy,
    on_destroyed,
    on_strategies,
)
from store.tables import CombinationRow, MeasureRow, SweepRow
from webapp.combinations import Chips, Note, Shown
from webapp.contexts import gains, secondary, strategy_figures, strategy_notes, strategy_table
from webapp.contexts.gains import Gains
from webapp.contexts.secondary import Secondary
from webapp.contexts.strategy_card import Card, card_of
from webapp.contexts.strategy_table import Choice, Row
from webapp.exports import Column
from webapp.sweeps import Strip, strip_of
from webapp.whiskers import Kind

LOSSES = (measures.DESTROYED, measures.TRUNCATED, measures.NOT_QUOTABLE)
MOST_ASIDES = 3  # sentences under the verdict; several models make more, which are folded away
Number = MeasureRow | None
Names = Mapping[str, str]  # of combinations, by key


class Links(NamedTuple):
    """Addresses."""

    here: str
    csv: str
    json: str
    md: str
    pair: str | None  # of two combinations on the win/loss page, `{}` where their ids go
    clear: str  # this page with nothing picked
    gains: tuple[str, str, str]  # what second models buy and cost, as files
    destroyed: str | None  # the questions a strategy destroys the answers of, less the strategy's name


class Filtered(NamedTuple):
    """What the filters let through, and what must be known of the rest."""

    shown: Shown
    missing: tuple[CombinationRow, ...]
    notes: tuple[Note, ...]


class Stage(NamedTuple):
    """A timed stage."""

    name: str
    milliseconds: float


class Line(NamedTuple):
    """A row of the table."""

    id: int
    name: str
    strategy: str
    what: str
    retriever: str
    settings: str  # BM25's; empty where there are none to state
    model: str
    scorer: str  # the second model; empty where there is none
    kind: Kind
    picked: bool
    recalls: tuple[Number, ...]
    mrr: Number
    losses: tuple[Number, ...]  # destroyed, truncated, not quotable
    answered: str  # `61 of 64 answered`, of a retriever of one's own; empty of ours
    unknown: tuple[bool, ...]  # which of the losses nobody can know, of a retriever of one's own
    chunks: float | None
    tokens: float | None
    header: float | None
    context: Number
    milliseconds: float | None  # all stages
    stages: tuple[Stage, ...]


class Missing(NamedTuple):
    """A combination without numbers, and why."""

    strategy: str
    what: str
    retriever: str
    model: str
    state: str
    reason: str


class Figure(NamedTuple):
    """The plot and what its marks mean."""

    spec: dict[str, Any]
    summary: str
    size: str
    leader: str
    beaten: bool


@dataclass(frozen=True, slots=True)
class StrategiesContext:
    """Everything `templates/strategies/page.html` uses."""

    strip: Strip
    headline: str
    headline_kind: str
    alarm: str
    alarm_rest: str
    aside: str
    more: str
    state: tuple[Note, ...]
    choice: Choice
    sort: str
    ks: tuple[int, ...]
    depths: tuple[tuple[str, str], ...]
    chips: tuple[Chips, ...]
    several_models: bool
    columns: tuple[Column, ...]
    headings: tuple[Column, ...]
    lines: tuple[Line, ...]
    missing: tuple[Missing, ...]
    total: int
    best: float | None
    hits: str  # what counts as one
    secondary: Secondary | None
    notes: tuple[str, ...]
    picks: tuple[str, ...]
    card: Card | None
    gains: Gains | None  # of second models
    plotted: Figure
    links: Links


def build(
    loaded: LoadedSweep, filtered: Filtered, choice: Choice, sources: Mapping[str, int], links: Links
) -> StrategiesContext:
    """The page for one sweep and one choice.

    Args:
        loaded: The sweep.
        filtered: Its combinations, as the filters let them through.
        choice: k, sort order and picked rows.
        sources: Ids of the earlier sweeps that retrievals were read from, by key.
        links: Addresses.
    """
    sweep, arms, k = loaded.sweep, loaded.arms, choice.k
    ks, alpha, seed = tuple(sweep.settings["k"]), sweep.settings["alpha"], sweep.settings["seed"]
    rows, names = rows_of(loaded, filtered, choice), names_of(row.key for row in loaded.combinations)
    verdict, destroyed = on_strategies(arms, k, alpha), on_destroyed(arms)
    alarm, colon, rest = destroyed.partition(":")
    alarmed = any(share.hits for share in destroyed_by_strategy(arms).values())
    asides = [said for said in verdict.asides if not alarmed or said != destroyed]
    leader = leader_of(arms, k)
    winloss = compare_all({arm.key: arm.outcomes for arm in arms}, k, "question", alpha=alpha, seed=seed)
    lines = tuple(_line(row, sweep, choice, leader, names) for row in rows)
    at_k = [line.recalls[ks.index(k)] for line in lines]
    return StrategiesContext(
        strip=strip_of(sweep, csv_url=links.csv, json_url=links.json),
        headline=verdict.headline,
        headline_kind=_kind(arms, leading_strategy(arms, k), k, alpha),
        alarm=alarm if alarmed else "",
        alarm_rest=f"{colon}{rest}" if alarmed else "",
        aside=" ".join(asides[:MOST_ASIDES]),
        more=" ".join(asides[MOST_ASIDES:]),
        state=filtered.notes,
        choice=choice,
        sort=choice.sort or f"-r{k}",
        ks=ks,
        depths=tuple((str(depth), str(depth)) for depth in ks),
        chips=filtered.shown.chips,
        several_models=len({row.model for row in loaded.combinations if row.model}) > 1,
        columns=strategy_notes.glossary(ks, k, judged=document_level(sweep.hit_rule)),
        headings=strategy_notes.headings(k, judged=document_level(sweep.hit_rule)),
        lines=lines,
        missing=tuple(_missing(row, sweep) for row in filtered.missing),
        total=len(loaded.combinations),
        best=max((number.value for number in at_k if number and number.value is not None), default=None),
        hits=on_hits(sweep.hit_rule),
        secondary=secondary.build(
            sweep, [(row, line.what, line.model) for row, line in zip(rows, lines, strict=True)], k
        ),
        notes=strategy_notes.notes(loaded, sources),
        picks=tuple(names[row.key] for row in loaded.recorded if row.id in choice.pick),
        card=card_of(loaded, rows, winloss, names, choice, links.pair),
        gains=gains.build(loaded, leader.strategy if leader else None),
        plotted=_figure(rows, winloss, leader, names, k),
        links=links,
    )


def rows_of(loaded: LoadedSweep, filtered: Filtered, choice: Choice) -> list[Row]:
    """The recorded combinations that the filters let through, in the chosen order."""
    rows = [Row(one, loaded.measures.get(one.id or 0, {})) for one in filtered.shown.rows]
    return strategy_table.ordered(rows, loaded.sweep.settings["k"], choice)


def _kind(arms: Sequence[Arm], leader: Arm | None, k: int, alpha: float) -> str:
    """How firm the verdict is: whether the leader's lead over any other strategy is resolved."""
    if leader is None:
        return "open"
    rivals = [arm for arm in arms if arm.way == leader.way]
    pairs = compare({arm.key: arm.outcomes for arm in rivals}, k, alpha)
    return "" if any(pair.resolved and leader.key in (pair.first, pair.second) for pair in pairs) else "open"


def _line(row: Row, sweep: SweepRow, choice: Choice, leader: Arm | None, names: Names) -> Line:
    one, numbers = row
    sizes = [numbers.get(each.name) for each in (measures.CHUNKS, measures.TOKENS, measures.HEADER_SHARE)]
    chunks, tokens, header = (number.value if number else None for number in sizes)
    return Line(
        id=one.id or 0,
        name=names[one.key],
        strategy=one.strategy,
        what=_what(sweep, one.strategy),
        retriever=one.retriever,
        settings=_bm25(sweep) if one.retriever == "bm25" else "",
        model=short_model(one.model) if one.model else "",
        scorer=short_model(one.scorer) if one.scorer else "",
        kind="best" if leader and one.key == leader.key else "plain",
        picked=one.id in choice.pick,
        recalls=tuple(numbers.get(measures.recall(k).name) for k in sweep.settings["k"]),
        mrr=numbers.get(measures.MRR.name),
        losses=tuple(numbers.get(each.name) for each in LOSSES),
        answered=_answered(one),
        unknown=_unknown(one),
        chunks=chunks,
        tokens=tokens,
        header=header,
        context=numbers.get(measures.tokens(choice.k).name),
        milliseconds=row.milliseconds,
        stages=tuple(Stage(*stage) for stage in strategy_table.stages(numbers)),
    )


def _bm25(sweep: SweepRow) -> str:
    """BM25's parameters, which may break between two of them but not within one."""
    numbers: str = sweep.settings.get("bm25", "").partition(", tokens")[0]
    return numbers.replace(" = ", "\u00a0=\u00a0")


def _unknown(one: CombinationRow) -> tuple[bool, ...]:
    """What its chunks destroy without a chunk table, and what its encoder cuts off, whatever that is."""
    own = one.stamp.get("own")
    return (False, False, False) if own is None else (not own["chunks_known"], True, False)


def _answered(one: CombinationRow) -> str:
    went = tally_of(one)
    return "" if went is None else f"{went.answered:,} of {went.n:,} answered"


def _missing(row: CombinationRow, sweep: SweepRow) -> Missing:
    reason = row.reason or ("no reason was recorded" if row.state == "failed" else "")
    model = short_model(row.model) if row.model else ""
    return Missing(row.strategy, _what(sweep, row.strategy), row.retriever, model, row.state, reason)


def _what(sweep: SweepRow, strategy: str) -> str:
    return describe_spec(strategy, spec_in(sweep.settings, strategy, ""))


def _figure(rows: Sequence[Row], winloss: WinLoss | None, leader: Arm | None, names: Names, k: int) -> Figure:
    def name(row: CombinationRow) -> str:
        return names[row.key]

    shown = next((name(row.combination) for row in rows if leader and row.combination.key == leader.key), "")
    return Figure(
        spec=strategy_figures.dots(rows, winloss, leader, k, name),
        summary=strategy_figures.summary(rows, k, name),
        size=strategy_figures.size(len(rows)),
        leader=shown,
        beaten=any(strategy_figures.standing(row, winloss, leader) == "beaten" for row in rows),
    )
