"""The queries and the page of one question in a real browser."""

from __future__ import annotations

import pytest
from browser_tools import NARROW, WIDE, assert_accessible, assert_no_sideways_scroll
from drill_world import drilled

from store.engine import open_store

pytestmark = pytest.mark.browser

PAGE = "/sweeps/2/queries"


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'bluffline.db'}")
    drilled(engine)
    drilled(engine, commit="d" * 40)
    yield engine
    engine.dispose()


def test_the_list_is_accessible_and_fits(open_page, scheme, size):
    page = open_page(f"{PAGE}?against=1&t=0.3", scheme=scheme, size=size)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


@pytest.mark.parametrize(("in_scheme", "of_size"), [("light", WIDE), ("dark", NARROW), ("dark", WIDE)])
@pytest.mark.parametrize("path", [f"{PAGE}/stones/course?t=0.3&open=10,11,12,16", f"{PAGE}/near-literal?t=none"])
def test_a_question_is_accessible_and_fits(open_page, in_scheme, of_size, path):
    page = open_page(path, scheme=in_scheme, size=of_size)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def listed(page):
    return page.locator(".ranks tbody tr").count()


def test_tabs_filters_and_words_swap_the_list_and_back_brings_it_back(open_page):
    page = open_page(PAGE)
    whole = listed(page)
    page.get_by_role("link", name="destroyed").click()
    page.wait_for_url("**which=destroyed**")
    page.wait_for_function(f"() => document.querySelectorAll('.ranks tbody tr').length < {whole}")
    destroyed = listed(page)
    page.get_by_label("Phrasing").select_option("ticket")
    page.wait_for_function(f"() => document.querySelectorAll('.ranks tbody tr').length < {destroyed}")
    assert "which=destroyed" in page.url and "phrasing=ticket" in page.url
    page.go_back()
    page.wait_for_function(f"() => document.querySelectorAll('.ranks tbody tr').length === {destroyed}")
    page.get_by_role("link", name="all 15").click()
    page.wait_for_function(f"() => document.querySelectorAll('.ranks tbody tr').length === {whole}")
    page.get_by_label("Words").fill("oven door")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.ranks tbody tr').length === 1")
    assert "words=oven+door" in page.url


def test_the_list_sorts_by_a_combination(open_page):
    page = open_page(PAGE)
    page.locator(".rank-head a").first.click()
    page.wait_for_url("**sort=c**")
    page.locator('.rank-head[aria-sort="ascending"]').wait_for()
    page.locator(".rank-head a").first.click()
    page.locator('.rank-head[aria-sort="descending"]').wait_for()


def test_the_threshold_is_chosen_and_read_again(open_page):
    page = open_page(f"{PAGE}?t=none")
    assert page.locator(".ranks tbody .gated").count() == 0
    page.get_by_label("Threshold").select_option("0.1")
    page.locator(".ranks tbody .gated").first.wait_for()
    assert "t=0.1" in page.url


def test_a_question_opens_and_the_arrow_keys_step_through_the_filtered_list(open_page):
    page = open_page(f"{PAGE}?phrasing=course&t=0.3")
    page.get_by_role("link", name="At which moon is the tide high?").click()
    page.wait_for_url("**/queries/moon-course?**")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/queries/rest-course?**phrasing=course**")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/queries/heat-course?**")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/queries/rest-course?**")
    page.get_by_role("link", name="Queries").last.click()
    page.wait_for_url("**/queries?**phrasing=course**")
    assert listed(page) == 5


def test_a_cell_of_the_grid_opens_and_closes_the_hits_of_its_combination(open_page):
    page = open_page(f"{PAGE}/door?open=10")
    assert page.locator(".answer").count() == 1
    page.locator(".grid a").nth(4).click()
    page.wait_for_function("() => document.querySelectorAll('.answer').length === 2")
    page.locator(".grid a").nth(4).click()
    page.wait_for_function("() => document.querySelectorAll('.answer').length === 1")
    page.locator(".grid .opened a").click()
    page.get_by_text("Choose combinations above").wait_for()
    assert "open=none" in page.url


def test_the_line_moves_between_the_hits_with_the_threshold(open_page):
    page = open_page(f"{PAGE}/stones/course?open=16&t=0.1")
    above = "document.querySelectorAll('.answer .hit:not(.beyond)').length"
    before = page.evaluate(above)
    assert page.locator(".answer .cutline").count() == 1
    page.get_by_label("Threshold").select_option("0.5")
    page.wait_for_function(f"() => {above} > {before}")
    assert page.locator(".answer .cutline").count() == 1


def test_the_needle_leads_to_its_place_in_the_document(open_page):
    page = open_page(f"{PAGE}/stones/course?open=16")
    page.locator(".place a").click()
    page.wait_for_url("**/documents/guides/**")
    page.locator(".laid .focus").first.wait_for()
    assert "An oven" in "".join(page.locator(".laid .focus").all_inner_texts())
    box = page.locator(".laid .focus").first.bounding_box()
    assert 0 <= box["y"] <= 900


def test_everything_works_without_javascript(open_page):
    page = open_page(PAGE, scripts=False, size=NARROW)
    page.get_by_label("Phrasing").select_option("ticket")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_load_state()
    assert listed(page) == 5
    page.get_by_role("link", name="destroyed").click()
    page.locator(".ranks tbody th a").first.click()
    assert "/queries/" in page.url
    page.locator(".grid a").first.click()
    assert page.locator(".answer").count() > 0
    page.get_by_role("link", name="next").or_(page.locator("a[rel=next]")).first.click()
    assert "phrasing=ticket" in page.url
