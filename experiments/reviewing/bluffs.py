"""What a bluff matched: the phrase itself without its answer, or only its neighbourhood."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from corpus.overlap import content_words

Kind = Literal["literal match", "near miss"]

LITERAL_WORDS = 4  # a run of this many of the question's words, standing in the chunk as they stand in the question
_WORD = re.compile(r"[^\W_]+")


class Match(NamedTuple):
    """Why an unanswerable question was answered."""

    kind: Kind
    shared: tuple[str, ...]  # the run of words, or the content words both have

    @property
    def words(self) -> str:
        """For people."""
        if self.kind == "literal match":
            return f"the corpus says “{' '.join(self.shared)}”, not the answer"
        if not self.shared:
            return "no word in common: near in meaning only"
        return f"same words, other thing: {', '.join(self.shared)}"


def matched(question: str, text: str) -> Match:
    """How a chunk that does not answer a question came near it.

    A literal match is a run of at least `LITERAL_WORDS` words of the question, two of them content words (or all of a
    shorter question), that stands in the chunk word for word. Everything else is a near miss.

    Args:
        question: An unanswerable question.
        text: The nearest chunk's own words.
    """
    asked, there = _words(question), _words(text)
    content = content_words(question)
    run = _longest_run(asked, there)
    enough = min(LITERAL_WORDS, len(asked))
    if len(run) >= enough and len(set(run) & content) >= min(2, max(1, len(content))):
        return Match("literal match", tuple(run))
    return Match("near miss", tuple(sorted(content & set(there))))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _longest_run(asked: list[str], there: list[str]) -> list[str]:
    """The longest common run of words, the first of equals; quadratic in words, and both are short."""
    best, end = 0, 0
    lengths = [0] * (len(there) + 1)
    for position, word in enumerate(asked):
        before = 0
        for place, other in enumerate(there, 1):
            before, lengths[place] = lengths[place], before + 1 if word == other else 0
            if lengths[place] > best:
                best, end = lengths[place], position + 1
    return asked[end - best : end]
