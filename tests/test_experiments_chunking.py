import json
import re
from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.documents import Document
from corpus.headings import headings, title_heading
from experiments.chunking import chunk_corpus, chunk_document
from experiments.conditions import PRESETS, Strategy

CASES = json.loads((Path(__file__).parent / "golden" / "chunker.json").read_text(encoding="utf-8"))["cases"]
BY_NAME = {strategy.name: strategy for strategy in PRESETS}


def document(text, title="Guide", id="guide.md"):  # noqa: A002
    return Document(id=id, title=title, text=text, source=id, sha256="", encoding="utf-8")


def contents(text, strategy):
    return [chunk.content for chunk in chunk_document(document(text), strategy)]


LINES = st.sampled_from(
    [
        "",
        "",
        "   ",
        "\t",
        "# Title",
        "# Second title",
        "## Section one",
        "## Section two ##",
        "##",
        "### Deeper",
        "```",
        "~~~",
        "## maybe in code",
        "One. Two! Three? And... four?!",
        "no mark at all in this line",
        "  indented and trailing  ",
        "- item",
        "| a | b |",
        "v3.14 of it",
        "Μια πρόταση εδώ.",
        "🎈🎈 two balloons.",
        "\u00a0\u2003",
        "x\u0301y.",
        "\x0b\x0c.",
    ]
)
TEXTS = st.one_of(
    st.lists(LINES, max_size=25).map("\n".join),
    st.text(alphabet=st.sampled_from("ab .!?#\n\n\t`\u3000🎈"), max_size=120),
    st.text(max_size=60).map(lambda text: text.replace("\r", "")),
)


@st.composite
def any_strategy(draw):
    budget = draw(st.integers(1, 60))
    return Strategy(
        "any",
        draw(st.sampled_from(["blind", "boundaries"])),
        header=draw(st.booleans()),
        overlap=draw(st.integers(0, budget - 1)),
        budget=budget,
    )


STRATEGIES = st.one_of(st.sampled_from(PRESETS), any_strategy())
BOUNDARY_STRATEGIES = STRATEGIES.filter(lambda strategy: strategy.cuts == "boundaries")
BLIND_STRATEGIES = STRATEGIES.filter(lambda strategy: strategy.cuts == "blind")


def heading_lines(text):
    title = title_heading(text)
    return [heading for heading in headings(text) if heading.level == 2] + ([title] if title else [])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_worked_case_matches_in_every_text_and_offset(case):
    strategy = Strategy("E", "boundaries", header=True, overlap=0, budget=case["target"])
    found = [
        {
            "text": chunk.text,
            "content": chunk.content,
            "section": chunk.section,
            "from": chunk.start,
            "to": chunk.end,
        }
        for chunk in chunk_document(document(case["document"], title=case["title"]), strategy)
    ]
    assert found == case["chunks"]


def test_there_are_eighteen_worked_cases():
    assert len(CASES) == 18


@given(TEXTS, STRATEGIES)
def test_ranges_cut_both_texts_of_every_chunk_out_of_the_document(text, strategy):
    for chunk in chunk_document(document(text), strategy):
        assert 0 <= chunk.overlap_start <= chunk.start < chunk.end <= len(text)
        assert chunk.content == text[chunk.start : chunk.end]
        front = f"{chunk.header}\n" if chunk.header else ""
        assert chunk.text == front + text[chunk.overlap_start : chunk.end]
        assert bool(chunk.header) == strategy.header
        assert chunk.over_budget == (len(chunk.content) > strategy.budget)


@given(TEXTS, STRATEGIES)
def test_own_words_of_chunks_follow_one_another_and_never_repeat(text, strategy):
    chunks = chunk_document(document(text), strategy)
    assert all(first.end <= second.start for first, second in pairwise(chunks))


@given(TEXTS, BOUNDARY_STRATEGIES)
def test_chunks_of_a_boundary_strategy_never_touch_a_heading_line_or_another_section(text, strategy):
    lines = heading_lines(text)
    sections = [heading for heading in headings(text) if heading.level == 2]
    for chunk in chunk_document(document(text), strategy):
        assert not [line for line in lines if line.start < chunk.end and chunk.overlap_start < line.end]
        before = [heading.title for heading in sections if heading.start < chunk.start]
        assert chunk.section == (before[-1] if before else "")


@given(TEXTS, STRATEGIES)
def test_every_character_outside_heading_lines_is_in_some_chunk(text, strategy):
    outside = [not character.isspace() for character in text]
    if strategy.cuts == "boundaries":
        for line in heading_lines(text):
            outside[line.start : line.end] = [False] * (line.end - line.start)
    for chunk in chunk_document(document(text), strategy):
        outside[chunk.start : chunk.end] = [False] * len(chunk.content)
    assert not any(outside)


@given(TEXTS, BOUNDARY_STRATEGIES)
def test_a_boundary_chunk_has_no_white_space_at_its_ends_and_over_the_budget_is_one_sentence(text, strategy):
    for chunk in chunk_document(document(text), strategy):
        assert chunk.content == chunk.content.strip()
        if chunk.over_budget:
            assert re.fullmatch(r"[^.!?]*[.!?]*", chunk.content)


@given(TEXTS, STRATEGIES)
def test_overlap_is_the_end_of_the_previous_chunk_of_the_same_stretch(text, strategy):
    chunks = chunk_document(document(text), strategy)
    lines = heading_lines(text) if strategy.cuts == "boundaries" else []
    for previous, chunk in zip((None, *chunks), chunks, strict=False):
        parted = previous is None or any(previous.end <= line.start < chunk.start for line in lines)
        if parted or not strategy.overlap:
            assert chunk.overlap_start == chunk.start
        else:
            assert chunk.overlap_start == max(previous.start, previous.end - strategy.overlap)


@given(TEXTS, STRATEGIES)
def test_overlap_and_header_change_what_is_embedded_but_never_where_is_cut(text, strategy):
    bare = Strategy("bare", strategy.cuts, header=False, overlap=0, budget=strategy.budget)
    ranges = [[(c.start, c.end, c.section) for c in chunk_document(document(text), s)] for s in (strategy, bare)]
    assert ranges[0] == ranges[1]


@given(TEXTS, BLIND_STRATEGIES)
def test_blind_cuts_are_all_slices_of_the_budget_but_those_of_white_space(text, strategy):
    slices = [text[start : start + strategy.budget] for start in range(0, len(text), strategy.budget)]
    chunks = chunk_document(document(text), strategy)
    assert [chunk.content for chunk in chunks] == [piece for piece in slices if piece.strip()]
    assert all(chunk.start % strategy.budget == 0 and not chunk.over_budget for chunk in chunks)


def slow_sentences(paragraph):
    """Character by character: a sentence is over where other words begin after a mark and its white space."""
    sentences = [""]
    for character in paragraph:
        ended = sentences[-1].rstrip().endswith((".", "!", "?"))
        spaced = sentences[-1] != sentences[-1].rstrip()
        if ended and not character.isspace() and (spaced or character not in ".!?"):
            sentences.append("")
        sentences[-1] += character
    return sentences


def slow_contents(text, budget):
    """The boundary rules once more, on strings instead of ranges: contents of the chunks of a text without headings."""
    paragraphs = re.split(r"(\n\s*\n)", re.sub(r"^(\s*\n)+", "", text))
    found, opened = [], ""
    gap = ""
    for paragraph, after in zip(paragraphs[::2], [*paragraphs[1::2], ""], strict=True):
        if not paragraph.strip():
            continue
        if len(paragraph) > budget:
            found, opened = [*found, opened], ""
            for sentence in slow_sentences(paragraph):
                if len(opened + sentence) > budget:
                    found, opened = [*found, opened], ""
                opened += sentence
            found, opened = [*found, opened], ""
        elif opened and len(opened + gap + paragraph) <= budget:
            opened += gap + paragraph
        else:
            found, opened = [*found, opened], paragraph
        gap = after
    return [chunk.strip() for chunk in [*found, opened] if chunk]


@given(TEXTS.filter(lambda text: "#" not in text), st.integers(1, 80))
def test_boundary_cuts_agree_with_a_second_slow_implementation(text, budget):
    strategy = Strategy("s", "boundaries", header=False, overlap=0, budget=budget)
    assert contents(text, strategy) == slow_contents(text, budget)


def test_text_before_the_first_section_is_a_section_without_title_and_the_title_line_is_in_no_chunk():
    text = "# Guide\n\nRead this first.\n\n## Setup\nInstall it.\n"
    chunks = chunk_document(document(text), BY_NAME["E"])
    assert [(chunk.section, chunk.text) for chunk in chunks] == [
        ("", "[Guide]\nRead this first."),
        ("Setup", "[Guide > Setup]\nInstall it."),
    ]


def test_text_above_the_title_line_is_not_lost():
    assert contents("Notice.\n\n# Guide\nIntro.\n", BY_NAME["C"]) == ["Notice.", "Intro."]


def test_a_heading_inside_a_fenced_code_block_is_text():
    text = "## Use\nRun:\n\n```sh\n## not a heading\nmake\n```\n\n## Next\nDone.\n"
    chunks = chunk_document(document(text), BY_NAME["C"])
    assert [chunk.section for chunk in chunks] == ["Use", "Next"]
    assert "## not a heading" in chunks[0].content


def test_a_blind_strategy_does_not_look_at_headings_but_names_the_section_it_starts_in():
    text = "# Guide\n" + "a" * 12 + "\n## Setup\n" + "b" * 20
    strategy = Strategy("blind", "blind", header=True, overlap=0, budget=20)
    chunks = chunk_document(document(text), strategy)
    assert [chunk.content for chunk in chunks] == [text[:20], text[20:40], text[40:]]
    assert [chunk.header for chunk in chunks] == ["[Guide]", "[Guide]", "[Guide > Setup]"]


def test_overlap_copies_the_last_characters_and_the_white_space_between():
    strategy = Strategy("s", "boundaries", header=True, overlap=6, budget=12)
    chunks = chunk_document(document("## S\nFirst part.\n\nSecond part.\n\n## T\nThird part.\n"), strategy)
    assert [chunk.text for chunk in chunks] == [
        "[Guide > S]\nFirst part.",
        "[Guide > S]\n part.\n\nSecond part.",
        "[Guide > T]\nThird part.",
    ]
    assert chunks[1].content == "Second part."


def test_overlap_longer_than_the_previous_chunk_copies_all_of_it_and_no_more():
    strategy = Strategy("s", "boundaries", header=False, overlap=9, budget=10)
    texts = [chunk.text for chunk in chunk_document(document("Aaaaaaaaa.\n\nBb.\n\nCcccccccc."), strategy)]
    assert texts == ["Aaaaaaaaa.", "aaaaaaaa.\n\nBb.", "Bb.\n\nCcccccccc."]


def test_a_paragraph_after_one_over_the_budget_starts_a_chunk_of_its_own():
    text = "One two three. Four.\n\nFive."
    assert contents(text, Strategy("s", "boundaries", header=False, overlap=0, budget=16)) == [
        "One two three.",
        "Four.",
        "Five.",
    ]


def test_white_space_a_piece_ends_with_counts_towards_the_budget():
    twenty = Strategy("s", "boundaries", header=False, overlap=0, budget=20)
    assert contents("xxxxxxxxx\n\nyyyyyyyyy", twenty) == ["xxxxxxxxx\n\nyyyyyyyyy"]
    assert contents("xxxxxxxxx\n\nyyyyyyyyy\n", twenty) == ["xxxxxxxxx", "yyyyyyyyy"]


def test_blank_lines_under_a_heading_do_not_count_towards_the_budget():
    ten = Strategy("s", "boundaries", header=False, overlap=0, budget=10)
    assert [contents(f"## S\n{gap}Aaa.\n\nBbb.", ten) for gap in ("", "\n", "\n \n\n")] == [["Aaa.\n\nBbb."]] * 3


def test_a_line_of_white_space_parts_paragraphs():
    assert contents("Aaaa.\n \t \nBbbb.", Strategy("s", "boundaries", header=False, overlap=0, budget=8)) == [
        "Aaaa.",
        "Bbbb.",
    ]


@pytest.mark.parametrize("strategy", PRESETS, ids=lambda strategy: strategy.name)
def test_a_text_of_white_space_has_no_chunks(strategy):
    assert chunk_document(document(" \n\n\t\n" * 400), strategy) == ()
    assert chunk_document(document(""), strategy) == ()


@given(st.permutations(["b.md", "a.md", "a/z.md", "c.md"]), STRATEGIES)
def test_the_order_documents_come_in_never_shows(ids, strategy):
    text = "Some words. " * 12
    chunks = chunk_corpus([document(text, id=one) for one in ids], strategy)
    keys = [(chunk.document, chunk.start) for chunk in chunks]
    assert keys == sorted(keys)
    assert chunks == chunk_corpus([document(text, id=one) for one in sorted(ids)], strategy)


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(ValueError, match=r"two documents have the id 'a\.md'"):
        chunk_corpus([document("x", id="a.md"), document("y", id="a.md")], BY_NAME["A"])


HUGE = {
    "no blank lines": "one two three, four five six. seven\n",
    "one line without an end": "word ",
    "line breaks": "\n",
    "lines of white space": "\n" + " " * 60,
    "sentence marks": "?!",
    "marks far apart": "." + "a" * 5000,
    "sections": "## s\nA. \n\n",
}


@pytest.mark.parametrize("unit", HUGE.values(), ids=HUGE.keys())
def test_two_megabytes_of_anything_are_cut_in_linear_time(unit):
    def seconds(characters):
        text = unit * (characters // len(unit)) + "End"
        begun = process_time()
        assert chunk_document(document(text), BY_NAME["F"])[-1].content.endswith("End")
        return process_time() - begun

    small = min(seconds(125_000) for _ in range(2))
    assert seconds(2_000_000) < 100 * small + 1  # linear work takes 16 times as long, quadratic work 256 times


def test_underlined_headings_open_sections_too() -> None:
    text = "Ferries\n=======\n\nBefore.\n\nWinter\n------\n\nNone sails.\n\n## Summer\n\nAll sail.\n"
    chunks = chunk_document(document(text, title="Ferries"), BY_NAME["E"])
    assert [(chunk.header, chunk.content) for chunk in chunks] == [
        ("[Ferries]", "Before."),
        ("[Ferries > Winter]", "None sails."),
        ("[Ferries > Summer]", "All sail."),
    ]
