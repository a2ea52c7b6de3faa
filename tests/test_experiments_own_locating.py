"""Where a returned text stands: by offsets that are checked, or by words that stand there once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import document

from experiments.own.json_paths import read_list
from experiments.own.locating import Located, Locator, folded
from experiments.own.responses import checked, returned_from

TEXT = "# Title\n\nBefore.\n\n## First\n\nOne  two\nthree. Twice here.\n\n## Second\n\nTwice   here. End\u00a0of it.\n"
LOCATOR = Locator([document("a.md", TEXT), document("b.md", "# Other\n\nOne two four.\n")])


def test_a_text_is_found_whatever_white_space_stands_between_its_words():
    found = LOCATOR.find(" One two\n\n three. ")
    assert found.way == "text"
    assert found.place is not None
    assert TEXT[found.place.start : found.place.end] == "One  two\nthree."
    assert (found.place.document, found.place.section) == ("a.md", "First")


def test_a_text_that_stands_at_several_places_is_ambiguous_and_one_that_stands_nowhere_is_not_located():
    assert LOCATOR.find("Twice here.") == Located("ambiguous")
    assert LOCATOR.find("One two") == Located("ambiguous")
    assert LOCATOR.find("one two three") == Located("not located")
    assert LOCATOR.find("  ") == Located("not located")
    assert LOCATOR.find("it. # Other") == Located("not located")  # two documents


def test_the_document_it_comes_from_makes_it_unambiguous_where_it_is_one_of_ours():
    found = LOCATOR.find("One two", "b.md")
    assert found.place is not None
    assert found.place.document == "b.md"
    assert LOCATOR.find("One two", "https://wiki/b") == Located("ambiguous")


def test_offsets_are_checked_against_what_came():
    start = TEXT.index("One")
    assert LOCATOR.at("a.md", start, start + 14, "One two three").place is not None
    for document_id, begin, end, text, said in (
        ("c.md", 0, 3, None, "no document 'c.md'"),
        ("a.md", 5, 5, None, "is no stretch of it"),
        ("a.md", 0, 10_000, None, "is no stretch of it"),
        ("a.md", start, start + 3, "Two", "says 'One' from"),
    ):
        with pytest.raises(ValueError, match=said):
            LOCATOR.at(document_id, begin, end, text)


@given(st.lists(st.sampled_from(["ab", "c", ".", "d\u00a0e", "🜁"]), min_size=1, max_size=30), st.data())
def test_what_is_located_says_what_came_back(words, data):
    text = "".join(word + data.draw(st.sampled_from([" ", "\n", " \n\t", "\u2003"])) for word in words)
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    found = Locator([document("a.md", text)]).find(text[begin:end])
    times = folded(text).count(folded(text[begin:end])) if folded(text[begin:end]) else 0
    if found.place is not None:
        assert folded(text[found.place.start : found.place.end]) == folded(text[begin:end])
    elif found.way == "not located":
        assert times == 0
    else:
        assert times >= 1


def test_a_path_reads_every_element_and_says_where_it_leads_nowhere():
    value = {"hits": {"hits": [{"_source": {"text": "a"}}, {"other": 1}]}, "n": 2, "rows": [["x", "y"]]}
    assert read_list("hits.hits.*._source.text", value) == ["a", None]
    assert read_list("rows.0", value) == ["x", "y"]
    assert read_list("rows.*.1", value) == ["y"]
    for path, said in (
        ("hits.results", "'hits' has no 'results', it has 'hits'"),
        ("n.*", "'n' is a number, not a list"),
        ("rows.3", "has 1 elements, there is no number 3"),
        ("n.text", "'n' is a number, there is no 'text' in it"),
        ("hits..x", "is no path"),
    ):
        with pytest.raises(ValueError, match=said):
            read_list(path, value)


def test_a_result_is_a_text_or_a_mapping_of_known_fields():
    import numpy as np

    assert returned_from("a", 1).text == "a"
    odd = returned_from({"id": np.int64(7), "text": "a", "score": np.float32(0.5)}, 1)
    assert (odd.id, odd.score) == ("7", 0.5)
    for value, said in (
        (3, "result 1 is int"),
        ({"content": "a"}, "unknown field 'content'"),
        ({"text": "a", "score": float("nan")}, "its score is nan"),
        ({"document": "a.md", "start": 1}, "neither text nor id"),
        ({"text": "a", "start": True}, "its start is True"),
    ):
        with pytest.raises(ValueError, match=said):
            returned_from(value, 1)
    assert checked(odd, 1) == odd
