"""The strategies page in a real browser: filters, sorting, two rows compared, and back."""

from __future__ import annotations

import pypdfium2
import pytest
from browser_tools import NARROW, WIDE, assert_accessible, assert_no_sideways_scroll, drawn
from web_worlds import HYBRID_E, reviewed

from store.engine import open_store

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'bluffline.db'}")
    reviewed(engine)
    reviewed(engine, failed={HYBRID_E: "out of memory"}, state="interrupted", reason="its process ended")
    yield engine
    engine.dispose()


def first(page):
    return page.locator("table.strategies tbody tr").first.inner_text()


def test_the_page_is_accessible_and_fits(open_page, scheme, size):
    page = open_page("/sweeps/1?pick=1,3", scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_a_sweep_that_failed_half_way_is_accessible_and_fits(open_page, scheme):
    page = open_page("/sweeps/2", scheme=scheme)
    drawn(page)
    assert page.locator("tr.failed").count() == 1
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_at_1280_pixels_every_column_is_seen_without_scrolling(open_page):
    page = open_page("/sweeps/1", size=WIDE)
    inner, outer = page.evaluate(
        "(() => { const one = document.querySelector('.scroll'); return [one.scrollWidth, one.clientWidth]; })()"
    )
    assert inner <= outer


def test_filters_swap_the_page_keep_the_focus_and_are_undone_by_back(open_page):
    page = open_page("/sweeps/1")
    page.locator("#strategy-A").check()
    page.wait_for_function("() => document.querySelectorAll('table.strategies tbody tr').length === 2")
    assert "strategy=A" in page.url
    assert page.evaluate("document.activeElement.id") == "strategy-A"
    assert page.get_by_text("2 of 5 combinations").is_visible()
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('table.strategies tbody tr').length === 5")


def test_k_changes_the_verdict_the_order_and_the_plot(open_page):
    page = open_page("/sweeps/1")
    page.locator("#choose-k").select_option("1")
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.includes('R@1')")
    drawn(page)
    assert page.locator("#dots figcaption b").inner_text() == "R@1"
    assert page.get_by_role("columnheader", name="R@1").get_attribute("aria-sort") == "descending"


def test_heads_sort_both_ways(open_page):
    page = open_page("/sweeps/1")
    page.get_by_role("link", name="chunks").click()
    page.wait_for_url("**sort=-chunks*")
    page.wait_for_function("() => document.querySelector('table.strategies tbody th')?.textContent.includes('E')")
    page.get_by_role("link", name="chunks").click()
    page.wait_for_function("() => document.querySelector('table.strategies tbody th')?.textContent.includes('A')")
    assert page.get_by_role("columnheader", name="chunks").get_attribute("aria-sort") == "ascending"


def test_two_ticked_rows_are_compared_where_one_stands(open_page):
    page = open_page("/sweeps/1")
    page.get_by_label("Compare A dense").check()
    page.get_by_text("A dense is ticked").wait_for()
    page.get_by_label("Compare E dense").focus()
    page.keyboard.press("Space")
    card = page.locator("#compared")
    card.wait_for()
    assert "E dense against A dense" in card.inner_text()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Compare E dense"
    box = card.bounding_box()
    assert box["y"] + box["height"] <= WIDE["height"]  # in sight, wherever the table stands
    card.get_by_role("link", name="Clear").click()
    page.wait_for_function("() => !document.getElementById('compared')")
    assert page.locator("input[name=pick]:checked").count() == 0


def test_the_shown_rows_are_copied_as_markdown(open_page, live):
    page = open_page("/sweeps/1?strategy=E")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live.url)
    page.get_by_role("button", name="Copy as Markdown").first.click()
    page.get_by_text("Copied", exact=True).wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("| Strategy | Retriever |")
    assert len(copied.strip().splitlines()) == 2 + 3


def test_it_works_without_javascript(open_page):
    page = open_page("/sweeps/1", scripts=False, size=NARROW)
    page.get_by_label("Compare A dense").check()
    page.get_by_label("Compare E bm25").check()
    page.get_by_role("button", name="Compare the ticked").click()
    assert "against A dense" in page.locator("#compared").inner_text()
    page.get_by_label("bm25", exact=True).check()
    page.get_by_role("button", name="Apply").click()
    assert page.locator("table.strategies tbody tr").count() == 2


def test_printed_the_page_lies_on_its_side_and_no_column_is_cut_off(open_page):
    page = open_page("/sweeps/1", size=WIDE)
    drawn(page)
    with pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True)) as printed:
        width, height = printed[0].get_size()
        assert width > height
        words = " ".join(sheet.get_textpage().get_text_range() for sheet in printed)
    heads = page.locator("table.strategies thead tr").last.locator("th").all_inner_texts()
    for head in heads[1:]:  # the first is for screen readers
        assert all(word in words for word in head.replace("↓", "").split()), head
