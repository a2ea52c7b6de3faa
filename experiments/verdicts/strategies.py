"""What the evidence says, in plain sentences. Nothing is called better without a resolved paired test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from experiments.conditions import OWN
from experiments.evaluation import answerable, ranks
from experiments.outcomes import Recorded, judges_documents
from experiments.pairs import Pair, compare
from experiments.stats.intervals import Proportion, wilson
from experiments.stats.retrieval import recall_at
from experiments.thresholds import Extremes, ThresholdRow
from experiments.verdicts.fusion import on_fusion
from experiments.verdicts.hit_rules import DOCUMENT_LEVEL
from experiments.words import counted, listed, p_value, plural

Named = Callable[[Pair], str]  # what the other side of a pair is called


class Verdict(NamedTuple):
    """One sentence a lead can repeat, and those that belong to it."""

    headline: str
    asides: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it, the headline first."""
        return (self.headline, *self.asides)


class Arm(NamedTuple):
    """One combination as a verdict sees it."""

    strategy: str
    retriever: str
    model: str | None
    outcomes: Sequence[Recorded]
    scorer: str | None = None
    models_named: tuple[str, ...] = ()  # where the sweep has several models that could be meant

    @property
    def key(self) -> str:
        """Unique within a sweep."""
        return "/".join(part for part in (self.strategy, self.retriever, self.model, self.scorer) if part)

    @property
    def way(self) -> tuple[str, str | None, str | None]:
        """All but the strategy: how it retrieves."""
        return self.retriever, self.model, self.scorer

    @property
    def name(self) -> str:
        """Short, for sentences."""
        if self.strategy == OWN:
            return f"{self.retriever} (your own)"
        return f"{self.strategy} with {self.way_name}"

    @property
    def way_name(self) -> str:
        """The retriever, with the models that tell it from others of the sweep."""
        return f"{self.retriever} ({', '.join(self.models_named)})" if self.models_named else self.retriever


def on_strategies(arms: Sequence[Arm], k: int, alpha: float) -> Verdict:
    """Which strategy to ship and whether that is proven, what is destroyed, and which retrievers differ.

    Args:
        arms: The recorded combinations of one sweep.
        k: Depth.
        alpha: Significance level of each family of pairs.
    """
    leader = leading_strategy(arms, k)
    if leader is None:
        return Verdict("Nothing is measured yet: no combination has an answerable question on record.")
    asked = answerable(leader.outcomes)
    needles = {outcome.needle_id for outcome in asked}
    judged = judges_documents(asked)
    over = f"by {DOCUMENT_LEVEL}" if judged else f"over {plural(len(needles), 'needle')}"
    basis = f"With {plural(len(asked), 'question')} {over}"
    rivals = [arm for arm in arms if arm.way == leader.way]
    pairs = _against(leader, rivals, k, alpha)
    headline = f"{basis}, {_leading(leader, pairs, k, lambda pair: _arm(arms, pair.second).strategy)}"
    retrievers = [arm for arm in arms if arm.strategy == leader.strategy]
    asides = [
        on_destroyed(arms),
        *([] if judged else _by_needle(leader, pairs, lambda pair: _arm(arms, pair.second).strategy)),
        *_retrievers(leader, _against(leader, retrievers, k, alpha), arms),
        *_own(leader, arms, k, alpha),
        *on_fusion(arms, k, alpha),
    ]
    return Verdict(headline, tuple(aside for aside in asides if aside))


def leader_of(arms: Sequence[Arm], k: int) -> Arm | None:
    """The combination that finds most at k, the earlier one of equals; None where nothing was asked."""
    asked = [arm for arm in arms if answerable(arm.outcomes)]
    return max(asked, key=lambda arm: _found(arm, k).estimate or 0.0, default=None)  # max keeps the first of equals


def leading_strategy(arms: Sequence[Arm], k: int) -> Arm | None:
    """The leader among those whose strategy is ours to choose; a team's own retriever only where there is no other."""
    return leader_of([arm for arm in arms if arm.strategy != OWN], k) or leader_of(arms, k)


def on_destroyed(arms: Sequence[Arm]) -> str:
    """Which strategies cut answers apart (the same under every retriever); empty where nothing was asked."""
    lost = destroyed_by_strategy(arms)
    some = {strategy: share for strategy, share in lost.items() if share.hits}
    total = max((share.n for share in lost.values()), default=0)
    if not total:
        return ""
    if not some:
        whole = "the one needle is" if total == 1 else f"all {total:,} needles are"
        return f"No strategy destroys an answer: {whole} whole in some chunk."
    said = listed([f"{strategy} destroys {counted(share, 'needle')}" for strategy, share in some.items()])
    them = "it" if sum(share.hits for share in some.values()) == 1 else "them"
    return f"{said}: no retriever, threshold or larger model can bring {them} back."


def destroyed_by_strategy(arms: Sequence[Arm]) -> dict[str, Proportion]:
    """Destroyed needles of each strategy whose chunks are known."""
    shares = {}
    for arm in arms:
        if arm.strategy not in shares:
            needles = {outcome.needle_id: outcome.destroyed for outcome in answerable(arm.outcomes)}
            known = [lost for lost in needles.values() if lost is not None]
            if known or not needles:
                shares[arm.strategy] = wilson(sum(known), len(known))
    return shares


def on_depth(chunks: Mapping[str, int], ks: Sequence[int]) -> str:
    """Which lists hold every chunk there is, so that any retriever finds what is whole; empty where none does.

    Args:
        chunks: Chunks of each strategy.
        ks: Depths.
    """
    short = {name: count for name, count in chunks.items() if count <= max(ks)}
    if not short:
        return ""
    whole = [f"R@{k}" for k in ks if k >= min(short.values())]
    alike: dict[int, list[str]] = {}
    for name, count in short.items():
        alike.setdefault(count, []).append(name)
    said = listed(
        [f"{listed(names)} {'has' if len(names) == 1 else 'have'} {plural(n, 'chunk')}" for n, names in alike.items()]
    )
    return (
        f"{said}: a list as deep as that holds all of them, so {listed(whole)} {'is' if len(whole) == 1 else 'are'} "
        "high there by construction, whatever the retriever."
    )


def on_threshold(arm: Arm, row: ThresholdRow, extremes: Extremes) -> Verdict:
    """What one threshold does, and whether any could get everything right."""
    at = f"At cosine distance {row.label}" if row.threshold is not None else "With no threshold"
    said = []
    if row.right.n:
        kept = "a relevant document" if judges_documents(arm.outcomes) else "the needle"
        said.append(f"answers {counted(row.right, 'question')} with {kept} kept")
    if row.bluffs.n:
        said.append(f"bluffs on {counted(row.bluffs, 'unanswerable question')}")
    headline = f"{at}, {arm.name} {listed(said) or 'was asked nothing'}."
    asides = [*_by_stratum(row), *_refusals(row)]
    if extremes.separable is False:
        asides.insert(
            0,
            f"No threshold gets both right: the worst answerable question lies {extremes.worst_answerable:.3f} from "
            f"{_its_chunk(arm)}, while the nearest unanswerable one lies {extremes.best_unanswerable:.3f} "
            "from a chunk that does not answer it.",
        )
    elif extremes.separable:
        asides.insert(
            0,
            f"{_each_chunk(arm)} is nearer ({extremes.worst_answerable:.3f} at worst) than anything an unanswerable "
            f"question finds ({extremes.best_unanswerable:.3f} at best), on these questions.",
        )
    return Verdict(headline, tuple(asides))


def _its_chunk(arm: Arm) -> str:
    return "the nearest chunk of a relevant document" if judges_documents(arm.outcomes) else "its needle's chunk"


def _each_chunk(arm: Arm) -> str:
    judged = judges_documents(arm.outcomes)
    return "Some chunk of each question's relevant documents" if judged else "Every needle's chunk"


def _by_stratum(row: ThresholdRow) -> list[str]:
    strata = {"near": row.bluffs_near, "far": row.bluffs_far}
    said = [f"on {counted(share, f'{name} question')}" for name, share in strata.items() if share.n]
    return [f"It bluffs {listed(said)}."] if said else []


def _refusals(row: ThresholdRow) -> list[str]:
    if not row.refused.n:
        return []
    lost = row.refused_could_answer.hits
    regret = f", {lost:,} of which it would have answered rightly with no threshold" if row.refused.hits else ""
    return [f"It refuses {counted(row.refused, 'answerable question')}{regret}."]


def on_pair(pair: Pair, first: str, second: str) -> str:
    """One pair in a sentence."""
    score = f"{pair.wins} won, {pair.losses} lost of {pair.n}, {p_value(pair.p)}, Holm {p_value(pair.holm_p)}"
    if pair.resolved:
        ahead, behind = (first, second) if pair.wins > pair.losses else (second, first)
        return f"{ahead} finds more than {behind} at k = {pair.k}: {first} {score}."
    if not pair.resolvable:
        return (
            f"{first} and {second} cannot be resolved with these questions ({score}): they differ on "
            f"{plural(pair.wins + pair.losses, 'question')}, and at least {pair.discordant_needed} would have to."
        )
    return f"{first} and {second} cannot be told apart with these questions ({score}){_more(pair)}."


def _more(pair: Pair) -> str:
    if pair.more_questions is None:
        return "; at this pace no number of further questions would tell them apart"
    if pair.more_questions == 0:
        return "; it would be resolved as the only comparison, but not among this many"
    return f"; about {pair.more_questions:,} more would be needed to tell this pair alone"


def _found(arm: Arm, k: int) -> Proportion:
    return recall_at(ranks(answerable(arm.outcomes)), k)


def _against(leader: Arm, arms: Sequence[Arm], k: int, alpha: float) -> list[Pair]:
    """The leader's pairs, out of the family of all pairs among `arms`."""
    pairs = compare({arm.key: arm.outcomes for arm in arms}, k, alpha)
    return [
        pair if pair.first == leader.key else pair.reversed for pair in pairs if leader.key in (pair.first, pair.second)
    ]


def _arm(arms: Sequence[Arm], key: str) -> Arm:
    return next(arm for arm in arms if arm.key == key)


def _leading(leader: Arm, pairs: Sequence[Pair], k: int, name: Named) -> str:
    found = _found(leader, k)
    if not pairs:
        return f"{leader.name} finds {counted(found)} at R@{k}; there is no other strategy to compare it with."
    beaten = [pair for pair in pairs if pair.resolved]
    level = [name(pair) for pair in pairs if not pair.resolved]
    if not beaten:
        equals = [name(pair) for pair in pairs if pair.wins == pair.losses]
        most = f"{counted(found)}, as many as {listed(equals)}," if equals else f"most, {counted(found)},"
        finds = f"{leader.name} finds {most} and cannot be told from {listed(level)}."
        return f"no strategy is proven better at R@{k}: {finds}"
    proof = listed(
        [f"{name(pair)} ({pair.wins} won, {pair.losses} lost, Holm {p_value(pair.holm_p)})" for pair in beaten]
    )
    rest = f" It cannot be told from {listed(level)}." if level else ""
    return f"{leader.strategy} beats {proof} at R@{k} with {leader.way_name}, finding {counted(found)}.{rest}"


def _by_needle(leader: Arm, pairs: Sequence[Pair], name: Named) -> list[str]:
    """Two phrasings of a needle are not independent: the same comparison with each needle counted once."""
    shown = [pair for pair in pairs if pair.resolved] or sorted(pairs, key=lambda pair: pair.p)[:1]
    said = [
        f"{leader.strategy} against {name(pair)} {pair.by_needle.wins} won, {pair.by_needle.losses} lost, "
        f"{p_value(pair.by_needle.p)}"
        for pair in shown
    ]
    return [f"Counted by needle instead of by question: {'; '.join(said)}."] if said else []


def _own(leader: Arm, arms: Sequence[Arm], k: int, alpha: float) -> list[str]:
    """A team's own retrievers against the leader, as a family of their own, on the questions both answered."""
    own = [arm for arm in arms if arm.strategy == OWN and arm.strategy != leader.strategy]
    pairs = _against(leader, [leader, *own], k, alpha)
    return [on_pair(pair.reversed, _arm(own, pair.second).name, leader.name) for pair in pairs]


def _retrievers(leader: Arm, pairs: Sequence[Pair], arms: Sequence[Arm]) -> list[str]:
    return [
        f"On {leader.strategy}: {on_pair(pair, leader.way_name, _arm(arms, pair.second).way_name)}" for pair in pairs
    ]
