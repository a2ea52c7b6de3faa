"""What second models buy and cost, as the strategies page shows it: a row each, against the ranking without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from experiments.naming import short_model
from experiments.reading import LoadedSweep
from experiments.stats.intervals import MeanInterval, Proportion
from experiments.verdicts.gains import Gain, Standing, on_gain, on_second_models, standing
from webapp.exports import Column, Table

COLUMNS = (
    Column("strategy", "Strategy"),
    Column("retriever", "Retriever"),
    Column("model", "Model"),
    Column("scorer", "Second model"),
    Column("base", "Against", description="The ranking without the second model, on the same chunks."),
    Column("r1_before", "R@1 before"),
    Column("r1_before_low", "R@1 before low"),
    Column("r1_before_high", "R@1 before high"),
    Column("r1_after", "R@1 after"),
    Column("r1_after_low", "R@1 after low"),
    Column("r1_after_high", "R@1 after high"),
    Column("wins", "Won", description="Questions whose needle stands first only with the second model."),
    Column("losses", "Lost"),
    Column("n", "n"),
    Column("p", "p", description="Exact sign test on R@1."),
    Column("holm_p", "Holm p", description="Corrected over both tests of every row."),
    Column("mrr_before", "MRR before"),
    Column("mrr_after", "MRR after"),
    Column("mrr_difference", "MRR difference", description="Paired; bootstrap by needle."),
    Column("mrr_difference_low", "MRR difference low"),
    Column("mrr_difference_high", "MRR difference high"),
    Column("mrr_p", "MRR p", description="Paired randomisation test by needle."),
    Column("mrr_holm_p", "MRR Holm p", description="Corrected over both tests of every row."),
    Column("milliseconds", "Milliseconds", "ms", "Of a question, the medians of all stages."),
    Column("milliseconds_before", "Milliseconds before", "ms"),
)


class GainLine(NamedTuple):
    """A row."""

    strategy: str
    retriever: str
    models: str
    before: Proportion
    after: Proportion
    wins: int
    losses: int
    n: int
    holm_p: float
    mrr: str
    difference: MeanInterval
    mrr_holm_p: float
    standing: Standing
    milliseconds: float | None
    extra: float | None
    disk: str  # what the second model keeps there; empty where it keeps nothing
    sentence: str


class Gains(NamedTuple):
    """The section: the strategy that finds most first, what is to be seen at once."""

    headline: str
    lines: tuple[GainLine, ...]  # of that strategy; of all where none is best
    others: tuple[GainLine, ...]
    total: int


def build(loaded: LoadedSweep, strategy: str | None) -> Gains | None:
    """The section; None where the sweep has no second model.

    Args:
        loaded: The sweep.
        strategy: The one that finds most; None where none is measured.
    """
    found = loaded.gains
    if not found:
        return None
    every = _lines(loaded, found)
    first = tuple(line for line in every if line.strategy == strategy)
    leading = [gain for gain in found if gain.arm.strategy == strategy]
    return Gains(
        headline=on_second_models(leading, loaded.sweep.settings["alpha"]),
        lines=first or every,
        others=tuple(line for line in every if line.strategy != strategy) if first else (),
        total=len(every),
    )


def _lines(loaded: LoadedSweep, found: Sequence[Gain]) -> tuple[GainLine, ...]:
    settings = loaded.sweep.settings
    depth, alpha = settings.get("rerank_depth"), settings["alpha"]
    kept = {row.key: row.stamp.get("token_bytes") for row in loaded.recorded}
    return tuple(
        GainLine(
            strategy=gain.arm.strategy,
            retriever=gain.arm.retriever,
            models=" \u00b7 ".join(short_model(one) for one in (gain.arm.model, gain.arm.scorer) if one),
            before=gain.before,
            after=gain.after,
            wins=gain.wins,
            losses=gain.losses,
            n=gain.n,
            holm_p=gain.holm_p,
            mrr=f"{gain.mrr_before:.3f} \u2192 {gain.mrr_after:.3f}" if gain.n else "-",
            difference=gain.difference,
            mrr_holm_p=gain.mrr_holm_p,
            standing=standing(gain, alpha),
            milliseconds=gain.milliseconds,
            extra=gain.extra_milliseconds,
            disk=f"{held / 1e6:,.1f} MB" if (held := kept[gain.arm.key]) else "",
            sentence=on_gain(gain, depth, alpha),
        )
        for gain in found
    )


def table(loaded: LoadedSweep) -> Table:
    """The rows as data."""
    return Table(f"sweep-{loaded.sweep.id}-gains", COLUMNS, tuple(_cells(gain) for gain in loaded.gains))


def _cells(gain: Gain) -> tuple[str | float | int | None, ...]:
    arm, before, after, difference = gain.arm, gain.before, gain.after, gain.difference
    return (
        *(arm.strategy, arm.retriever, arm.model, arm.scorer, gain.base.key),
        *(before.estimate, before.low, before.high, after.estimate, after.low, after.high),
        *(gain.wins, gain.losses, gain.n, gain.p, gain.holm_p),
        *((gain.mrr_before, gain.mrr_after) if gain.n else (None, None)),
        *(difference.mean, difference.low, difference.high, gain.mrr_p, gain.mrr_holm_p),
        *(gain.milliseconds, gain.base_milliseconds),
    )
