import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.asking.answer_checks import KINDS, check_answer, without_citations
from experiments.asking.prompting import NOT_IN_SOURCES

SOURCES = {
    1: "The cache grows linearly with the sequence length.\nIt is **never** shared between requests.",
    2: "See https://example.org/kv and arXiv:1706.03762 for the “original” text.",
}
PIECES = st.lists(
    st.sampled_from(
        [
            "The cache grows",
            " ",
            ".",
            "\n",
            "\n\n",
            "[1]",
            "[2, 9]",
            "[1-3]",
            '"',
            "“grows linearly”",
            "'",
            "‘a’",
            "«b»",
            "https://x.org/a",
            "[a](b)",
            "doi:10.1234/ab",
            "1706.03762",
            "ISBN 0-306-40615-2",
            "`x[1]`",
            "```",
            "- ",
            "# h\n",
            "e.g. ",
            "3.14",
            "www.a.de",
            "„c“",
            "…",
            "[",
            "]",
            "é",
            "\u2028",
        ]
    ),
    max_size=30,
)


def marked(text, kind=None, sources=SOURCES):
    return [mark.text for mark in check_answer(text, sources).marks if kind in (None, mark.kind)]


def test_an_answer_that_cites_and_quotes_what_it_was_given_has_no_mark():
    text = "The cache \"grows linearly with the\nsequence length\" [1]. It is 'never shared' [1]."
    assert check_answer(text, SOURCES).marks == ()
    assert check_answer(text, SOURCES).cited == (1,)
    assert check_answer(text, SOURCES).sentences == 2


def test_numbers_that_were_not_supplied_are_marked():
    assert marked("It grows [3]. It grows [1, 7]. It grows [1].", "unknown number") == ["[3]", "[1, 7]"]
    (mark,) = check_answer("It grows [1-4].", SOURCES).marks
    assert mark.sentence == "Cites [3] and [4], but only 1 to 2 were supplied."


def test_links_are_marked_even_where_a_source_holds_the_address():
    assert marked("See [this](https://a.org) [1].", "link") == ["[this](https://a.org)"]
    assert marked("See https://example.org/kv [2].", "link") == ["https://example.org/kv"]


def test_identifiers_are_marked_only_where_no_source_holds_them():
    assert marked("See https://example.org/kv and https://arxiv.org/abs/1706.03762v1 [2].", "identifier") == []
    text = "See https://example.org/other, doi:10.1145/1.2 and ISBN 0-306-40615-2 [2]."
    assert marked(text, "identifier") == ["https://example.org/other", "doi:10.1145/1.2", "ISBN 0-306-40615-2"]


def test_sentences_without_a_citation_are_marked():
    assert marked("It grows [1]. It shrinks. It stays. [2]", "uncited") == ["It shrinks."]
    assert marked("- grows [1]\n- shrinks", "uncited") == ["shrinks"]


def test_a_citation_inside_code_is_none():
    assert marked("Take `x[1]` here.", "uncited") == ["Take `x[1]` here."]
    assert marked("Take `x[9]` here [1].", "unknown number") == []


def test_headings_code_and_lead_ins_need_no_citation():
    assert marked("# The cache\nTwo things hold:\n- it grows [1]\n- it stays [1]\n\n```\nx = 1\n```", "uncited") == []


def test_saying_that_the_sources_do_not_answer_needs_no_citation():
    check = check_answer(NOT_IN_SOURCES, SOURCES)
    assert check.marks == ()
    assert check.declined
    assert not check_answer("It grows [1].", SOURCES).declined
    assert not check_answer("", SOURCES).declined


@pytest.mark.parametrize(
    "quote",
    [
        "“grows linearly”",
        '"grows linearly"',
        "„grows linearly“",
        "«grows linearly»",
        "‘grows linearly’",
        "'grows linearly'",
        '"The cache ... sequence length"',
        '"grows   linearly with"',
        '"never shared between requests,"',
    ],
)
def test_quoted_words_of_the_cited_chunk_pass_in_every_kind_of_quotation_mark(quote):
    assert marked(f"It {quote} as said [1].") == []
    assert marked(f"It {quote} as said [2].", "misquoted") == [quote]


def test_quotation_marks_themselves_are_made_alike():
    assert marked("The 'the \"original\" text' is there [2].") == []


def test_words_that_stand_in_another_chunk_are_marked_and_the_chunk_is_named():
    (mark,) = check_answer('It "grows linearly" [2].', SOURCES).marks
    assert mark.sentence == "Quoted words that do not stand in [2]; they stand in [1]."


def test_invented_quotes_are_marked_also_without_a_citation():
    assert marked('It "shrinks quickly".', "misquoted") == ['"shrinks quickly"']
    assert marked('It "grows linearly".', "misquoted") == []


def test_a_quotation_of_two_sentences_is_one_claim():
    text = '"The cache grows linearly with the sequence length. It is never shared between requests." [1]'
    assert check_answer(text, SOURCES).marks == ()


def test_apostrophes_and_inches_are_no_quotations():
    assert marked("The models' weights don't fit the users' 24\" screens, it's clear [1].", "misquoted") == []


def test_marks_are_counted_by_kind_and_a_kind_that_was_not_found_is_zero():
    counts = check_answer("It grows. See https://a.org [5].", SOURCES).counts
    assert counts == {"unknown number": 1, "link": 1, "identifier": 1, "uncited": 1, "misquoted": 0}


def test_without_sources_every_number_is_unknown():
    (mark,) = check_answer("It grows [1].", {}).marks
    assert mark.sentence == "Cites [1], but no source was supplied."


def test_citations_are_taken_out_of_a_text():
    assert without_citations("grows [1], stays [2, 3] at x[i]").split() == ["grows", ",", "stays", "at", "x[i]"]


@settings(max_examples=300)
@given(PIECES.map("".join))
def test_marks_lie_inside_the_text_and_do_not_overlap_within_a_kind(text):
    check = check_answer(text, SOURCES)
    for kind in KINDS:
        last = 0
        for mark in (mark for mark in check.marks if mark.kind == kind):
            assert last <= mark.start < mark.end <= len(text)
            assert mark.text == text[mark.start : mark.end]
            assert mark.sentence.endswith(".")
            last = mark.end


def test_hostile_answers_take_linear_time():
    for text in ('"' * 20_000, "[1" * 20_000, "'a " * 20_000, "“" * 20_000, "`" * 20_001, "It grows [1]. " * 3_000):
        check_answer(text, SOURCES)


def test_a_range_of_absurd_length_is_not_spelt_out():
    assert len(check_answer("It grows [1-999999].", SOURCES).marks) == 1
