"""The rules about one sweep by itself, and about how long it took: destroyed needles, bluffs, latency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.deciding.certification import Bound
from experiments.gate_rules import BluffRule
from experiments.gating.losses import absent
from experiments.gating.results import Broken, Result, State
from experiments.provenance import document_level
from experiments.reviewing.bluff_changes import bluffs
from experiments.reviewing.sides import Line, Side, same_distances
from experiments.stats.intervals import clopper_pearson_upper, questions_for_bound, wilson
from experiments.words import counted, interval, plural

RESAMPLES = 2000


def judge_destroyed(limit: int, keys: Sequence[str], names: Mapping[str, str], candidate: Side) -> list[Result]:
    """A strategy may cut at most so many needles that no chunk of it holds whole."""
    return [_destroyed(limit, key, names[key], candidate) for key in keys]


def _destroyed(limit: int, key: str, name: str, side: Side) -> Result:
    named, numbers = f"at most {limit} needles destroyed", {"limit": limit}
    why = absent(key, side)
    if why is None and document_level(side.sweep.hit_rule):
        why = "The questions judge whole documents, and there are no needles to destroy."
    asked = {row.query_id: row for row in side.answerable}
    known = [one for one in side.outcomes.get(key, ()) if one.query_id in asked and one.destroyed is not None]
    if why is None and not known:
        why = f"It is not known of {name} which needles it destroys."
    if why is not None:
        return Result(named, key, name, "cannot be judged", why, numbers)
    needles: dict[str | None, bool] = {}
    for one in known:
        needle = asked[one.query_id].needle_id
        needles[needle] = needles.get(needle, False) or bool(one.destroyed)
    share = wilson(sum(needles.values()), len(needles))
    return Result(
        rule=named,
        combination=key,
        name=name,
        state="pass" if share.hits <= limit else "fail",
        sentence=f"{counted(share, 'needle')} destroyed, at most {limit} may be.",
        numbers={**numbers, "destroyed": share.hits, "n": share.n, "low": share.low, "high": share.high},
        broken=tuple(
            Broken(one.query_id, asked[one.query_id].text, "needle destroyed")
            for one in sorted(known, key=lambda one: one.query_id)
            if one.destroyed
        ),
    )


def judge_bluffs(rule: BluffRule, line: Line | None, names: Mapping[str, str], candidate: Side) -> Result:
    """At the threshold in force the exact upper bound of the bluff rate, of near and of far questions, is a limit.

    The bound is about the combination that the decision was made for and no other, because distances of two
    combinations are on no common scale.
    """
    named, numbers = f"bluffs on at most {100 * rule.rate:.3g} %", {"limit": rule.rate, "confidence": rule.confidence}
    key = line.combination if line and line.combination else "the combination decided on"
    name = names.get(key, key)

    def unknown(why: str) -> Result:
        return Result(named, key, name, "cannot be judged", why, numbers)

    if line is None:
        return unknown("No decision is in force, here or in the baseline file: `bluffline decide` makes one.")
    why = absent(key, candidate)
    if why is not None:
        return unknown(why)
    row = candidate.combination(key)
    if row is not None and not same_distances(line.stamp, row.stamp.get("model") or {}):
        return unknown(f"{line.words} was made on distances of another model, and its threshold means nothing here.")
    bounds, behind = _bounds(rule, line, candidate, key)
    state, sentences = _held(rule, bounds)
    return Result(
        rule=named,
        combination=key,
        name=name,
        state=state,
        sentence=f"At threshold {line.threshold:g} ({line.words}): {' '.join(sentences)}",
        numbers={
            **numbers,
            "threshold": line.threshold,
            **{one.stratum: {"bluffs": one.bluffs, "n": one.n, "upper": one.upper} for one in bounds},
        },
        broken=behind,
    )


def _bounds(rule: BluffRule, line: Line, side: Side, key: str) -> tuple[list[Bound], tuple[Broken, ...]]:
    asked = {row.query_id: row for row in side.asked if row.needle_id is None}
    bounds, behind = [], []
    for stratum in rule.on or line.strata:
        found = [one for one in side.outcomes[key] if one.query_id in asked and asked[one.query_id].stratum == stratum]
        hit = sorted([one for one in found if bluffs(one.nearest, line.threshold)], key=lambda one: one.query_id)
        upper = clopper_pearson_upper(len(hit), len(found), rule.confidence)
        bounds.append(Bound(stratum, len(hit), len(found), upper, rule.confidence))
        behind += [Broken(one.query_id, asked[one.query_id].text, f"{stratum}, nearest {one.nearest:.3f}")
                   for one in hit]  # fmt: skip
    return bounds, tuple(behind)


def _held(rule: BluffRule, bounds: Sequence[Bound]) -> tuple[State, list[str]]:
    """Over the limit as measured fails; under it without being sure enough cannot be judged."""
    states: set[State] = set()
    said = []
    for bound in bounds:
        said.append(bound.sentence)
        if bound.n and bound.upper <= rule.rate:
            states.add("pass")
        elif bound.n and bound.bluffs / bound.n > rule.rate:
            states.add("fail")
        else:
            needed = questions_for_bound(rule.rate, rule.confidence, bound.bluffs)
            said.append(f"That is too few to promise {100 * rule.rate:.3g} %: with {plural(bound.bluffs, 'bluff')} it "
                        f"takes {plural(needed, bound.stratum + ' question')}.")  # fmt: skip
            states.add("cannot be judged")
    return "fail" if "fail" in states else "pass" if states == {"pass"} else "cannot be judged", said


def judge_latency(
    limit: float, keys: Sequence[str], names: Mapping[str, str], baseline: Side | str, candidate: Side
) -> list[Result]:
    """A question may take at most so many times as long as in the baseline."""
    return [_latency(limit, key, names[key], baseline, candidate) for key in keys]


def _latency(limit: float, key: str, name: str, baseline: Side | str, candidate: Side) -> Result:
    named, numbers = f"at most {limit:g} times as slow", {"limit": limit}
    why = baseline if isinstance(baseline, str) else _untimed(key, baseline, candidate)
    if isinstance(baseline, str) or why is not None:
        return Result(named, key, name, "cannot be judged", why or "", numbers)
    then, now = _times(baseline, key), _times(candidate, key)
    seed = int(candidate.sweep.settings["seed"])
    before, after = (sum(float(np.median(each)) for each in times.values()) for times in (then, now))
    ratio = after / before
    draws = _medians(now, seed) / _medians(then, seed + 1)
    low, high = (float(each) for each in np.quantile(draws, [0.025, 0.975]))
    n = min(len(each) for times in (then, now) for each in times.values())
    state: State = "pass" if high <= limit else "fail" if low > limit else "cannot be judged"
    words = {
        "pass": f"at most {limit:g} as sure as can be.",
        "fail": f"over {limit:g}.",
        "cannot be judged": f"and {limit:g} lies between: time more questions, or on a quieter machine.",
    }
    return Result(
        rule=named,
        combination=key,
        name=name,
        state=state,
        sentence=f"{after:.2f} ms a question now, {before:.2f} ms before (medians of {n} timed questions): ratio "
        f"{ratio:.2f} {interval(low, high)}, {words[state]}",
        numbers={**numbers, "before": before, "after": after, "ratio": ratio, "low": low, "high": high, "n": n},
    )


def _untimed(key: str, baseline: Side, candidate: Side) -> str | None:
    """Why the times of two sides cannot be compared; None where they can."""
    why = absent(key, candidate) or absent(key, baseline)
    if why is not None:
        return why
    then, now = (side.sweep.versions.get("machine") for side in (baseline, candidate))
    if then != now:
        return f"It was timed on {now or 'an unknown machine'} now and on {then or 'an unknown machine'} before."
    row = candidate.combination(key)
    if row is not None and row.measured_in is not None:
        return "Its retrieval was read from an earlier sweep, so nothing was timed now: `bluffline run --fresh` does."
    old, new = _times(baseline, key), _times(candidate, key)
    if not old or not new or set(old) != set(new) or not all([*old.values(), *new.values()]):
        return "The two sides were not timed in the same stages."
    return None if sum(float(np.median(each)) for each in old.values()) > 0 else "The baseline's times are all 0."


def _times(side: Side, key: str) -> dict[str, list[float]]:
    row = side.combination(key)
    found: dict[str, Any] = (row.stamp.get("milliseconds") or {}) if row else {}
    return {stage: [float(one) for one in times] for stage, times in sorted(found.items())}


def _medians(times: Mapping[str, Sequence[float]], seed: int) -> Any:
    """Resampled sums of the stages' medians, shape (RESAMPLES,)."""
    rng = np.random.default_rng(seed)
    return sum(
        np.median(rng.choice(np.asarray(each, float), (RESAMPLES, len(each))), axis=1) for each in times.values()
    )
