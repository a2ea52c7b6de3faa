"""Languages of texts."""

from __future__ import annotations

from corpus.bundled import BUNDLED_DOCUMENTS
from corpus.documents import load_documents
from corpus.languages import language_of, languages

GREEK = (
    "Η εγγύηση ισχύει για δύο χρόνια από την ημέρα της αγοράς και καλύπτει κάθε ελάττωμα του υλικού ή της κατασκευής."
)
SPANISH = (
    "La garantía vale durante dos años desde el día de la compra y cubre todo defecto del material o de la fabricación."
)


def test_the_bundled_corpus_is_english() -> None:
    documents = load_documents(BUNDLED_DOCUMENTS).documents
    assert languages(document.text for document in documents) == {"en": 13}


def test_other_languages_are_told() -> None:
    assert languages([GREEK, SPANISH, SPANISH]) == {"el": 1, "es": 2}


def test_a_text_too_short_to_tell_is_counted_as_unknown() -> None:
    assert language_of("Prices 2026") == ""
    assert language_of("1 2 3 4 5 " * 50) == ""
    assert languages(["", "ok"]) == {"": 2}
