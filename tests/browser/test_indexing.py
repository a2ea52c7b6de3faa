"""A folder of everything in a real browser: indexed, tried again, sent to, and asked with places that open."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from browser_tools import NARROW, assert_accessible, assert_no_sideways_scroll
from conftest import AnyPort, Live, serve_app
from odd_folder import BROKEN, FERRY, HONEY, READ, odd_project

from experiments.models import DEFAULT_MODEL
from experiments.project import open_project
from store.engine import open_store
from webapp.app import create_app

pytestmark = [pytest.mark.browser, pytest.mark.model]

ASKED = f"&c1={quote(f'E/dense/{DEFAULT_MODEL}', safe='')}&t1=0.7"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return odd_project(tmp_path_factory.mktemp("odd"))


@pytest.fixture(scope="module")
def store_engine(root):
    engine = open_store(open_project(root).store_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def live(store_engine, root):
    app = create_app(store_engine, root=root, allowed_hosts=AnyPort())
    for url in serve_app(app):
        yield Live(url, store_engine, app)


@pytest.fixture(scope="module")
def indexed(browser, live):
    """The folder, indexed by a click; what was seen on the way."""
    context = browser.new_context(base_url=live.url)
    page = context.new_page()
    page.goto("/documents")
    assert "Nothing is indexed yet" in page.locator(".verdict").first.inner_text()
    page.get_by_role("button", name="Index the folder").click()
    page.get_by_text("The indexer is starting").or_(page.locator("#files progress")).first.wait_for()
    page.locator("#files progress").wait_for(timeout=60_000)
    seen = page.locator("#files .at-work").inner_text()
    at_work = page.locator("#files tr", has_text="extracting").first
    at_work.wait_for(timeout=60_000)
    page.locator("#index-now").wait_for(timeout=180_000)
    context.close()
    return seen


def lines(page):
    """State, kind and reason of every file, by id."""
    rows = page.locator("table.files tbody tr")
    found = {}
    for row in rows.all():
        kind = row.locator(".why")
        found[row.locator(".what").inner_text()] = (
            row.locator(".tag").inner_text(),
            kind.inner_text() if kind.count() else "",
            row.locator(".standing .small.quiet").last.inner_text(),
        )
    return found


def test_every_file_of_the_folder_has_its_state_and_its_reason(open_page, indexed):
    assert "documents" in indexed or "of" in indexed
    page = open_page("/documents")
    found = lines(page)
    assert {name: kind for name, (state, kind, _) in found.items() if state == "failed"} == BROKEN
    assert {name for name, (state, _, _) in found.items() if state == "indexed"} == set(READ)
    reasons = {name: found[name][2] for name in BROKEN}
    assert "needs a password" in reasons["broken/locked.docx"] or "password" in reasons["broken/locked.docx"]
    assert "unpacks to more than 50 MB" in reasons["broken/bomb.docx"]
    assert "larger than 3 MB" in reasons["broken/large.txt"]
    assert "more than 5 pages" in reasons["broken/long.pdf"]
    assert "longer than 7 seconds" in reasons["broken/slow.xlsx"]
    assert "switched off" in reasons["broken/pictures.pdf"]
    assert len(set(reasons.values())) == len(BROKEN)
    assert page.locator("table.files time").count() == len(found)
    page.get_by_role("link", name=re.compile("^failed")).click()
    page.wait_for_url("**state=failed**")
    assert set(lines(page)) == set(BROKEN)


@pytest.mark.parametrize(
    "path", ["/documents", "/documents/ferry.pdf?page=2", "/documents/talk.vtt?t=9", "/documents/prices.xlsx"]
)
def test_the_pages_are_accessible_and_fit(open_page, indexed, scheme, size, path):
    page = open_page(path, scheme=scheme, size=size)
    assert_no_sideways_scroll(page)
    assert_accessible(page)


def test_a_mended_document_is_tried_again_by_a_click_and_the_others_stay(open_page, indexed, root):
    (root / "documents/broken/empty.md").write_text("# No longer empty\n\nThe bilge pump is checked every morning.\n")
    page = open_page("/documents")
    page.locator("#files tr", has_text="broken/empty.md").get_by_role("button").click()
    page.locator("#files tr", has_text="broken/empty.md").get_by_text("indexed", exact=True).wait_for(timeout=90_000)
    page.locator("#index-now").wait_for(timeout=60_000)
    page.reload()
    assert sum(state == "failed" for state, _, _ in lines(page).values()) == len(BROKEN) - 1


def asked(open_page, question, scripts=True):
    page = open_page(f"/ask?q={quote(question)}{ASKED}", scripts=scripts)
    page.set_default_timeout(60_000)
    page.locator(".ask-way .chunk").first.wait_for(timeout=90_000)
    return page


def in_view(page, locator):
    box = locator.bounding_box()
    return box is not None and -1 <= box["y"] < page.viewport_size["height"]


def test_an_answer_out_of_a_pdf_opens_at_its_page_beside_its_picture(open_page, indexed):
    page = asked(open_page, "When does the night ferry to Skagen sail?")
    first = page.locator(".chunk").first
    assert "ferry.pdf#page=2" in first.locator("footer").inner_text()
    first.locator(".label a").click()
    page.wait_for_url("**/documents/ferry.pdf?**page=2**#page=2")
    side = page.get_by_role("region", name="Page 2 of 3")
    side.wait_for()
    page.wait_for_function("() => document.querySelector('.side-page img')?.naturalWidth >= 900")
    assert in_view(page, side)
    assert FERRY in side.locator(".page-text").inner_text()
    assert "Harbour" not in side.locator(".page-text").inner_text()
    assert FERRY in "".join(page.locator(".laid .focus").all_inner_texts())
    page.get_by_role("link", name="page 3 →").click()
    page.get_by_role("region", name="Page 3 of 3").wait_for()


def test_the_pdf_itself_opens_at_its_page_in_the_browsers_own_viewer(open_page, indexed):
    page = open_page("/documents/ferry.pdf?page=2#page=2")
    page.get_by_role("link", name="Open the file itself").click()
    page.wait_for_url("**/files/raw/ferry.pdf#page=2")
    viewer = next_frame(page, "chrome-extension://")
    toolbar = "document.querySelector('pdf-viewer')?.shadowRoot?.querySelector('viewer-toolbar')"
    viewer.wait_for_function(f"() => {toolbar}?.docLength === 3 && {toolbar}.pageNo === 2")


def next_frame(page, address):
    """The frame of an address, once it is there."""
    found = [frame for frame in page.frames if frame.url.startswith(address)]
    while not found:
        page.wait_for_event("framenavigated")
        found = [frame for frame in page.frames if frame.url.startswith(address)]
    return found[0]


def test_an_answer_out_of_a_spreadsheet_opens_at_its_cells(open_page, indexed):
    page = asked(open_page, "What does lamp oil cost in crowns per litre?")
    first = page.locator(".chunk").first
    place = first.locator("footer").inner_text()
    assert "prices.xlsx#sheet=Price%20list&range=A" in place
    first.locator(".label a").click()
    page.wait_for_url("**/documents/prices.xlsx?**range=A**#sheet=Price%20list&range=A**")
    marked = page.locator(".laid .focus")
    assert "lamp oil" in "".join(marked.all_inner_texts())
    assert in_view(page, marked.first)
    assert marked.first.get_attribute("id").startswith("sheet=Price list&range=A")


def test_an_answer_out_of_a_talk_opens_at_its_time_beside_the_recording(open_page, indexed):
    page = asked(open_page, "How long does honey keep in a shut jar?")
    first = page.locator(".chunk").first
    assert "talk.vtt#t=" in first.locator("footer").inner_text()
    first.locator(".label a").click()
    page.wait_for_url("**/documents/talk.vtt?**t=**#t=**")
    begin = float(re.search(r"[?&]t=([\d.]+)", page.url)[1])
    marked = page.locator(".laid .focus")
    assert HONEY in "".join(marked.all_inner_texts())
    assert in_view(page, marked.first)
    player = page.locator("audio")
    assert player.get_attribute("src").startswith(f"/files/raw/talk.wav#t={begin:g}")
    page.wait_for_function("(begin) => Math.abs(document.querySelector('audio')?.currentTime - begin) < 0.5", arg=begin)


@pytest.mark.parametrize(
    ("fragment", "query"), [("#page=3", "page=3"), ("#t=9,10", "t=9")], ids=["page", "time"]
)  # fmt: skip
def test_an_address_with_only_a_fragment_opens_there_too(open_page, indexed, fragment, query):
    page = open_page(f"/documents/{'ferry.pdf' if 'page' in fragment else 'talk.vtt'}{fragment}")
    page.wait_for_url(f"**{query}**")
    page.locator(".focus").first.wait_for()


def test_places_open_without_javascript(open_page, indexed):
    page = open_page("/documents/ferry.pdf?page=2#page=2", scripts=False, size=NARROW)
    assert FERRY in page.locator(".page-text").inner_text()
    assert FERRY in "".join(page.locator(".laid .focus").all_inner_texts())
    page.get_by_role("spinbutton", name="Page").fill("3")
    page.get_by_role("button", name="Show it beside its text").click()
    page.wait_for_load_state()
    assert "page 3 of 3" in page.locator(".side-page .parts").inner_text()


def test_what_extraction_did_stands_beside_the_document(open_page, indexed):
    page = open_page("/documents/ferry.pdf")
    said = page.get_by_role("heading", name="What extraction did").locator("xpath=..").inner_text()
    assert re.search(r"Format\s+pdf", said)
    assert re.search(r"Pages\s+3", said)
    page.get_by_text("Made with").click()
    assert "pypdfium2" in page.locator("aside").inner_text() or "pdf/" in page.locator("aside").inner_text()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_files_are_sent_and_a_second_of_the_same_name_is_asked_about(
    open_page, watch, indexed, tmp_path, root, scripts
):
    name = f"sent-{'with' if scripts else 'without'}.md"
    file = tmp_path / name
    file.write_text("# Sent\n\nThe spare rudder lies in the shed.\n")
    page = open_page("/documents", scripts=scripts)
    page.get_by_text("Add documents").click()
    page.get_by_label("Files", exact=True).set_input_files(str(file))
    page.get_by_role("button", name="Upload and index").click()
    page.locator("#files tr", has_text=name).or_(page.locator("#files .at-work")).first.wait_for()
    for _ in range(90):
        page.reload()
        if page.locator("#files tr", has_text=name).get_by_text("indexed", exact=True).count():
            break
        page.wait_for_timeout(1000)
    file.write_text("# Sent\n\nThe spare rudder was sold.\n")
    page.get_by_text("Add documents").click()
    page.get_by_label("Files", exact=True).set_input_files(str(file))
    watch.expect("the server responded with a status of 409")
    page.get_by_role("button", name="Upload and index").click()
    page.get_by_text("There is another file of this name. Replace it?").wait_for()
    assert "sold" not in (root / "documents" / name).read_text()
    page.get_by_role("button", name="Replace the ticked ones").click()
    page.locator("#files").wait_for()
    assert "sold" in (root / "documents" / name).read_text()


def test_removing_a_document_warns_of_its_questions(open_page, indexed, root):
    page = open_page("/documents")
    page.locator("#files tr", has_text="ferry.pdf").get_by_role("link", name="Remove").click()
    assert "1 question of the set has its needle in this document" in page.locator(".verdict").inner_text()
    assert_accessible(page)
    page.get_by_role("link", name="Keep it").click()
    assert (root / "documents/ferry.pdf").is_file()
