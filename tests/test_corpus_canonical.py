"""Bytes to canonical text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.canonical import (
    UndecodableError,
    canonical_text,
    front_matter_title,
    split_front_matter,
    strip_bibliography,
)

SAMPLES = {
    "cp1252": "L’été dernier, nous avons mangé des crêpes à la crème brûlée près de la forêt.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy, a vektory jsou dlouhé.",
    "cp1251": "Это русский текст о векторах и расстояниях между ними.",
    "koi8_r": "Это русский текст о векторах и расстояниях между ними.",
    "iso8859_7": "Άλλα κείμενα στην ελληνική γλώσσα. Ο Άρης και η Άννα μένουν στην Αθήνα.",
    "cp1254": "Şimdi öğrenciler için yeni bir ders başlıyor; bu çok önemlidir, ışık gibi.",
    "shift_jis": "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n",
    "euc_jp": "これは日本語の文章です。検索の評価に使います。",
    "gb18030": "这是一段中文文本，用于评估检索系统的质量。向量的长度不会是负数。",
    "utf-16": "Any text at all: ά, 東京, €.",
    "utf-32": "Any text at all: ά, 東京, €.",
    "utf-8-sig": "Any text at all: ά, 東京, €.",
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_a_text_is_read_back_whatever_encoding_it_was_written_in(encoding: str) -> None:
    assert canonical_text(SAMPLES[encoding].encode(encoding)).text == SAMPLES[encoding]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["Plain words without a mark.\n", "Это русский текст.\n"])
def test_utf_16_without_a_mark_is_recognised(encoding: str, text: str) -> None:
    assert canonical_text(text.encode(encoding)) == (text, encoding)


def test_a_few_special_characters_in_a_long_english_text_are_enough_to_tell_the_encoding() -> None:
    text = "Nothing special here.\n" * 20_000 + "The “needle” isn’t a heading – it costs 15 €.\n"
    assert canonical_text(text.encode("cp1252")) == (text, "cp1252")


def test_what_was_not_guessed_is_called_utf_8() -> None:
    assert canonical_text("ά".encode()).encoding == "utf-8"
    assert canonical_text(b"").text == ""


def test_damaged_utf_8_names_the_line_and_the_byte_instead_of_guessing() -> None:
    data = "Größe – ja.\nLänge – nein.\n".encode() + b"broken \xff byte\n"
    with pytest.raises(UndecodableError) as caught:
        canonical_text(data)
    assert (caught.value.line, caught.value.value) == (3, "0xff")
    assert "UTF-8" in caught.value.problem


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00",
        b"%PDF-1.4\n\x00\x01\x02",
        b"PK\x03\x04\x14\x00\x00\x00",
        bytes(range(256)) * 4,
        b"a\x01b\x02c\x03",
        "words".encode("utf-16")[:-1],
        b"\xff\xfe\x00\xd8",
    ],
)
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(UndecodableError):
        canonical_text(data)


def test_line_ends_become_line_feeds_and_nothing_else_changes() -> None:
    assert canonical_text("a\r\nb\rc\nd\u2028e\x0cf\x85".encode()).text == "a\nb\nc\nd\u2028e\x0cf\x85"


def test_unicode_normal_forms_are_left_as_found() -> None:
    assert canonical_text("e\u0301 \u00e9".encode()).text == "e\u0301 \u00e9"


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff") | st.sampled_from("\n\r\t"))


@given(TEXTS)
def test_canonical_text_is_canonical_again(text: str) -> None:
    once = canonical_text(text.encode()).text
    assert canonical_text(once.encode()).text == once
    assert "\r" not in once


@given(TEXTS, st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_marked_text_reads_the_same_in_every_unicode_encoding(text: str, encoding: str) -> None:
    assert canonical_text(text.encode(encoding)).text == canonical_text(text.encode()).text


@given(st.binary(max_size=300))
def test_any_bytes_are_either_text_or_refused(data: bytes) -> None:
    try:
        text = canonical_text(data).text
    except UndecodableError as error:
        assert error.problem and error.advice
    else:
        assert "\0" not in text and "\r" not in text


def test_front_matter_ends_at_its_closing_line() -> None:
    text = '---\ntitle: "Dot: products"\ntags:\n  - a\n---\n\n# Words\n'
    front, rest = split_front_matter(text)
    assert rest == "# Words\n"
    assert front + rest == text
    assert front_matter_title(front) == "Dot: products"


def test_toml_front_matter_is_front_matter() -> None:
    front, rest = split_front_matter("+++\ntitle = 'Norms'\n+++\nText")
    assert (front_matter_title(front), rest) == ("Norms", "Text")


@pytest.mark.parametrize(
    ("line", "title"),
    [("title: Plain # comment", "Plain"), ("Title: 'It'", "It"), ("title:", None), ("subtitle: no", None)],
)
def test_the_title_of_front_matter_is_unquoted(line: str, title: str | None) -> None:
    assert front_matter_title(f"---\n{line}\n---\n") == title


@pytest.mark.parametrize(
    "text",
    ["---\nA paragraph between two rules.\n---\nMore", "---\ntitle: never closed\n", "a\n---\nb: c\n---\n", "--- \nx"],
)
def test_a_rule_at_the_top_is_not_front_matter(text: str) -> None:
    assert split_front_matter(text) == ("", text)


@pytest.mark.parametrize("heading", ["## References", "## REFERENCES ##", "References\n----------"])
def test_the_trailing_bibliography_is_cut_off(heading: str) -> None:
    text = f"# T\n\nWords.\n\n{heading}\n\n### Books\n\n1. A book.\n"
    assert strip_bibliography(text, ["references"]) == "# T\n\nWords.\n"


def test_only_the_last_of_several_bibliographies_is_cut_off() -> None:
    text = "## References\n\nFirst.\n\n## Body\n\nWords.\n\n## References\n\nSecond.\n"
    assert strip_bibliography(text, ["References"]) == "## References\n\nFirst.\n\n## Body\n\nWords.\n"


@pytest.mark.parametrize(
    "text",
    [
        "## References\n\nA.\n\n## Appendix\n\nB.\n",
        "## References\n\nA.\n\n# Part two\n",
        "## Body\n\nNo list of books.\n",
        "```\n## References\n```\n\nWords.\n",
    ],
)
def test_a_text_without_a_trailing_bibliography_stays_whole(text: str) -> None:
    assert strip_bibliography(text, ["References"]) == text


def test_without_titles_nothing_is_cut_off() -> None:
    assert strip_bibliography("## References\n\nA.\n", []) == "## References\n\nA.\n"
