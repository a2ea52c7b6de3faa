"""Warnings about languages, tokenisers and models."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

from corpus.documents import Document
from corpus.questions import Query
from experiments.language_checks import language_warnings
from experiments.lexical import BM25Settings
from experiments.ranking import Fusion
from experiments.settings import Settings

ENGLISH = "The warranty is valid for two years from the day of purchase and covers every defect of the material used."
GREEK = (
    "Η εγγύηση ισχύει για δύο χρόνια από την ημέρα της αγοράς και καλύπτει κάθε ελάττωμα του υλικού ή της κατασκευής."
)
SPANISH = (
    "La garantía vale durante dos años desde el día de la compra y cubre todo defecto del material o de la fabricación."
)
PLAIN = Settings()
UNICODE = Settings(bm25=BM25Settings(tokeniser="unicode"))


def documents(*texts: str) -> list[Document]:
    return [
        Document(f"{n}.txt", "T", text, f"{n}.txt", hashlib.sha256(text.encode()).hexdigest(), "utf-8")
        for n, text in enumerate(texts)
    ]


def asked(*texts: str) -> list[Query]:
    return [
        Query(id=f"q{n}", text=text, needles=(), phrasing=None, stratum="near", key_facts=(), line=n)
        for n, text in enumerate(texts)
    ]


def test_an_english_corpus_with_the_defaults_has_no_warning() -> None:
    assert language_warnings(documents(ENGLISH), asked("How long?"), PLAIN, {"m": "en"}) == ()


def test_texts_the_tokeniser_reads_nothing_of_are_named_with_what_to_set() -> None:
    told = language_warnings(documents(ENGLISH, GREEK), asked("Πόσο;", "How long?"), PLAIN, {})
    assert told[0] == (
        "BM25 reads no word of 1 of 2 documents (1.txt) and 1 of 2 questions (q0): it can neither find nor ask for "
        'them (k1 = 1.2, b = 0.75, tokens: runs of a-z and 0-9). Set tokeniser = "unicode" under [bm25].'
    )
    assert "are others, and words are cut apart at them" in told[1]
    assert language_warnings(documents(ENGLISH, GREEK), asked("Πόσο;", "How long?"), UNICODE, {}) == ()


def test_a_text_without_any_word_is_told_for_every_tokeniser_without_useless_advice() -> None:
    (told,) = language_warnings(documents(ENGLISH), asked("???"), UNICODE, {})
    assert told.startswith("BM25 reads no word of 1 of 1 question (q0): it can neither find nor ask for it (")
    assert told.endswith("of any script).")


def test_words_cut_at_accents_are_counted() -> None:
    (told,) = language_warnings(documents(SPANISH), [], PLAIN, {})
    assert told == (
        "BM25's tokeniser knows only a to z: 4.3% of the documents' letters (4 of 92) are others, and words are cut "
        'apart at them. Set tokeniser = "unicode" under [bm25].'
    )


def test_nothing_is_said_of_a_tokeniser_that_no_retriever_uses() -> None:
    assert language_warnings(documents(GREEK), asked("Πόσο;"), Settings(retrievers=("dense",)), {}) == ()


def test_a_model_for_english_over_other_languages_is_named_with_counts() -> None:
    models = {"small": "en", "many": "", "spanish": "es"}
    told = language_warnings(documents(ENGLISH, SPANISH, GREEK), [], UNICODE, models)
    assert told == (
        "small is made for one language (en, its card says), and of 3 documents whose language can be told 1 in es "
        "and 1 in el are not in it: what it calls near may mean little there. Choose a model made for that language.",
        "spanish is made for one language (es, its card says), and of 3 documents whose language can be told 1 in en "
        "and 1 in el are not in it: what it calls near may mean little there. Choose a model made for that language.",
    )


def test_the_documented_settings_are_read() -> None:
    text = (Path(__file__).parent.parent / "docs" / "languages.md").read_text("utf-8")
    toml = text.split("```toml\n")[1].split("```")[0]
    tables = tomllib.loads(toml)
    assert BM25Settings(**tables["bm25"]).stemming == "spanish"
    assert Fusion(**tables["hybrid"]) == Fusion()
