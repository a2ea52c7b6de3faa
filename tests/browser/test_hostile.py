"""Other people's words: markup in every field runs nowhere, and a word without an end widens no page."""

from __future__ import annotations

import pytest
from asked_world import DENSE, decide, make_world, use
from browser_tools import NARROW, WIDE, assert_accessible, assert_no_sideways_scroll
from sqlalchemy import text

pytestmark = pytest.mark.browser

MARKUP = (
    '</script><script>window.ran=1</script><img src=x onerror="window.ran=2"><svg onload=window.ran=3></svg>'
    '<meta http-equiv=refresh content="0;url=http://elsewhere.example/"></title></textarea>"\'\u202e '
)
WORDS = MARKUP + "W" * 400
FIELDS = {
    "query": ("text", "needle"),
    "sweep": ("branch", "tag", "host"),
    "document": ("title", "source"),
}
PAGES = (
    "/", "/compare", "/documents", "/documents/bread.md", "/questions", "/ask", "/ask?q=oven", "/decisions",
    "/decisions/1", "/sweeps/1", "/sweeps/1/pairs", "/sweeps/1/threshold", "/sweeps/1/threshold/choose",
    "/sweeps/1/queries", "/nowhere" + "e" * 300,
)  # fmt: skip


@pytest.fixture(scope="module")
def hostile(live):
    make_world(live.app.extensions["bluffline"].root, live.engine)
    decide(
        live.engine, 0.3, DENSE, who=MARKUP.replace("\u202e", "")[:80] + "W" * 100, reason=WORDS.replace("\u202e", "")
    )
    use(live.app)
    with live.engine.begin() as connection:
        for table, columns in FIELDS.items():
            for column in columns:
                connection.execute(text(f"UPDATE {table} SET {column} = :words"), {"words": WORDS})
        connection.execute(
            text("UPDATE combination SET state = 'failed', reason = :words WHERE id = 1"), {"words": WORDS}
        )
    return live


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_hostile_words_stay_words_and_widen_no_page(hostile, open_page, size):
    page = open_page("/sweeps/1/queries", size=size)
    links = page.locator("main tbody th a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    for address in (*PAGES, links[0]):
        page = open_page(address, size=size, status=404 if "nowhere" in address else 200)
        assert page.evaluate("window.ran") is None, address
        assert page.locator("main :is(script:not([type='application/json']), meta, iframe)").count() == 0, address
        assert page.url.startswith(hostile.url)
        try:
            assert_no_sideways_scroll(page)
            assert_accessible(page)
        except AssertionError as error:
            raise AssertionError(f"{address}: {error}") from error
        page.close()
