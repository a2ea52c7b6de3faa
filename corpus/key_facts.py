"""Key facts: phrases that any passage answering an unanswerable question would have to contain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from corpus.documents import Document
from corpus.needles import Place

# Scripts from here on (CJK and later) write no blanks between words, so a word's edge cannot be seen.
_FIRST_UNSPACED = "\u2e80"


def find_key_facts(facts: Iterable[str], documents: Sequence[Document]) -> dict[str, Place]:
    """Return, for each fact that stands in the corpus as a whole word or phrase, the first place where it does.

    Case does not matter, and any white space matches any other.

    Raises:
        ValueError: If a fact is blank.
    """
    patterns = {fact: _pattern(fact) for fact in facts}
    # A plain search for the longest word is far faster than the pattern, and mostly settles it.
    longest = {fact: max(fact.split(), key=len).casefold() for fact in patterns}
    found: dict[str, Place] = {}
    for document in documents:
        folded = document.text.casefold()
        for fact, pattern in patterns.items():
            if fact not in found and longest[fact] in folded and (match := pattern.search(document.text)):
                found[fact] = Place(document.id, match.start(), match.end())
    return found


def _pattern(fact: str) -> re.Pattern[str]:
    words = fact.split()
    if not words:
        raise ValueError(f"a key fact must hold a word, not {fact!r}")
    phrase = r"\s+".join(map(re.escape, words))
    return re.compile(_edge(words[0][0], "(?<!") + phrase + _edge(words[-1][-1], "(?!"), re.IGNORECASE)


def _edge(character: str, look: str) -> str:
    return rf"{look}\w)" if character.isalnum() and character < _FIRST_UNSPACED else ""
