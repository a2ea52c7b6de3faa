"""Documents in a real browser: the cuts laid over a text, and places that an anchor leads to."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll
from drill_world import OVENS, OVENS_ID, STONES, drilled, embedded_in, settings
from worlds import document

from corpus.fingerprint import corpus_hash
from experiments.recording import document_rows
from store import writes
from store.engine import open_store

pytestmark = pytest.mark.browser

OVENS_PAGE = f"/documents/{quote(OVENS_ID)}"
LONG = document("long.md", "# Long\n\n" + "".join(f"## Part {n}\n\n{'word ' * 900}\n\n" for n in range(40)), "Long")


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'bluffline.db'}")
    failed = {"file": "old.md", "problem": "The file is empty.", "advice": "Write the document, or remove the file."}
    kept = settings(left_out=1, failed_documents=[failed])
    drilled(engine, corpus_hash=corpus_hash((OVENS, LONG)), settings=kept)
    writes.add_corpus(engine, *document_rows([OVENS, LONG], corpus_hash((OVENS, LONG))))
    yield engine
    engine.dispose()


@pytest.mark.parametrize("path", ["/documents", f"{OVENS_PAGE}?cut=A&char=20,60"])
def test_the_pages_are_accessible_and_fit(open_page, scheme, size, path):
    page = open_page(path, scheme=scheme, size=size)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_overlap_and_what_was_not_read_are_accessible(open_page, live, scheme):
    embedded_in(live.app.extensions["bluffline"].root, window=8)
    page = open_page(f"{OVENS_PAGE}?cut=B", scheme=scheme)
    assert page.locator(".laid .unread").count() > 0
    assert_accessible(page)


def marked(page):
    return "".join(page.locator(".laid .focus").evaluate_all("all => all.map((one) => one.textContent)"))


def in_view(page):
    box = page.locator(".laid .focus").first.bounding_box()
    return box is not None and 0 <= box["y"] <= page.viewport_size["height"]


def test_an_anchor_marks_exactly_its_stretch_and_scrolls_to_it(open_page):
    start = OVENS.text.index("The ferry")
    page = open_page(f"{OVENS_PAGE}?cut=B#char={start},{start + 30}", size={"width": 1280, "height": 300})
    page.locator(".laid .focus").first.wait_for()
    assert marked(page) == OVENS.text[start : start + 30]
    page.wait_for_function("() => scrollY > 0")
    assert in_view(page)


def test_another_anchor_on_the_same_page_moves_the_mark_and_leaves_the_text_whole(open_page):
    page = open_page(f"{OVENS_PAGE}?cut=A#char={STONES.start},{STONES.end}")
    page.locator(".laid .focus").first.wait_for()
    assert marked(page) == STONES.text
    fire = OVENS.text.index("🔥") + 1
    page.evaluate(f"location.hash = '#char={fire},{fire + 1}'")
    page.wait_for_function("() => document.querySelector('.laid .focus')?.textContent.length === 2")
    assert marked(page) == "🔥"
    page.evaluate("location.hash = '#char=0,3'")
    page.wait_for_function("() => document.querySelector('.laid .focus')?.textContent === '# O'")
    whole = page.locator(".laid [data-at]").evaluate_all("all => all.map((one) => one.textContent).join('')")
    assert whole == OVENS.text


def test_a_chunks_label_marks_the_chunk(open_page):
    page = open_page(f"{OVENS_PAGE}?cut=E")
    page.locator(".laid .chunk-cut").nth(1).click()
    page.locator(".laid .focus").first.wait_for()
    at = page.evaluate("location.hash").removeprefix("#char=").split(",")
    assert marked(page) == OVENS.text[int(at[0]) : int(at[1])]


def test_a_place_in_another_part_of_a_long_document_is_fetched(open_page):
    page = open_page("/documents/long.md?cut=E#char=170000,170010")
    page.wait_for_url("**char=170000**#char=170000,170010")
    page.locator(".laid .focus").first.wait_for()
    assert marked(page) == LONG.text[170000:170010]
    page.wait_for_function("() => scrollY > 1000")
    assert in_view(page)


def test_the_cuts_of_another_strategy_are_swapped_in(open_page):
    page = open_page(f"{OVENS_PAGE}?cut=E")
    assert page.locator(".laid mark.destroyed").count() == 0
    page.get_by_label("Cuts of").select_option("A")
    page.locator(".laid mark.destroyed").first.wait_for()
    assert "cut=A" in page.url
    page.go_back()
    page.wait_for_function("() => !document.querySelector('.laid mark.destroyed')")


def test_places_and_strategies_work_without_javascript(open_page):
    page = open_page(f"{OVENS_PAGE}?cut=A&char=20,60#char=20,60", scripts=False, size=NARROW)
    assert marked(page) == OVENS.text[20:60]
    page.get_by_label("Cuts of").select_option("B")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_load_state()
    assert "cut=B" in page.url
    assert page.locator(".laid .overlap").count() > 0


def test_the_list_is_compared_with_the_files_by_a_button(open_page, scheme, size):
    page = open_page("/documents", scheme=scheme, size=size)
    assert page.locator("tbody .tag").all_inner_texts() == ["failed", *["indexed"] * 5]
    page.get_by_role("button", name="Compare with the files").click()
    page.get_by_role("button", name="Compare again").wait_for()
    assert "check=1" in page.url
    states = page.locator("tbody .tag").all_inner_texts()
    assert states[:6] == ["failed", *["gone since"] * 5]  # the bundled corpus lies there
    assert set(states[6:]) == {"new on disk"}
    assert_no_sideways_scroll(page)
    assert_accessible(page)
    page.go_back()
    page.get_by_role("button", name="Compare with the files").wait_for()


def test_a_document_is_reached_from_the_list_and_its_neighbours_by_arrow_keys(open_page):
    page = open_page("/documents")
    page.get_by_role("link", name="Ovens").click()
    page.wait_for_url("**/documents/guides/**")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/documents/**.md**")


def test_the_head_of_each_strategy_stands_over_its_numbers(open_page):
    page = open_page("/documents")
    heads = page.locator("table.documents:not(.files) thead .num .preset").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().right)"
    )
    numbers = page.locator("table.documents:not(.files) .sum .num").evaluate_all(
        """all => all.map((one) => {
            const number = document.createRange()
            number.selectNodeContents(one.firstChild)
            return number.getBoundingClientRect().right
        })"""
    )
    assert len(heads) > 1
    assert all(abs(head - number) < 6 for head, number in zip(heads, numbers[-len(heads) :], strict=True))


def test_blank_lines_of_a_marked_stretch_are_not_boxed(open_page):
    start = OVENS.text.index("\n\n")
    page = open_page(f"{OVENS_PAGE}?cut=A&char={start - 5},{start + 20}")
    assert page.locator(".laid span.focus").first.evaluate("(one) => getComputedStyle(one).outlineStyle") == "none"
