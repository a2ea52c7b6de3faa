"""The frame and every component, in a real browser: both themes, both sizes, with and without JavaScript."""

from __future__ import annotations

import gzip

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn

pytestmark = pytest.mark.browser


def test_every_component_is_accessible_and_fits(open_page, scheme, size):
    page = open_page("/patterns", scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_everything_but_figures_works_without_javascript(open_page):
    page = open_page("/patterns", scripts=False, size=NARROW)
    assert page.locator("#strategies tbody tr").count() == 6
    assert page.get_by_text("Stacked bars: as the threshold grows").is_visible()
    assert not page.locator(".plot").first.is_visible()
    page.locator("form.filters button").first.click()
    page.wait_for_load_state()
    assert "k=20" in page.url


def test_the_theme_is_chosen_remembered_and_applied_before_the_first_paint(open_page):
    page = open_page("/patterns", scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload(wait_until="commit")
    page.wait_for_selector("main")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(ground) == dark
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="As the system").click()
    assert page.evaluate(ground) == light


def test_figures_take_the_colours_of_the_theme(open_page):
    page = open_page("/patterns", scheme="light")
    drawn(page)
    fill = "getComputedStyle(document.querySelector('#outcomes .trace.bars path')).fill"
    light = page.evaluate(fill)
    assert light == "rgb(200, 80, 15)"
    page.get_by_role("button", name="Dark").click()
    page.wait_for_function(f"() => {fill} === 'rgb(240, 125, 61)'")


def test_the_threshold_line_moves_by_mouse_and_swaps_the_reading(open_page):
    page = open_page("/patterns")
    drawn(page)
    line = page.locator("#outcomes .threshold-line")
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] - 120, start[1], steps=4)
    with page.expect_response(lambda answer: "cut=" in answer.url):
        page.mouse.up()
    moved = float(page.locator("#cut").input_value())
    assert 0.4 < moved < 0.6
    page.wait_for_function(f"() => document.querySelector('#readout h2')?.textContent === 'At {moved:.3f}'")
    assert f"cut={moved:g}" in page.url
    assert page.locator("#distances .threshold-line output").inner_text() == f"{moved:g}"


def test_the_threshold_line_moves_by_keyboard(open_page):
    page = open_page("/patterns")
    drawn(page)
    page.locator("#cut").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#readout h2')?.textContent === 'At 0.630'")
    assert page.locator("#outcomes .threshold-line output").inner_text() == "0.63"


def test_sorting_swaps_the_table_and_the_back_button_brings_the_page_back(open_page):
    page = open_page("/patterns")
    first = page.locator("#strategies tbody tr").first
    assert "hybrid" in first.inner_text()
    page.get_by_role("link", name="R@20").click()
    page.wait_for_function("() => document.querySelector('#strategies tbody tr')?.textContent.includes('blind')")
    assert "sort=r20" in page.url
    assert page.locator("#strategies").count() == 1
    drawn(page)  # the figure that came with the fragment as well
    assert page.locator("#dots .main-svg").count() > 0
    page.go_back()
    page.wait_for_function("() => document.querySelector('#strategies tbody tr')?.textContent.includes('hybrid')")
    assert page.locator("header.top").count() == 1


def test_a_refused_parameter_becomes_a_notice_and_leaves_the_page_standing(open_page, watch):
    page = open_page("/patterns")
    watch.expect("the server responded with a status of 400")
    page.evaluate("htmx.ajax('GET', '/patterns?cut=7', {target: '#readout', swap: 'outerHTML'})")
    page.locator("#notices .notice.bad").wait_for()
    assert "cut = '7' is not allowed" in page.locator("#notices").inner_text()
    assert page.locator("#readout").is_visible()


def test_the_arrow_keys_step_to_the_neighbours(open_page):
    page = open_page("/patterns")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#figures")


def test_markdown_is_copied(open_page, browser, live):
    page = open_page("/patterns")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live.url)
    page.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("| Strategy | Retriever |")


def test_the_first_view_is_small(open_page, live):
    page = open_page("/patterns")
    drawn(page)
    sizes = page.evaluate(
        "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
        ".map((one) => [one.name, one.encodedBodySize])"
    )
    assert sum(size for _, size in sizes) < 700_000, sizes
    document = page.evaluate("fetch(location.href).then((answer) => answer.text())")
    assert len(gzip.compress(document.encode())) < 60_000


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/patterns?cut=wide", 400)])
def test_error_pages_are_accessible_and_fit(open_page, scheme, size, path, status):
    page = open_page(path, scheme=scheme, size=size, status=status)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_the_skip_link_leads_past_the_navigation(open_page):
    page = open_page("/patterns")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#main'")


def test_printing_leaves_out_controls_and_keeps_every_column(open_page):
    page = open_page("/patterns", scheme="dark")
    drawn(page)
    page.emulate_media(media="print")
    assert not page.locator("form.filters").first.is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
