"""The overview in a real browser: a sweep watched to its end, the trend, the list, start and cancel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll, drawn
from web_worlds import BM25_E, DENSE_E, HYBRID_E, reviewed

from experiments.deciding.choosing import ByHand
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.reading import load_sweep
from store import reads, writes
from store.engine import open_store

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    """Four sweeps, the first of other documents, the third with a failed combination; a decision on the second."""
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('overview') / 'store.db'}")
    reviewed(engine, corpus_hash="a" * 64, commit="1" * 40)
    reviewed(engine, commit="2" * 40, branch="try", dirty=True)
    reviewed(engine, commit="3" * 40, failed={HYBRID_E: "out of memory"})
    reviewed(engine, commit="4" * 40, queued=[BM25_E], state="interrupted", reason="its process ended")
    loaded = load_sweep(engine, 2)
    evidence = consider(loaded, find_combination(loaded, DENSE_E), Terms(), [0.6])
    choice = evidence.choose(ByHand(0.6))
    record(engine, decision_from(evidence, choice, who="Ada", reason="Safe.", project="p", supersedes=None))
    yield engine
    engine.dispose()


@pytest.fixture
def running(store_engine):
    """A sweep at work, which is gone again after the test."""
    from sqlalchemy import delete
    from sqlmodel import Session, col

    from store.tables import SweepRow

    sweep_id = reviewed(store_engine, commit="5" * 40, queued=[BM25_E, HYBRID_E], state="running", host="elsewhere",
                        pid=1, started_at=datetime.now(UTC) - timedelta(seconds=9), heartbeat_at=datetime.now(UTC),
                        stage="embedding E", done=10, total=100, eta_seconds=60.0)  # fmt: skip
    yield sweep_id
    with Session(store_engine) as session:
        session.execute(delete(SweepRow).where(col(SweepRow.id) == sweep_id))
        session.commit()


def test_the_page_is_accessible_and_fits(open_page, scheme, size):
    page = open_page("/", scheme=scheme, size=size)
    drawn(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_a_sweep_at_work_is_accessible_and_fits(open_page, scheme, size, running):
    page = open_page("/", scheme=scheme, size=size)
    assert page.locator("progress").get_attribute("value") == "10"
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_a_sweep_is_watched_to_its_end_and_then_nothing_asks_any_more(open_page, store_engine, running):
    page = open_page("/?k=4")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    writes.beat(store_engine, running, stage="embedding F", done=70, total=100, eta_seconds=12.0)
    page.wait_for_function("() => document.querySelector('#live progress')?.value === 70")
    assert "embedding F" in page.locator("#live").inner_text()
    bm25 = next(row for row in reads.combinations(store_engine, running) if row.key == BM25_E)
    writes.update_combination(store_engine, bm25.id, state="failed", reason="out of memory")
    page.locator("#live .state.failed").wait_for()
    writes.update_sweep(store_engine, running, state="finished", stage=None)
    page.get_by_role("button", name="Start a sweep").wait_for()
    assert f"on sweep {running}" in page.locator(".verdict").inner_text()
    assert page.locator("#sweeps tbody tr").first.locator("th").inner_text().startswith(str(running))
    assert page.locator("#sweeps-k").input_value() == "4"
    drawn(page)
    assert page.locator("main #overview").count() == 1
    assert any("/live" in url for url in asked)
    asked.clear()
    page.wait_for_timeout(1600)
    assert not asked


def test_a_page_without_anything_at_work_asks_for_nothing(open_page):
    page = open_page("/")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(1500)
    assert not [url for url in asked if "/live" in url]


def test_a_sweep_at_work_is_cancelled(open_page, store_engine, running):
    page = open_page("/", scripts=False)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url("**/#live")
    assert "It stops after the batch" in page.locator("#live").inner_text()
    assert reads.sweep(store_engine, running).cancel_requested


def test_another_number_is_followed_and_back_brings_the_first_one(open_page):
    page = open_page("/")
    drawn(page)
    page.locator("#trend-measure").select_option("mrr")
    page.wait_for_function("() => document.querySelector('#trend figcaption')?.textContent.startsWith('MRR')")
    assert "measure=mrr" in page.url
    drawn(page)
    page.locator("#trend-combination").select_option(BM25_E)
    page.wait_for_function("() => document.querySelector('#trend figcaption')?.textContent.includes('E bm25')")
    assert "measure=mrr" in page.url
    page.go_back()
    page.wait_for_function("() => document.querySelector('#trend figcaption')?.textContent.includes('E dense')")
    assert page.locator("header.top").count() == 1


def test_a_point_says_what_it_is_and_leads_to_its_sweep(open_page):
    page = open_page("/")
    drawn(page)
    figure = page.locator("#trend-figure .plot")
    figure.scroll_into_view_if_needed()
    point = page.evaluate(
        "() => { const e = document.querySelector('#trend-figure .plot'), a = e._fullLayout, t = e.data[1];"
        " const box = e.getBoundingClientRect();"
        " return [box.left + a.xaxis._offset + a.xaxis.l2p(t.x[1]), box.top + a.yaxis._offset + a.yaxis.l2p(t.y[1])]; }"
    )
    page.mouse.move(*point)
    page.locator("#trend-figure .hovertext").wait_for()
    assert "sweep 3, 3333333 main" in page.locator("#trend-figure .hovertext").text_content()
    page.mouse.click(*point)
    page.wait_for_url("**/sweeps/3")


def test_the_list_changes_with_k_and_two_sweeps_are_picked_to_compare(open_page):
    page = open_page("/")
    page.locator("#sweeps-k").select_option("1")
    page.wait_for_function("() => document.querySelector('#sweeps thead')?.textContent.includes('R@1')")
    page.get_by_role("radio", name="Sweep 2 as the baseline").check()
    page.get_by_role("radio", name="Sweep 4 against the baseline").check()
    page.get_by_role("button", name="Compare the two marked").click()
    page.wait_for_url("**/compare?**")
    assert {"a=2", "b=4"} <= set(page.url.partition("?")[2].split("&"))


def test_a_choice_for_the_list_and_one_for_the_trend_keep_one_another(open_page):
    page = open_page("/")
    page.locator("#sweeps-k").select_option("1")
    page.wait_for_function("() => document.querySelector('#sweeps thead')?.textContent.includes('R@1')")
    page.locator("#trend-measure").select_option("mrr")
    page.wait_for_function("() => document.querySelector('#trend figcaption')?.textContent.startsWith('MRR')")
    assert {"k=1", "measure=mrr"} <= set(page.url.partition("?")[2].split("&"))
    page.locator("#sweeps-k").focus()
    page.locator("#sweeps-k").select_option("4")
    page.wait_for_function("() => document.querySelector('#sweeps thead')?.textContent.includes('R@4')")
    assert {"k=4", "measure=mrr"} <= set(page.url.partition("?")[2].split("&"))
    assert page.locator("#trend figcaption").inner_text().startswith("MRR")
    assert page.evaluate("document.activeElement.id") == "sweeps-k"


def test_everything_works_without_javascript(open_page):
    page = open_page("/", scripts=False, size=NARROW)
    page.locator("#sweeps-k").select_option("4")
    page.locator("#sweeps form button[type=submit]").first.click()
    page.wait_for_load_state()
    assert "R@4" in page.locator("#sweeps thead").inner_text()
    page.locator("#trend-measure").select_option("destroyed")
    page.locator("#trend form button[type=submit]").click()
    page.wait_for_load_state()
    assert "k=4" in page.url
    assert "destroyed of E dense" in page.locator("#trend").inner_text()
    page.locator("#trend summary").first.click()
    assert page.locator("#trend tbody tr").count() == 4
