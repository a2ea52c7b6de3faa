"""The question set in a real browser."""

from __future__ import annotations

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn
from worlds import filled

from store.engine import open_store

pytestmark = pytest.mark.browser
SETTINGS = {"k": [1, 4], "alpha": 0.05, "seed": 7, "strategies": {"A": "", "E": ""}, "models": ["keywords"],
            "retrievers": ["dense", "bm25"], "thresholds": [0.5]}  # fmt: skip


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('questions') / 'store.db'}")
    filled(engine, settings=SETTINGS)
    yield engine
    engine.dispose()


def test_the_page_is_accessible_and_fits(open_page, scheme, size):
    page = open_page("/questions?check=1", scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_the_files_are_checked_on_request_and_only_that_part_is_swapped(open_page):
    page = open_page("/questions")
    page.evaluate("document.querySelector('h1').dataset.same = 'yes'")
    page.get_by_role("link", name="Check now").click()
    page.locator("#check .notice.good").wait_for()
    assert "13 documents and 94 questions are without fault" in page.locator("#check").inner_text()
    assert page.locator("h1").get_attribute("data-same") == "yes"
    assert "check=1" in page.url


def test_a_promise_is_reckoned_as_it_is_typed(open_page):
    page = open_page("/questions")
    page.locator("#target").fill("5")
    page.locator("#target").press("Tab")
    page.wait_for_function("() => document.querySelector('#bounds')?.textContent.includes('takes 59 unanswerable')")
    assert "target=5" in page.url


def test_each_reckoning_keeps_what_the_other_was_given(open_page):
    page = open_page("/questions")
    for field, given, part in (
        ("#target", "5", "#bounds"),
        ("#points", "7", "#planning"),
        ("#confidence", "90", "#bounds"),
    ):
        page.locator(field).fill(given)
        with page.expect_response(lambda answer, field=field: f"{field[1:]}=" in answer.url):
            page.locator(field).press("Tab")
        page.locator(f"{part}:not(.htmx-request)").wait_for()
    page.wait_for_url("**confidence=90**")
    assert {"target=5", "points=7", "confidence=90"} <= set(page.url.split("?")[1].split("&"))
    page.reload()
    assert [page.locator(field).input_value() for field in ("#target", "#points", "#confidence")] == ["5", "7", "90"]


def test_hovering_over_the_figures_keeps_the_policy(open_page):
    page = open_page("/questions")
    drawn(page)
    for name in ("#width-figure", "#overlap-figure"):
        page.locator(name).scroll_into_view_if_needed()
        box = page.locator(f"{name} .plot").bounding_box()
        for share in (0.2, 0.4, 0.6):
            page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * share)
            page.wait_for_timeout(60)


def test_everything_works_without_javascript(open_page):
    page = open_page("/questions", scripts=False, size=NARROW)
    page.get_by_role("link", name="Check now").click()
    page.wait_for_load_state()
    assert page.locator("#check .notice.good").is_visible()
    page.locator("#target").fill("20")
    page.get_by_role("group", name="A promise about bluffs").get_by_role("button", name="Reckon").click()
    page.wait_for_load_state()
    assert "at most 20 % bluffs" in page.locator("#bounds").inner_text()
