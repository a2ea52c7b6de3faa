"""What a question set can show, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from corpus.faults import Fault
from experiments.reviewing.question_planning import Discordance, NeededRow
from experiments.reviewing.question_set import (
    FAULT_KINDS,
    POWER,
    Balance,
    BoundRow,
    SetChange,
    fewest,
    half_width,
    kind_of,
    pairs_of,
)
from experiments.stats.intervals import clopper_pearson_upper
from experiments.verdicts.strategies import Verdict
from experiments.words import listed, plural

_NAMED_AT_MOST = 5


def on_question_set(held: Balance, alpha: float, combinations: int) -> Verdict:
    """What a set holds and what it can show.

    Args:
        held: What it holds.
        alpha: Significance level.
        combinations: How many are compared with it.
    """
    if not held.questions:
        return Verdict("There are no questions yet: without them nothing can be measured.")
    contents = (
        f"{plural(held.questions, 'question')}: {held.answerable:,} answerable {_over(held)}, "
        f"{held.unanswerable:,} unanswerable ({held.near:,} near, {held.far:,} far)."
    )
    return Verdict(
        contents, tuple(said for said in (_widths(held), _pairs(held, alpha, combinations), _bluffs(held)) if said)
    )


def _over(held: Balance) -> str:
    if held.answerable and not held.needles:
        return "by document-level relevance"
    return f"over {plural(held.needles, 'needle')}"


def _widths(held: Balance) -> str:
    half = half_width(held.answerable, 0.5)
    if half is None:
        return "With no answerable question nothing can be said about finding answers."
    return (
        f"An R@k near one half will be known to within ±{half:.2f} on {plural(held.answerable, 'answerable question')}."
    )


def _pairs(held: Balance, alpha: float, combinations: int) -> str:
    if not held.answerable:
        return ""
    alone = fewest(alpha, 1)
    if alone > held.answerable:
        return (
            f"No two combinations can be told apart: they would have to differ on {alone} questions, and there are "
            f"{held.answerable}."
        )
    said = f"Two combinations must differ on at least {alone} questions, all one way, to be told apart by themselves"
    pairs = pairs_of(combinations)
    if pairs == 1:
        return f"{said}."
    together = fewest(alpha, pairs)
    cannot = ", which is more than there are" if together > held.answerable else ""
    return f"{said}, and on {together} among all {pairs:,} pairs of {combinations:,} combinations{cannot}."


def _bluffs(held: Balance) -> str:
    if not held.unanswerable:
        return (
            "There are no unanswerable questions, so nothing will be known about bluffs: add some with a stratum, near "
            "or far."
        )
    parts = []
    for name, n in (("near", held.near), ("far", held.far)):
        if not n:
            parts.append(f"nothing can be promised about {name} questions, of which there are none")
        else:
            least = _percent(clopper_pearson_upper(0, n))
            parts.append(f"not one bluff on {plural(n, f'{name} question')} would still only promise at most {least}")
    return f"About bluffs: {'; '.join(parts)} (95 % confidence)."


def on_target(target: float, confidence: float, rows: Sequence[BoundRow], held: Balance) -> str:
    """How many more unanswerable questions a promise takes, near and far apart."""
    none = rows[0].needed
    said = []
    for name, n in (("near", held.near), ("far", held.far)):
        more = none - n
        said.append(f"the {n:,} {name} ones are enough" if more <= 0 else f"{more:,} more {name} ones are needed")
    return (
        f"To promise at most {_percent(target)} bluffs with {_percent(confidence)} confidence takes {none:,} "
        f"unanswerable questions without a single bluff: {listed(said)}. Each bluff that is seen takes more."
    )


def on_difference(
    difference: float, observed: Discordance | None, rows: Sequence[NeededRow], k: int, pairs: int, asked: int
) -> str:
    """How many questions it takes to see a difference between two combinations.

    Args:
        difference: Of R@k.
        observed: How often pairs differed in the sweep; None where nothing was measured.
        rows: What it takes, at several shares; the middle one is said.
        k: Depth.
        pairs: Pairs that are tested together.
        asked: Answerable questions there are.
    """
    row = rows[len(rows) // 2]
    points = f"{100 * difference:g} points"
    basis = (
        f"if two combinations differ on {_percent(row.discordant_share)} of the questions, which is assumed: nothing "
        "is measured yet"
        if observed is None
        else f"if two combinations differ on {_percent(row.discordant_share)} of the questions, as half of the "
        f"{plural(observed.pairs, 'pair')} of this sweep do or less (on {plural(observed.n, 'question')})"
    )
    if row.alone is None:
        return f"A difference of {points} in R@{k} cannot be there {basis}: it would be larger than that."
    more = "enough" if row.alone <= asked else f"{row.alone - asked:,} more are needed"
    together = "" if row.family is None or pairs == 1 else f", and about {row.family:,} among all {pairs:,} pairs"
    return (
        f"To see a difference of {points} in R@{k} with {_percent(POWER)} power takes about "
        f"{plural(row.alone, 'answerable question')} in one planned comparison{together}, {basis}. "
        f"There are {asked:,}: {more}."
    )


def on_check(faults: Sequence[Fault], documents: int, questions: int) -> str:
    """What a check of the project's files found."""
    whole = f"{plural(documents, 'document')} and {plural(questions, 'question')} are without fault"
    if not faults:
        return f"{whole}: every needle stands exactly once in the documents, and none is a heading."
    kinds = Counter(kind_of(fault) for fault in faults)
    words = {
        "missing": "missing",
        "drifted": "drifted",
        "repeated": "repeated",
        "heading": "a heading",
        "other": "of another kind",
    }
    counts = [f"{kinds[kind]:,} {words[kind]}" for kind in FAULT_KINDS if kinds[kind]]
    return f"{plural(len(faults), 'fault')} ({listed(counts)}); {whole}."


def on_change_of_set(change: SetChange, sweep_id: int) -> str:
    """How the file differs from what a sweep measured."""
    if not change.any:
        return f"The file holds the questions that sweep {sweep_id} measured."
    parts = [
        f"{len(names):,} {word} ({listed(names[:_NAMED_AT_MOST])}{', ...' if len(names) > _NAMED_AT_MOST else ''})"
        for word, names in (("added", change.added), ("removed", change.removed), ("changed", change.changed))
        if names
    ]
    return (
        f"Since sweep {sweep_id} the file has changed: {listed(parts)}. Its numbers are of the questions as they were."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
