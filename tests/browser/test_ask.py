"""The ask page in a real browser: asking, refusing, side by side, writing, and marking a needle."""

from __future__ import annotations

import json
import re

import pytest
from asked_world import BM25, CUT_DENSE, OVEN, PAELLA, Scripted, SlowEncoder, decide, make_world, use
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll
from conftest import AnyPort, Live, serve_app
from worlds import BREAD

from store.engine import open_store
from webapp.app import create_app

pytestmark = pytest.mark.browser

WRITTEN = (
    "The oven stands at “230 degrees” [1]. It bakes “until golden” [1]. See https://example.org [7]. Nobody knows."
)
GENERATOR = '[ask]\ngenerator = "script"\n'


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("world")


@pytest.fixture(scope="module")
def store_engine(root):
    engine = open_store(f"sqlite:///{root / 'store.db'}")
    make_world(root, engine, GENERATOR)
    decide(engine, 0.3)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def live(store_engine, root):
    """A dashboard over the world, whose model takes a moment to load."""
    app = create_app(store_engine, root=root, allowed_hosts=AnyPort())
    use(app, SlowEncoder(1.2), Scripted(WRITTEN, 0.04))
    for url in serve_app(app):
        yield Live(url, store_engine, app)


def answered(page):
    page.locator(".ask-way").first.wait_for()


def test_the_first_question_shows_that_the_model_loads_and_then_its_answer(open_page):
    page = open_page("/ask")
    page.get_by_role("textbox", name="Question").fill(OVEN)
    page.keyboard.press("Enter")
    page.get_by_text("Loading: the answer comes by itself.").wait_for()
    answered(page)
    assert "q=How+hot+is+the+oven" in page.url
    assert "lies under 0.3; the nearest lies at 0.000" in page.locator(".verdict").inner_text()
    assert page.locator(".chunk .number").first.inner_text() == "[1]"
    page.wait_for_function("() => !document.querySelector('#answers[hx-trigger]')")  # and asks no longer
    page.go_back()
    page.get_by_role("heading", name="Questions of the set, to begin with").wait_for()


@pytest.mark.parametrize(
    "path",
    [
        "/ask",
        f"/ask?q={OVEN}&document=bread.md#add",
        f"/ask?q={PAELLA}",
        f"/ask?q={OVEN}&c2={BM25}&t2=0.5&c3={CUT_DENSE}&t3=none",
    ],
    ids=["empty", "kept", "refused", "beside"],
)
def test_the_page_is_accessible_and_fits(open_page, scheme, size, path):
    page = open_page(path, scheme=scheme, size=size)
    if "?" in path:
        answered(page)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_a_refusal_is_worded_as_it_is_said_and_what_lay_there_is_kept_apart(open_page):
    page = open_page(f"/ask?q={PAELLA}")
    answered(page)
    said = page.locator(".verdict").inner_text()
    assert said == 'NO ANSWER: nothing under cosine distance 0.3 for "paella recipe"'
    assert page.locator(".ask-said").get_by_text("was not shown to anyone, and no model was called").is_visible()
    assert page.locator(".chunk:not(.not-shown)").count() == 0
    assert page.get_by_role("button", name="Let it answer").count() == 0


def test_a_chunk_opens_its_document_at_its_place(open_page):
    page = open_page(f"/ask?q={OVEN}")
    answered(page)
    start, end = re.search(r"#char=(\d+),(\d+)", page.locator(".chunk footer a.mono").inner_text()).groups()
    page.locator(".chunk .label a").first.click()
    page.wait_for_url("**/documents/bread.md**")
    assert page.url.endswith(f"#char={start},{end}")
    focus = page.locator(".focus").all_inner_texts()
    assert "".join(focus).split() == BREAD[int(start) : int(end)].split()


def test_columns_are_chosen_side_by_side_each_with_its_threshold(open_page):
    page = open_page(f"/ask?q={OVEN}")
    answered(page)
    page.get_by_text("Other combinations and thresholds, side by side").click()
    page.get_by_label("and", exact=True).first.select_option("whole bm25")
    page.locator("#t2").fill("0.5")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.ask-way').length === 2")
    assert "t2=0.5" in page.url
    assert page.locator(".verdict").inner_text().startswith("Both of them answer")
    assert page.locator(".asked-of .figure-number").all_inner_texts() == ["0.3", "0.5"]


def test_it_is_asked_and_shown_without_javascript(open_page):
    page = open_page("/ask", scripts=False, size=NARROW)
    page.get_by_role("textbox", name="Question").fill("Which queen lays eggs?")
    page.get_by_role("button", name="Ask", exact=True).click()
    answered(page)  # the page loads itself again while the model does
    assert page.locator(".chunk .number").first.inner_text() == "[1]"


def test_the_prompt_is_copied(open_page, live):
    page = open_page(f"/ask?q={OVEN}")
    answered(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live.url)
    page.get_by_text("The numbered prompt", exact=True).click()
    page.get_by_role("button", name="Copy the prompt").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()").endswith("Question: How hot is the oven?\n\nAnswer:")


def test_an_answer_is_written_while_one_watches_and_every_mark_is_shown(open_page, scheme):
    page = open_page(f"/ask?q={OVEN}", scheme=scheme)
    answered(page)
    if page.get_by_role("button", name="Let it answer").count():  # the second time it is remembered
        page.get_by_role("button", name="Let it answer").click()
        page.locator("#written-1 progress").wait_for()
    page.locator("#written-1 .answer-text").wait_for()
    assert page.locator(".faults li").count() == 5
    assert page.locator(".counts dd").all_inner_texts() == ["1", "1", "1", "1", "1"]
    assert_accessible(page)
    page.locator(".answer-text .cite").first.click()
    assert page.url.endswith("#cited-1-1")


def test_writing_is_stopped(open_page):
    page = open_page("/ask?q=Which moon pulls the sea%3F")
    answered(page)
    page.get_by_role("button", name="Let it answer").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped on request after").wait_for()


def test_a_needle_is_marked_and_the_question_added(open_page, root):
    page = open_page("/ask?q=Until when does it stay in the oven%3F")
    answered(page)
    page.get_by_role("link", name="Mark a needle").first.click()
    page.wait_for_url("**#add")
    page.get_by_label("Bake until brown.").check()
    page.get_by_role("button", name="Add with this needle").click()
    page.wait_for_url("**/questions**")
    assert page.get_by_text("asked-1").first.is_visible()
    row = json.loads((root / "questions.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (row["question"], row["needle"]) == ("Until when does it stay in the oven?", "Bake until brown.")


def test_an_unanswerable_question_comes_back_with_what_is_wrong_and_is_then_added(open_page, root, watch):
    watch.expect("the server responded with a status of 422")
    page = open_page("/ask?q=Does the oven have a grill%3F", scripts=False)
    answered(page)
    page.get_by_text("Add to the question set").click()
    page.get_by_label("near: of the topic").check()
    page.get_by_label("Key facts").fill("230 degrees")
    page.get_by_role("button", name="Add as unanswerable").click()
    page.get_by_text("The question was not added.").wait_for()
    assert page.get_by_label("near: of the topic").is_checked()
    page.get_by_label("Key facts").fill("grill")
    page.get_by_role("button", name="Add as unanswerable").click()
    page.wait_for_url("**/questions**")
    assert "Does the oven have a grill?" in (root / "questions.jsonl").read_text(encoding="utf-8")
