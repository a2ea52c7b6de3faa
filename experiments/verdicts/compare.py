"""What two sweeps say about each other, in plain sentences. No change is claimed without a resolved paired test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.reviewing.comparing import Comparability, Compared
from experiments.verdicts.readings import Reading, reading_of
from experiments.verdicts.strategies import Verdict
from experiments.words import listed, p_value, plural

Named = Callable[[str], str]
_NAMED_AT_MOST = 3  # combinations of a sentence


def reading(one: Compared, may: Comparability, alpha: float) -> Reading:
    """What one combination's change comes to."""
    change = one.change
    found = len(change.fixed), len(change.broken)
    return reading_of(*found, change.holm_p, one.resolution, tested=may.tested, alpha=alpha)


def on_comparability(may: Comparability, before: str, after: str) -> str:
    """Whether two sides may be compared, and what differs.

    Args:
        may: What may be claimed.
        before: The earlier side's name, such as `sweep 1` or `baseline.json`.
        after: The later one's.
    """
    numbered = before.startswith("sweep ") and after.startswith("sweep ")
    these = f"Sweeps {before[6:]} and {after[6:]}" if numbered else f"{before} and {after}"
    if numbered and before == after:
        return f"Both sides are {after}, so nothing differs; another sweep of the same commit is named by its number."
    different = [difference.what for difference in may.differences]
    if may.claim == "all":
        return f"{these} may be compared: same documents, questions, hit rule and pipeline."
    if may.claim == "shared":
        return f"{these} may be compared on {_shared(may)} only: the question sets differ, everything else is the same."
    if may.claim == "counts":
        return (
            f"{these} may not be compared in full: the {listed(different)} changed, so a difference need not come from "
            f"a combination. On {_shared(may)} it is counted what was fixed and what broke; no test is made."
        )
    if "hit rule" in different:
        return f"{these} may not be compared: the hit rule changed, so that a hit then is not a hit now."
    return f"{these} may not be compared: they have no answerable question in common."


def on_changes(
    found: Sequence[Compared], may: Comparability, k: int, alpha: float, name: Named = lambda key: key
) -> Verdict:
    """What changed between two sweeps.

    Args:
        found: Combinations both have.
        may: What may be claimed.
        k: Depth.
        alpha: Significance level of the family of all combinations.
        name: What a combination is called.
    """
    if may.claim == "nothing":
        return Verdict("Their numbers stand side by side below, and no question is paired.")
    if not found:
        return Verdict("They have no combination in common, so there is nothing to compare.")
    readings = {one.key: reading(one, may, alpha) for one in found}
    fixed = {flip.query_id for one in found for flip in one.change.fixed}
    broken = {flip.query_id for one in found for flip in one.change.broken}
    whole = plural(len(found), "combination")
    if all(each == "same" for each in readings.values()):
        return Verdict(f"At R@{k} nothing changed: all {whole} find the same questions before and after.")
    among = f"at least one of {whole}" if len(found) > 1 else "the one combination"
    was = "was" if len(fixed) == 1 else "were"
    counts = f"{plural(len(fixed), 'question')} {was} fixed and {len(broken):,} broke in {among}"
    if not may.tested:
        return Verdict(f"At R@{k}, {counts}.")
    more = [one for one in found if readings[one.key] == "more"]
    fewer = [one for one in found if readings[one.key] == "fewer"]
    if not more and not fewer:
        return Verdict(f"At R@{k} no combination is proven to have changed: {counts}.", _unresolved(found, readings))
    said = [
        f"{_named(group, name)} {'finds' if len(group) == 1 else 'find'} {word} than before"
        for group, word in ((more, "more"), (fewer, "fewer"))
        if group
    ]
    rest = len(found) - len(more) - len(fewer)
    others = f" For the other {rest:,} no change is proven." if rest else ""
    return Verdict(
        f"At R@{k}, {listed(said)}, resolved by a paired test.{others}", (f"{counts[:1].upper()}{counts[1:]}.",)
    )


def on_change(one: Compared, may: Comparability, alpha: float, name: str) -> str:
    """One combination in a sentence."""
    change, read = one.change, reading(one, may, alpha)
    score = f"{len(change.fixed)} fixed, {len(change.broken)} broken of {change.n}"
    if read == "same":
        return f"{name} finds the same {plural(change.n, 'question')} as before, or misses the same."
    if read == "untested":
        return f"{name}: {score}; not tested, because the sweeps may not be compared in full."
    tested = f"{score}, {p_value(change.p)}, Holm {p_value(change.holm_p)}"
    if read in ("more", "fewer"):
        return f"{name} finds {read} than before at R@{change.k}: {tested}."
    if read == "cannot be resolved":
        return (
            f"Whether {name} changed cannot be resolved ({tested}): {plural(one.resolution.discordant, 'question')} "
            f"differ, and at least {one.resolution.discordant_needed} would have to, all one way."
        )
    return f"{name} is not proven to have changed ({tested})."


def _shared(may: Comparability) -> str:
    if len(may.shared) == may.before == may.after:
        return f"the {plural(len(may.shared), 'answerable question')}"
    return (
        f"the {plural(len(may.shared), 'answerable question')} both asked in the same words "
        f"(of {may.before:,} then and {may.after:,} now)"
    )


def _named(group: Sequence[Compared], name: Named) -> str:
    scores = [
        f"{name(one.key)} ({len(one.change.fixed)} fixed, {len(one.change.broken)} broken, "
        f"Holm {p_value(one.change.holm_p)})"
        for one in sorted(group, key=lambda one: one.change.holm_p)
    ]
    shown = scores[:_NAMED_AT_MOST]
    if len(scores) > _NAMED_AT_MOST:
        shown.append(f"{len(scores) - _NAMED_AT_MOST} more")
    return listed(shown)


def _unresolved(found: Sequence[Compared], readings: dict[str, Reading]) -> tuple[str, ...]:
    """How many could not have been resolved whatever the outcome; that is no proof of sameness."""
    hopeless = sum(each == "cannot be resolved" for each in readings.values())
    if not hopeless:
        return ()
    needed = found[0].resolution.discordant_needed
    return (
        f"For {plural(hopeless, 'combination')} it could not have been: with {len(found):,} tested together, at least "
        f"{needed} questions have to differ, all one way.",
    )
