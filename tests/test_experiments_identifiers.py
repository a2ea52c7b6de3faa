import pytest

from experiments.asking.identifiers import identifiers, links


def found(text):
    return [(one.kind, text[one.start : one.end]) for one in identifiers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://example.org/a_(b).", [("URL", "https://example.org/a_(b)")]),
        ("(see https://example.org/x)", [("URL", "https://example.org/x")]),
        ("at www.example.org, there", [("URL", "www.example.org")]),
        ("at example.org/docs for", [("URL", "example.org/docs")]),
        ("doi:10.1145/3292500.3330701.", [("DOI", "doi:10.1145/3292500.3330701")]),
        ("https://doi.org/10.1145/3292500", [("DOI", "https://doi.org/10.1145/3292500")]),
        ("arXiv:1706.03762v5 and arXiv: 2005.11401", [("arXiv", "arXiv:1706.03762v5"), ("arXiv", "arXiv: 2005.11401")]),
        ("arXiv:hep-th/9901001", [("arXiv", "arXiv:hep-th/9901001")]),
        ("paper 1706.03762 says", [("arXiv", "1706.03762")]),
        (
            "ISBN 978-0-262-03561-3 and ISBN-10: 0-306-40615-2",
            [("ISBN", "ISBN 978-0-262-03561-3"), ("ISBN", "ISBN-10: 0-306-40615-2")],
        ),
        ("9780262035613", [("ISBN", "9780262035613")]),
        ("mail to mailto:a@b.org now", [("URL", "mailto:a@b.org")]),
    ],
)
def test_identifiers_are_found_without_the_sentence_around_them(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "3.14159 and 1999.12345",
        "tokens 16,777,216 of 10.5",
        "e.g. this, i.e. that",
        "np.sum and model.py",
        "10.5/3",
        "version 2.13.0",
        "978 of 1000",
    ],
)
def test_numbers_and_code_are_no_identifiers(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://doi.org/10.1145/ABC", "doi: 10.1145/abc"),
        ("https://arxiv.org/abs/1706.03762v2", "arXiv:1706.03762"),
        ("https://arxiv.org/pdf/1706.03762.pdf", "1706.03762"),
        ("ISBN 0-306-40615-2", "978-0-306-40615-7"),
        ("http://www.Example.org/", "https://example.org"),
    ],
)
def test_two_ways_of_writing_the_same_thing_compare_equal(one, other):
    assert [each.canonical for each in identifiers(one)] == [each.canonical for each in identifiers(other)]


def test_a_longer_address_is_another_address():
    assert identifiers("https://a.org")[0].canonical != identifiers("https://a.org/b")[0].canonical


def test_markdown_links_are_one_range():
    text = "see [the docs](https://a.org/b) and [1](notes.md)"
    assert [text[start:end] for start, end in links(text)] == ["[the docs](https://a.org/b)", "[1](notes.md)"]


def test_hostile_texts_take_linear_time():
    for text in ("a." * 50_000, "10.1234/" * 12_000, "[" * 100_000, "9 " * 50_000, "http://" * 14_000, "-" * 100_000):
        identifiers(text)
        links(text)
