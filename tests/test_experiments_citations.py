from dataclasses import replace

import pytest

from experiments.asking.answers import Passage
from experiments.asking.citations import CitationError, cite
from tests.worlds import DOCUMENTS

BY_ID = {document.id: document for document in DOCUMENTS}


def passage(number, document, words, section="Spring"):
    text = BY_ID[document].text
    start = text.index(words)
    return Passage(number, 1, 0.2, 0.8, document, BY_ID[document].title, section, start, start + len(words), words)


def test_a_number_becomes_document_label_locator_and_quote():
    supplied = passage(1, "tides.md", "A spring tide comes at the new moon and at the full one.")
    (citation,) = cite([supplied], BY_ID)
    assert citation.document == "tides.md"
    assert citation.label == "Tides › Spring"
    assert citation.locator == f"#char={supplied.start},{supplied.end}"
    assert citation.quote == BY_ID["tides.md"].text[citation.start : citation.end]


def test_a_chunk_before_the_first_section_is_labelled_by_its_title_alone():
    assert cite([passage(1, "tides.md", "The moon pulls the sea.", section="")], BY_ID)[0].label == "Tides"


def test_chunks_the_gate_did_not_keep_are_never_cited():
    assert cite([passage(None, "bread.md", "Bake until brown.")], BY_ID) == ()


def test_a_quote_that_does_not_stand_at_its_place_is_an_error_that_shows_both():
    moved = replace(passage(1, "bread.md", "Bake until brown."), start=3, end=20)
    with pytest.raises(CitationError, match=r"quotes 'Bake until brown\.', but at bread.md#char=3,20 stands"):
        cite([moved], BY_ID)


def test_an_empty_quote_a_lost_document_and_a_number_given_twice_are_errors():
    good = passage(1, "bread.md", "Bake until brown.")
    with pytest.raises(CitationError, match="quotes ''"):
        cite([replace(good, quote="", end=good.start)], BY_ID)
    with pytest.raises(CitationError, match="no such document"):
        cite([replace(good, document="gone.md")], BY_ID)
    with pytest.raises(CitationError, match=r"\[1\] is given to two chunks"):
        cite([good, good], BY_ID)
