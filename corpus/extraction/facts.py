"""Facts of a canonical text that hold for every format."""

from __future__ import annotations

import re
from dataclasses import replace

from corpus.extraction.extracted import Extraction
from corpus.headings import headings

_WORD = re.compile(r"\S+")
# What broken fonts and wrong encodings leave: private use characters, "(cid:12)", letters beside signs of other kinds
# as in "Ã¼", and letters of two alphabets in one word.
_SUSPICIOUS = re.compile(
    r"[\ufffd\ue000-\uf8ff]|\(cid:\d+\)|[ÃÂ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]"
)
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{8,}")


def with_text_facts(facts: Extraction, text: str) -> Extraction:
    """Return the facts with what can be counted in the text itself."""
    return replace(
        facts,
        characters=len(text),
        headings=len(headings(text)),
        replacement_characters=text.count("\ufffd"),
        suspicious_words=suspicious_share(text),
    )


def suspicious_share(text: str) -> float:
    """Return the share of words no language writes, 0 to 1; 0 for a text without words."""
    if text.isascii() and not _CONSONANTS.search(text) and "(cid:" not in text:
        return 0.0
    words = _WORD.findall(text)
    bad = sum(1 for word in words if _SUSPICIOUS.search(word) or _CONSONANTS.search(word))
    return round(bad / len(words), 4) if words else 0.0
