"""What became of the bluffs between two sweeps, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable

from experiments.reviewing.bluff_changes import BluffChange, BluffChanges
from experiments.reviewing.comparing import Comparability
from experiments.verdicts.readings import Reading, reading_of
from experiments.words import counted, p_value, plural


def reading(one: BluffChange, may: Comparability, alpha: float) -> Reading:
    """What one combination's change of bluffs comes to."""
    return reading_of(len(one.new), len(one.gone), one.holm_p, one.resolution, tested=may.tested, alpha=alpha)


def on_bluffs(
    changes: BluffChanges, may: Comparability, alpha: float, name: Callable[[str], str] = lambda key: key
) -> tuple[str, ...]:
    """What is known about the bluffs; one sentence at least, also where nothing can be compared."""
    if may.claim == "nothing":
        return ()
    if changes.line is None:
        return ("Bluffs are not compared: no decision is in force, and no threshold was given.",)
    at = f"threshold {changes.line.threshold:g} ({changes.line.words})"
    if not may.unanswerable:
        return ("Bluffs are not compared: no unanswerable question was asked in the same words on both sides.",)
    said = [f"Bluffs of {name(key)} are not compared: {why}." for key, why in changes.left_out.items()]
    if not changes.found and not said:
        decided = changes.line.combination
        what = f"{name(decided)}, which {at} is for, was not" if decided else "no combination was"
        said.append(f"Bluffs are not compared: {what} measured on both sides.")
    if len(changes.found) == 1:
        return (f"At {at}, {on_change(changes.found[0], may, alpha, name(changes.found[0].key))}", *said)
    if changes.found:
        read = [reading(one, may, alpha) for one in changes.found]
        new = {flip.query_id for one in changes.found for flip in one.new}
        gone = {flip.query_id for one in changes.found for flip in one.gone}
        counts = (
            f"At {at}, {plural(len(new), 'unanswerable question')} that had been refused "
            f"{'is' if len(new) == 1 else 'are'} bluffed on now and {len(gone):,} no longer in at least one of "
            f"{plural(len(changes.found), 'combination')}"
        )
        proven = (
            f": {read.count('more')} proven to bluff on more than before, {read.count('fewer')} on fewer."
            if may.tested
            else "; no test is made."
        )
        said.insert(0, counts + proven)
    return tuple(said)


def on_change(one: BluffChange, may: Comparability, alpha: float, name: str) -> str:
    """One combination in a sentence."""
    if one.n == 0:
        return f"{name} has no unanswerable question with an outcome on both sides."
    rates = f"bluffs on {counted(one.after)} unanswerable questions now, on {counted(one.before)} before"
    read = reading(one, may, alpha)
    if read == "same":
        return f"{name} {rates}: not one of them changed."
    score = f"{len(one.new)} new, {len(one.gone)} gone"
    if read == "untested":
        return f"{name} {rates} ({score}); not tested, because the sweeps may not be compared in full."
    tested = f"{score}, {p_value(one.p)}, Holm {p_value(one.holm_p)}"
    if read in ("more", "fewer"):
        return f"{name} {rates}, proven to be {read} ({tested})."
    if read == "cannot be resolved":
        return (
            f"{name} {rates}; whether that is a change cannot be resolved ({tested}): at least "
            f"{one.resolution.discordant_needed} questions would have to differ, all one way."
        )
    return f"{name} {rates}; no change is proven ({tested})."
