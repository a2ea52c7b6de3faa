"""Comparing two sweeps in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn
from sqlalchemy import delete
from sqlmodel import Session, col
from web_worlds import DENSE_E, HYBRID_E, outcomes_of, reviewed

from experiments.recording import outcome_rows
from store import reads
from store.engine import open_store
from store.tables import OutcomeRow

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    """Two sweeps that differ in one combination, a third of other documents."""
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('compare') / 'store.db'}")
    reviewed(engine, commit="1" * 40)
    reviewed(engine, commit="2" * 40, branch="a-branch-with-a-rather-long-name", failed={HYBRID_E: "out of memory"})
    reviewed(engine, commit="3" * 40, corpus_hash="9" * 64)
    row = next(row for row in reads.combinations(engine, 2) if row.key == DENSE_E)
    outcomes = [
        replace(one, rank=50) if one.needle_id and one.rank and at < 24 else one
        for at, one in enumerate(outcomes_of(DENSE_E))
    ]
    with Session(engine) as session:
        session.execute(delete(OutcomeRow).where(col(OutcomeRow.combination_id) == row.id))
        session.add_all(outcome_rows(row.id, outcomes))
        session.commit()
    yield engine
    engine.dispose()


def test_the_page_is_accessible_and_fits(open_page, scheme, size):
    page = open_page("/compare?a=1&b=2", scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_two_sweeps_that_may_not_be_compared_are_accessible_and_fit(open_page):
    page = open_page("/compare?a=1&b=3", scheme="dark", size=NARROW)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_another_k_changes_everything_and_back_brings_the_first(open_page):
    page = open_page("/compare?a=1&b=2")
    page.locator("#k").select_option("4")
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.includes('R@4')")
    assert "k=4" in page.url
    assert "a=1" in page.url
    page.go_back()
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.includes('R@20')")


def test_another_baseline_is_chosen_and_the_two_are_swapped(open_page):
    page = open_page("/compare?a=1&b=2")
    page.locator("#a").select_option("3")
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.startsWith('Sweeps 3 and 2')")
    page.get_by_role("link", name="Swap").click()
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.startsWith('Sweeps 2 and 3')")


def test_questions_of_one_combination_are_picked_out(open_page):
    page = open_page("/compare?a=1&b=2")
    page.locator("#combination").select_option(DENSE_E)
    page.wait_for_function("() => document.querySelector('#broken')?.textContent.includes('in E dense')")
    assert page.locator(".flips tbody tr").count() > 5


def test_sorting_puts_the_most_broken_first(open_page):
    page = open_page("/compare?a=1&b=2")
    page.get_by_role("link", name="Broken", exact=True).click()
    page.wait_for_url("**sort=-broken**")
    page.wait_for_function("() => document.querySelector('th[aria-sort=descending]')")


def test_the_report_is_copied_as_markdown(open_page, live):
    page = open_page("/compare?a=1&b=2")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live.url)
    page.get_by_role("button", name=re.compile("whole report")).click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("## Sweep 1 against sweep 2")


def test_hovering_over_the_figure_keeps_the_policy(open_page):
    page = open_page("/compare?a=1&b=2")
    drawn(page)
    box = page.locator("#differences .plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(300)


def test_everything_works_without_javascript(open_page):
    page = open_page("/compare?a=1&b=2", scripts=False, size=NARROW)
    page.locator("#b").select_option("3")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_load_state()
    assert page.locator(".verdict").inner_text().startswith("Sweeps 1 and 3")
