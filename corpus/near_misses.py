"""Near misses: where a needle that stands nowhere in the corpus almost stands."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from rapidfuzz import fuzz, process

from corpus.documents import Document
from corpus.faults import shortened

KINDS = ("white space", "quotes", "dashes", "case", "Unicode form")
_QUOTES = str.maketrans(dict.fromkeys('‘’‚‛′`´“”„‟″«»‹›"', "'"))
_INVISIBLE = str.maketrans(dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""))
_DASHES = str.maketrans({**dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"), "\xad": ""})
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
# A cluster is what normalises on its own: a run of plain ASCII, of Hangul jamo, or one character with its marks.
_CLUSTER = re.compile(rf"\s+|[!-~]+(?![{_MARKS}])|[\u1100-\u11ff]+|.[{_MARKS}]*", re.DOTALL)
# Possessive, so that a run of dots costs no backtracking. A point inside a word or number ends no sentence.
# A single line break does not either, unless a heading, a quote, a table or a list begins behind it.
_WORDS = r"(?:[^.!?。！？\n]|(?<=\S)\n(?![ \t]*(?:\n|[#>|*+`~-]|\d+[.)]|$)))++"
_SENTENCE = re.compile(rf"(?m:^#[^\n]*)|{_WORDS}(?:[.!?]++(?=[^\s。！？]){_WORDS})*+[.!?。！？]*+")
# Comparing a needle with this many sentences takes a few seconds; beyond it only drift is looked for.
_MOST_COMPARISONS = 10_000_000


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The place of the corpus that is closest to a missing needle.

    Attributes:
        drift: The kinds of difference (of ``KINDS``) that explain it whole, or empty where the words differ.
        document: Id of the document.
        start: Offset of the passage, in code points.
        end: Offset behind it.
        passage: The corpus's own words there.
        similarity: 1 for drift, else the share in [0, 1) of characters that agree (rapidfuzz's ``ratio``).
    """

    drift: tuple[str, ...]
    document: str
    start: int
    end: int
    passage: str
    similarity: float

    @property
    def sentence(self) -> str:
        """The near miss as advice."""
        where = f"'{self.document}' at {self.start}: '{shortened(self.passage, 240)}'"
        if self.drift:
            return f"It differs by {' and '.join(self.drift)} only from {where}. Copy it from there."
        return f"The closest sentence ({self.similarity:.0%} alike) stands in {where}."


class _Folded(NamedTuple):
    """A text without its drift, and for each of its characters the range of the original one it came from."""

    text: str
    starts: array[int]
    ends: array[int]


class _Sentence(NamedTuple):
    document: Document
    start: int
    end: int


def near_misses(needles: Sequence[str], documents: Sequence[Document]) -> list[NearMiss | None]:
    """Return for each needle, in order, the passage that differs by drift only, else the closest sentence.

    None stands for a needle that nothing was compared with: the corpus has no sentence, or the needles are so many
    that comparing all of them would take minutes.
    """
    if not needles:
        return []
    found = _drifted(set(needles), documents)
    missing = [needle for needle in dict.fromkeys(needles) if needle not in found]
    sentences = list(_sentences(documents)) if missing else []
    affordable = _MOST_COMPARISONS // max(len(sentences), 1)
    lowered = [place.document.text[place.start : place.end].casefold() for place in sentences]
    for needle in islice(missing, affordable):
        best = process.extractOne(needle.casefold(), lowered, scorer=fuzz.ratio)
        if best is not None:
            document, start, end = sentences[best[2]]
            # An equal score would be drift; casefolding alone must not pass for the same words.
            similarity = min(best[1] / 100, 0.99)
            found[needle] = NearMiss((), document.id, start, end, document.text[start:end], similarity)
    return [found.get(needle) for needle in needles]


def _drifted(needles: set[str], documents: Sequence[Document]) -> dict[str, NearMiss]:
    folded_needles = {needle: _fold(needle).text for needle in sorted(needles)}
    found: dict[str, NearMiss] = {}
    for document in documents:
        folded = _fold(document.text)
        for needle, bare in folded_needles.items():
            at = folded.text.find(bare) if bare and needle not in found else -1
            if at >= 0:
                start, end = folded.starts[at], folded.ends[at + len(bare) - 1]
                passage = document.text[start:end]
                found[needle] = NearMiss(_drift(needle, passage), document.id, start, end, passage, 1.0)
        if len(found) == len(needles):
            break
    return found


def _fold(text: str) -> _Folded:
    pieces, starts, ends = [], array("q"), array("q")
    for cluster in _CLUSTER.finditer(text):
        start, end = cluster.span()
        piece = _fold_cluster(cluster[0], frozenset(KINDS))
        pieces.append(piece)
        if len(piece) == end - start:
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(piece))
            ends.extend([end] * len(piece))
    return _Folded("".join(pieces), starts, ends)


def _fold_cluster(cluster: str, kinds: frozenset[str]) -> str:
    if "white space" in kinds:
        cluster = "" if cluster.isspace() else cluster.translate(_INVISIBLE)
    if "quotes" in kinds:
        cluster = cluster.translate(_QUOTES)
    if "dashes" in kinds:
        cluster = cluster.translate(_DASHES)
    if "Unicode form" in kinds and not cluster.isascii():
        cluster = unicodedata.normalize("NFKC", cluster)
    return cluster.casefold() if "case" in kinds else cluster


def _drift(needle: str, passage: str) -> tuple[str, ...]:
    """Return the kinds of folding without which the needle and the passage would differ."""

    def equal_without(kind: str) -> bool:
        kinds = frozenset(KINDS) - {kind}
        sides = [[_fold_cluster(part[0], kinds) for part in _CLUSTER.finditer(text)] for text in (needle, passage)]
        return "".join(sides[0]) == "".join(sides[1])

    # Where two kinds cover each other, neither is needed alone; then what is there is the Unicode form.
    return tuple(kind for kind in KINDS if not equal_without(kind)) or ("Unicode form",)


def _sentences(documents: Sequence[Document]) -> Iterator[_Sentence]:
    for document in documents:
        for sentence in _SENTENCE.finditer(document.text):
            words = sentence[0]
            start = sentence.start() + len(words) - len(words.lstrip())
            end = sentence.end() - len(words) + len(words.rstrip())
            if end > start:
                yield _Sentence(document, start, end)
