"""Ranges of a canonical text resolve to pages, times and cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.locators import Locator, clipped, column_name, locate, touched

PAGES = (Locator(0, 10, "page=1"), Locator(10, 25, "page=2"), Locator(25, 40, "page=4"))
CUES = (Locator(0, 9, "t=1,2.5"), Locator(9, 20, "t=2.5,4"), Locator(22, 30, "t=70.25,71"))
SHEETS = (
    Locator(0, 10, "sheet=Prices"),
    Locator(10, 20, "sheet=Prices&range=A2:C2"),
    Locator(20, 30, "sheet=Prices&range=B3"),
    Locator(30, 40, "sheet=More%20%26%20more"),
    Locator(40, 50, "sheet=More%20%26%20more&range=A2:AB2"),
)


@pytest.mark.parametrize(
    ("locators", "start", "end", "expected"),
    [
        ((), 3, 9, "#char=3,9"),
        (PAGES, 3, 9, "#page=1"),
        (PAGES, 9, 30, "#page=1"),
        (PAGES, 10, 11, "#page=2"),
        (PAGES, 39, 40, "#page=4"),
        (PAGES, 40, 50, "#char=40,50"),
        (PAGES, 5, 5, "#char=5,5"),
        (CUES, 0, 9, "#t=1,2.5"),
        (CUES, 8, 25, "#t=1,71"),
        (CUES, 20, 22, "#char=20,22"),
        (SHEETS, 0, 10, "#sheet=Prices"),
        (SHEETS, 10, 20, "#sheet=Prices&range=A2:C2"),
        (SHEETS, 5, 30, "#sheet=Prices&range=A2:C3"),
        (SHEETS, 25, 50, "#sheet=Prices&range=B3"),
        (SHEETS, 35, 45, "#sheet=More%20%26%20more&range=A2:AB2"),
    ],
)
def test_a_range_leads_to_its_page_its_time_or_its_cells(
    locators: tuple[Locator, ...], start: int, end: int, expected: str
) -> None:
    assert locate(locators, start, end) == expected


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), max_size=8), st.integers(0, 90), st.integers(1, 90))
def test_what_a_range_touches_is_what_shares_a_character_with_it(
    lengths: list[tuple[int, int]], start: int, length: int
) -> None:
    locators, at = [], 0
    for count, gap in lengths:
        locators.append(Locator(at, at + count, f"page={at}"))
        at += count + gap
    wanted = [one for one in locators if set(range(one.start, one.end)) & set(range(start, start + length))]
    assert list(touched(locators, start, start + length)) == wanted
    assert all(one.end <= start for one in clipped(locators, start))


def test_columns_of_a_sheet_are_named_as_spreadsheets_name_them() -> None:
    assert [column_name(number) for number in (1, 26, 27, 52, 53, 702, 703)] == [
        "A",
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
    ]
