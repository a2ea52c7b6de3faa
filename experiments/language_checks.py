"""Whether tokeniser and models can read the language of the corpus at all: told before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from corpus.documents import Document
from corpus.languages import languages
from corpus.questions import Query
from experiments.lexical import BM25Settings, tokenise
from experiments.settings import Settings
from experiments.words import listed, plural

LEXICAL = frozenset({"bm25", "hybrid", "rerank"})  # retrievers that BM25 has a part in
_SHOWN = 3
_LOOKED_AT = 500  # documents, evenly spaced; a language is no matter of the last one
_STRANGE_LETTERS = 0.01  # share of letters from which words are cut apart often enough to matter
_OTHER_LANGUAGE = 0.1  # share of documents


def language_warnings(
    documents: Sequence[Document],
    queries: Sequence[Query],
    settings: Settings,
    made_for: Mapping[str, str],
) -> tuple[str, ...]:
    """What of the corpus a sweep's retrievers cannot read.

    Args:
        documents: The corpus.
        queries: The questions.
        settings: Retrievers and tokeniser.
        made_for: Language code that each model's card names, by model; empty where it names none or several.

    Returns:
        Sentences with counts, for people; none where nothing is wrong.
    """
    found: list[str] = []
    if LEXICAL & set(settings.retrievers):
        found += _unread(documents, queries, settings.bm25)
        found += _cut_words(documents, settings.bm25)
    return (*found, *_foreign(documents, made_for))


def _unread(documents: Sequence[Document], queries: Sequence[Query], bm25: BM25Settings) -> Iterator[str]:
    plain = replace(bm25, stemming=None)  # a stem is never without letters
    texts = [one.id for one in documents if not tokenise(one.text, plain)]
    asked = [one.id for one in queries if not tokenise(one.text, plain)]
    said = [
        f"{len(ids):,} of {plural(total, what)} ({_named(ids)})"
        for ids, total, what in ((texts, len(documents), "document"), (asked, len(queries), "question"))
        if ids
    ]
    if said:
        yield (
            f"BM25 reads no word of {listed(said)}: it can neither find nor ask for {_them(texts, asked)} "
            f"({bm25.describe()}).{_advice(bm25)}"
        )


def _cut_words(documents: Sequence[Document], bm25: BM25Settings) -> Iterator[str]:
    if bm25.tokeniser != "ascii":
        return
    letters = strange = 0
    for document in _some(documents):
        if not document.text.isascii():
            strange += sum(letter.isalpha() for letter in document.text if letter > "\x7f")
        letters += sum(map(str.isalpha, document.text))
    if letters and strange / letters > _STRANGE_LETTERS:
        yield (
            f"BM25's tokeniser knows only a to z: {strange / letters:.1%} of the documents' letters ({strange:,} of "
            f"{letters:,}) are others, and words are cut apart at them.{_advice(bm25)}"
        )


def _foreign(documents: Sequence[Document], made_for: Mapping[str, str]) -> Iterator[str]:
    if not any(made_for.values()):
        return
    looked_at = _some(documents)
    told = languages(document.text for document in looked_at)
    known = told.total() - told[""]
    for model, language in made_for.items():
        others = {code: count for code, count in told.most_common() if code not in ("", language)}
        if language and known and sum(others.values()) / known >= _OTHER_LANGUAGE:
            counts = listed([f"{count:,} in {code}" for code, count in list(others.items())[:_SHOWN]])
            yield (
                f"{model} is made for one language ({language}, its card says), and of "
                f"{plural(known, 'document')} whose language can be told {counts} are not in it: what it calls near "
                "may mean little there. Choose a model made for that language."
            )


def _some(documents: Sequence[Document]) -> Sequence[Document]:
    return documents[:: max(1, -(-len(documents) // _LOOKED_AT))]


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")


def _them(texts: Sequence[str], asked: Sequence[str]) -> str:
    return "it" if len(texts) + len(asked) == 1 else "them"


def _advice(bm25: BM25Settings) -> str:
    return ' Set tokeniser = "unicode" under [bm25].' if bm25.tokeniser == "ascii" else ""
