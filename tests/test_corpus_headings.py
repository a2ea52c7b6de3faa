"""Headings, checked against a CommonMark parser."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from corpus.headings import Heading, headings, title_heading


def test_a_heading_knows_its_level_title_and_line() -> None:
    text = "intro\n\n## Two  words ##\n"
    (heading,) = headings(text)
    assert heading == Heading(2, "Two  words", 7, 23)
    assert text[heading.start : heading.end] == "## Two  words ##"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# C#", "C#"),
        ("# C #", "C"),
        ("#", ""),
        ("## ##", ""),
        ("   ### x", "x"),
        ("#\tx", "x"),
        ("# a \\# b #", "a \\# b"),
    ],
)
def test_closing_marks_are_no_part_of_the_title(line: str, title: str) -> None:
    assert [heading.title for heading in headings(line)] == [title]


@pytest.mark.parametrize("line", ["#x", "####### seven", "    # indented code", "\\# escaped", "a # b"])
def test_a_line_that_only_looks_like_a_heading_is_none(line: str) -> None:
    assert headings(line) == ()


@pytest.mark.parametrize(
    "text",
    [
        "```\n## no\n```\n## yes",
        "~~~ sh\n## no\n~~~\n## yes",
        "````\n```\n## no\n````\n## yes",
        "```\n~~~\n## no\n```\n## yes",
        "~~~\n~~~ x\n## no\n~~~~\n## yes",
        "``` not`a fence\n## yes",
        "```\n    ```\n## no\n  ```  \n## yes",
    ],
)
def test_headings_inside_fences_do_not_count(text: str) -> None:
    assert [heading.title for heading in headings(text)] == ["yes"]


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert headings("```\n## no\n\n## no\n") == ()


def test_setext_headings_are_told_apart_from_atx_ones() -> None:
    text = "Title of\nthe text\n===\n\n## A\n\nB\n---\n"
    assert [(h.level, h.title) for h in headings(text)] == [(1, "Title of the text"), (2, "A"), (2, "B")]
    assert [h.title for h in headings(text) if h.underlined] == ["Title of the text", "B"]
    first = headings(text)[0]
    assert text[first.start : first.end] == "Title of\nthe text\n==="


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n---\n",
        "- item\n---\n",
        "> quoted\n---\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n---\n",
        "a | b\n--- | ---\n",
        "    code\n---\n",
        "---\n---\n",
        "# atx\n---\n",
        "<div>\nx\n---\n",
    ],
)
def test_a_rule_is_not_an_underline(text: str) -> None:
    assert [heading for heading in headings(text) if heading.title != "atx"] == []


def test_the_title_heading_is_the_first_of_level_one() -> None:
    text = "## early\n\n```\n# comment\n```\n\n#\n\n# Title\n\n# Later\n"
    title = title_heading(text)
    assert title is not None
    assert title.title == "Title"
    underlined = title_heading("Early\n=====\n\n# Title\n"), title_heading("Title\n=====\n")
    assert [one and one.title for one in underlined] == ["Title", "Title"]


LINES = st.sampled_from(
    [
        *[
            "",
            "words",
            "more words",
            "# one",
            "## two #",
            "####### no",
            "#no",
            "===",
            "---",
            "  ---  ",
            "***",
            "   # in",
        ],
        *[
            "    # code",
            "```",
            "````",
            "~~~",
            "``` py",
            "``` a`b",
            "- - -",
            " =",
            "--",
            "#",
            "    deep",
            "\tdeep",
            "```` ",
        ],
    ]
)


@given(st.lists(LINES, max_size=12))
@settings(max_examples=400)
def test_headings_agree_with_a_commonmark_parser(lines: list[str]) -> None:
    text = "\n".join(lines)
    tokens = MarkdownIt("commonmark").parse(text)
    expected = []
    for token in tokens:
        if token.type == "heading_open":
            assert token.map is not None
            expected.append((int(token.tag[1]), token.markup.startswith("#"), token.map[0]))
    found = [(h.level, not h.underlined, text.count("\n", 0, h.start)) for h in headings(text)]
    assert found == expected


@given(st.text(st.sampled_from("#=-`~ \tab\n>|<*1.")))
def test_headings_come_in_order_and_cover_whole_lines(text: str) -> None:
    end = -1
    for heading in headings(text):
        assert end < heading.start <= heading.end <= len(text)
        assert heading.start == 0 or text[heading.start - 1] == "\n"
        assert heading.end == len(text) or text[heading.end] == "\n"
        end = heading.end
