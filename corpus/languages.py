"""Which languages texts are written in, as far as their letters tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

FEWEST_LETTERS = 80  # below that the detector guesses
_MOST_CHARACTERS = 4000  # a document's language is told by its beginning as well as by all of it
_SURE = 0.9


def languages(texts: Iterable[str]) -> Counter[str]:
    """Count texts by language.

    Args:
        texts: Any texts.

    Returns:
        Number of texts by ISO 639-1 code; under the empty code those that are too short, or whose language cannot be
        told with a probability of at least 0.9.
    """
    return Counter(language_of(text) for text in texts)


def language_of(text: str) -> str:
    """The ISO 639-1 code of a text's language; empty where it cannot be told.

    Told by py3langid, a naive Bayes classifier over byte n-grams.

    References:
        Lui and Baldwin, "langid.py: An Off-the-shelf Language Identification Tool", ACL 2012.
    """
    beginning = text[:_MOST_CHARACTERS]
    if sum(map(str.isalpha, beginning)) < FEWEST_LETTERS:
        return ""
    code, probability = _identifier().classify(beginning)
    return str(code) if probability >= _SURE else ""


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - its model takes half a second

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
