"""What the win/loss matrix says, in plain sentences. Nothing beats anything without a resolved paired test."""

from __future__ import annotations

from collections.abc import Callable

from experiments.resampling import RESAMPLES
from experiments.reviewing.winloss import Pairing, Standing, WinLoss
from experiments.verdicts.strategies import Verdict
from experiments.words import counted, listed, p_value, plural

Name = Callable[[str], str]  # what a combination is called


def on_winloss(winloss: WinLoss | None, name: Name) -> Verdict:
    """Which combination leads, what that proves, and what cannot be told with these questions.

    Args:
        winloss: The comparison, None where there was nothing to compare.
        name: Of a combination, by its key.
    """
    if winloss is None:
        return Verdict("Nothing can be compared: no combination has an answerable question on record.")
    leader = max(winloss.standings, key=lambda one: one.found.estimate or 0.0)  # max keeps the first of equals
    finds = f"{name(leader.key)} finds {counted(leader.found, 'question')} at R@{winloss.k}"
    if len(winloss.standings) == 1:
        return Verdict(f"{finds}; there is nothing else to compare it with.")
    return Verdict(
        f"{finds}{_lead(winloss, leader, name)}", (_resolution(winloss), _firmness(winloss.standings, leader, name))
    )


def on_pairing(pairing: Pairing, first: str, second: str) -> str:
    """One pair in a sentence.

    Args:
        pairing: The evidence.
        first: What its first side is called.
        second: What its second side is called.
    """
    score = (
        f"{pairing.wins:,} won, {pairing.losses:,} lost of {plural(pairing.n, pairing.unit)}, {p_value(pairing.p)}, "
        f"Holm {p_value(pairing.holm_p)}"
    )
    if pairing.resolved:
        ahead, behind = (first, second) if pairing.wins > pairing.losses else (second, first)
        return f"{ahead} beats {behind} at k = {pairing.k}: {first} {score}."
    if not pairing.resolvable:
        differ = plural(pairing.discordant, pairing.unit) if pairing.discordant else f"no {pairing.unit}"
        return (
            f"{first} and {second} cannot be resolved with these questions: they differ on {differ}, and at least "
            f"{pairing.discordant_needed:,} would have to, all one way ({first} {score})."
        )
    return f"{first} and {second} cannot be told apart with these questions: {first} {score}{_more(pairing)}."


def _lead(winloss: WinLoss, leader: Standing, name: Name) -> str:
    others = len(winloss.standings) - 1
    level = others - leader.beats - leader.beaten
    equals = [name(one.key) for one in winloss.standings if one is not leader and one.found[:2] == leader.found[:2]]
    tie = f", as many as {listed(equals[:3])}{' and more' if len(equals) > 3 else ''}" if equals else ""
    if not leader.beats and not leader.beaten:
        return f"{tie or ', more than any other'}, but nothing is proven: it cannot be told from {_of(level, others)}."
    said = []
    if leader.beats:
        said.append(f"beats {_of(leader.beats, others)}")
    if leader.beaten:
        said.append(f"is beaten by {_of(leader.beaten, others)}")
    if level:
        said.append(f"cannot be told from {level:,}" if others > 1 else "cannot be told from it")
    return f"{tie}{',' if tie else ''} and {listed(said)}."


def _of(count: int, others: int) -> str:
    if others == 1:
        return "the other"
    return f"all {others:,} others" if count == others else f"{count:,} of the {others:,} others"


def _resolution(winloss: WinLoss) -> str:
    pairings = winloss.matrix
    family = winloss.family
    resolved = sum(one.beats for one in winloss.standings)
    impossible = (~pairings.resolvable).sum() - len(winloss.keys)  # the diagonal is no pair
    hopeless = int(max(0, impossible)) // 2
    needed = int(pairings.discordant_needed[0, 0])
    said = (
        f"Of {plural(family, 'pair')}, tested as one family, {resolved:,} {'is' if resolved == 1 else 'are'} resolved"
    )
    if not hopeless:
        return f"{said}."
    return (
        f"{said}; {hopeless:,} cannot be with these questions, because the two differ on fewer than "
        f"{plural(needed, winloss.unit)}."
    )


def _firmness(standings: tuple[Standing, ...], leader: Standing, name: Name) -> str:
    ordered = sorted(standings, key=lambda one: -one.best_share)
    rest = [f"{name(one.key)} in {_percent(one.best_share)}" for one in ordered if one is not leader][:1]
    return (
        f"Drawn again {RESAMPLES:,} times, the questions put {name(leader.key)} first in "
        f"{_percent(leader.best_share)} of the draws, {rest[0]}: how firm the order is, and no test."
    )


def _percent(share: float) -> str:
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{share * 100:.0f} %"


def _more(pairing: Pairing) -> str:
    more = pairing.more_needed
    if more is None:
        return "; at this pace no number of further ones would tell them apart"
    if more == 0:
        return "; as the only comparison it would be resolved, but not among this many"
    return f"; about {more:,} more would tell this pair alone"
