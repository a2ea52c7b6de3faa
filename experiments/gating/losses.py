"""The rule that no combination has lost significantly against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.gate_rules import LossRule
from experiments.gating.results import Broken, Result, State
from experiments.reviewing.comparing import Comparability, Compared
from experiments.reviewing.sides import Side
from experiments.reviewing.whole_comparison import compare, deepest
from experiments.stats.resolution import fewest_discordant
from experiments.verdicts.compare import on_comparability
from experiments.words import NOTHING, counted, interval, p_value, plural


def judge_losses(
    rule: LossRule, keys: Sequence[str], names: Mapping[str, str], baseline: Side | str, candidate: Side
) -> list[Result]:
    """Judge the combinations as one family, in pairs on the questions both sides asked.

    Args:
        rule: The rule.
        keys: The combinations that are held to it.
        names: What they are called.
        baseline: What is compared with, or why there is nothing.
        candidate: What is judged.
    """
    named = f"no significant loss at R@{rule.at}"

    def unknown(key: str, why: str) -> Result:
        return Result(named, key, names[key], "cannot be judged", why, {"alpha": rule.alpha})

    if isinstance(baseline, str):
        return [unknown(key, baseline) for key in keys]
    if rule.at > deepest(baseline, candidate):
        shallow = f"The two sweeps were measured down to k = {deepest(baseline, candidate)}"
        return [unknown(key, f"{shallow}: add {rule.at} to [sweep] k.") for key in keys]
    comparison = compare(baseline.only(keys), candidate.only(keys), rule.at, None, rule.alpha)
    found = {one.key: one for one in comparison.found}
    said = on_comparability(comparison.may, baseline.name, candidate.name)
    results = []
    for key in keys:
        why = absent(key, candidate) or absent(key, baseline)
        if why or comparison.may.claim == "nothing" or key not in found:
            results.append(unknown(key, why or said))
        else:
            results.append(_judged(named, rule, names[key], found[key], comparison.may, len(found), said))
    return results


def absent(key: str, side: Side) -> str | None:
    """Why a side has no numbers of a combination; None where it has."""
    row = side.combination(key)
    if row is None:
        return f"{key} is not part of {side.name}."
    if key not in side.outcomes:
        return f"{key} is {row.state} in {side.name}" + (f": {row.reason}." if row.reason else ".")
    return None


def _judged(named: str, rule: LossRule, name: str, one: Compared, may: Comparability, family: int, said: str) -> Result:
    change = one.change
    difference = change.difference
    shift = f"{difference.mean:+.3f} {interval(difference.low, difference.high, 3)}" if difference.n else NOTHING
    score = (
        f"R@{rule.at} on {counted(one.after, 'question')} now, on {counted(one.before)} before: "
        f"{len(change.broken)} broken, {len(change.fixed)} fixed, difference {shift.strip()}"
    )
    tested = f"{p_value(change.p)}, Holm {p_value(change.holm_p)}"
    needed = fewest_discordant(rule.alpha, family)
    state: State = "pass"
    if may.claim == "counts" and (change.broken or any(each.what == "pipeline" for each in may.differences)):
        state, why = "cannot be judged", f"{score}. {said}"
    elif change.n < needed:
        state = "cannot be judged"
        why = f"{score}; {plural(change.n, 'question')} could not show a loss: at least {needed} would have to break."
    elif not change.broken:
        why = f"{score}: nothing that was found is lost."
    elif may.tested and change.holm_p <= rule.alpha and len(change.broken) > len(change.fixed):
        state, why = "fail", f"{score}, {tested}: a significant loss at alpha {rule.alpha:g}."
    else:
        why = f"{score}, {tested}: no significant loss at alpha {rule.alpha:g}."
    if may.claim == "shared":
        why = f"{why} {said}"
    return Result(
        rule=named,
        combination=change.key,
        name=name,
        state=state,
        sentence=why,
        numbers={
            "before": one.before.estimate, "after": one.after.estimate, "n": change.n, "broken": len(change.broken),
            "fixed": len(change.fixed), "difference": difference.mean, "difference_low": difference.low,
            "difference_high": difference.high, "p": change.p if may.tested else None,
            "holm_p": change.holm_p if may.tested else None, "alpha": rule.alpha, "combinations_tested": family,
        },
        broken=tuple(
            Broken(flip.query_id, may.shared[flip.query_id].text, f"rank {flip.before} → {flip.after or NOTHING}")
            for flip in sorted(change.broken, key=lambda flip: flip.query_id)
        ),
    )  # fmt: skip
