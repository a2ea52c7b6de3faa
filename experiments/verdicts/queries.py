"""What became of questions, in plain sentences: of a whole set, and of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from experiments.gate import GATE_SIZE
from experiments.reviewing.fates import Fate, Kind, counts, lost_everywhere
from experiments.stats.intervals import Proportion, wilson
from experiments.words import counted, listed


def at(threshold: float | None) -> str:
    """`At 0.675`, or `With no threshold`."""
    return "With no threshold" if threshold is None else f"At {threshold:g}"


def on_questions(questions: Sequence[Sequence[Fate]], threshold: float | None) -> str:
    """How many questions are right under every combination and under none.

    Args:
        questions: The fates of each question, one a combination.
        threshold: At which they were read.
    """
    asked = [fates for fates in questions if fates]
    if not asked:
        return "There is no question to show: nothing is recorded, or nothing fits the filters."
    combinations = max(len(fates) for fates in asked)
    unanswerable = [fates for fates in asked if fates[0].kind in ("silent", "bluff")]
    answerable = [fates for fates in asked if fates[0].kind not in ("silent", "bluff")]
    said = []
    if answerable:
        n = len(answerable)
        kept = wilson(sum(all(one.good for one in fates) for fates in answerable), n)
        lost = wilson(sum(lost_everywhere(fates) for fates in answerable), n)
        if combinations == 1:
            said.append(f"the answer of {counted(kept, 'question')} is kept")
        else:
            said.append(
                f"{counted(kept, 'answerable question')} {_s(_one(kept), 'keep')} the answer under "
                f"{_all(combinations)} and {counted(lost)} under none"
            )
    if unanswerable:
        bluffed = wilson(sum(any(not one.good for one in fates) for fates in unanswerable), len(unanswerable))
        by = "" if combinations == 1 else " by at least one"
        said.append(
            f"{counted(bluffed, 'unanswerable question')} {'is' if _one(bluffed) == 1 else 'are'} bluffed on{by}"
        )
    return f"{at(threshold)}, {'; '.join(said)}."


def on_question(fates: Mapping[str, Fate], threshold: float | None) -> str:
    """What the combinations do with one question.

    Args:
        fates: By combination.
        threshold: At which they were read.
    """
    if not fates:
        return "No combination has an outcome of this question on record."
    found = counts(fates.values())
    n = len(fates)
    if found["bluff"] or found["silent"]:
        bluffs = found["bluff"]
        said = f"{_of(bluffs, n)} {_s(bluffs, 'bluff')}" if bluffs else f"{_of(n, n)} rightly {_s(n, 'refuse')}"
        return f"The corpus does not answer this question. {at(threshold)}, {said}."
    ways = Counter(_how(one) for one in sorted(fates.values(), key=lambda one: _ORDER.index(one.kind)) if not one.good)
    lost = [f"under {count:,} {words}" for words, count in ways.items()]
    head = (
        f"{at(threshold)}, {_of(found['kept'], n)} {_s(found['kept'], 'keep') if found['kept'] else 'keeps'} the answer"
    )
    return f"{head}{': ' if not found['kept'] else '; '}{listed(lost)}." if lost else f"{head}."


def words_of(one: Fate) -> str:
    """What became of a question, in a few words."""
    if one.kind == "below" and one.may_be_destroyed:
        return NOT_RETURNED
    if one.kind == "truncated":
        return f"beyond {_WINDOWS[one.window]}"
    return _WORDS[one.kind]


def on_window(truncated_by: str | None) -> str:
    """Where a truncated answer lies."""
    return f"beyond {_WINDOWS[truncated_by]}"


def _how(one: Fate) -> str:
    if one.kind == "below" and one.may_be_destroyed:
        return "it is not returned (destroyed: not known)"
    return f"it lies beyond {_WINDOWS[one.window]}" if one.kind == "truncated" else _LOST[one.kind]


NOT_RETURNED = "not returned (destroyed: not known)"
_WORDS: dict[Kind, str] = {
    "kept": "kept",
    "refused": "refused by the gate",
    "below": f"ranked below the {GATE_SIZE} the gate looks at",
    "destroyed": "destroyed by the cuts",
    "silent": "rightly refused",
    "bluff": "bluff",
}
_LOST: dict[Kind, str] = {
    "refused": "the gate refuses it",
    "below": "it is ranked below the four the gate looks at",
    "destroyed": "the cuts destroy it",
}
_ORDER: tuple[Kind, ...] = ("refused", "below", "truncated", "destroyed", "kept", "silent", "bluff")
_WINDOWS = {
    None: "the encoder's window",  # from before there were scorers
    "encoder": "the encoder's window",
    "scorer": "the scorer's window",
    "encoder and scorer": "the windows of encoder and scorer",
}


def _of(count: int, n: int) -> str:
    if n == 1:
        return "the one combination" if count else "no combination"
    if count == n:
        return _all(n)
    return f"{count:,} of {n:,} combinations" if count else f"none of {n:,} combinations"


def _all(combinations: int) -> str:
    return "both combinations" if combinations == 2 else f"all {combinations:,} combinations"


def _one(share: Proportion) -> int:
    """1 where a verb after `hits of n questions` is singular."""
    return 1 if share.hits == 1 or share.n == 1 else 2


def _s(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb
