import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.asking.answer_checks import check_answer
from experiments.asking.answers import Answer, Passage
from experiments.asking.failure_modes import MODES, classify, count_modes, in_prompt, match_facts, token_f1
from experiments.conditions import Combination
from tests.worlds import DOCUMENTS, HEAT, QUERIES, REST

BY_ID = {query.id: query for query in QUERIES}
TEXTS = {document.id: document.text for document in DOCUMENTS}


def answer(*ranges, threshold=0.5):
    """An answer that kept these (document, start, end)."""
    passages = [
        Passage(place, place, 0.1, 0.9, document, "T", "", start, end, TEXTS[document][start:end])
        for place, (document, start, end) in enumerate(ranges, 1)
    ]
    return Answer("q", Combination("E", "bm25"), "m", threshold, tuple(passages))


def whole(needle):
    return needle.document, needle.start, needle.end


@pytest.mark.parametrize(
    ("text", "contained"),
    [
        ("The oven stands at 230 degrees [1].", True),
        ("It is at 230 degrees.", True),
        ("It stands at two hundred degrees.", False),
        ("It stands at 250 degrees.", False),
        ("I do not know [230].", False),
        ("", False),
    ],
)
def test_an_answer_holds_the_facts_when_numbers_and_words_are_there(text, contained):
    assert match_facts(text, HEAT.text, "How hot is the oven?").contained is contained


def test_numbers_compare_as_values():
    for text in ("1,024 tokens", "1024.0 tokens", "01024 tokens"):
        assert match_facts(text, "It reads 1024 tokens.", "How many?").numbers == 1.0
    assert match_facts("twelve heads", "There are 12 heads.", "How many?").numbers == 1.0
    assert match_facts("0.5 of it", "It is 0.50 of it.", "How much?").numbers == 1.0
    assert match_facts("1024", "It is 10.24.", "How much?").numbers == 0.0


def test_what_the_question_gives_away_proves_nothing():
    match = match_facts("The oven.", HEAT.text, "Does the oven stand at 230 degrees?")
    assert match.numbers is None
    assert not match_facts(
        "At which moon is the tide high?", "At the new moon.", "At which moon is the tide high?"
    ).contained


def test_the_f1_is_that_of_the_best_sentence():
    long = "Many other things are said here about yeast and bread. The oven stands at 230 degrees. " + "And so on. " * 9
    assert match_facts(long, HEAT.text, "How hot?").f1 == 1.0


def test_token_f1_is_the_harmonic_mean_of_precision_and_recall():
    # 2 of 3 tokens each way: precision = recall = 2/3.
    assert token_f1("oven stands cold", "oven stands hot") == pytest.approx(2 / 3)
    assert token_f1("oven", "oven stands hot") == pytest.approx(0.5)  # precision 1, recall 1/3
    assert token_f1("", "oven") == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_token_f1_is_symmetric_and_lies_between_0_and_1(left, right):
    assert 0 <= token_f1(left, right) <= 1
    assert token_f1(left, right) == token_f1(right, left)


@given(st.text(max_size=80), st.text(min_size=1, max_size=80), st.text(max_size=80))
def test_shares_lie_between_0_and_1_and_the_needle_holds_its_own_facts(text, needle, question):
    match = match_facts(text, needle, question)
    assert all(share is None or 0 <= share <= 1 for share in match)
    own = match_facts(needle, needle, question)
    assert own.numbers in (None, 1.0)
    assert own.terms in (None, 1.0)


def test_a_needle_is_in_the_prompt_only_when_one_kept_chunks_own_words_hold_it_whole():
    document, start, end = whole(REST)
    assert in_prompt(answer((document, start, end)), REST)
    assert not in_prompt(answer((document, start + 1, end)), REST)
    assert not in_prompt(answer((document, start, end - 5), (document, end - 5, end)), REST)
    assert not in_prompt(answer(("bees.md", start, end)), REST)


def test_the_two_failures_are_told_apart():
    query = BY_ID["heat-course"]
    right, wrong = "The oven stands at 230 degrees [1].", "The yeast is warm [1]."
    assert classify(query, answer()).mode == "refused"
    assert classify(query, answer(("bees.md", 0, 20)), right).mode == "not in the prompt"
    assert classify(query, answer(whole(HEAT)), wrong).mode == "lost by the generator"
    assert classify(query, answer(whole(HEAT)), right).mode == "answered"


def test_an_unanswerable_question_and_a_missing_answer_are_errors():
    with pytest.raises(ValueError, match="near-price is unanswerable"):
        classify(BY_ID["near-price"], answer(), "x")
    with pytest.raises(ValueError, match="no answer to look at"):
        classify(BY_ID["heat-course"], answer(whole(HEAT)))


def test_a_batch_is_counted_with_n_and_intervals():
    query, source = BY_ID["heat-course"], {1: HEAT.text}
    right, wrong = "The oven stands at 230 degrees [1].", "The yeast is warm."
    kept = answer(whole(HEAT))
    batch = [
        classify(query, answer()),
        classify(query, answer(("bees.md", 0, 20)), wrong, check_answer(wrong, source)),
        classify(query, kept, wrong, check_answer(wrong, source), cut_off=True),
        classify(query, kept, right, check_answer(right, source)),
    ]
    counts = count_modes(batch)
    assert counts.n == 4
    assert {mode: share.hits for mode, share in counts.modes.items()} == dict.fromkeys(MODES, 1)
    assert (counts.lost_given_prompt.hits, counts.lost_given_prompt.n) == (1, 2)
    assert counts.marks["uncited"][0] == 2
    assert (counts.marks["uncited"][1].hits, counts.marks["uncited"][1].n) == (2, 3)
    assert (counts.cut_off.hits, counts.cut_off.n) == (1, 3)
    assert counts.modes["answered"].low == pytest.approx(0.0456, abs=1e-4)


def test_an_empty_batch_has_no_shares_instead_of_zeros():
    counts = count_modes([])
    assert all(share.n == 0 and share.estimate is None for share in counts.modes.values())
    assert counts.lost_given_prompt.estimate is None
