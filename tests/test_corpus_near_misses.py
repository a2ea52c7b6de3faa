"""Near misses of needles that stand nowhere."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.documents import Document
from corpus.near_misses import NearMiss, near_misses

TEXT = "First words here. It’s “unit length” – Café norms are\nnever below zero. Last words there, worth 2.5 points."
SENTENCE = "It’s “unit length” – Café norms are\nnever below zero."


def corpus(*texts: str) -> list[Document]:
    return [Document(f"{n}.md", "t", text, "s", "", "utf-8") for n, text in enumerate(texts)]


def nearest(needle: str, *texts: str) -> NearMiss:
    (found,) = near_misses([needle], corpus(*(texts or ("Something else.", TEXT))))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("needle", "drift"),
    [
        (SENTENCE.replace("\n", " "), ("white space",)),
        (SENTENCE.replace(" ", "\u00a0 "), ("white space",)),
        (SENTENCE.replace("words", "words").replace("never ", "ne\u200bver "), ("white space",)),
        (SENTENCE.replace("“", '"').replace("”", '"'), ("quotes",)),
        (SENTENCE.replace("’", "'"), ("quotes",)),
        (SENTENCE.replace("–", "-"), ("dashes",)),
        (SENTENCE.upper(), ("case",)),
        (unicodedata.normalize("NFD", SENTENCE), ("Unicode form",)),
        (SENTENCE.replace("fé", "f\uff45\u0301"), ("Unicode form",)),
        (SENTENCE.lower().replace("–", "—").replace("\n", "  "), ("white space", "dashes", "case")),
    ],
)
def test_drift_is_named_and_located(needle: str, drift: tuple[str, ...]) -> None:
    found = nearest(needle)
    assert found.drift == drift
    assert (found.document, found.start, found.end) == ("1.md", TEXT.index("It’s"), TEXT.index(" Last"))
    assert found.passage == SENTENCE
    assert found.similarity == 1


def test_a_decomposed_corpus_is_matched_by_a_composed_needle() -> None:
    text = unicodedata.normalize("NFD", "Hier ist die Größe 한국어 wichtig. Ende.")
    found = nearest("die Größe 한국어 wichtig.", text)
    assert found.drift == ("Unicode form",)
    assert unicodedata.normalize("NFC", found.passage) == "die Größe 한국어 wichtig."


def test_ligatures_and_sharp_s_keep_offsets_right() -> None:
    found = nearest("the FINE STRASSE ends", "One ﬁne day: the ﬁne Straße ends here.")
    assert found.passage == "the ﬁne Straße ends"


def test_other_words_give_the_closest_sentence_and_how_close_it_is() -> None:
    found = nearest("Last words there, worth 2.5 marks.")
    assert found.drift == ()
    assert found.passage == "Last words there, worth 2.5 points."
    assert 0.8 < found.similarity < 1
    assert found.sentence.startswith(f"The closest sentence ({found.similarity:.0%} alike) stands in '1.md' at ")


def test_a_sentence_goes_on_over_a_soft_line_break_and_no_further() -> None:
    reset = "A reset link works\nonce and expires after 30\nminutes."
    text = f"# Resets\n{reset} It is mailed\n- to the owner\n\nNobody else"
    for asked, passage in (
        ("A reset link works twice and expires after 40 minutes.", reset),
        ("It was mailed", "It is mailed"),
        ("# Rosets", "# Resets"),
        ("- to its owner", "- to the owner"),
        ("Nobody other", "Nobody else"),
    ):  # fmt: skip
        (found,) = near_misses([asked], corpus(text))
        assert found is not None
        assert found.passage == passage


def test_a_corpus_without_sentences_has_no_near_miss() -> None:
    assert near_misses(["Anything."], corpus("...\n")) == [None]
    assert near_misses([], corpus(TEXT)) == []


@given(st.data())
def test_a_passage_that_drifted_is_found_again(data: st.DataObject) -> None:
    words = st.text(st.sampled_from("abcdefgé’–ß"), min_size=1, max_size=6)
    text = " ".join(data.draw(st.lists(words, min_size=3, max_size=20)))
    needle = text.replace("’", "'").replace("–", "-").replace(" ", "\n")
    (found,) = near_misses([needle], corpus(text))
    assert found is not None
    if needle != text:
        assert found.similarity == 1
        assert text[found.start : found.end] == found.passage == text


def test_of_many_missing_needles_in_a_large_corpus_only_so_many_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.near_misses._MOST_COMPARISONS", 130_000)
    documents = corpus(*("".join(f"Sentence {n} of {d} says {n * d}. " for n in range(1000)) for d in range(13)))
    found = near_misses([f"Wholly different sentence {n}" for n in range(5_000)], documents)
    assert [place is not None for place in found] == [True] * 10 + [False] * 4_990


def test_a_run_of_points_costs_no_backtracking() -> None:
    # With backtracking this takes hours: the square of 400,000 steps and more.
    (found,) = near_misses(["other"], corpus("a" + "." * 200_000 + "b" + "?!" * 100_000))
    assert found is not None
