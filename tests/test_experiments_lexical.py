import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from experiments.lexical import BM25Index, BM25Settings, tokenise

GOLDEN = json.loads((Path(__file__).parent / "golden" / "bm25.json").read_text(encoding="utf-8"))
WORDS = st.lists(st.sampled_from(["the", "red", "wire", "e1042", "start", "error", "-", "Ω"]), max_size=12)
TEXTS = st.lists(WORDS.map(" ".join), max_size=8)


class OkapiWithOurIdf(BM25Okapi):
    """rank-bm25's loop as it is, with the idf that never falls below zero."""

    def _calc_idf(self, nd):
        self.idf = {term: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for term, n in nd.items()}


def formula(query, texts, k1, b):
    """The formula, term by term and text by text."""
    tokens = [tokenise(text) for text in texts]
    average = sum(map(len, tokens)) / len(tokens)
    scores = []
    for words in tokens:
        score = 0.0
        for term in tokenise(query):
            n = sum(term in other for other in tokens)
            f = words.count(term)
            if f:
                idf = math.log(1 + (len(tokens) - n + 0.5) / (n + 0.5))
                score += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(words) / average))
        scores.append(score)
    return scores


@pytest.mark.parametrize("case", GOLDEN["queries"], ids=[case["query"] for case in GOLDEN["queries"]])
def test_the_worked_scores_are_matched(case):
    scores = BM25Index(GOLDEN["documents"]).scores([case["query"]])
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores[0], case["scores"], rtol=1e-12, atol=0)


def test_a_batch_scores_each_query_as_it_would_alone():
    index = BM25Index(GOLDEN["documents"])
    queries = [case["query"] for case in GOLDEN["queries"]]
    np.testing.assert_array_equal(index.scores(queries), np.vstack([index.scores([query]) for query in queries]))


@given(TEXTS.filter(bool), TEXTS, st.floats(0, 3), st.floats(0, 1))
def test_scores_are_the_formula_for_any_texts_and_parameters(texts, queries, k1, b):
    found = BM25Index(texts, BM25Settings(k1, b)).scores(queries)
    assert found.shape == (len(queries), len(texts))
    for row, query in zip(found, queries, strict=True):
        np.testing.assert_allclose(row, formula(query, texts, k1, b), rtol=1e-9, atol=1e-12)


def test_scores_agree_with_the_loop_of_rank_bm25_on_a_thousand_texts():
    rng = np.random.default_rng(3)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.4, size=rng.integers(1, 60))) for _ in range(1000)]
    queries = [" ".join(f"w{word}" for word in rng.zipf(1.4, size=8)) for _ in range(20)]
    theirs = OkapiWithOurIdf([tokenise(text) for text in texts], k1=1.2, b=0.75)
    loop = np.array([theirs.get_scores(tokenise(query)) for query in queries])
    np.testing.assert_allclose(BM25Index(texts).scores(queries), loop, rtol=0, atol=1e-9)


def test_scores_agree_with_bm25s():
    bm25s = pytest.importorskip("bm25s")
    rng = np.random.default_rng(4)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 300, size=rng.integers(5, 60))) for _ in range(400)]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index([tokenise(text) for text in texts], show_progress=False)
    queries = [" ".join(f"w{word}" for word in rng.integers(0, 300, size=8)) for _ in range(20)]
    # Lucene leaves out the constant factor (k1 + 1), which changes no order; bm25s computes in float32.
    scores = 2.2 * np.array([theirs.get_scores(tokenise(query)) for query in queries], dtype=np.float64)
    np.testing.assert_allclose(BM25Index(texts).scores(queries), scores, rtol=0, atol=2 * 3e-6)


def test_a_query_term_counts_as_often_as_it_is_written():
    index = BM25Index(GOLDEN["documents"])
    once, thrice = index.scores(["wire", "wire wire Wire"])
    np.testing.assert_allclose(thrice, 3 * once)


def test_a_term_of_every_text_still_counts_for_something():
    assert (BM25Index(["the cat", "the dog", "the cow"]).scores(["the"]) > 0).all()


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["!?", "Ω"]], ids=["no texts", "one empty", "empty", "no token"])
def test_texts_without_tokens_score_zero_for_every_query(texts):
    scores = BM25Index(texts).scores(["cat", "", "!?"])
    assert scores.shape == (3, len(texts))
    assert not scores.any()


def test_no_queries_give_no_rows():
    assert BM25Index(["a", "b"]).scores([]).shape == (0, 2)


def test_tokens_are_runs_of_ascii_letters_and_digits_after_lower_casing():
    assert tokenise("Error-codes: E1042, E1043; it's Ωμέγα v3.14_x") == [
        *("error", "codes", "e1042", "e1043", "it", "s", "v3", "14", "x")
    ]
    assert tokenise("") == []


def test_the_unicode_tokeniser_keeps_words_of_every_script_and_folds_case():
    unicode = BM25Settings(tokeniser="unicode")
    assert tokenise("Ωμέγα ΟΔΟΣ, οδός; Straße naïve 東京 E1042", unicode) == [
        *("ωμέγα", "οδοσ", "οδόσ", "strasse", "naïve", "東京", "e1042")
    ]
    assert tokenise("nai\u0308ve", unicode) == ["naïve"]
    assert BM25Index(["η Ωμέγα", "άλλο"], unicode).scores(["ΩΜΈΓΑ"])[0, 0] > 0


def test_stemming_finds_another_form_of_the_word():
    pytest.importorskip("snowballstemmer")
    stemmed = BM25Settings(tokeniser="unicode", stemming="english")
    assert tokenise("Retrievers retrieving", stemmed) == ["retriev", "retriev"]
    texts = ["the splitting of documents", "nothing here"]
    assert BM25Index(texts, stemmed).scores(["split document"])[0, 0] > 0
    assert BM25Index(texts, BM25Settings(tokeniser="unicode")).scores(["split document"])[0, 0] == 0


def test_a_language_without_stemmer_is_refused_and_the_known_ones_are_named():
    pytest.importorskip("snowballstemmer")
    with pytest.raises(ValueError, match=r"no stemmer for 'klingon', known are .*english.*greek"):
        BM25Index(["a"], BM25Settings(tokeniser="unicode", stemming="klingon"))


def test_stemming_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ValueError, match=r"'greek' needs the package snowballstemmer: pip install 'bluffline\[stem"):
        BM25Index(["a"], BM25Settings(tokeniser="unicode", stemming="greek"))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"k1": -0.1}, "k1 is -0.1"),
        ({"k1": math.nan}, "k1 is nan"),
        ({"b": 1.5}, "b is 1.5"),
        ({"b": math.nan}, "b is nan"),
        ({"tokeniser": "words"}, "unknown tokeniser 'words', known are ascii, unicode"),
        ({"stemming": "greek"}, "stemming 'greek' needs the tokeniser 'unicode'"),
    ],
)
def test_a_setting_that_is_not_allowed_is_refused_with_its_value(settings, named):
    with pytest.raises(ValueError, match=named):
        BM25Settings(**settings)


def test_the_parameters_can_be_printed_beside_a_number():
    assert BM25Index([]).settings.describe() == "k1 = 1.2, b = 0.75, tokens: runs of a-z and 0-9"
    greek = BM25Settings(k1=0.9, tokeniser="unicode", stemming="greek")
    assert greek.describe() == "k1 = 0.9, b = 0.75, tokens: runs of letters and digits of any script, greek stems"
    assert BM25Settings().spec == "k1=1.2;b=0.75;tokeniser=ascii;stemming=none"
    assert greek.spec == "k1=0.9;b=0.75;tokeniser=unicode;stemming=greek"
