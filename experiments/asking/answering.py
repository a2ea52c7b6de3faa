"""From a kept chunk to a checked answer: prompt, generator, citations and marks; for one question and for a batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from corpus.questions import Query
from experiments.asking.answer_checks import AnswerCheck, check_answer
from experiments.asking.answers import Answer
from experiments.asking.asker import Asker
from experiments.asking.citations import Citation, cite
from experiments.asking.failure_modes import Classified, classify
from experiments.asking.generation import Generated, Generator, OnToken
from experiments.asking.prompting import Prompt, numbered_prompt
from experiments.settings import MAX_TOKENS, TIME_LIMIT


class Written(NamedTuple):
    """A generator's answer with everything that is attached to it."""

    generated: Generated
    check: AnswerCheck
    cited: tuple[Citation, ...]  # of the numbers the answer cites


def prompt_of(answer: Answer) -> Prompt:
    """The numbered prompt of an answer.

    Raises:
        ValueError: If the gate refused: there is no prompt then.
    """
    return numbered_prompt(
        answer.question, {passage.number: passage.quote for passage in answer.kept if passage.number is not None}
    )


def write(
    answer: Answer,
    asker: Asker,
    generator: Generator,
    *,
    max_tokens: int = MAX_TOKENS,
    time_limit: float = TIME_LIMIT,
    on_token: OnToken | None = None,
) -> Written:
    """Let a generator answer from the kept chunks, and check what it wrote.

    Args:
        answer: What the gate kept.
        asker: Whose documents the citations are checked against.
        generator: Never called when the gate refused.
        max_tokens: Tokens at most.
        time_limit: Seconds at most.
        on_token: Called after each token; returning False stops.

    Raises:
        ValueError: If the gate refused.
        CitationError: If a chunk is not what stands in its document.
        GeneratorError: If the generator cannot be loaded or the prompt does not fit into it.
    """
    prompt = prompt_of(answer)
    citations = cite(answer.looked_at, asker.documents)
    generated = generator.generate(prompt, max_tokens=max_tokens, time_limit=time_limit, on_token=on_token)
    check = check_answer(generated.text, prompt.sources)
    return Written(generated, check, tuple(one for one in citations if one.number in check.cited))


def classify_all(
    queries: Sequence[Query],
    ask: Callable[[str], Answer],
    asker: Asker,
    generator: Generator,
    *,
    max_tokens: int = MAX_TOKENS,
    time_limit: float = TIME_LIMIT,
) -> Iterator[Classified]:
    """Answer every answerable question and say where each answer was lost, one after the other.

    Args:
        queries: Questions; unanswerable ones are left out.
        ask: How a question is asked: one combination and threshold, or a decision.
        asker: Whose documents are cited.
        generator: Writes the answers.
        max_tokens: Tokens an answer may have.
        time_limit: Seconds an answer may take.

    Yields:
        One result a question, as soon as it is there.
    """
    for query in queries:
        if query.needle is None:
            continue
        begin = time.monotonic()
        answer = ask(query.text)
        if answer.refused:
            yield classify(query, answer, seconds=time.monotonic() - begin)
            continue
        written = write(answer, asker, generator, max_tokens=max_tokens, time_limit=time_limit)
        yield classify(
            query,
            answer,
            written.generated.text,
            written.check,
            cut_off=written.generated.stopped != "end",
            seconds=time.monotonic() - begin,
        )
