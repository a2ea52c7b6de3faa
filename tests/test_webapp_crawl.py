"""Following links from the overview: every page is reached, none is broken, none is heavy."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from page_walk import walk

from store.engine import open_store
from tests.web_worlds import reviewed
from webapp.app import create_app

PAGES = {
    "overview.page", "strategies.page", "pairs.page", "threshold.page", "threshold.choose", "queries.page",
    "queries.query", "compare.page", "documents.page", "documents.document", "questions.page", "ask.page",
    "decisions.page",
}  # fmt: skip
HEAVIEST = 60_000  # bytes, compressed


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory):
    root: Path = tmp_path_factory.mktemp("crawl")
    engine = open_store(f"sqlite:///{root / 'store.db'}")
    reviewed(engine)
    reviewed(engine, seed=5)
    return create_app(engine, root=root, allowed_hosts={"localhost"})


@pytest.fixture(scope="module")
def visited(app):
    return walk(app)


def test_no_link_is_broken(visited):
    broken = {address: answer.status for address, answer in visited.items() if answer.status_code != 200}
    assert len(visited) > 40
    assert not broken


def test_every_page_is_reached_by_links_from_the_overview(app, visited):
    adapter = app.url_map.bind("localhost")
    reached = {adapter.match(urlsplit(address).path)[0] for address in visited}
    known = {rule.endpoint for rule in app.url_map.iter_rules()}
    assert known >= PAGES
    assert reached >= PAGES, PAGES - reached


def test_no_page_is_heavier_than_it_may_be(visited):
    weights = {
        address: len(gzip.compress(answer.get_data()))
        for address, answer in visited.items()
        if answer.mimetype == "text/html"
        and "Content-Disposition" not in answer.headers  # a file, the report, is no page
    }
    heavy = {address: weight for address, weight in weights.items() if weight > HEAVIEST}
    assert not heavy
