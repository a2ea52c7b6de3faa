"""The table of a sweep's combinations: its columns, how it is sorted and filtered, and as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from experiments import measures
from experiments.measures import LATENCY_STAGES, Measure
from experiments.provenance import document_level
from experiments.verdicts.own import tally_of
from store.tables import CombinationRow, MeasureRow, SweepRow
from webapp.exports import Cell, Column, Table

Numbers = Mapping[str, MeasureRow]


class Choice(NamedTuple):
    """How a sweep is shown."""

    k: int
    sort: str  # empty: by R@k, the most first
    pick: tuple[int, ...] = ()  # rows to compare

    def state(self, ks: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """As parameters; what is as usual is left out."""
        return (
            ("k", "" if self.k == max(ks) else str(self.k)),
            ("sort", "" if self.sort == f"-r{self.k}" else self.sort),
            ("pick", ",".join(str(one) for one in self.pick)),
        )


class Row(NamedTuple):
    """A recorded combination with its numbers."""

    combination: CombinationRow
    numbers: Numbers

    @property
    def milliseconds(self) -> float | None:
        """One question through all stages: their medians added up; None where nothing was timed."""
        times = [number.value for name, number in self.numbers.items() if name.startswith("ms_")]
        known = [time for time in times if time is not None]
        return sum(known) if known else None


def sort_keys(ks: Sequence[int], k: int) -> dict[str, Callable[[Row], float | str | None]]:
    """Sortable columns by the name they have in the address."""

    def number(name: str) -> Callable[[Row], float | None]:
        return lambda row: row.numbers[name].value if name in row.numbers else None

    return {
        "strategy": lambda row: row.combination.strategy,
        "retriever": lambda row: row.combination.retriever,
        "model": lambda row: row.combination.model or "",
        **{f"r{depth}": number(measures.recall(depth).name) for depth in ks},
        "mrr": number(measures.MRR.name),
        "destroyed": number(measures.DESTROYED.name),
        "truncated": number(measures.TRUNCATED.name),
        "unquotable": number(measures.NOT_QUOTABLE.name),
        "chunks": number(measures.CHUNKS.name),
        "tokens": number(measures.TOKENS.name),
        "header": number(measures.HEADER_SHARE.name),
        "context": number(measures.tokens(k).name),
        "ms": lambda row: row.milliseconds,
    }


def sort_words(ks: Sequence[int]) -> tuple[str, ...]:
    """Everything `sort` may be."""
    names = sort_keys(ks, ks[0])
    return ("", *names, *(f"-{name}" for name in names))


def ordered(rows: Sequence[Row], ks: Sequence[int], choice: Choice) -> list[Row]:
    """Rows by the chosen column; equal ones stay in the order of the grid, and what has no value comes last."""
    sort = choice.sort or f"-r{choice.k}"
    key = sort_keys(ks, choice.k)[sort.removeprefix("-")]
    with_value = [(key(row), row) for row in rows]
    known = [(value, row) for value, row in with_value if value is not None]
    # Reversed, sorted and reversed again would turn equal rows around: `reverse` keeps them.
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [row for _, row in known] + [row for value, row in with_value if value is None]


def shown_measures(sweep: SweepRow) -> list[Measure]:
    """Every measure of a sweep, in the order of the page."""
    judged = document_level(sweep.hit_rule)
    return list(measures.registry(sweep.settings["k"], documents=judged, needles=not judged).values())


def table(sweep: SweepRow, rows: Sequence[Row], missing: Sequence[CombinationRow]) -> Table:
    """The shown combinations as data, every number with its interval and n."""
    known = shown_measures(sweep)
    own = bool(sweep.settings.get("own"))
    columns = [
        Column("strategy", "Strategy"),
        Column("retriever", "Retriever"),
        Column("model", "Model"),
        Column("scorer", "Second model", description="The cross-encoder or late-interaction model."),
        Column("state", "State"),
        Column("reason", "Reason", description="Why a combination failed, or cannot be judged."),
        *([Column("requests", "Requests", description="How asking a retriever of one's own went.")] if own else []),
        Column("measured_in", "Measured in", description="Key of the earlier sweep whose retrieval was read again."),
    ]
    for measure in known:
        columns += _columns_of(measure)
    facts = [*((row.combination, row.numbers) for row in rows), *((row, {}) for row in missing)]
    return Table(
        f"sweep-{sweep.id}-strategies",
        tuple(columns),
        tuple(
            (
                *(one.strategy, one.retriever, one.model, one.scorer, one.state, one.reason),
                *([_requests(one)] if own else []),
                one.measured_in,
                *(cell for measure in known for cell in _cells(measure, numbers.get(measure.name))),
            )
            for one, numbers in facts
        ),
    )


def _requests(row: CombinationRow) -> str | None:
    went = tally_of(row)
    return None if went is None else went.words


def _columns_of(measure: Measure) -> list[Column]:
    unit = "ms" if measure.kind == "milliseconds" else ""
    first = Column(measure.name, measure.label, unit, measure.description)
    if measure.kind == "count":
        return [first]
    ends = "quartile" if measure.kind == "milliseconds" else "95 %"
    return [
        first,
        Column(f"{measure.name}_low", f"{measure.label} low", unit, f"Lower {ends} end."),
        Column(f"{measure.name}_high", f"{measure.label} high", unit, f"Upper {ends} end."),
        Column(f"{measure.name}_n", f"{measure.label} n"),
    ]


def _cells(measure: Measure, number: MeasureRow | None) -> tuple[Cell, ...]:
    if measure.kind == "count":
        return (number.value if number else None,)
    return (number.value, number.low, number.high, number.n) if number else (None, None, None, None)


def stages(numbers: Numbers) -> list[tuple[str, float]]:
    """Timed stages of a retriever: name and median in milliseconds."""
    timed = ((stage, numbers.get(measures.latency(stage).name)) for stage in LATENCY_STAGES)
    return [(stage, number.value) for stage, number in timed if number is not None and number.value is not None]
