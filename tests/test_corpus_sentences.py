import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.sentences import code_spans, split_sentences

PIECES = st.lists(
    st.sampled_from(
        [
            "The cache grows.",
            " ",
            "\n",
            "\n\n",
            "- item one.",
            "1. first",
            "```\ncode. More\n```\n",
            "`a. B`",
            "e.g. ",
            "3.14",
            "[1]",
            "# Head",
            "| a | b |",
            '"',
            "“x. Y”",
            "etc.",
            "…",
            "。",
            "?!",
            "\r\n",
            "\u2028",
            "é",
            "~~~",
            ":",
        ]
    ),
    max_size=30,
)


def sentences(text, whole=()):
    return [text[one.start : one.end] for one in split_sentences(text, whole)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It takes 3.5 s, i.e. much. Next one.", ["It takes 3.5 s, i.e. much.", "Next one."]),
        ("See Fig. 3 and Eq. 4 by Dr. Li et al. 2020. Done.", ["See Fig. 3 and Eq. 4 by Dr. Li et al. 2020.", "Done."]),
        ("J. S. Bach wrote it. He did.", ["J. S. Bach wrote it.", "He did."]),
        (
            "Queries, keys, etc. are made. Values, etc. Then more.",
            ["Queries, keys, etc. are made.", "Values, etc.", "Then more."],
        ),
        ("The answer is no. It is. See no. 4.", ["The answer is no.", "It is.", "See no. 4."]),
        ("Multiply by A. The result is B. It is small.", ["Multiply by A.", "The result is B.", "It is small."]),
        (
            "As Li et al. show, it grows. So did Li et al. Others differ.",
            ["As Li et al. show, it grows.", "So did Li et al.", "Others differ."],
        ),
        ("It grows. [1] It stops. [2, 3]", ["It grows. [1]", "It stops. [2, 3]"]),
        ("It grows [1]. It stops [2].", ["It grows [1].", "It stops [2]."]),
        ("It grows.[1] It stops.", ["It grows.[1]", "It stops."]),
        ("Wait... what? Really… Yes.", ["Wait... what?", "Really…", "Yes."]),
        ("He said (it grows.) Then he left.", ["He said (it grows.)", "Then he left."]),
        ("One line\nthat goes on. Next.", ["One line\nthat goes on.", "Next."]),
        ("Para one\n\nPara two", ["Para one", "Para two"]),
        ("猫がいる。犬もいる。", ["猫がいる。", "犬もいる。"]),
        ("version 2.0 is out. use it", ["version 2.0 is out. use it"]),
        ("", []),
        ("---\n***\n\n", []),
    ],
)
def test_sentences_are_split_where_a_reader_would_split_them(text, expected):
    assert sentences(text) == expected


def test_list_items_are_sentences_without_their_marks():
    assert sentences("- First item\n- Second. And more.\n3. Third\n* Fourth") == [
        "First item",
        "Second.",
        "And more.",
        "Third",
        "Fourth",
    ]


def test_a_colon_before_a_list_is_a_lead_in_and_elsewhere_is_not():
    kinds = [one.kind for one in split_sentences("Three things matter:\n- size\n- age")]
    assert kinds == ["lead-in", "sentence", "sentence"]
    assert [one.kind for one in split_sentences("The answer is this:\n\nIt grows.")] == ["sentence", "sentence"]


def test_headings_are_told_apart():
    assert [one.kind for one in split_sentences("# The cache\nIt grows.")] == ["heading", "sentence"]


def test_fenced_code_is_no_sentence_and_inline_code_is_never_split():
    assert sentences("Run this.\n```python\nx = 1. Y = 2.\n```\nThen stop.") == ["Run this.", "Then stop."]
    assert sentences("Call `model. Run` first. Then stop.") == ["Call `model. Run` first.", "Then stop."]
    assert sentences("Text.\n```\nnever closed. At all") == ["Text."]


def test_nothing_is_split_inside_the_ranges_that_are_to_stay_whole():
    text = 'It says "One. Two." [1] And then.'
    assert sentences(text, [(8, 19)]) == ['It says "One. Two." [1]', "And then."]


def test_code_spans_cover_fences_and_inline_code():
    text = "a `b` c\n```\nd\n```\ne ``f ` g``"
    assert [text[start:end] for start, end in code_spans(text)] == ["`b`", "```\nd\n```\n", "``f ` g``"]


@given(PIECES.map("".join))
def test_ranges_lie_inside_the_text_in_order_and_do_not_overlap(text):
    last = 0
    for one in split_sentences(text):
        assert last <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == text[one.start : one.end].strip()
        last = one.end


def test_long_texts_take_linear_time():
    for text in ("a. " * 50_000, "(" * 100_000, "`" * 30_001, "[1" * 50_000, '"' * 50_000, ". [1] " * 20_000):
        split_sentences(text[:100_000])
