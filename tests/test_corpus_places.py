"""Places: a page, a time or cells lead to the text that came from there, and what is not there is said."""

from __future__ import annotations

import pytest

from corpus.locators import Locator, locate
from corpus.places import Place, PlaceError, find_place, pages_of, parsed, place_at

PAGES = (Locator(0, 10, "page=1"), Locator(12, 20, "page=2"), Locator(20, 30, "page=2"), Locator(31, 40, "page=4"))
CUES = (Locator(0, 10, "t=0,2.5"), Locator(11, 20, "t=2.5,4"), Locator(21, 30, "t=10,12"))
SHEETS = (
    Locator(0, 5, "sheet=Price%20list"),
    Locator(6, 10, "sheet=Price%20list&range=A2:F2"),
    Locator(11, 20, "sheet=Price%20list&range=A3:F3"),
    Locator(21, 30, "sheet=A%26B&range=A2:B2"),
)


def test_a_page_is_all_the_text_that_came_from_it():
    assert find_place(PAGES, {"page": "2"}) == Place(12, 30, 2)
    assert pages_of(PAGES) == (1, 2, 4)
    assert find_place(PAGES, {"char": "1,2"}) is None


def test_a_time_is_what_is_said_then():
    assert find_place(CUES, {"t": "2.5,3"}) == Place(11, 20, seconds=(2.5, 3.0))
    assert find_place(CUES, {"t": "1"}) == Place(0, 10, seconds=(1.0, 1.0))
    assert find_place(CUES, {"t": "0,11"}) == Place(0, 30, seconds=(0.0, 11.0))


def test_cells_are_their_rows():
    assert find_place(SHEETS, {"sheet": "Price list", "range": "B3"}) == Place(11, 20, sheet="Price list")
    assert find_place(SHEETS, {"sheet": "Price list"}) == Place(0, 20, sheet="Price list")
    assert find_place(SHEETS, {"sheet": "A&B", "range": "A1:B9"}) == Place(21, 30, sheet="A&B")
    assert find_place(SHEETS, {"range": "A2"}) == Place(6, 10, sheet="Price list")


@pytest.mark.parametrize(
    ("locators", "asked", "said"),
    [
        (PAGES, {"page": "3"}, "page may be a page with text, from 1 to 4"),
        (PAGES, {"page": "x"}, "page may be"),
        ((), {"page": "1"}, "this document has no pages"),
        (CUES, {"t": "now"}, "t may be seconds"),
        (CUES, {"t": "9,3"}, "t may be seconds"),
        (CUES, {"t": "99"}, "up to 12"),
        ((), {"t": "1"}, "has no times"),
        (SHEETS, {"sheet": "C"}, "one of Price list, A&B"),
        (SHEETS, {"sheet": "A&B", "range": "A9"}, "cells of A&B with something in them"),
        (SHEETS, {"sheet": "A&B", "range": "9"}, "cells, as A2"),
        ((), {"sheet": "A"}, "has no sheets"),
    ],
)
def test_what_a_document_does_not_have_is_said(locators, asked, said):
    with pytest.raises(PlaceError, match=said):
        find_place(locators, asked)


@pytest.mark.parametrize("locators", [PAGES, CUES, SHEETS])
def test_every_locator_leads_back_to_text_that_holds_its_range(locators):
    for one in locators:
        found = find_place(locators, parsed(locate(locators, one.start, one.end)))
        assert found.start <= one.start
        assert one.end <= found.end


def test_a_range_knows_its_page_its_time_and_its_sheet():
    assert place_at(PAGES, 15, 35).page == 2
    assert place_at(CUES, 5, 15).seconds == (0.0, 4.0)
    assert place_at(SHEETS, 12, 13).sheet == "Price list"
    assert place_at((), 1, 2) == Place(1, 2)
