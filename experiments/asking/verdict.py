"""What is said to a live question, in plain sentences: what answers it, how, and by whose decision."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.asking.answers import Answer, Passage
from experiments.thresholds import ThresholdRow
from experiments.words import counted, listed, plural

NOT_SHOWN = "It was not shown to anyone, and no model was called."


def on_answer(answer: Answer) -> str:
    """What the gate did: how many chunks it kept, or the refusal word for word."""
    if answer.refusal is not None:
        return answer.refusal
    looked, count = len(answer.looked_at), len(answer.kept)
    nearest = f"the nearest lies at {answer.nearest:.3f}" if answer.nearest is not None else ""
    if answer.threshold is None:
        return f"No threshold: {_all(looked)}, however far away; {nearest}."
    lie = "lies" if count == 1 else "lie"
    of = f"{count} of the {looked} chunks looked at"
    if count == looked:
        of = f"All {looked} chunks looked at" if looked > 1 else "The only chunk looked at"
    return f"{of} {lie} under {answer.threshold:g}; {nearest}."


def on_nearest(answer: Answer) -> str:
    """What lay nearest where everything was refused."""
    nearest = nearest_of(answer)
    if nearest is None:
        return "The retriever returned no chunk at all. No model was called."
    return f"The nearest chunk lies at {nearest.distance:.3f}, in {nearest.label}. {NOT_SHOWN}"


def nearest_of(answer: Answer) -> Passage | None:
    """The chunk with the smallest distance among those looked at, the better ranked of equals."""
    return min(answer.looked_at, key=lambda passage: passage.distance, default=None)


def on_answers(answers: Sequence[tuple[str, Answer]]) -> str:
    """Several combinations asked the same: which of them answer, which refuse, and whether they answer alike.

    Args:
        answers: What each is called, and its answer; at least two.
    """
    answering = [name for name, answer in answers if not answer.refused]
    refusing = [name for name, answer in answers if answer.refused]
    if not answering:
        return f"{_every(len(answers))} of them refuse."
    said = (
        f"{_every(len(answers))} of them answer" if not refusing else f"{listed(answering)} {_s(answering, 'answer')}"
    )
    said += f", {listed(refusing)} {_s(refusing, 'refuse')}" if refusing else ""
    return f"{said}{_alike([answer for _, answer in answers if not answer.refused])}."


def on_gate(row: ThresholdRow, sweep_id: int) -> str:
    """What the same line did with the questions of a sweep."""
    line = "without a threshold" if row.threshold is None else f"at {row.threshold:g}"
    parts = []
    if row.right.n:
        parts.append(f"{line} the needle was kept for {counted(row.right)} answerable questions")
    if row.bluffs.n:
        parts.append(f"{counted(row.bluffs)} unanswerable ones were answered all the same")
    if not parts:
        return ""
    return f"On sweep {sweep_id} {' and '.join(parts)}."


def _alike(answers: Sequence[Answer]) -> str:
    """How far those that answer keep the same places of the documents."""
    if len(answers) < 2:
        return ""
    every = "both" if len(answers) == 2 else "all"
    if _overlap([answer.kept[0] for answer in answers]):
        return f", and {every} put the same place first"
    shared = set.intersection(*({passage.document for passage in answer.kept} for answer in answers))
    if not shared:
        return ", from no document in common"
    return f", from {plural(len(shared), 'document')} in common"


def _overlap(passages: Sequence[Passage]) -> bool:
    """Whether all lie over one another: strategies cut differently, so ranges need not be equal."""
    one_document = len({passage.document for passage in passages}) == 1
    return one_document and max(passage.start for passage in passages) < min(passage.end for passage in passages)


def _all(count: int) -> str:
    return "the only chunk is kept" if count == 1 else f"all {count} chunks are kept"


def _every(count: int) -> str:
    return "Both" if count == 2 else f"All {count}"


def _s(names: Sequence[str], verb: str) -> str:
    return f"{verb}s" if len(names) == 1 else verb
