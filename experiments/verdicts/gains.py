"""What a second model buys and what it costs, beside the list it was put on top of.

Reranking is compared with the hybrid ranking it reorders, late interaction with the hybrid ranking of the sweep's first
model, each on the same questions and the same strategy. All tests of a sweep's second models are one family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments import measures
from experiments.evaluation import side_by_side
from experiments.measures import LATENCY_STAGES
from experiments.naming import short_model
from experiments.stats.comparison import holm, sign_test
from experiments.stats.intervals import MeanInterval, Proportion, cluster_bootstrap_mean
from experiments.stats.randomisation import paired_randomisation_p
from experiments.stats.resolution import fewest_discordant
from experiments.stats.retrieval import recall_at, reciprocal_ranks, success_at
from experiments.verdicts.strategies import Arm
from experiments.words import interval, listed, p_value, plural
from store.tables import CombinationRow, MeasureRow

_WHAT = {"rerank": "reranking", "late": "late interaction"}
_AHEAD = {"rerank": "Reranking hybrid's first {depth} chunks with {scorer}", "late": "Late interaction with {scorer}"}


class Gain(NamedTuple):
    """One combination with a second model against the ranking without it."""

    arm: Arm
    base: Arm
    before: Proportion  # R@1 of the base
    after: Proportion
    wins: int  # questions with the needle first only with the second model
    losses: int
    n: int
    p: float  # exact sign test on R@1
    holm_p: float
    mrr_before: float
    mrr_after: float
    difference: MeanInterval  # of MRR, paired, by needle
    mrr_p: float  # paired randomisation test by needle
    mrr_holm_p: float
    milliseconds: float | None  # a question, all stages
    base_milliseconds: float | None
    family: int  # tests that Holm's correction runs over

    @property
    def extra_milliseconds(self) -> float | None:
        """What the second model adds to a question; below 0 where it replaces something slower."""
        if self.milliseconds is None or self.base_milliseconds is None:
            return None
        return self.milliseconds - self.base_milliseconds


class Standing(NamedTuple):
    """What is proven of a gain: `good`, `bad`, or nothing, and in words."""

    kind: str
    words: str


def gains(arms: Sequence[Arm], milliseconds: Mapping[str, float | None], *, seed: int) -> list[Gain]:
    """Compare every combination that has a second model with the one that does without.

    Args:
        arms: The recorded combinations of one sweep.
        milliseconds: Of a question, by combination key.
        seed: Of bootstrap and randomisation.

    Returns:
        In the order of the grid; a combination whose hybrid ranking was not measured is left out.
    """
    pairs = [(arm, base) for arm in arms if arm.scorer for base in [_base(arm, arms)] if base is not None]
    found = [_gain(arm, base, milliseconds, seed) for arm, base in pairs]
    corrected = [float(p) for p in holm([p for gain in found for p in (gain.p, gain.mrr_p)])] if found else []
    return [
        gain._replace(holm_p=corrected[2 * place], mrr_holm_p=corrected[2 * place + 1], family=len(corrected))
        for place, gain in enumerate(found)
    ]


def milliseconds_of(numbers: Mapping[str, MeasureRow]) -> float | None:
    """Milliseconds of a question over all stages, each its median; None where none was timed."""
    timed = [numbers.get(measures.latency(stage).name) for stage in LATENCY_STAGES]
    known = [number.value for number in timed if number is not None and number.value is not None]
    return sum(known) if known else None


def on_token_vectors(recorded: Sequence[CombinationRow]) -> list[str]:
    """What late interaction keeps on disk, a sentence a model; it is memory-mapped, so it is no memory in use."""
    kept: dict[str, list[str]] = {}
    for row in recorded:
        held, chunks = row.stamp.get("token_bytes"), row.stamp.get("cutting", {}).get("chunks", 0)
        if held and row.scorer:
            each = f"{row.strategy} {held / 1e6:,.1f} MB ({held / chunks / 1e3:,.1f} kB a chunk)"
            kept.setdefault(short_model(row.scorer), []).append(each)
    return [
        f"Token vectors of {name}, in half precision and read from disk as needed: {listed(each)}."
        for name, each in kept.items()
    ]


def _base(arm: Arm, arms: Sequence[Arm]) -> Arm | None:
    """The hybrid ranking of the same chunks: that of the same model, or of the first where it has none of its own."""
    rivals = [one for one in arms if one.strategy == arm.strategy and one.retriever == "hybrid"]
    return next((one for one in rivals if arm.model in (None, one.model)), None)


def _gain(arm: Arm, base: Arm, milliseconds: Mapping[str, float | None], seed: int) -> Gain:
    laid = side_by_side([base.outcomes, arm.outcomes])
    both = laid.asked[0] & laid.asked[1]
    old, new = laid.ranks[0, both], laid.ranks[1, both]
    needles = [needle for needle, asked in zip(laid.needles, both, strict=True) if asked]
    test = sign_test(success_at(new, 1), success_at(old, 1))
    before, after = reciprocal_ranks(old), reciprocal_ranks(new)
    return Gain(
        arm=arm,
        base=base,
        before=recall_at(old, 1),
        after=recall_at(new, 1),
        wins=test.wins,
        losses=test.losses,
        n=test.n,
        p=test.p,
        holm_p=test.p,
        mrr_before=float(before.mean()) if len(before) else float("nan"),
        mrr_after=float(after.mean()) if len(after) else float("nan"),
        difference=cluster_bootstrap_mean(after - before, needles, seed=seed),
        mrr_p=paired_randomisation_p(after - before, needles, seed=seed),
        mrr_holm_p=1.0,
        milliseconds=milliseconds.get(arm.key),
        base_milliseconds=milliseconds.get(base.key),
        family=2,
    )


def on_gain(gain: Gain, depth: int | None, alpha: float) -> str:
    """One comparison in two sentences: what it moves and costs, and whether that is proven."""
    if not gain.n:
        return f"{gain.arm.name} was asked no answerable question: nothing can be said of what it buys."
    what = _AHEAD[gain.arm.retriever].format(depth=depth, scorer=short_model(gain.arm.scorer or ""))
    model = f", {short_model(gain.arm.model)}" if gain.arm.model else ""
    return (
        f"{what} moves R@1 on {gain.arm.strategy}{model} from {_share(gain.before)} to {_share(gain.after)} "
        f"({gain.wins} won, {gain.losses} lost of {gain.n}, {p_value(gain.p)}, Holm {p_value(gain.holm_p)}) "
        f"and {_cost(gain)}. {_proven(gain, alpha)}"
    )


def _share(share: Proportion) -> str:
    return f"{share.estimate or 0.0:.3f} {interval(share.low, share.high)}"


def _cost(gain: Gain) -> str:
    extra = gain.extra_milliseconds
    if extra is None:
        return "its cost was not measured"
    more = f"{_ms(abs(extra))} ms {'more' if extra >= 0 else 'less'}"
    return f"costs {_ms(gain.milliseconds or 0.0)} ms a question, {more} than without"


def _ms(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def standing(gain: Gain, alpha: float) -> Standing:
    """What is proven of a gain, with Holm's correction."""
    if not gain.n:
        return Standing("", "nothing was asked")
    proven = [name for name, p in (("R@1", gain.holm_p), ("MRR", gain.mrr_holm_p)) if p <= alpha]
    up = {"R@1": gain.wins > gain.losses, "MRR": (gain.difference.mean or 0.0) > 0}
    better, worse = [name for name in proven if up[name]], [name for name in proven if not up[name]]
    said = [f"{' and '.join(names)} {word}" for names, word in ((better, "better"), (worse, "worse")) if names]
    if said:
        return Standing("bad" if worse else "good", ", ".join(said))
    resolvable = gain.wins + gain.losses >= fewest_discordant(alpha, gain.family)
    return Standing("", "not proven" if resolvable else "cannot be resolved")


def on_second_models(found: Sequence[Gain], alpha: float) -> str:
    """What the second models of one strategy buy and cost, in one sentence; those that are proven come first."""
    asked = [gain for gain in found if gain.n]
    if not asked:
        return ""
    grouped: dict[tuple[str, str, Standing], list[Gain]] = {}
    for gain in asked:
        stands = standing(gain, alpha)
        merged = stands if stands.kind else Standing("", "")
        grouped.setdefault((gain.arm.retriever, gain.arm.scorer or "", merged), []).append(gain)
    split = {one[:2] for one in grouped if sum(other[:2] == one[:2] for other in grouped) > 1}
    ordered = sorted(grouped.items(), key=lambda item: {"good": 0, "bad": 1, "": 2}[item[0][2].kind])
    return (
        f"On {asked[0].arm.strategy}, " + "; ".join(_clause(key, each, key[:2] in split) for key, each in ordered) + "."
    )


def _clause(key: tuple[str, str, Standing], found: Sequence[Gain], name_models: bool) -> str:
    retriever, scorer, stands = key
    what = f"{_WHAT[retriever]} with {short_model(scorer)}"
    if name_models:
        what += f" ({listed([short_model(gain.arm.model or '') for gain in found])})"
    extra = _extra([gain.extra_milliseconds for gain in found])
    if stands.kind:
        return f"{what} is proven to make {stands.words}, and {extra}"
    return f"no gain is proven for {what}, which {extra}"


def _extra(milliseconds: Sequence[float | None]) -> str:
    known = sorted(one for one in milliseconds if one is not None)
    if not known or len(known) < len(milliseconds):
        return "costs what was not measured"
    word = "adds" if known[0] >= 0 else "saves" if known[-1] <= 0 else ""
    if not word:
        return f"takes {known[0]:+,.0f} to {known[-1]:+,.0f} ms a question"
    sizes = list(dict.fromkeys(_ms(size) for size in sorted(map(abs, known))))
    return f"{word} {' to '.join(dict.fromkeys((sizes[0], sizes[-1])))} ms a question"


def _proven(gain: Gain, alpha: float) -> str:
    mrr = (
        f"MRR {gain.mrr_before:.3f} to {gain.mrr_after:.3f}, difference {gain.difference.mean or 0.0:+.3f} "
        f"{interval(gain.difference.low, gain.difference.high, 3)}".rstrip()
        + f", Holm {p_value(gain.mrr_holm_p)}"
    )
    proven = [name for name, p in (("R@1", gain.holm_p), ("MRR", gain.mrr_holm_p)) if p <= alpha]
    up = {"R@1": gain.wins > gain.losses, "MRR": (gain.difference.mean or 0.0) > 0}
    if proven:
        said = " and ".join(f"{name} is proven {'better' if up[name] else 'worse'}" for name in proven)
        return f"{said} ({mrr})."
    needed = fewest_discordant(alpha, gain.family)
    if gain.wins + gain.losses < needed:
        return (
            f"Whether that is a difference cannot be resolved with these questions ({mrr}): R@1 differs on "
            f"{plural(gain.wins + gain.losses, 'question')}, and at least {needed} would have to."
        )
    return f"No difference is proven with these questions ({mrr})."
