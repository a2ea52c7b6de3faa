"""Answers, checks and failure modes as lines for the terminal and as data for `--json`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from experiments.asking.answering import Written, prompt_of
from experiments.asking.answers import LOADED, Answer, Passage
from experiments.asking.failure_modes import RULE, Classified, FailureCounts
from experiments.asking.generation import GeneratorStamp
from experiments.conditions import SCORER_RETRIEVERS
from experiments.naming import scored
from experiments.report import share
from experiments.words import counted, plural

_WIDTH = 100


def answer_lines(answer: Answer) -> list[str]:
    """What the gate kept, or the refusal with the nearest distance."""
    lines, retriever = [], answer.combination.retriever
    if answer.refusal is not None:
        lines.append(answer.refusal)
        nearest = min(answer.looked_at, key=lambda passage: passage.distance, default=None)
        lines.append(f"Nearest: {_head(nearest, retriever)}" if nearest else "Nearest: -, no chunk was returned.")
    for passage in answer.kept:
        lines += [f"[{passage.number}] {_head(passage, retriever)}", *_indented(passage.quote)]
    lines += [f"Note: {note}" for note in answer.notes]
    lines.append(", ".join(f"{_stage(stage, value)} {value:,.1f} ms" for stage, value in answer.milliseconds.items()))
    return lines


def _stage(name: str, milliseconds: float) -> str:
    return "model loaded, question embedded" if name == "embed" and milliseconds > 1000 * LOADED else name


def written_lines(written: Written) -> list[str]:
    """The generator's answer, what its numbers stand for, and what was marked in it."""
    generated = written.generated
    lines = [
        f"{generated.stamp.name}, {generated.tokens} tokens in {generated.seconds:.1f} s, "
        f"{generated.prompt_tokens} tokens of prompt:",
        *_indented(generated.text or "(nothing)"),
    ]
    if generated.sentence:
        lines.append(generated.sentence)
    lines += [f"[{one.number}] {one.label}, {one.document}{one.locator}" for one in written.cited]
    lines += [f"! {mark.sentence} {mark.text!r}" for mark in written.check.marks]
    marks = len(written.check.marks)
    lines.append(f"{plural(marks, 'mark')} in {plural(written.check.sentences, 'sentence')}.")
    return lines


def failure_lines(counts: FailureCounts) -> list[str]:
    """A batch as a table; every share with its interval and n."""
    written = counts.cut_off.n
    lines = [f"{plural(counts.n, 'answerable question')}:"]
    lines += [f"  {mode:<22} {counted(proportion)}" for mode, proportion in counts.modes.items()]
    lines.append(f"Of those whose needle was in the prompt, lost by the generator: {counted(counts.lost_given_prompt)}")
    lines.append(f"{plural(written, 'answer')} written, cut off by a limit: {counted(counts.cut_off)}")
    lines.append("Marks in the answers:")
    lines += [
        f"  {kind:<22} {total:>4}, in {counted(answers)} answers" for kind, (total, answers) in counts.marks.items()
    ]
    lines.append(f"Rule: {RULE}.")
    return lines


def answer_data(heading: str, answer: Answer, written: Written | None, *, with_prompt: bool) -> dict[str, Any]:
    """An answer of JSON's types only."""
    data: dict[str, Any] = {
        "heading": heading,
        "combination": answer.combination.key,
        "gate_model": answer.gate_model,
        "threshold": answer.threshold,
        "refused": answer.refused,
        "refusal": answer.refusal,
        "nearest": answer.nearest,
        "looked_at": [{**asdict(one), "locator": one.locator, "label": one.label} for one in answer.looked_at],
        "milliseconds": dict(answer.milliseconds),
        "notes": list(answer.notes),
    }
    if with_prompt:
        data["prompt"] = None if answer.refused else prompt_of(answer).text
    if written is not None:
        generated = written.generated
        data["generated"] = {
            **dict[str, Any](generated._asdict()),
            "stamp": generated.stamp._asdict(),
            "cited": [one._asdict() for one in written.cited],
            "marks": [mark._asdict() for mark in written.check.marks],
            "counts": written.check.counts,
        }
    return data


def failure_data(
    heading: str, stamp: GeneratorStamp, counts: FailureCounts, results: Sequence[Classified]
) -> dict[str, Any]:
    """A batch of JSON's types only."""
    return {
        "heading": heading,
        "generator": stamp._asdict(),
        "rule": RULE,
        "n": counts.n,
        "modes": {mode: share(proportion) for mode, proportion in counts.modes.items()},
        "lost_given_prompt": share(counts.lost_given_prompt),
        "cut_off": share(counts.cut_off),
        "marks": {kind: {"marks": total, "answers": share(answers)} for kind, (total, answers) in counts.marks.items()},
        "questions": [
            {
                "id": one.query_id,
                "mode": one.mode,
                "match": one.match._asdict() if one.match else None,
                "text": one.text,
                "marks": one.check.counts if one.check else None,
                "cut_off": one.cut_off,
                "seconds": one.seconds,
            }
            for one in results
        ],
    }


def _head(passage: Passage, retriever: str) -> str:
    by_second = [scored(retriever, passage.score, passage.first_rank)] if retriever in SCORER_RETRIEVERS else []
    facts = [f"distance {passage.distance:.3f}", f"rank {passage.rank}", *by_second, passage.label]
    return ", ".join([*facts, f"{passage.document}{passage.locator}"])


def _indented(text: str) -> list[str]:
    return [
        wrapped
        for line in text.splitlines()
        for wrapped in textwrap.wrap(line, _WIDTH, initial_indent="    ", subsequent_indent="    ") or [""]
    ]
