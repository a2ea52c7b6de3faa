"""Second models in a real browser: what they buy and cost, their score as a signal, and whose scores a hit carries."""

from __future__ import annotations

import json

import pytest
from browser_tools import assert_accessible, assert_no_sideways_scroll, drawn
from second_world import measured

from experiments.reading import load_sweep
from experiments.report import report
from store import reads
from webapp.filters import p_value, signed

pytestmark = pytest.mark.browser

RERANKED = "/sweeps/1/threshold?strategy=E&retriever=rerank&scorer=org%2Fx1&t=0.675"


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = measured(tmp_path_factory.mktemp("second"))
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def gains(store_engine):
    """What `show --json` prints of them."""
    return json.loads(json.dumps(report(load_sweep(store_engine, 1)), allow_nan=False))["gains"]


def said_of(gain):
    """A row of the section, as it must stand there."""
    found, mrr, cost = gain["recall_at_1"], gain["mrr"]["difference"], gain["milliseconds"]
    shares = [f"{one['value']:.2f}\n[{one['low']:.2f}, {one['high']:.2f}]" for one in (found["without"], found["with"])]
    return [
        *shares,
        f"{found['wins']}, {found['losses']}\nof {found['n']}",
        p_value(found["holm_p"]),
        signed(mrr["value"], 3),
        p_value(gain["mrr"]["holm_p"]),
        signed(cost["with"] - cost["without"], 1),
    ]


def test_the_section_says_of_each_second_model_what_show_prints_of_it(open_page, gains):
    page = open_page("/sweeps/1")
    leading = page.locator("#gains > .scroll tbody tr").first.locator("th").inner_text().strip()
    page.locator("#gains-more summary").click()
    rows = page.locator("#gains table.gains tbody tr")
    ordered = sorted(gains, key=lambda gain: not gain["key"].startswith(f"{leading}/"))
    assert rows.count() == len(gains) == 6
    for place, gain in enumerate(ordered):
        row = rows.nth(place)
        cells = row.locator("td").all_inner_texts()
        strategy, retriever, *_, scorer = gain["key"].split("/")
        assert row.locator("th").inner_text().strip() == strategy
        assert cells[0].startswith(f"{retriever}\n")
        assert cells[0].endswith(scorer)
        for cell, said in zip([*cells[1:7], cells[8]], said_of(gain), strict=True):
            assert cell.startswith(said)


def test_what_is_proven_and_what_it_costs_stands_above_the_table_of_all(open_page, scheme, size):
    page = open_page("/sweeps/1", scheme=scheme, size=size)
    drawn(page)
    section, table = page.locator("#gains"), page.locator("table.strategies").first
    assert "late interaction with tokens" in section.locator("p").first.inner_text()
    assert " ms a question" in section.locator("p").first.inner_text()
    assert section.bounding_box()["y"] < table.bounding_box()["y"]
    page.locator("#gains-more summary").click()
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_the_threshold_page_shows_the_cross_encoders_score_as_a_third_signal(open_page, scheme, size):
    page = open_page(RERANKED, scheme=scheme, size=size)
    drawn(page)
    assert page.locator("#signals").inner_text().startswith("Three signals for saying no")
    assert "best cross-encoder score" in page.locator("#further").inner_text()
    curves = page.evaluate("document.querySelector('[data-figure=risk-data]').data.map((one) => one.name)")
    assert curves == ["nearest distance", "lead over the second chunk", "best cross-encoder score"]
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_without_a_second_model_there_are_two_signals(open_page):
    page = open_page("/sweeps/1/threshold?strategy=E&retriever=dense")
    drawn(page)
    assert page.locator("#signals").inner_text().startswith("Two signals for saying no")
    assert page.locator("#further").count() == 0


def test_a_question_says_whose_score_each_hit_carries_and_where_it_stood_before(open_page, store_engine, size):
    chosen = [row for row in reads.combinations(store_engine, 1) if row.strategy == "E" and row.scorer != "org/x2"]
    opened = {row.retriever: row for row in chosen if row.scorer}
    ids = ",".join(str(row.id) for row in opened.values())
    page = open_page(f"/sweeps/1/queries/n1?open={ids}", size=size)
    reranked, late = (page.locator(f"section.answer[aria-label^='E {name}']") for name in ("rerank", "late"))
    assert "cross-encoder " in reranked.locator(".hit header").first.inner_text()
    assert "by hybrid" in reranked.locator(".hit header").first.inner_text()
    assert "MaxSim " in late.locator(".hit header").first.inner_text()
    assert "by hybrid" not in late.inner_text()
    assert_no_sideways_scroll(page)
    assert_accessible(page)
