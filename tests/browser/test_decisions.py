"""Reading decisions in a real browser."""

from __future__ import annotations

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn
from web_worlds import DENSE_E, HYBRID_E, reviewed

from experiments.deciding.choosing import ByHand, Cheapest
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.reading import load_sweep
from store.engine import open_store

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    """Two decisions on one sweep, the second superseding the first."""
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('decisions') / 'store.db'}")
    reviewed(engine)
    loaded, supersedes = load_sweep(engine, 1), None
    for key, way in ((DENSE_E, ByHand(0.55)), (HYBRID_E, Cheapest())):
        evidence = consider(loaded, find_combination(loaded, key), Terms(), [0.55])
        made = decision_from(evidence, evidence.choose(way), who="Ada", reason="Safe enough.", project="p",
                             supersedes=supersedes)  # fmt: skip
        supersedes = record(engine, made).id
    yield engine
    engine.dispose()


@pytest.mark.parametrize("address", ["/decisions", "/decisions/2"])
def test_the_pages_are_accessible_and_fit(open_page, scheme, size, address):
    page = open_page(address, scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_one_leads_from_the_list_to_a_decision_and_on_to_the_one_before(open_page):
    page = open_page("/decisions")
    page.locator("tr.chosen").get_by_role("link").first.click()
    page.wait_for_url("**/decisions/2")
    page.get_by_role("link", name="decision 1").click()
    page.wait_for_url("**/decisions/1")
    assert "no longer in force" in page.locator(".verdict").inner_text()


def test_the_production_config_is_copied(open_page, live):
    page = open_page("/decisions/2")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live.url)
    page.get_by_role("button", name="Copy the TOML").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert "[gate]" in page.evaluate("navigator.clipboard.readText()")


def test_hovering_over_the_costs_keeps_the_policy(open_page):
    page = open_page("/decisions/2")
    drawn(page)
    page.locator("#cost-figure").scroll_into_view_if_needed()
    box = page.locator("#cost-figure .plot").bounding_box()
    for share in (0.2, 0.5, 0.8):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * 0.6)
        page.wait_for_timeout(60)


def test_a_decision_is_read_without_javascript(open_page):
    page = open_page("/decisions/2", scripts=False, size=NARROW)
    assert "Expected cost per 1,000 questions over the threshold" in page.locator("#cost-figure").inner_text()
    page.get_by_text("The evidence as it was written down").click()
    assert page.get_by_text("Cheapest").first.is_visible()


def test_an_empty_list_is_accessible(browser, tmp_path_factory, scheme):
    from conftest import AnyPort, serve_app

    from webapp.app import create_app

    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('empty') / 'store.db'}")
    app = create_app(engine, root=tmp_path_factory.mktemp("project"), allowed_hosts=AnyPort())
    for url in serve_app(app):
        context = browser.new_context(color_scheme=scheme, base_url=url)
        page = context.new_page()
        for path in ("/decisions", "/", "/compare", "/questions"):
            page.goto(path)
            assert_accessible(page)
        context.close()
    engine.dispose()
