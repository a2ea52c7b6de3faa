"""Checking an answer against the sources it was given: everything a reader should not take on trust is marked.

No model judges anything here: a mark is something that can be pointed at in the text. An answer without a mark is not
thereby right; it only cites, quotes and names nothing but what it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from corpus.sentences import Sentence, code_spans, split_sentences
from experiments.asking.identifiers import identifiers, links, without_overlap
from experiments.asking.prompting import NOT_IN_SOURCES
from experiments.words import listed

Kind = Literal["unknown number", "link", "identifier", "uncited", "misquoted"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_CITATION = re.compile(r"\[\s*(\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*)\s*\]")
_QUOTES = re.compile(
    r"“([^“”]{1,2000})”|„([^„“”]{1,2000})[“”]|«([^«»]{1,2000})»"
    r"|(?<![\w\"])\"(?=\S)([^\"]{1,2000}?)(?<=\S)\"(?!\w)"
    r"|(?<!\w)‘(?=\S)([^‘\n]{1,500}?)(?<=\S)’(?!\w)|(?<!\w)'(?=\S)([^'\n]{1,500}?)(?<=\S)'(?!\w)"
)
_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'"})
_MARKUP = re.compile(r"[*`]")
_LONGEST_RANGE = 50


class Mark(NamedTuple):
    """One thing in an answer that was not passed on silently.

    Attributes:
        kind: One of `KINDS`.
        start: First character in the answer.
        end: One past the last.
        text: The answer's words there.
        sentence: What is wrong with them, for people.
    """

    kind: Kind
    start: int
    end: int
    text: str
    sentence: str


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """What a check found.

    Attributes:
        text: The answer.
        marks: In the order of the text; ranges of one kind do not overlap.
        cited: The supplied numbers the answer cites, ascending.
        sentences: How many sentences it makes that should carry a citation.
        declined: Whether the answer is only the sentence that says the sources do not answer.
    """

    text: str
    marks: tuple[Mark, ...]
    cited: tuple[int, ...]
    sentences: int
    declined: bool

    @property
    def counts(self) -> dict[Kind, int]:
        """Marks of every kind; 0 for a kind that was looked for and not found."""
        return {kind: sum(mark.kind == kind for mark in self.marks) for kind in KINDS}


class _Cited(NamedTuple):
    start: int
    end: int
    numbers: tuple[int, ...]


def check_answer(text: str, sources: Mapping[int, str]) -> AnswerCheck:
    """Check an answer.

    Args:
        text: The answer, as the model wrote it.
        sources: What was supplied: number to the chunk's own words.

    Returns:
        Marks for numbers that were not supplied; links; addresses, DOIs, arXiv ids and ISBNs that stand in no source;
        sentences without a citation (headings, code and the lead-in of a list need none, and neither does the
        sentence that says the sources do not answer); and quoted words that do not stand in the chunk their sentence
        cites (white space folded, quotation marks made alike, emphasis marks left out). Quoted words in a sentence
        without a citation must stand in any source.
    """
    code = code_spans(text)
    quotes = [span for span in _quoted(text) if not _inside(span, code)]
    citations = [found for found in _citations(text) if not _inside((found.start, found.end), code)]
    sentences = [one for one in split_sentences(text, quotes) if one.kind == "sentence"]
    claims = [one for one in sentences if not _declines(text[one.start : one.end])]
    marks = [
        *_unknown_numbers(text, citations, sources),
        *_links(text),
        *_identifiers(text, sources),
        *_uncited(text, claims, citations),
        *_misquoted(text, quotes, sentences, citations, sources),
    ]
    cited = {number for found in citations for number in found.numbers} & set(sources)
    return AnswerCheck(
        text=text,
        marks=tuple(sorted(marks, key=lambda mark: (mark.start, mark.end, mark.kind))),
        cited=tuple(sorted(cited)),
        sentences=len(claims),
        declined=bool(sentences) and not claims,
    )


def without_citations(text: str) -> str:
    """A text without its `[1]`, whose numbers are no facts."""
    return _CITATION.sub(" ", text)


def _inside(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(low <= span[0] and span[1] <= high for low, high in others)


def _declines(sentence: str) -> bool:
    words = without_citations(sentence).strip(" \t\n.*_\"'").casefold()
    return words == NOT_IN_SOURCES.rstrip(".").casefold()


def _citations(text: str) -> Iterator[_Cited]:
    for match in _CITATION.finditer(text):
        numbers: list[int] = []
        for part in re.split(r"[,;]", match[1]):
            first, _, last = re.sub(r"\s", "", part).replace("–", "-").partition("-")
            low, high = int(first), int(last.rpartition("-")[2] or first)
            numbers += range(low, high + 1) if low <= high <= low + _LONGEST_RANGE else (low, high)
        yield _Cited(match.start(), match.end(), tuple(dict.fromkeys(numbers)))


def _unknown_numbers(text: str, citations: Iterable[_Cited], sources: Mapping[int, str]) -> Iterator[Mark]:
    for found in citations:
        unknown = [f"[{number}]" for number in found.numbers if number not in sources]
        if unknown:
            were = f"only 1 to {len(sources)} were supplied" if sources else "no source was supplied"
            yield _mark("unknown number", text, found.start, found.end, f"Cites {listed(unknown)}, but {were}.")


def _links(text: str) -> Iterator[Mark]:
    for start, end in links(text):
        yield _mark("link", text, start, end, "A link of the model's own: links are attached by the server alone.")


def _identifiers(text: str, sources: Mapping[int, str]) -> Iterator[Mark]:
    supplied = {one.canonical for source in sources.values() for one in identifiers(source)}
    for one in identifiers(text):
        if one.canonical not in supplied:
            what = f"{'An' if one.kind in ('arXiv', 'ISBN') else 'A'} {one.kind}"
            yield _mark("identifier", text, one.start, one.end, f"{what} that stands in no source.")


def _uncited(text: str, claims: Iterable[Sentence], citations: Iterable[_Cited]) -> Iterator[Mark]:
    places = [found.start for found in citations]
    for claim in claims:
        if not any(claim.start <= place < claim.end for place in places):
            yield _mark("uncited", text, claim.start, claim.end, "A sentence without a citation.")


def _quoted(text: str) -> list[tuple[int, int]]:
    """Ranges of quotations, their marks included; none runs over a blank line."""
    spans = [
        match.span()
        for match in _QUOTES.finditer(text)
        if not re.search(r"\n\s*\n", match.group()) and any(character.isalnum() for character in match.group())
    ]
    return without_overlap(spans)


def _misquoted(
    text: str,
    quotes: Iterable[tuple[int, int]],
    sentences: Iterable[Sentence],
    citations: Iterable[_Cited],
    sources: Mapping[int, str],
) -> Iterator[Mark]:
    folded = {number: _folded(source) for number, source in sources.items()}
    citations, sentences = list(citations), list(sentences)
    for start, end in quotes:
        around = [one for one in sentences if one.start < end and start < one.end]
        cited = [
            number
            for found in citations
            if any(one.start <= found.start < one.end for one in around)
            for number in found.numbers
        ]
        words = text[start + 1 : end - 1]
        holders = [number for number, source in folded.items() if _stands_in(words, source)]
        if not set(holders) & set(cited or sources):
            yield _mark("misquoted", text, start, end, _misquotation(cited, holders))


def _misquotation(cited: list[int], holders: list[int]) -> str:
    if not cited:
        return "Quoted words that stand in no source."
    named = listed([f"[{number}]" for number in dict.fromkeys(cited)], "or")
    elsewhere = f"; they stand in {listed([f'[{number}]' for number in holders])}" if holders else ""
    return f"Quoted words that do not stand in {named}{elsewhere}."


def _folded(text: str) -> str:
    return " ".join(_MARKUP.sub("", text.translate(_PLAIN)).split())


def _stands_in(words: str, folded_source: str) -> bool:
    """Whether quoted words stand in a source; a gap written as three dots or a bracketed one may be skipped."""
    place = 0
    for part in re.split(r"\[?(?:…|\.{3})\]?", without_citations(words)):
        wanted = _folded(part)
        found = folded_source.find(wanted, place)
        if found < 0:
            # The quoting sentence's own punctuation is often written inside the marks.
            wanted = wanted.rstrip(".,;:!?")
            found = folded_source.find(wanted, place)
        if found < 0:
            return False
        place = found + len(wanted)
    return True


def _mark(kind: Kind, text: str, start: int, end: int, sentence: str) -> Mark:
    return Mark(kind, start, end, text[start:end], sentence)
