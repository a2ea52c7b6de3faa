"""BM25 over chunk texts: statistics by rank-bm25, scores of many queries as one sparse matrix product.

References:
    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. The idf is Lucene's,
    which never falls below zero.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
import rank_bm25
from numpy.typing import NDArray
from scipy.sparse import csr_array

Tokeniser = Literal["ascii", "unicode"]
FloatMatrix = NDArray[np.float64]

_TOKENISERS: tuple[str, ...] = get_args(Tokeniser)
_ASCII_RUN = re.compile(r"[a-z0-9]+")
_WORD_RUN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class BM25Settings:
    """Everything that decides a BM25 score; printed beside every BM25 number.

    Attributes:
        k1: How slowly repetition of a term saturates, at least 0.
        b: How much long chunks are held back, 0 to 1.
        tokeniser: ``ascii`` for runs of ``[a-z0-9]`` after lower-casing, ``unicode`` for runs of letters, digits and
            underscores of any script after case folding.
        stemming: Snowball language such as ``greek``, or None. Needs the ``unicode`` tokeniser.

    Raises:
        ValueError: If a value is not allowed; the message names it.
    """

    k1: float = 1.2
    b: float = 0.75
    tokeniser: Tokeniser = "ascii"
    stemming: str | None = None

    def __post_init__(self) -> None:
        """Refuse settings that are not allowed."""
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise ValueError(f"k1 is {self.k1!r}, must be at least 0")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b is {self.b!r}, must be from 0 to 1")
        if self.tokeniser not in _TOKENISERS:
            raise ValueError(f"unknown tokeniser {self.tokeniser!r}, known are {', '.join(_TOKENISERS)}")
        if self.stemming is not None and self.tokeniser != "unicode":
            raise ValueError(f"stemming {self.stemming!r} needs the tokeniser 'unicode', not {self.tokeniser!r}")

    @property
    def spec(self) -> str:
        """All settings in one canonical line, as in ``k1=1.2;b=0.75;tokeniser=ascii;stemming=none``."""
        return f"k1={self.k1:g};b={self.b:g};tokeniser={self.tokeniser};stemming={self.stemming or 'none'}"

    def describe(self) -> str:
        """The settings in words, as in ``k1 = 1.2, b = 0.75, tokens: runs of a-z and 0-9``."""
        tokens = "runs of a-z and 0-9" if self.tokeniser == "ascii" else "runs of letters and digits of any script"
        stems = f", {self.stemming} stems" if self.stemming else ""
        return f"k1 = {self.k1:g}, b = {self.b:g}, tokens: {tokens}{stems}"


DEFAULT_SETTINGS = BM25Settings()


def tokenise(text: str, settings: BM25Settings = DEFAULT_SETTINGS) -> list[str]:
    """Tokens of one text, in the order of the text and as often as they stand there.

    Args:
        text: Any text.
        settings: Which tokeniser and stemmer; the reference tokeniser by default.

    Returns:
        The tokens; none for a text without any.

    Raises:
        ValueError: If stemming is asked for and not installed, or not known for that language.
    """
    return _tokeniser(settings)(text)


def _tokeniser(settings: BM25Settings) -> Callable[[str], list[str]]:
    if settings.tokeniser == "ascii":
        return lambda text: _ASCII_RUN.findall(text.lower())
    if settings.stemming is None:
        return _words
    stem = _stemmer(settings.stemming)
    stems: dict[str, str] = {}

    def stemmed(text: str) -> list[str]:
        words = _words(text)
        # A corpus repeats its words far more often than stemming one is cheap.
        stems.update({word: stem(word) for word in set(words) - stems.keys()})
        return [stems[word] for word in words]

    return stemmed


def _words(text: str) -> list[str]:
    # Composed first: in decomposed text an accent is a character of its own that would split its word.
    return _WORD_RUN.findall(unicodedata.normalize("NFC", text).casefold())


def _stemmer(language: str) -> Callable[[str], str]:
    # Imported here because stemming is optional. The package uses PyStemmer's compiled stemmers where it finds them.
    try:
        import snowballstemmer  # noqa: PLC0415
    except ImportError as missing:
        raise ValueError(
            f"stemming {language!r} needs the package snowballstemmer: pip install 'bluffline[stemming]'"
        ) from missing
    known = sorted(snowballstemmer.algorithms())
    if language not in known:
        raise ValueError(f"no stemmer for {language!r}, known are {', '.join(known)}")
    stem: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem


class BM25Statistics(rank_bm25.BM25):  # type: ignore[misc]
    """Term, chunk and length counts of tokenised texts, with an idf that is positive for every term.

    ``idf = ln(1 + (N - n + 0.5) / (n + 0.5))`` for a term that stands in n of N texts. rank-bm25's own Okapi variant
    replaces the idf of frequent terms by a share of the average instead, so that scores depend on unrelated terms.
    """

    def _calc_idf(self, nd: dict[str, int]) -> None:
        n_texts = self.corpus_size
        self.idf = {term: math.log1p((n_texts - n + 0.5) / (n + 0.5)) for term, n in nd.items()}


class BM25Index:
    """Term weights of all texts as one sparse matrix, so that a batch of queries is one product.

    Args:
        texts: Embedded texts of the chunks; may be empty or hold empty texts, which score 0 for every query.
        settings: Parameters, tokeniser and stemmer; the reference's by default.

    Attributes:
        settings: The settings the scores were made with.
        n_texts: Number of texts.

    Raises:
        ValueError: If the stemmer is not installed or not known.
    """

    def __init__(self, texts: Sequence[str], settings: BM25Settings = DEFAULT_SETTINGS) -> None:
        """Tokenise the texts and weigh their terms."""
        self.settings = settings
        self.n_texts = len(texts)
        self._tokens = _tokeniser(settings)
        # rank-bm25 divides by the number of texts.
        statistics = BM25Statistics([self._tokens(text) for text in texts]) if texts else None
        self._columns = {term: column for column, term in enumerate(statistics.idf)} if statistics else {}
        self._weights = _weights(statistics, self._columns, settings) if statistics else csr_array((0, 0))

    def scores(self, queries: Sequence[str]) -> FloatMatrix:
        """BM25 score of every text for every query.

        A query term counts as often as it is written. A text that shares no term with the query scores exactly 0.

        Args:
            queries: Query texts.

        Returns:
            Shape (n_queries, n_texts), float64, at least 0.
        """
        columns: list[int] = []
        counts: list[int] = []
        starts = [0]
        for query in queries:
            known = Counter(term for term in self._tokens(query) if term in self._columns)
            columns += (self._columns[term] for term in known)
            counts += known.values()
            starts.append(len(columns))
        asked = csr_array(
            (np.array(counts, dtype=np.float64), np.array(columns, dtype=np.int64), np.array(starts, dtype=np.int64)),
            shape=(len(queries), len(self._columns)),
        )
        scores: FloatMatrix = csr_array(asked @ self._weights).toarray()
        return scores


def _weights(statistics: Any, columns: dict[str, int], settings: BM25Settings) -> csr_array[Any]:
    """Weight of every term in every text, shape (n_terms, n_texts): a term's postings lie side by side."""
    frequencies: list[dict[str, int]] = statistics.doc_freqs
    sizes = np.array([len(counts) for counts in frequencies], dtype=np.int64)
    n_entries = int(sizes.sum())
    term = np.fromiter((columns[word] for word in chain.from_iterable(frequencies)), dtype=np.int64, count=n_entries)
    f = np.fromiter(chain.from_iterable(counts.values() for counts in frequencies), dtype=np.float64, count=n_entries)
    idf = np.fromiter(statistics.idf.values(), dtype=np.float64, count=len(columns))
    # A text with an entry has a token, so the average is above 0 wherever it is divided by.
    relative_length = np.repeat(np.array(statistics.doc_len, dtype=np.float64), sizes) / (statistics.avgdl or 1.0)
    k1, b = settings.k1, settings.b
    data = idf[term] * f * (k1 + 1) / (f + k1 * (1 - b + b * relative_length))
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    by_text = csr_array((data, term, starts), shape=(len(frequencies), len(columns)))
    return csr_array(by_text.T.tocsr())
