"""Win/loss in a real browser."""

from __future__ import annotations

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn
from web_worlds import DENSE_A, DENSE_E, reviewed

from store import reads
from store.engine import open_store

pytestmark = pytest.mark.browser

PAGE = "/sweeps/1/pairs"


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'bluffline.db'}")
    reviewed(engine)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def chosen(store_engine):
    ids = {row.key: row.id for row in reads.combinations(store_engine, 1)}
    return f"a={ids[DENSE_E]}&b={ids[DENSE_A]}"


def test_the_page_is_accessible_and_fits(open_page, scheme, size, chosen):
    page = open_page(f"{PAGE}?{chosen}", scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_a_click_on_a_cell_shows_its_questions_and_back_takes_them_away(open_page, chosen):
    page = open_page(PAGE)
    assert not page.locator("#pair h2").is_visible()
    cell = page.locator(f'.matrix a[href*="{chosen}"]')
    cell.click()
    page.locator("#pair h2").wait_for()
    assert "E dense" in page.locator("#pair h2").inner_text().replace("\n", " ")
    assert chosen in page.url
    assert page.locator(".matrix td[aria-current]").count() == 1
    assert page.locator("#pair .discordant tbody tr").count() > 5
    page.go_back()
    page.wait_for_function("() => !document.querySelector('#pair h2')")
    assert "a=" not in page.url


def test_a_cell_is_reached_and_chosen_by_keyboard(open_page):
    page = open_page(PAGE)
    page.locator(".matrix td a").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#pair h2").wait_for()


def test_filters_swap_the_matrix_and_stand_in_the_address(open_page):
    page = open_page(PAGE)
    assert page.locator(".matrix tbody tr").count() == 5
    page.get_by_label("E", exact=True).check()
    page.wait_for_function("() => document.querySelectorAll('.matrix tbody tr').length === 3")
    assert "strategy=E" in page.url
    assert page.evaluate("document.activeElement.id") == "strategy-E"
    page.get_by_label("Counted").select_option("needle")
    page.wait_for_url("**per=needle**")
    page.wait_for_function("() => document.querySelector('.count')?.textContent.includes('32 needles')")
    page.reload()
    assert page.locator(".matrix tbody tr").count() == 3
    page.go_back()
    page.wait_for_function("() => !location.search.includes('per=needle')")


def test_the_pair_stays_when_k_changes(open_page, chosen):
    page = open_page(f"{PAGE}?{chosen}")
    page.locator("#choose-k").select_option("1")
    page.wait_for_function("() => document.querySelector('#pair')?.textContent.includes('at k = 1.')")
    assert "k=1" in page.url and "a=" in page.url


def test_everything_works_without_javascript(open_page, chosen):
    page = open_page(PAGE, scripts=False, size=NARROW)
    page.locator(f'.matrix a[href*="{chosen}"]').click()
    page.wait_for_load_state()
    assert page.locator("#pair h2").is_visible()
    page.get_by_label("E", exact=True).check()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_load_state()
    assert "strategy=E" in page.url
    assert page.locator(".matrix tbody tr").count() == 3
