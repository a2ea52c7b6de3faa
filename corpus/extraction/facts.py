"""Facts of a canonical text that hold for every format."""

from __future__ import annotations

import re
from dataclasses import replace

from corpus.extraction.extracted import Extraction
from corpus.headings import headings

# What broken fonts and wrong encodings leave: private use characters, "(cid:12)", letters beside signs of other kinds
# as in "Ã¼", and letters of two alphabets in one word.
_SUSPICIOUS = re.compile(
    r"[\ufffd\ue000-\uf8ff]|\(cid:\d+\)|[ÃÂ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|"
    r"[\u0400-\u04ff](?:(?=[A-Za-z])|(?<=[A-Za-z].))"  # each begins with a rare sign, which is what makes it fast
)
_RARE = re.compile(r"[\ufffd\ue000-\uf8ffÃÂ\u0400-\u04ff]")  # without one of them or "(cid:" there is none of those
_SLICES = 20
_SLICE = 10_000  # characters
_FOUND = ("markdown", "text")
_SPACE = re.compile(r"\s")
_CONSONANT = "bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ"
_MOST_CONSONANTS = 7
_CONSONANTS = re.compile(f"[{_CONSONANT}]{{{_MOST_CONSONANTS + 1},}}")
_CONSONANT_TO_B = bytes.maketrans(_CONSONANT.encode(), b"b" * len(_CONSONANT))


def with_text_facts(facts: Extraction, text: str) -> Extraction:
    """Return the facts with what can be counted in the text itself.

    Whoever wrote headings into a text has counted them; in Markdown they have to be found.
    """
    return replace(
        facts,
        characters=len(text),
        headings=len(headings(text)) if facts.format in _FOUND else facts.headings,
        replacement_characters=text.count("\ufffd"),
        suspicious_words=suspicious_share(text),
    )


def suspicious_share(text: str) -> float:
    """Return the share of words no language writes, 0 to 1; 0 for a text without words.

    Of a long text slices are looked at, evenly spread: broken fonts and wrong encodings are everywhere or nowhere.
    """
    if len(text) > _SLICES * _SLICE:
        step = len(text) // _SLICES
        text = " ".join([text[start : start + _SLICE] for start in range(0, _SLICES * step, step)])
    if not _may_be_suspicious(text):  # as nearly all texts are, which is found out in a tenth of the time
        return 0.0
    words = len(text.split())
    return round(_words_with_marks(text) / words, 4) if words else 0.0


def _may_be_suspicious(text: str) -> bool:
    if "(cid:" in text or (not text.isascii() and _RARE.search(text)):
        return True
    return b"b" * (_MOST_CONSONANTS + 1) in text.encode("ascii", "replace").translate(_CONSONANT_TO_B)


def _words_with_marks(text: str) -> int:
    """Count words that hold a suspicious sign, each once; a text that is one word costs no more than another."""
    found, counted_to = 0, 0
    for start in sorted(match.start() for kind in (_SUSPICIOUS, _CONSONANTS) for match in kind.finditer(text)):
        if start >= counted_to:
            space = _SPACE.search(text, start)
            counted_to = space.start() if space else len(text)
            found += 1
    return found
