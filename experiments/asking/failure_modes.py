"""Why an answerable question was not answered: the retriever did not bring the needle, or the generator lost it.

No model judges anything. Whether an answer contains a needle's facts is read from words and numbers, by rules that are
stated and the same for every generator; a paraphrase without the needle's own words counts as lost, so the numbers
compare generators, and are no measure of how good an answer reads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from corpus.overlap import STOP_WORDS
from corpus.questions import Needle, Query
from corpus.sentences import split_sentences
from experiments.asking.answer_checks import KINDS, AnswerCheck, Kind, without_citations
from experiments.asking.answers import Answer
from experiments.stats.intervals import Proportion, wilson

FACTS_SHARE = 0.5  # of the needle's numbers, and of its terms, that the question does not give away
OVERLAP_F1 = 0.5  # token-overlap F1 that stands in for the terms
RULE = (
    f"an answer contains the needle's facts when it holds at least {FACTS_SHARE:.0%} of the needle's numbers that the "
    f"question does not give away, and either at least {FACTS_SHARE:.0%} of its other content words that the question "
    f"does not give away or one of them and a token-overlap F1 with the needle of at least {OVERLAP_F1:g}"
)

Mode = Literal["refused", "not in the prompt", "lost by the generator", "answered"]
MODES: tuple[Mode, ...] = ("refused", "not in the prompt", "lost by the generator", "answered")

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred")
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SMALL)} | {
    word: str(10 * (place + 3)) for place, word in enumerate(_TENS)
}


class FactMatch(NamedTuple):
    """How much of a needle an answer holds.

    Attributes:
        numbers: Share of the needle's numbers that the question does not give away; None where it has none.
        terms: Share of its other content words likewise; None where it has none.
        f1: Token-overlap F1 of the needle with the whole answer or its best sentence.
    """

    numbers: float | None
    terms: float | None
    f1: float

    @property
    def contained(self) -> bool:
        """Whether the answer counts as containing the needle's facts, by `RULE`."""
        if self.numbers is not None and self.numbers < FACTS_SHARE:
            return False
        if self.terms is None:
            return self.numbers is not None or self.f1 >= OVERLAP_F1
        return self.terms >= FACTS_SHARE or (self.terms > 0 and self.f1 >= OVERLAP_F1)


@dataclass(frozen=True, slots=True)
class Classified:
    """One answerable question, and where its answer was lost.

    Attributes:
        query_id: The question.
        mode: One of `MODES`.
        match: How much of the needle the answer holds; None where there was no answer to look at.
        check: What was marked in the answer; None likewise.
        text: The answer.
        cut_off: Whether the generator was stopped before it had ended.
        seconds: For retrieving and writing.
    """

    query_id: str
    mode: Mode
    match: FactMatch | None = None
    check: AnswerCheck | None = None
    text: str | None = None
    cut_off: bool = False
    seconds: float = 0.0


class FailureCounts(NamedTuple):
    """A batch in numbers; every proportion has its Wilson interval and n.

    Attributes:
        n: Answerable questions.
        modes: Share of all questions that ended in each mode.
        lost_given_prompt: Share lost by the generator among those whose needle was in the prompt.
        marks: Of each kind: how many, and the share of written answers that carry at least one.
        cut_off: Share of written answers that a limit cut off.
    """

    n: int
    modes: dict[Mode, Proportion]
    lost_given_prompt: Proportion
    marks: dict[Kind, tuple[int, Proportion]]
    cut_off: Proportion


def in_prompt(answer: Answer, needle: Needle) -> bool:
    """Whether the needle stands whole in the words of one kept chunk: only those are put into the prompt."""
    return any(
        passage.document == needle.document and passage.start <= needle.start and needle.end <= passage.end
        for passage in answer.kept
    )


def match_facts(text: str, needle: str, question: str) -> FactMatch:
    """Compare an answer with the needle, by numbers and words.

    Numbers are compared as values (`1,024` is `1024`, `three` is `3`), words without case and without stop words.
    Numbers of citations are no facts.

    Args:
        text: The answer.
        needle: The sentence that answers the question.
        question: What was asked; what it gives away proves nothing.
    """
    answer = without_citations(text)
    held, given, wanted = set(_tokens(answer)), set(_tokens(question)), set(_tokens(needle))
    facts = wanted - given
    numbers = {token for token in facts if token[0].isdigit()}
    terms = facts - numbers - STOP_WORDS
    pieces = [answer, *(answer[one.start : one.end] for one in split_sentences(answer))]
    return FactMatch(
        numbers=len(numbers & held) / len(numbers) if numbers else None,
        terms=len(terms & held) / len(terms) if terms else None,
        f1=max(token_f1(piece, needle) for piece in pieces),
    )


def _match(text: str, query: Query) -> FactMatch:
    """Compare an answer with what answers the question: all needles that are needed, or the one it holds best."""
    if query.require == "all":
        return match_facts(text, " ".join(needle.text for needle in query.needles), query.text)
    found = [match_facts(text, needle.text, query.text) for needle in query.needles]
    return max(found, key=lambda one: (one.contained, one.f1))  # max keeps the first of equals


def token_f1(text: str, reference: str) -> float:
    """Token-overlap F1 of two texts, as bags of normalised tokens without stop words; 0 where one is empty.

    References:
        Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", EMNLP 2016.
    """
    left = Counter(token for token in _tokens(text) if token not in STOP_WORDS)
    right = Counter(token for token in _tokens(reference) if token not in STOP_WORDS)
    common = (left & right).total()
    return 2 * common / (left.total() + right.total()) if common else 0.0


def classify(
    query: Query, answer: Answer, text: str | None = None, check: AnswerCheck | None = None, *, cut_off: bool = False,
    seconds: float = 0.0,
) -> Classified:  # fmt: skip
    """Say where an answerable question's answer was lost.

    Args:
        query: The question, with its needle.
        answer: What the gate kept for it.
        text: What the generator wrote; None where it was not called.
        check: What was marked in that.
        cut_off: Whether the generator was stopped before it had ended.
        seconds: How long it took.

    Raises:
        ValueError: If the question is unanswerable, or something was kept and no text is given.
    """
    if query.needle is None:
        raise ValueError(f"{query.id} is unanswerable: it has no needle to look for")
    if answer.refused:
        return Classified(query.id, "refused", seconds=seconds)
    if text is None:
        raise ValueError(f"{query.id}: chunks were kept, but there is no answer to look at")
    match = _match(text, query)
    mode: Mode = "not in the prompt"
    held = [in_prompt(answer, needle) for needle in query.needles]
    if all(held) if query.require == "all" else any(held):
        mode = "answered" if match.contained else "lost by the generator"
    return Classified(query.id, mode, match, check, text, cut_off, seconds)


def count_modes(classified: Sequence[Classified]) -> FailureCounts:
    """Count a batch."""
    n = len(classified)
    counted = Counter(one.mode for one in classified)
    written = [one for one in classified if one.text is not None]
    in_prompts = counted["lost by the generator"] + counted["answered"]
    marks: dict[Kind, tuple[int, Proportion]] = {}
    for kind in KINDS:
        found = [one.check.counts[kind] for one in written if one.check is not None]
        marks[kind] = sum(found), wilson(sum(count > 0 for count in found), len(found))
    return FailureCounts(
        n=n,
        modes={mode: wilson(counted[mode], n) for mode in MODES},
        lost_given_prompt=wilson(counted["lost by the generator"], in_prompts),
        marks=marks,
        cut_off=wilson(sum(one.cut_off for one in written), len(written)),
    )


def _tokens(text: str) -> list[str]:
    tokens = []
    for match in _TOKEN.finditer(text.casefold()):
        token = match.group().replace("’", "'")
        if token[0].isdigit():
            tokens.append(_number(token))
        else:
            tokens.append(_NUMBER_WORDS.get(token, token))
    return tokens


def _number(token: str) -> str:
    """A written number as its value: thousands separators out, zeros that say nothing out."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", token):
        token = token.replace(",", "")
    if re.fullmatch(r"\d+\.\d+", token):
        token = token.rstrip("0").rstrip(".")
    return re.sub(r"^0+(?=\d)", "", token)
