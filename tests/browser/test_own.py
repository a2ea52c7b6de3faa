"""A team's own retriever in a real browser: its row, its threshold, and its texts that stand nowhere."""

from __future__ import annotations

import pytest
from browser_tools import assert_accessible, assert_no_sideways_scroll, drawn
from own_world import STRANGE, measured

from store import reads

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = measured(tmp_path_factory.mktemp("own"))
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def ours(store_engine):
    return next(row.id for row in reads.combinations(store_engine, 1) if row.key == "own/ours")


def test_the_strategies_page_shows_its_row_and_what_cannot_be_judged(open_page, scheme, size):
    page = open_page("/sweeps/1", scheme=scheme, size=size)
    drawn(page)
    assert page.locator("table.strategies tr.failed").inner_text().count("cannot be judged") == 1
    row = page.locator("table.strategies tbody tr", has_text="29 of 30 answered")
    assert row.count() == 1
    assert "not known" in row.inner_text()
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_ticking_it_compares_it_question_by_question(open_page, ours, store_engine):
    dense = next(row.id for row in reads.combinations(store_engine, 1) if row.retriever == "dense")
    page = open_page("/sweeps/1")
    page.locator(f"#pick-{ours}").check()
    page.locator(f"#pick-{dense}").check()
    page.locator("#compared").wait_for()
    assert "own ours" in page.locator("#compared").inner_text()


def test_its_threshold_and_its_bluffs_are_read_as_for_any_other(open_page):
    page = open_page("/sweeps/1/threshold?strategy=own&retriever=ours&t=none")
    drawn(page)
    assert "no one place of the documents" in page.locator("main").inner_text()
    assert_accessible(page)


def test_a_question_shows_a_text_that_stands_nowhere(open_page, ours):
    page = open_page(f"/sweeps/1/queries/x1?open={ours}")
    assert STRANGE in page.locator("main").inner_text()
    assert_no_sideways_scroll(page)
    assert_accessible(page)
