"""Every page and file of sweeps whose questions have several needles, or judge whole documents."""

from __future__ import annotations

import csv
import io
import re
from html import unescape

import pytest
from answer_kinds_world import judged, several

from store.engine import open_store
from webapp.app import create_app

PAGES = (
    *("/", "/sweeps/{id}", "/sweeps/{id}/pairs", "/sweeps/{id}/threshold", "/sweeps/{id}/queries"),
    *("/documents?sweep={id}", "/documents/tides.md?sweep={id}", "/questions?sweep={id}", "/compare?a={id}&b={id}"),
    *("/sweeps/{id}/strategies.csv", "/sweeps/{id}/queries.json", "/documents.csv?sweep={id}"),
    *("/questions/pairs.csv?sweep={id}", "/questions/measured.jsonl?sweep={id}", "/questions/measured.csv?sweep={id}"),
    *("/sweeps/{id}/pairs.csv", "/sweeps/{id}/threshold?t=0.5", "/decisions"),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('kinds') / 'store.db'}")
    assert (several(engine), judged(engine)) == (1, 2)
    root = tmp_path_factory.mktemp("project")
    return create_app(engine, root=root, allowed_hosts={"localhost"}).test_client()


def text(client, url):
    answer = client.get(url)
    assert answer.status_code == 200, (url, answer.status_code)
    return answer.get_data(as_text=True)


def words(client, url):
    """What a reader sees, on one line."""
    page = re.sub(r"<(script|style).*?</\1>", " ", text(client, url), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.mark.parametrize("url", PAGES)
@pytest.mark.parametrize("sweep", [1, 2])
def test_every_page_and_file_is_there(client, url, sweep):
    assert text(client, url.format(id=sweep))


def test_each_needle_of_a_question_is_shown_in_its_document(client):
    page = words(client, "/sweeps/1/queries/both")
    assert "Needle 1 all 2 needles are needed" in page
    assert "Needle 2 all 2 needles are needed" in page
    assert "tides.md#char=" in page
    assert "bread.md#char=" in page
    assert "any one of 2 needles answers" in words(client, "/sweeps/1/queries/either")
    assert "The answer, in its document" in words(client, "/sweeps/1/queries/one")


def test_a_needle_is_said_to_be_cut_apart_only_where_it_is(client):
    """The blind cut destroys the needle on the moon, and leaves the one on the oven whole."""
    page = text(client, "/sweeps/1/queries/both")
    moon, oven = page.split('<section class="place"')[1:3]
    assert "cuts it apart" in moon
    assert "cuts it apart" not in oven.split("</section>")[0]


def test_relevant_documents_of_a_question_are_shown_with_their_grades(client):
    page = words(client, "/sweeps/2/queries/warm")
    assert "Relevant documents document-level relevance" in page
    assert page.index("bread.md grade 3") < page.index("bees.md grade 1") < page.index("tides.md grade 0")
    assert "relevant document" in page
    assert "not quotable" not in page


def test_the_hit_rule_is_said_beside_the_numbers(client):
    for url in ("/sweeps/2", "/sweeps/2/pairs", "/sweeps/2/threshold", "/sweeps/2/queries", "/documents?sweep=2"):
        assert "by document-level relevance" in words(client, url), url
        assert 'title="hit rule: chunk-of-a-relevant-document/1"' in text(client, url)
    assert "over 3 needles" in words(client, "/sweeps/1")


@pytest.mark.parametrize("url", ["/sweeps/2/threshold?t=0.5", "/sweeps/2/queries", "/compare?a=2&b=2"])
def test_under_document_level_relevance_no_page_speaks_of_needles(client, url):
    assert not re.findall(r".{30}[nN]eedle.{30}", words(client, url))


def test_under_document_level_relevance_nothing_is_destroyed_and_the_reason_is_said(client):
    page = words(client, "/sweeps/2")
    assert "whole documents are judged here, so there are no needles to destroy, truncate or quote" in page
    assert "- (n = 0)" in page
    assert "No strategy destroys" not in page
    row = next(csv.DictReader(io.StringIO(text(client, "/sweeps/2/strategies.csv").lstrip("\ufeff"))))
    assert (row["destroyed"], row["destroyed_n"], row["truncated"], row["not_quotable"]) == ("", "0", "", "")
    assert float(row["ndcg_at_10"]) > 0
    assert row["document_recall_at_100_n"] == "3"
    assert "no needles a strategy could destroy" in words(client, "/documents?sweep=2")


def test_the_secondary_table_is_of_documents_or_of_tokens(client):
    assert "Documents found" in words(client, "/sweeps/2")
    assert "nDCG@10" in words(client, "/sweeps/2")
    tokens = words(client, "/sweeps/1?k=4")
    assert "Token-level scores at k = 4" in tokens
    assert "token IoU@4" in tokens
    row = next(csv.DictReader(io.StringIO(text(client, "/sweeps/1/strategies.csv").lstrip("\ufeff"))))
    assert row["token_iou_at_4_n"] == "3"
    assert "ndcg_at_10" not in row


def test_documents_mark_every_needle_and_count_what_each_strategy_destroys_of_them(client):
    page = text(client, "/documents/tides.md?sweep=1&cut=A")
    assert "destroyed" in page
    rows = {row["document"]: row for row in csv.DictReader(
        io.StringIO(text(client, "/documents.csv?sweep=1").lstrip("\ufeff"))
    )}  # fmt: skip
    assert {name: row["needles"] for name, row in rows.items()} == {"bees.md": "1", "bread.md": "2", "tides.md": "1"}


def test_questions_lists_several_needles_and_judged_documents(client):
    page = words(client, "/questions?sweep=1")
    assert "all of 2 needles" in page
    assert "any one of 2 needles" in page
    page = words(client, "/questions?sweep=2")
    assert "3 answerable by document-level relevance" in page
    assert "Relevant documents and how they are asked for" in page
    assert "bread.md grade 3" in page
    assert '"relevant": {"bees.md": 1, "bread.md": 3, "tides.md": 0}' in text(
        client, "/questions/measured.jsonl?sweep=2"
    )
