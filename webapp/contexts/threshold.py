"""What the threshold page shows: where a combination says no, what that costs, and whom it bluffs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments.conditions import retrievers_in, strategies_in
from experiments.deciding.costs import CostCurve, CostRow, on_costs
from experiments.deciding.signals import ScorerSignal, SignalComparison, on_scorer, on_signals
from experiments.gate import GATE_SIZE
from experiments.naming import short_model
from experiments.outcomes import Outcome
from experiments.reading import arm_of
from experiments.reviewing.context_size import ContextSize, context_sizes, on_context_sizes
from experiments.thresholds import extremes, read_thresholds
from experiments.verdicts.hit_rules import by_rule
from experiments.verdicts.strategies import Verdict, on_threshold
from store.reads import OutcomeRecord
from store.tables import CombinationRow, DecisionRow, SweepRow
from webapp import params
from webapp.contexts import threshold_figures, threshold_reading, threshold_tables, threshold_words
from webapp.contexts.threshold_reading import DEFAULT_TERMS, Answered, Bluff, Cells, SideRow, Terms
from webapp.contexts.threshold_words import DistanceRow, Promise, Typed
from webapp.exports import Column, columns_by_rule
from webapp.sweeps import Strip, strip_of
from webapp.whiskers import Estimate


class Links(NamedTuple):
    """Addresses; those of exports by table and format."""

    here: str
    exports: dict[str, dict[str, str]]
    choose: str | None  # None where no threshold can be chosen


class Options(NamedTuple):
    """What can be chosen, as (value, words)."""

    strategies: tuple[tuple[str, str], ...]
    retrievers: tuple[tuple[str, str], ...]
    models: tuple[tuple[str, str], ...]
    scorers: tuple[tuple[str, str], ...]


class Slider(NamedTuple):
    """The line; `off` where there is no threshold, and so no line."""

    label: str
    low: str
    high: str
    off: bool


class Carried(NamedTuple):
    """Parameters that a form hands on, as (name, value)."""

    combination: tuple[tuple[str, str], ...]
    line: tuple[tuple[str, str], ...]


class ContextRow(NamedTuple):
    """What the prompt holds, were so many chunks allowed."""

    size: ContextSize
    kept: Estimate
    bluffs: Estimate
    gate: bool  # the size the gate works with


class Price(NamedTuple):
    """What thresholds cost."""

    curve: CostCurve
    here: CostRow
    spans: tuple[str, ...]
    sentences: tuple[str, ...]
    figure: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """Everything that was read from the store for one combination."""

    sweep: SweepRow
    combination: CombinationRow
    outcomes: tuple[OutcomeRecord, ...]
    threshold: float | None
    terms: Terms
    decision: DecisionRow | None  # in force

    @property
    def label(self) -> str:
        """The threshold as addresses write it."""
        return "none" if self.threshold is None else f"{self.threshold:g}"

    @property
    def state(self) -> tuple[tuple[str, str], ...]:
        """Everything that was read, as parameters."""
        row = self.combination
        parts = {"strategy": row.strategy, "retriever": row.retriever, "model": row.model, "scorer": row.scorer}
        parts["t"] = self.label
        terms = threshold_words.typed(self.terms)._asdict()
        return tuple((name, value) for name, value in (parts | terms).items() if value)

    @property
    def query(self) -> str:
        """The shortest query string that leads here: what is as usual is left out."""
        plain = threshold_words.typed(DEFAULT_TERMS)._asdict()
        return params.changed((name, value) for name, value in self.state if plain.get(name) != value)

    @property
    def grid(self) -> list[float]:
        """The sweep's thresholds, the strictest first."""
        return sorted(self.sweep.settings["thresholds"])

    @property
    def seed(self) -> int:
        """Of every resampling and split."""
        return int(self.sweep.settings["seed"])

    @property
    def name(self) -> str:
        """For file names."""
        return f"sweep-{self.sweep.id}-{self.combination.key.replace('/', '-')}"

    @property
    def rows(self) -> tuple[Cells, ...]:
        """No threshold, then the sweep's from the strictest, and the one of the line in its place."""
        asked = [] if self.threshold is None else [self.threshold]
        thresholds = [None, *sorted({*self.grid, *asked})]
        return tuple(threshold_reading.cells(row, self.threshold) for row in read_thresholds(self.outcomes, thresholds))


@dataclass(frozen=True, slots=True)
class ThresholdContext:
    """Everything `templates/threshold/page.html` uses."""

    strip: Strip
    name: str
    combination: CombinationRow
    gate: str
    options: Options
    carried: Carried
    typed: Typed
    verdict: Verdict
    verdict_kind: str
    slider: Slider
    row: Cells
    answered: Answered
    rows: tuple[Cells, ...]
    columns: tuple[Column, ...]
    sides: tuple[SideRow, ...]
    side_sentences: tuple[str, ...]
    evaluation: SideRow | None
    price: Price | None
    price_fault: str
    promises: tuple[Promise, ...]
    bluffs: tuple[Bluff, ...]
    context_rows: tuple[ContextRow, ...]
    context_words: str
    signals: SignalComparison | None
    further: ScorerSignal | None  # a second model's score
    signal_sentences: tuple[str, ...]
    risk_coverage: dict[str, Any]
    outcomes_figure: dict[str, Any]
    outcomes_words: str
    distances_figure: dict[str, Any]
    distances_words: str
    distance_rows: tuple[DistanceRow, ...]
    links: Links


def build(
    read: Read,
    recorded: Sequence[Outcome],
    bluffs: tuple[Bluff, ...],
    options: Options,
    links: Links,
    query_url: Callable[[str], str | None],
) -> ThresholdContext:
    """The page for one combination at one threshold; `recorded` are its outcomes with their hits."""
    outcomes, threshold, combination = read.outcomes, read.threshold, read.combination
    arm = arm_of(combination, outcomes, read.sweep.settings)
    row = read_thresholds(outcomes, [threshold])[0]
    far_apart = extremes(outcomes)
    ends = threshold_figures.scale(outcomes, read.grid, threshold)
    cost = threshold_reading.priced(outcomes, read.grid, threshold, read.terms, read.seed)
    sides = threshold_reading.sides(outcomes, read.grid, threshold, read.terms, read.seed, read.sweep.hit_rule)
    signals = threshold_reading.signals_of(outcomes, read.seed) if outcomes else None
    further = threshold_reading.further_of(outcomes, read.combination.retriever, read.seed)
    sizes = context_sizes(recorded, threshold, seed=read.seed) if recorded else []
    return ThresholdContext(
        strip=strip_of(read.sweep, csv_url=links.exports["sweep"]["csv"], json_url=links.exports["sweep"]["json"]),
        name=arm.name,
        combination=combination,
        gate=threshold_words.gate(combination),
        options=options,
        carried=_carried(read),
        typed=threshold_words.typed(read.terms),
        verdict=on_threshold(arm, row, far_apart),
        verdict_kind="warns" if row.bluffs.hits else "",
        slider=_slider(threshold, ends),
        row=threshold_reading.cells(row, threshold),
        answered=threshold_reading.answered(row),
        rows=read.rows,
        columns=columns_by_rule(threshold_tables.GLOSSARY, read.sweep.hit_rule),
        sides=sides.rows,
        side_sentences=sides.sentences,
        evaluation=threshold_reading.evaluation_of(sides.rows),
        price=None if isinstance(cost, str) else _price(*cost, ends),
        price_fault=cost if isinstance(cost, str) else "",
        promises=threshold_words.promises(
            threshold_reading.certificates(outcomes, read.grid, threshold, read.terms.most)
        ),
        bluffs=bluffs,
        context_rows=tuple(
            ContextRow(
                size,
                threshold_reading.estimate(size.kept),
                threshold_reading.estimate(size.bluffs),
                size.chunks == GATE_SIZE,
            )
            for size in sizes
        ),
        context_words=by_rule(on_context_sizes(sizes), read.sweep.hit_rule) if sizes else "",
        signals=signals,
        further=further,
        signal_sentences=(*on_signals(signals), *on_scorer(further)) if signals else (),
        risk_coverage=threshold_figures.risk_coverage(signals, further) if signals else {"data": []},
        outcomes_figure=threshold_figures.outcomes_over(outcomes, ends),
        outcomes_words=threshold_words.outcomes_words(outcomes, ends),
        distances_figure=threshold_figures.distances(outcomes, far_apart, ends, query_url, read.sweep.hit_rule),
        distances_words=threshold_words.distances_words(far_apart, read.sweep.hit_rule),
        distance_rows=threshold_words.distance_rows(outcomes),
        links=links,
    )


def _price(curve: CostCurve, here: CostRow, ends: tuple[float, float]) -> Price:
    return Price(
        curve,
        here,
        tuple(threshold_reading.spans(curve)),
        on_costs(curve),
        threshold_figures.cost(curve, ends),
    )


def _slider(threshold: float | None, ends: tuple[float, float]) -> Slider:
    return Slider(
        label=f"{ends[1] if threshold is None else threshold:g}",
        low=f"{ends[0]:g}",
        high=f"{ends[1]:g}",
        off=threshold is None,
    )


def _carried(read: Read) -> Carried:
    """Another combination keeps the terms but not the threshold: its distances are on another scale."""
    typed, plain = threshold_words.typed(read.terms), threshold_words.typed(DEFAULT_TERMS)
    terms = tuple((name, value) for name, value in typed._asdict().items() if value != getattr(plain, name))
    row = read.combination
    parts = {"strategy": row.strategy, "retriever": row.retriever, "model": row.model, "scorer": row.scorer}
    return Carried(terms, tuple((name, value) for name, value in parts.items() if value))


def options_of(sweep: SweepRow) -> Options:
    """What the sweep's grid is made of."""
    settings = sweep.settings
    return Options(
        tuple((name, name) for name in strategies_in(settings)),
        tuple((name, name) for name in retrievers_in(settings)),
        tuple((name, short_model(name)) for name in settings["models"]),
        tuple((name, short_model(name)) for name in scorers_of(settings)),
    )


def scorers_of(settings: Mapping[str, Any]) -> list[str]:
    """The second models of a sweep: its cross-encoders, then its late-interaction models."""
    return list(dict.fromkeys([*settings.get("rerankers", ()), *settings.get("late_models", ())]))
