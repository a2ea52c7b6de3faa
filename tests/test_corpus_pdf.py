"""PDFs as they are: columns, running headers, words cut in two, tables, pictures, damage."""

import pytest
from made_files import Text, pdf, prose

from corpus.extraction import ocr, pdf_files
from corpus.extraction.extracted import Dropped, Extracted, ExtractionError
from corpus.extraction.limits import Limits
from corpus.extraction.reading import extract_bytes, reader_for

LEFT = [
    "The left column begins with words that go",
    "on over several lines of about one length and",
    "then it ends here.",
]
RIGHT = [
    "The right column is read after it, and it has",
    "lines of much the same length, as columns of",
    "papers do, up to here.",
]


def read(data: bytes, **limits: object) -> Extracted:
    return extract_bytes(data, reader_for("pdf"), Limits(**limits))  # type: ignore[arg-type]


def test_lines_become_paragraphs_and_large_letters_headings() -> None:
    page = [
        Text(70, 60, "A paper on ferries", 20),
        Text(70, 100, "Timetable", 14),
        *prose(70, 130, ["The ferry leaves at nine and comes back before the harbour is", "closed for the night."]),
        *prose(70, 190, ["It does not sail in winter."]),
    ]
    found = read(pdf([page]))
    assert found.title == "A paper on ferries"
    assert found.text == (
        "# A paper on ferries\n\n## Timetable\n\n"
        "The ferry leaves at nine and comes back before the harbour is closed for the night.\n\n"
        "It does not sail in winter.\n"
    )


def test_headings_as_large_as_the_title_are_no_part_of_it() -> None:
    """The words of three places were run together into one title."""
    page = [
        Text(70, 60, "A pump", 20),
        *prose(70, 100, ["It pumps water from below to above, every day but Sunday."]),
        Text(70, 160, "Safety", 20),
        *prose(70, 200, ["Never run it dry for longer than ten seconds at a time."]),
    ]
    assert read(pdf([page])).title == "A pump"
    assert read(pdf([page])).text.startswith("# A pump\n\nIt pumps water")
    assert (
        read(pdf([[*prose(70, 30, ["Words before any of the headings, in letters of a text."]), *page]])).title is None
    )


@pytest.mark.parametrize("interleaved", [False, True])
def test_two_columns_are_read_one_after_the_other(interleaved: bool) -> None:
    left, right = prose(50, 100, LEFT * 4), prose(310, 100, RIGHT * 4)
    words = [line for both in zip(left, right, strict=True) for line in both] if interleaved else [*left, *right]
    text = read(pdf([words])).text
    assert (
        "The left column begins with words that go on over several lines of about one length and then it ends" in text
    )
    assert text.index("The right column") > text.rindex("then it ends here.")


def test_a_page_drawn_in_no_order_is_read_from_top_to_bottom() -> None:
    lines = prose(70, 100, [f"Line number {number} of this page says a few words more." for number in range(20)])
    text = read(pdf([[*lines[1::2], *lines[::2]]])).text
    places = [text.index(f"Line number {number} ") for number in range(20)]
    assert places == sorted(places)


def test_words_cut_at_line_ends_are_put_together_and_compounds_keep_their_hyphen() -> None:
    page = prose(
        70,
        100,
        [
            "A well-known thing is that a retrie-",
            "ver finds nothing twice, and a well-",
            "known one is that it may go on to be-",
            "come better.",
        ],
    )
    assert read(pdf([page])).text == (
        "A well-known thing is that a retriever finds nothing twice, "
        "and a well-known one is that it may go on to become better.\n"
    )


def test_a_word_cut_at_two_line_ends_is_put_together_as_well() -> None:
    page = prose(70, 100, ["A narrow column cuts an ex-", "traordi-", "nary word."])
    assert read(pdf([page])).text == "A narrow column cuts an extraordinary word.\n"


def test_running_headers_and_page_numbers_are_left_out_and_reported() -> None:
    pages = [
        [
            Text(70, 40, f"Annual report 2025, chapter {number}"),
            *prose(70, 100, ["This is what the page has to say about it.", f"It does so {often}."]),
            Text(290, 800, str(number + 6)),
        ]
        for number, often in enumerate(("once", "twice", "at times", "for ever"), 1)
    ]
    found = read(pdf(pages))
    assert found.facts.dropped == (Dropped("7", 4), Dropped("Annual report 2025, chapter 1", 4))
    assert found.text.split("\n\n")[0] == "This is what the page has to say about it. It does so once."
    assert "Annual" not in found.text
    assert [locator.place for locator in found.locators] == ["page=1", "page=2", "page=3", "page=4"]


def test_equal_pages_are_no_running_headers() -> None:
    page = prose(70, 100, ["There were 20,000 bottles of water delivered."])
    found = read(pdf([page, page]))
    assert found.text.count("20,000 bottles") == 2
    assert found.facts.dropped == ()


def test_rows_of_a_table_stay_rows() -> None:
    rows = [("Austria", "8.9", "Vienna"), ("Belgium", "11.5", "Brussels"), ("Finland", "5.5", "Helsinki")]
    page = [
        Text(x, 100 + 14 * number, cell)
        for number, row in enumerate(rows)
        for x, cell in zip((70, 200, 350), row, strict=True)
    ]
    found = read(pdf([page]))
    assert found.text == "Austria 8.9 Vienna\n\nBelgium 11.5 Brussels\n\nFinland 5.5 Helsinki\n"
    assert found.facts.tables == 1


def test_a_blank_page_keeps_its_number_and_a_sentence_goes_on_over_a_page() -> None:
    first = prose(70, 700, ["This sentence is long enough to fill the line and it goes on over to the"])
    found = read(pdf([first, [], prose(70, 100, ["third page of the file, where it ends. Then comes another one."])]))
    assert "goes on over to the third page of the file" in found.text
    assert [locator.place for locator in found.locators] == ["page=1", "page=3"]
    cut = found.locators[1].start
    assert found.text[cut:].startswith(" third page")


def test_the_pdfs_own_table_of_contents_says_what_is_a_heading() -> None:
    page = [
        Text(70, 60, "Winter service"),
        *prose(70, 100, ["No ferry sails in winter, and the harbour is closed to all but the pilots."]),
    ]
    found = read(pdf([page], outline=[("1 Winter service", 0)]))
    assert found.text.startswith("## Winter service\n\n")


def test_pages_that_are_pictures_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = bytes(10_000)
    monkeypatch.setattr(pdf_files, "tesseract", lambda: None)
    with pytest.raises(
        ExtractionError, match="its page is a picture without a text layer and Tesseract is not"
    ) as caught:
        read(pdf([[]], picture=picture))
    assert caught.value.kind == "image-only"
    with pytest.raises(ExtractionError, match="switched off"):
        read(pdf([[]], picture=picture), ocr=False)
    words = prose(70, 100, ["Only this page has words."])
    found = read(pdf([words, []], picture=picture))
    assert found.facts.partial == ("page 2 without text: a picture, and Tesseract is not installed",)
    with pytest.raises(ExtractionError) as caught:
        read(pdf([[]]))
    assert caught.value.kind == "empty"


@pytest.mark.skipif(ocr.tesseract() is None, reason="Tesseract is not installed")
def test_a_picture_of_words_is_read_with_its_confidence() -> None:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (1200, 300), 255)
    ImageDraw.Draw(image).text((60, 80), "The ferry leaves at nine.", fill=0, font=ImageFont.load_default(60))
    small = image.resize((100, 100))
    assert len(small.tobytes()) == 10_000  # what `pdf` draws is too small to be read: this one is read directly
    import io

    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    found = ocr.read_picture(buffer.getvalue(), "eng")
    assert found.paragraphs == ("The ferry leaves at nine.",)
    assert 0.8 < found.confidence <= 1
    with pytest.raises(ocr.OcrError, match="has no data for the language xyz"):
        ocr.read_picture(buffer.getvalue(), "xyz")


def test_too_many_pages_and_damage_are_told_apart() -> None:
    pages = [prose(70, 100, ["Words."])] * 3
    with pytest.raises(ExtractionError, match="more than 2 pages: 3 pages") as caught:
        read(pdf(pages), pages=2)
    assert caught.value.kind == "too-large"
    for broken in (b"%PDF-1.4 and nothing else", pdf(pages)[:200], b"%PDF-" + bytes(500)):
        with pytest.raises(ExtractionError) as caught:
            read(broken)
        assert caught.value.kind == "damaged"


def test_extraction_is_the_same_every_time() -> None:
    data = pdf([[*prose(50, 100, LEFT * 4), *prose(310, 100, RIGHT * 4)]] * 3)
    assert read(data) == read(data)
