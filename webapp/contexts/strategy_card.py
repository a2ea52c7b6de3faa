"""Two combinations of the strategies page, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments.reading import LoadedSweep
from experiments.reviewing.flips import changes
from experiments.reviewing.winloss import Pairing, WinLoss, compare_all
from experiments.stats.intervals import MeanInterval
from experiments.verdicts.pairs import on_pairing
from experiments.words import p_value, plural
from webapp.contexts.strategy_table import Choice, Row


class Card(NamedTuple):
    """Two combinations compared."""

    first: str
    second: str
    sentence: str
    pairing: Pairing
    pairs: int
    needles: Pairing  # the same, a needle counted once
    needle_p: str
    difference: MeanInterval  # of R@k, by needle
    differ: str  # the questions on which they do, counted
    url: str | None


def card_of(
    loaded: LoadedSweep,
    rows: Sequence[Row],
    winloss: WinLoss | None,
    names: Mapping[str, str],
    choice: Choice,
    pair_url: str | None,
) -> Card | None:
    """The picked pair, the row that stands higher first."""
    picked = [row.combination for row in rows if row.combination.id in choice.pick]
    if winloss is None or len(picked) != 2:
        return None
    (one, other), seed = picked, loaded.sweep.settings["seed"]
    outcomes = {arm.key: arm.outcomes for arm in loaded.arms}
    by_needle = compare_all(outcomes, winloss.k, "needle", alpha=winloss.alpha, seed=seed) or winloss
    pairing, needles = (found.pairing(one.key, other.key) for found in (winloss, by_needle))
    paired = changes({"pair": outcomes[other.key]}, {"pair": outcomes[one.key]}, winloss.k, seed)[0]
    return Card(
        first=names[one.key],
        second=names[other.key],
        sentence=on_pairing(pairing, names[one.key], names[other.key]),
        pairing=pairing,
        pairs=winloss.family,
        needles=needles,
        needle_p=f"{p_value(needles.p)}, Holm {p_value(needles.holm_p)}",
        difference=paired.difference,
        differ=plural(pairing.discordant, "question that differs", "questions that differ"),
        url=pair_url.format(one.id, other.id) if pair_url else None,
    )
