"""From a line to an answer, with the real embedding model: moved, priced, read, chosen, exported, asked, and judged."""

from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path

import pytest
from browser_tools import assert_accessible, drawn
from conftest import Live
from handbook import ANSWERED, DOCUMENTS, NEEDLE, NEW_SECTION, REFUSED, commit, git, make_handbook, served
from mlflow import MlflowClient
from small_project import bluffline

from store import reads
from store.decisions import decision_in_force, decisions
from store.engine import open_store

pytestmark = [pytest.mark.browser, pytest.mark.model]

LINE = 0.6
REASON = "A wrong answer about access costs more than a question too many."
LOADING = 60_000  # milliseconds a model may take
MEASURING = 240_000


@pytest.fixture(scope="module")
def handbook(tmp_path_factory) -> Path:
    """The project, measured once at its first commit."""
    folder = make_handbook(tmp_path_factory.mktemp("handbook"))
    done = bluffline("run", "--project", folder, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def store_engine(handbook):
    engine = open_store(f"sqlite:///{handbook / 'var' / 'bluffline.db'}")
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def live(handbook, store_engine):
    """`bluffline serve`, as a team runs it."""
    with served(handbook) as url:
        yield Live(url, store_engine, None)


def nav(page, name):
    page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name=name, exact=True).click()


def at(page, label):
    page.wait_for_function(f"() => document.querySelector('#readout h2')?.textContent === 'At {label}'")


def drag_to(page, target):
    """Drag the line near a threshold by mouse, then bring it there by keyboard."""
    line = page.locator("#outcomes .threshold-line")
    line.scroll_into_view_if_needed()
    slider = page.locator("#t")
    low, high, value = (float(slider.get_attribute(name)) for name in ("min", "max", "value"))
    box, width = line.bounding_box(), slider.bounding_box()["width"] - 16
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + (target - value) / (high - low) * width, y, steps=5)
    page.mouse.up()
    slider.focus()
    for _ in range(60):
        left = round((target - float(slider.input_value())) * 1000)
        if not left:
            break
        page.keyboard.press("ArrowRight" if left > 0 else "ArrowLeft")
    at(page, f"{target:g}")


def ask(page, question):
    page.get_by_role("textbox", name="Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url("**/ask?q=*")
    page.locator(".ask-way").wait_for(timeout=LOADING)
    return page.locator(".verdict").inner_text()


def test_before_anything_is_decided_the_pages_say_so_and_nothing_is_refused(open_page):
    page = open_page("/")
    assert page.locator(".verdict").inner_text().startswith("No threshold has been decided")
    nav(page, "Ask")
    assert page.locator(".verdict").inner_text().startswith("No decision is in force: ")
    assert ask(page, REFUSED).startswith("No threshold: all 4 chunks are kept, however far away")


def move_the_line(page):
    """Enter costs, read both sides and the bound."""
    page.goto("/")
    nav(page, "Threshold")
    page.locator("#strategy").select_option("E")
    page.wait_for_function("() => document.querySelector('.verdict')?.textContent.includes('E with dense')")
    drawn(page)
    drag_to(page, LINE)
    page.get_by_label("bluff", exact=True).fill("25")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('#cost figcaption')?.textContent.includes('a bluff 25')")
    assert f"t={LINE:g}" in page.url and "bluff=25" in page.url

    sides = page.locator("#sides").inner_text()
    assert re.search(r"[Ee]valuation", sides) and re.search(r"[Cc]alibration", sides)
    assert re.search(r"\[0\.\d\d, [01]\.\d\d\]", sides)
    promises = page.locator(".promises").inner_text()
    assert "not certifiable with 2 questions" in promises.lower() and "needed" in promises


def choose(page, live, handbook):
    """Record the decision with a reason."""
    page.get_by_role("link", name="Choose this threshold").click()
    page.get_by_label("Who").fill("Ada")
    page.get_by_label("Why").fill(REASON)
    assert_accessible(page)
    page.get_by_role("button", name=f"Choose {LINE:g}").click()
    page.wait_for_url("**/decisions/1")
    assert page.get_by_text(REASON).first.is_visible()
    decided = decision_in_force(live.engine)
    assert (decided.threshold, decided.who, decided.reason, decided.strategy, decided.retriever) == (
        LINE, "Ada", REASON, "E", "dense",
    )  # fmt: skip
    assert decided.commit == git(handbook, "rev-parse", "HEAD")
    assert (decided.costs["bluff"], decided.dirty) == (25.0, False)


def tagged(handbook):
    """The chosen runs say in MLflow that they were chosen, and why."""
    client = MlflowClient(f"sqlite:///{handbook / 'var' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("bluffline").experiment_id
    for _ in range(60):
        runs = client.search_runs([experiment], f"tags.`bluffline.decision.threshold` = '{LINE:g}'")
        if runs:
            break
        time.sleep(1)
    assert {run.data.params["strategy"] for run in runs} == {"E"}
    assert {run.data.tags["bluffline.decision.reason"] for run in runs} == {REASON}


def export(page):
    """Hand the decision to production."""
    page.goto("/decisions/1")
    link = page.get_by_role("link", name="TOML").first
    answer = page.request.get(link.get_attribute("href"))
    assert answer.status == 200
    config = tomllib.loads(answer.text())
    assert config["gate"] == {"threshold": LINE, "keep": 4, "distance": "cosine"}
    assert config["decision"]["why"] == REASON
    assert config["strategy"]["name"] == "E"


def answers(page):
    """Ask answers by the decision, with quotes that stand in the documents."""
    page.get_by_role("link", name="ask a question").click()
    page.wait_for_url("**/ask")
    assert (
        page.locator(".verdict")
        .inner_text()
        .startswith(f"Asked by decision 1: E dense, threshold {LINE:g}, chosen by Ada")
    )
    assert re.match(
        r"\d of the 4 chunks looked at lies? under 0\.6; the nearest lies at 0\.\d{3}\.", ask(page, ANSWERED)
    )
    first = page.locator(".chunk").first
    document, start, end = re.fullmatch(r"(.+)#char=(\d+),(\d+)", first.locator("footer a.mono").inner_text()).groups()
    quote = first.locator("blockquote").text_content()
    assert quote == DOCUMENTS[document][int(start) : int(end)]
    assert NEEDLE in quote
    page.get_by_text("The numbered prompt", exact=True).click()
    assert f"[1]\n{quote}" in page.locator("#prompt-1").text_content()
    first.locator(".label a").click()
    page.wait_for_url(f"**/documents/{document}**#char={start},{end}")
    shown = "".join(page.locator(".focus").all_inner_texts())
    assert NEEDLE in " ".join(shown.split())


def refuses(page):
    """Ask refuses by the decision, in the gate's own words."""
    page.goto("/ask")
    assert ask(page, REFUSED) == f'NO ANSWER: nothing under cosine distance 0.6 for "{REFUSED}"'
    assert page.get_by_text("It was not shown to anyone, and no model was called.").is_visible()
    assert page.locator(".chunk:not(.not-shown)").count() == 0
    assert_accessible(page)


def change_a_document(page, handbook):
    """What was decided is not asked about documents nobody measured."""
    path = handbook / "documents" / "billing.md"
    path.write_text(path.read_text(encoding="utf-8") + NEW_SECTION, encoding="utf-8")
    page.goto(f"/ask?q={ANSWERED}")
    page.locator(".ask-way").wait_for(timeout=LOADING)
    assert page.locator(".verdict").inner_text() == "The decision does not fit what is at hand."
    assert "the documents here are corpus" in page.locator(".ask-way").inner_text()


def measure_again(page, live, handbook):
    """One commit later the overview says whether the decision still holds."""
    commit(handbook, "Refunds")
    page.goto("/")
    page.get_by_role("button", name="Start a sweep").click()
    page.get_by_text("Decision 1 holds on sweep 2, but not everything is as it was: Corpus:").wait_for(
        timeout=MEASURING
    )
    newest = reads.latest_sweep(live.engine, "finished")
    assert (newest.id, newest.commit) == (2, git(handbook, "rev-parse", "HEAD"))
    page.get_by_role("link", name="Decision 1", exact=True).first.click()
    checks = page.locator("table").filter(has_text="What was found").inner_text()
    assert "Needles kept: not one of 8 questions asked then and now differs." in checks


def answers_again(page, live):
    """A decision that holds on the changed documents answers from them."""
    nav(page, "Ask")
    assert re.match(r"\d of the 4 chunks looked at lies? under 0\.6", ask(page, "When is an unused month refunded?"))
    assert "An unused month is refunded within ten working days" in page.locator(".chunk").first.inner_text()
    assert page.get_by_text("Documents have changed since it was decided.").is_visible()
    assert len(decisions(live.engine)) == 1


def test_a_threshold_is_decided_exported_asked_by_and_judged_one_commit_later(open_page, live, handbook):
    page = open_page("/")
    move_the_line(page)
    choose(page, live, handbook)
    tagged(handbook)
    export(page)
    answers(page)
    refuses(page)
    change_a_document(page, handbook)
    measure_again(page, live, handbook)
    answers_again(page, live)
