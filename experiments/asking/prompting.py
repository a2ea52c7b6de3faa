"""The numbered prompt: the question, the sources with their numbers, and the order to cite and never to link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NOT_IN_SOURCES = "The sources do not say."

_INSTRUCTION = f"""\
Answer the question using only the numbered sources below.
After every sentence, cite the source it comes from by its number in square brackets, as in [1].
Cite only numbers that are given. Never write a link, an address or a reference of your own.
If the sources do not answer the question, write exactly: {NOT_IN_SOURCES}"""


class Prompt(NamedTuple):
    """What a generator is given."""

    instruction: str
    sources: Mapping[int, str]  # number -> the chunk's own words, exactly what may be quoted
    question: str

    @property
    def text(self) -> str:
        """All of it as one message; the same for the same chunks and question."""
        sources = "\n\n".join(f"[{number}]\n{content}" for number, content in self.sources.items())
        return f"{self.instruction}\n\nSources:\n\n{sources}\n\nQuestion: {self.question}\n\nAnswer:"


def numbered_prompt(question: str, sources: Mapping[int, str]) -> Prompt:
    """Make the prompt.

    Args:
        question: What is asked.
        sources: The kept chunks' own words by number, counted from 1.

    Raises:
        ValueError: If there is no source: a refused question has no prompt.
    """
    if not sources:
        raise ValueError(f"nothing was kept for {question!r}, so there is no prompt: a refusal calls no model")
    if list(sources) != list(range(1, len(sources) + 1)):
        raise ValueError(f"sources are numbered from 1 without a gap, got {list(sources)}")
    return Prompt(_INSTRUCTION, dict(sources), question)
