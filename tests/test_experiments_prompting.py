import pytest

from experiments.asking.prompting import NOT_IN_SOURCES, numbered_prompt


def test_the_prompt_holds_instruction_numbered_sources_and_question_in_this_order():
    prompt = numbered_prompt("How hot?", {1: "The oven stands at 230 degrees.", 2: "Bake until brown."})
    text = prompt.text
    places = [text.index(part) for part in (prompt.instruction, "[1]\nThe oven", "[2]\nBake", "Question: How hot?")]
    assert places == sorted(places)
    assert "Never write a link" in prompt.instruction
    assert NOT_IN_SOURCES in prompt.instruction


def test_the_same_chunks_and_question_give_the_same_prompt():
    assert numbered_prompt("q", {1: "a", 2: "b"}).text == numbered_prompt("q", {1: "a", 2: "b"}).text


def test_a_refused_question_has_no_prompt():
    with pytest.raises(ValueError, match="a refusal calls no model"):
        numbered_prompt("paella?", {})


def test_numbers_with_a_gap_are_refused():
    with pytest.raises(ValueError, match=r"\[1, 3\]"):
        numbered_prompt("q", {1: "a", 3: "b"})
