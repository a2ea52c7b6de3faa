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
_SLICES = 20
_SLICE = 10_000  # characters
_FOUND = ("markdown", "text")
_SPACE = re.compile(r"\s")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ]{8,}")


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
    if text.isascii() and not _CONSONANTS.search(text) and "(cid:" not in text:
        return 0.0
    words = len(text.split())
    return round(_words_with_marks(text) / words, 4) if words else 0.0


def _words_with_marks(text: str) -> int:
    """Count words that hold a suspicious sign, each once; a text that is one word costs no more than another."""
    found, counted_to = 0, 0
    for start in sorted(match.start() for kind in (_SUSPICIOUS, _CONSONANTS) for match in kind.finditer(text)):
        if start >= counted_to:
            space = _SPACE.search(text, start)
            counted_to = space.start() if space else len(text)
            found += 1
    return found
