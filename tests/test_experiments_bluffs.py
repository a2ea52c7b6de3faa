"""What a bluff matched."""

from experiments.reviewing.bluffs import matched


def test_a_question_that_stands_word_for_word_in_the_chunk_is_a_literal_match() -> None:
    match = matched("what is the capital of france", "Given 'What is the capital of France', it goes on with text.")
    assert match.kind == "literal match"
    assert match.shared == ("what", "is", "the", "capital", "of", "france")
    assert match.words == "the corpus says “what is the capital of france”, not the answer"


def test_shared_content_words_without_a_run_are_a_near_miss() -> None:
    match = matched("How much does prompt caching save?", "The cache lets a long prompt save work at every step.")
    assert match.kind == "near miss"
    assert match.shared == ("prompt", "save")
    assert match.words == "same words, other thing: prompt, save"


def test_a_run_of_stop_words_is_no_literal_match() -> None:
    assert matched("what is it that there would be", "What is it that there is?").kind == "near miss"


def test_a_short_question_that_stands_whole_is_a_literal_match() -> None:
    assert matched("rate limits", "About rate limits nothing is said.").kind == "literal match"


def test_no_word_in_common_is_said() -> None:
    match = matched("refund?", "Nothing of the kind.")
    assert match.words == "no word in common: near in meaning only"


def test_an_empty_chunk_matches_nothing() -> None:
    assert matched("rate limits", "").kind == "near miss"
