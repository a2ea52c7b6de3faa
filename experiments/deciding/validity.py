"""Whether a decision still holds on a newer sweep: one check after the other, each with what it found in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Engine

from experiments.conditions import spec_in
from experiments.deciding.certification import STRATA, bounds_at
from experiments.deciding.decision_fit import scorer_differences, scorer_record
from experiments.deciding.evidence import at_threshold
from experiments.naming import name_of
from experiments.outcomes import Recorded
from experiments.ranking import DEFAULT_FUSION
from experiments.reading import LoadedSweep, load_sweep
from experiments.reviewing.sides import same_distances
from experiments.reviewing.wordings import WORDING, only_moved
from experiments.stats.comparison import sign_test_p
from experiments.stats.resolution import fewest_discordant
from experiments.words import p_value, plural
from store import reads
from store.tables import CombinationRow, DecisionRow, SweepRow

State = Literal["ok", "changed", "cannot be judged", "broken"]
# The worst check decides: what is broken outweighs what nobody can tell, and that what merely changed.
_WORST_FIRST: tuple[State, ...] = ("broken", "cannot be judged", "changed", "ok")


class Check(NamedTuple):
    """One thing a decision rests on."""

    name: str
    state: State
    sentence: str


class Validity(NamedTuple):
    """Whether a decision holds on one sweep."""

    decision_id: int | None
    sweep_id: int | None  # None where there is no finished sweep to judge it on
    state: State
    verdict: str
    checks: tuple[Check, ...]


def decision_validity(engine: Engine, decision: DecisionRow) -> Validity:
    """Judge a decision on the newest finished sweep of the store."""
    newest = reads.latest_sweep(engine, "finished")
    if newest is None or newest.id is None:
        verdict = f"Whether decision {decision.id} still holds cannot be judged: there is no finished sweep."
        return Validity(decision.id, None, "cannot be judged", verdict, ())
    return judge(decision, load_sweep(engine, newest.id))


def holds(validity: Validity) -> bool:
    """Whether a decision may be gone by: it holds, whatever else has changed."""
    return validity.state in ("ok", "changed")


def corpora_it_holds_on(engine: Engine, decision: DecisionRow) -> frozenset[str]:
    """The newest finished sweep's corpus where the decision still holds on that sweep, beside its own."""
    newest = reads.latest_sweep(engine, "finished")
    there = newest is not None and holds(decision_validity(engine, decision))
    return frozenset({decision.corpus_hash, *([newest.corpus_hash] if newest and there else [])})


def judge(decision: DecisionRow, loaded: LoadedSweep) -> Validity:
    """Judge a decision on a sweep.

    Args:
        decision: With its evidence, which says what each question did when it was made.
        loaded: The sweep, usually the newest finished one.
    """
    sweep = loaded.sweep
    checks = tuple(_checks(decision, loaded))
    state = next(state for state in _WORST_FIRST if any(check.state == state for check in checks))
    reasons = " ".join(check.sentence for check in checks if check.state == state)
    here = f"decision {decision.id}"
    on = f"sweep {sweep.id}, on which it was made" if sweep.key == decision.sweep_key else f"sweep {sweep.id}"
    verdict = {
        "ok": f"{here.capitalize()} holds on {on}.",
        "changed": f"{here.capitalize()} holds on {on}, but not everything is as it was: {reasons}",
        "cannot be judged": f"Whether {here} holds on {on} cannot be judged: {reasons}",
        "broken": f"{here.capitalize()} no longer holds on {on}: {reasons}",
    }[state]
    return Validity(decision.id, sweep.id, state, verdict, checks)


def _checks(decision: DecisionRow, loaded: LoadedSweep) -> Iterator[Check]:
    sweep = loaded.sweep
    for name, noun, then, now in (
        ("corpus", "Corpus", decision.corpus_hash, sweep.corpus_hash),
        ("questions", "Question set", decision.questions_hash, _questions(decision, sweep)),
        ("hit rule", "Hit rule", decision.hit_rule, sweep.hit_rule),
        ("pipeline", "Pipeline version", decision.pipeline, sweep.pipeline),
    ):
        yield _same(name, noun, then, now)
    combination = next((row for row in loaded.combinations if row.key == decision.combination), None)
    yield _there(decision, combination, sweep.id)
    if combination is None or combination.state != "recorded":
        return
    spec = spec_in(sweep.settings, combination.strategy, combination.retriever)
    yield _same("strategy", f"Strategy {decision.strategy}", decision.strategy_spec, spec or "not described")
    if decision.retriever_settings is not None:
        yield _same("retriever", "BM25 settings", decision.retriever_settings, sweep.settings["bm25"])
    if decision.fusion is not None:
        yield _same("fusion", "Fusion", decision.fusion, sweep.settings.get("hybrid", DEFAULT_FUSION.describe()))
    model = _model(decision, combination)
    yield model
    if model.state == "broken":  # distances of two models are not on one scale: nothing below would mean anything
        return
    if decision.scorer is not None:
        yield _scorer(decision, combination, sweep)
    outcomes = loaded.outcomes.get(combination.id or 0, [])
    yield from _bound_checks(decision, outcomes)
    yield from _paired_checks(decision, outcomes, sweep.settings["alpha"])


def _questions(decision: DecisionRow, sweep: SweepRow) -> str:
    """The hash of a sweep's questions; the decision's own where they differ only by needles that documents moved."""
    moved = only_moved(decision.corpus_hash, decision.evidence.get(WORDING), sweep)
    return decision.questions_hash if moved else sweep.questions_hash


def _same(name: str, noun: str, then: str, now: str) -> Check:
    if then == now:
        return Check(name, "ok", f"{noun}: the same.")
    return Check(name, "changed", f"{noun}: {_short(then)} then, {_short(now)} now.")


def _short(value: str) -> str:
    return value[:12] if len(value) == 64 else value  # a hash is known by its beginning


def _there(decision: DecisionRow, combination: CombinationRow | None, sweep_id: int | None) -> Check:
    name = name_of(decision.combination)
    if combination is None:
        return Check("combination", "broken", f"{name} is not part of sweep {sweep_id}.")
    if combination.state != "recorded":
        why = f": {combination.reason}" if combination.reason else ""
        return Check("combination", "broken", f"{name} is {combination.state} there{why}.")
    return Check("combination", "ok", f"{name} was measured.")


def _model(decision: DecisionRow, combination: CombinationRow) -> Check:
    then, now = decision.stamp, combination.stamp.get("model", {})
    if same_distances(then, now):
        return Check("model", "ok", f"The distances are of the same model, {then.get('name')}.")
    return Check(
        "model",
        "broken",
        f"The distances were of {_stamp(then)}, they are of {_stamp(now)} now, and a threshold of one means nothing "
        "for the other.",
    )


def _scorer(decision: DecisionRow, combination: CombinationRow, sweep: SweepRow) -> Check:
    """The second model only orders chunks; what another order does to the answers is judged question by question."""
    now = scorer_record(combination.stamp, combination.retriever, sweep.settings)
    changed = scorer_differences(decision.scorer_stamp, now)
    if changed:
        return Check("second model", "changed", f"{changed[:1].upper()}{changed[1:]}.")
    return Check("second model", "ok", f"The second model is the same, {decision.scorer}.")


def _stamp(stamp: dict[str, object]) -> str:
    return f"{stamp.get('name', 'an unknown model')} (files {str(stamp.get('files', '-'))[:12]})"


def _bound_checks(decision: DecisionRow, outcomes: Sequence[Recorded]) -> Iterator[Check]:
    """Whether the bluff rate is still bounded by the target; nothing where no target was set."""
    if decision.target is None:
        return
    bounds = bounds_at(outcomes, decision.threshold, decision.confidence)
    for name in decision.evidence.get("strata", STRATA):
        bound, limit = bounds[name], f"the target of {100 * decision.target:.3g} %"
        if bound.n == 0:
            yield Check(f"{name} bluffs", "cannot be judged", bound.sentence)
        elif bound.upper <= decision.target:
            yield Check(f"{name} bluffs", "ok", f"{bound.sentence[:-1]}, within {limit}.")
        elif bound.bluffs / bound.n > decision.target:
            yield Check(f"{name} bluffs", "broken", f"It bluffs on {bound.bluffs} of {bound.n} {name}, over {limit}.")
        else:
            text = f"{bound.sentence[:-1]}, which is too few questions to promise {limit}."
            yield Check(f"{name} bluffs", "cannot be judged", text)


def _paired_checks(decision: DecisionRow, outcomes: Sequence[Recorded], alpha: float) -> Iterator[Check]:
    """The same questions then and now, in pairs."""
    then, now = decision.evidence.get("outcomes", {}), at_threshold(outcomes, decision.threshold)
    yield _paired("needles kept", then.get("kept", {}), now["kept"], alpha, worse="lost", better="gained")
    yield _paired("bluffs", then.get("bluffed", {}), now["bluffed"], alpha, worse="new", better="gone")


def _paired(name: str, then: dict[str, bool], now: dict[str, bool], alpha: float, *, worse: str, better: str) -> Check:
    shared = [query for query in then if query in now]
    if not shared:
        return Check(name, "cannot be judged", f"No question is there both then and now to compare {name} on.")
    more = sum(now[query] and not then[query] for query in shared)
    fewer = sum(then[query] and not now[query] for query in shared)
    ups, downs = (more, fewer) if worse == "lost" else (fewer, more)
    basis = f"of {plural(len(shared), 'question')} asked then and now"
    if ups + downs == 0:
        return Check(name, "ok", f"{name.capitalize()}: not one {basis} differs.")
    p = sign_test_p(ups, downs)
    score = f"{name.capitalize()}: {downs} {worse}, {ups} {better} {basis}, {p_value(p)}"
    if p <= alpha:
        return Check(name, "broken" if downs > ups else "changed", f"{score}: a real change.")
    needed = fewest_discordant(alpha)
    if ups + downs < needed:
        # Too few differ for any test to call it real, however one-sided they are; that is no proof of sameness.
        state: State = "cannot be judged" if downs > ups else "ok"
        return Check(name, state, f"{score}; at least {needed} would have to differ for a change to be proven.")
    return Check(name, "ok", f"{score}: no change is proven.")
