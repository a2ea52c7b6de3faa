"""The threshold page in a real browser: the line by mouse and keyboard, terms, and choosing."""

from __future__ import annotations

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn
from web_worlds import reviewed

from store.decisions import decision_in_force
from store.engine import open_store

pytestmark = pytest.mark.browser

PAGE = "/sweeps/1/threshold?strategy=E&retriever=dense&t=0.6"


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'bluffline.db'}")
    reviewed(engine)
    yield engine
    engine.dispose()


def reads(page, label):
    """Wait until the readout is that of a threshold."""
    page.wait_for_function(f"() => document.querySelector('#readout h2')?.textContent === 'At {label}'")


def test_the_page_is_accessible_and_fits(open_page, scheme, size):
    page = open_page(PAGE, scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_the_form_that_chooses_is_accessible_and_fits(open_page, scheme, size):
    page = open_page("/sweeps/1/threshold/choose?strategy=E&retriever=dense&t=0.6", scheme=scheme, size=size)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_dragging_the_line_reads_every_part_of_the_page_anew(open_page):
    page = open_page(PAGE)
    drawn(page)
    line = page.locator("#outcomes .threshold-line")
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 90, y, steps=6)
    read = "(document.querySelector('#readout h2')?.textContent ?? 'At 0.6')"
    page.wait_for_function(f"() => {read} !== 'At 0.6'")  # while held
    page.mouse.up()
    value = page.locator("#t").input_value()
    assert 0.3 < float(value) < 0.6
    reads(page, f"{float(value):g}")
    for place in ("#verdict .verdict", "#bluffs h2", "#sweep tr.chosen th", "#sides tbody th"):
        assert f"{float(value):g}" in page.locator(place).first.inner_text(), place
    assert f"t={float(value):g}" in page.url
    assert page.locator("#distances .threshold-line output").inner_text() == f"{float(value):g}"
    assert page.locator("#cost .threshold-line output").inner_text() == f"{float(value):g}"
    assert page.locator("#outcomes .main-svg").count() > 0  # the figures stayed as they were


def test_arrow_keys_move_the_line_by_a_thousandth_and_keep_the_focus(open_page):
    page = open_page(PAGE)
    drawn(page)
    page.locator("#t").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    reads(page, "0.603")
    assert page.evaluate("document.activeElement.id") == "t"
    assert "t=0.603" in page.url
    page.reload()
    reads(page, "0.603")


def test_the_slider_stands_under_the_figures_scale(open_page):
    page = open_page(PAGE)
    drawn(page)
    line = page.locator("#outcomes .threshold-line").bounding_box()
    slider = page.locator("#t").bounding_box()
    low, high, value = (float(page.locator("#t").get_attribute(name)) for name in ("min", "max", "value"))
    thumb = slider["x"] + 8 + (value - low) / (high - low) * (slider["width"] - 16)
    assert abs(line["x"] + line["width"] / 2 - thumb) < 4


def test_costs_and_the_promise_are_typed_and_keep_the_focus(open_page):
    page = open_page(PAGE)
    drawn(page)
    page.get_by_label("bluff", exact=True).fill("200")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('#cost figcaption')?.textContent.includes('a bluff 200')")
    drawn(page)
    assert page.evaluate("document.activeElement.id") == "wrong"
    page.get_by_label("Bluffs at most").fill("45")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('.promises')?.textContent.includes('certified up to')")
    assert "bluff=200" in page.url and "most=45" in page.url


def test_another_combination_swaps_the_page_keeps_the_terms_and_back_returns(open_page):
    page = open_page(PAGE)
    drawn(page)
    page.get_by_label("bluff", exact=True).fill("200")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('#cost figcaption')?.textContent.includes('a bluff 200')")
    page.locator("#retriever").focus()
    page.locator("#retriever").select_option("bm25")
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.includes('E with bm25')")
    drawn(page)
    assert page.evaluate("document.activeElement.id") == "retriever"
    assert page.get_by_label("bluff", exact=True).input_value() == "200"
    assert page.locator("main").count() == 1
    page.go_back()
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.includes('E with dense')")


def test_with_no_threshold_there_is_no_line_until_one_is_set(open_page):
    page = open_page("/sweeps/1/threshold?strategy=E&retriever=dense&t=none")
    drawn(page)
    assert page.locator(".threshold-line").count() == 0
    page.locator("#t").focus()
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.querySelector('#readout h2')?.textContent.startsWith('At ')")
    drawn(page)
    page.locator("#outcomes .threshold-line").wait_for()


def test_a_value_out_of_range_becomes_a_notice_and_leaves_the_page_standing(open_page, watch):
    page = open_page(PAGE)
    drawn(page)
    watch.expect("the server responded with a status of 400")
    page.evaluate("document.getElementById('most').removeAttribute('max')")
    page.get_by_label("Bluffs at most").fill("400")
    page.keyboard.press("Tab")
    page.locator("#notices .notice.bad").wait_for()
    assert "most = '400' is not allowed" in page.locator("#notices").inner_text()
    assert page.locator("#readout").is_visible()


def test_it_works_without_javascript(open_page):
    page = open_page(PAGE, scripts=False, size=NARROW)
    page.locator("#t").focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Read this threshold").click()
    assert page.locator("#readout h2").inner_text() == "At 0.599"
    page.get_by_label("bluff", exact=True).fill("50")
    page.get_by_role("button", name="Use these").click()
    assert "bluff=50" in page.url and "t=0.599" in page.url
    page.get_by_label("Retriever").select_option("hybrid")
    page.get_by_role("button", name="Show").click()
    assert "E with hybrid" in page.locator(".verdict").inner_text()


def test_a_threshold_is_chosen_from_the_line_to_the_decision(open_page, live):
    page = open_page(PAGE)
    drawn(page)
    page.locator("#t").focus()
    page.keyboard.press("ArrowLeft")
    reads(page, "0.599")
    page.get_by_role("link", name="Choose this threshold").click()
    page.get_by_label("Who").fill("Ada")
    page.get_by_label("Why").fill("Bluffs are dear.")
    with page.expect_response(lambda answer: answer.request.method == "POST") as answer:
        page.get_by_role("button", name="Choose 0.599").click()
    assert answer.value.status == 303
    page.wait_for_url("**/decisions/*")
    decision = decision_in_force(live.engine)
    assert (decision.threshold, decision.who) == (0.599, "Ada")
    page.goto("/sweeps/1/threshold")
    assert page.locator("#readout h2").inner_text() == "At 0.599"
