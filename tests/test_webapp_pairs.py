"""The win/loss page: the matrix, the pair of a cell, the order, the files, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page, text
from sqlalchemy import event
from web_worlds import BM25_A, BM25_E, DENSE_A, DENSE_E, HYBRID_E, KEYS, reviewed

from store import reads
from store.engine import open_store
from webapp.contexts.pairs import PairsContext

PAGE = "/sweeps/1/pairs"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('pairs') / 'store.db'}")
    reviewed(opened)
    reviewed(opened, failed={HYBRID_E: "out of <memory>"}, queued=[BM25_A], state="interrupted", reason="killed")
    reviewed(opened, keys=[], state="failed", reason="nothing to do")
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def ids(engine):
    return {row.key: row.id for row in reads.combinations(engine, 1)}


def rows(client, path):
    return list(csv.DictReader(io.StringIO(text(client, path))))


def matrix(page):
    """Cells by row: classes and words, without those of the diagonal."""
    body = page.split('<table class="matrix')[1].split("</table>")[0]
    return [
        re.findall(r'<td class="(\w+(?: clear)?)"[^>]*><a[^>]*>(\+\d+ −\d+)', row)
        for row in body.split("<tbody>")[1].split("<tr>")[1:]
    ]


def test_the_context_is_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "pairs", PairsContext)


def test_each_fragment_is_a_part_of_its_page(client, ids):
    assert_fragment_is_part_of_its_page(client, PAGE, "winloss")
    chosen = f"{PAGE}?a={ids[DENSE_E]}&b={ids[DENSE_A]}"
    assert_fragment_is_part_of_its_page(client, chosen, "pair")
    assert_fragment_is_part_of_its_page(client, chosen, "winloss")
    assert_fragment_is_part_of_its_page(client, PAGE, "pair")


def test_the_matrix_and_the_file_agree_on_every_pair(client, ids):
    page = text(client, f"{PAGE}?order=grid")
    cells = matrix(page)
    places = {key: place for place, key in enumerate(KEYS)}
    pairs = rows(client, "/sweeps/1/pairs.csv?order=grid")
    assert len(pairs) == 10
    for pair in pairs:
        row, column = places[pair["first"]], places[pair["second"]]
        kind, words = cells[row][column - (column > row)]
        assert words == f"+{pair['wins']} −{pair['losses']}"
        assert ("clear" in kind) == (pair["resolved"] == "true")
        assert (kind == "unresolved") == (pair["resolvable"] == "false")


def test_what_leads_comes_first_and_the_verdict_names_it(client):
    page = text(client, PAGE)
    order = rows(client, "/sweeps/1/pairs/order.csv")
    assert order[0]["hits"] == max(row["hits"] for row in order)
    assert sum(float(row["best_share"]) for row in order) == pytest.approx(1)
    assert re.search(r'<p class="verdict">E (dense|hybrid) finds \d+ of 64 questions \[', page)


def test_counting_by_needle_counts_fewer_and_says_so(client):
    page = text(client, f"{PAGE}?per=needle")
    assert "32 needles" in page
    assert {row["per"] for row in rows(client, "/sweeps/1/pairs.csv?per=needle")} == {"needle"}
    assert {row["n"] for row in rows(client, "/sweeps/1/pairs.csv?per=needle")} == {"32"}


def test_a_smaller_k_finds_less(client):
    found = {k: rows(client, f"/sweeps/1/pairs/order.csv?k={k}")[0]["hits"] for k in (1, 20)}
    assert int(found[1]) < int(found[20])


def test_filters_leave_what_they_say_and_the_family_shrinks_with_them(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=dense&retriever=hybrid")
    assert "2 of 5 combinations" in page
    assert "1 pair shown" in page
    assert 'id="strategy-E" name="strategy" value="E" checked' in page
    assert len(rows(client, "/sweeps/1/pairs.csv?strategy=E&retriever=dense,hybrid")) == 1
    assert (
        rows(client, "/sweeps/1/pairs.csv?strategy=E&retriever=dense,hybrid")[0]["p"]
        == (rows(client, "/sweeps/1/pairs.csv?strategy=E&retriever=dense,hybrid")[0]["holm_p"])
    )


def test_one_combination_alone_says_how_to_get_more(client):
    page = text(client, f"{PAGE}?strategy=E&retriever=bm25")
    assert "One combination alone" in page
    assert '<table class="matrix' not in page


def test_a_pair_shows_its_discordant_questions_on_the_side_that_won_them(client, ids):
    query = f"?a={ids[DENSE_E]}&b={ids[DENSE_A]}"
    page = text(client, PAGE + query)
    listed = rows(client, f"/sweeps/1/pairs/discordant.csv{query}")
    pair = next(
        row
        for row in rows(client, "/sweeps/1/pairs.csv?order=grid")
        if {row["first"], row["second"]} == {DENSE_E, DENSE_A}
    )
    won = [row["query_id"] for row in listed if row["won_by"] == DENSE_E]
    lost = [row["query_id"] for row in listed if row["won_by"] == DENSE_A]
    assert (len(won), len(lost)) == (int(pair["losses"]), int(pair["wins"]))  # the file has A first
    card = page.split('<section id="pair"')[1]
    left, right = card.split("<h3>")[1:3] if lost else (card.split("<h3>")[1], "")
    for side, questions in ((left, won), (right, lost)):
        assert all(f"question {query_id}<" in side for query_id in questions)
    assert f"E dense wins {len(won)} questions" in page
    assert "destroyed" in left
    assert f"open={ids[DENSE_E]},{ids[DENSE_A]}" in page
    assert 'aria-current="true"' in page.split('<table class="matrix')[1].split("</table>")[0]


def test_the_pair_the_other_way_round_exchanges_its_sides(client, ids):
    one = text(client, f"{PAGE}?a={ids[DENSE_E]}&b={ids[DENSE_A]}")
    other = text(client, f"{PAGE}?a={ids[DENSE_A]}&b={ids[DENSE_E]}")
    sides = [re.findall(r"<h3>(.*? wins .*?)</h3>", page) for page in (one, other)]
    assert sides[0] == sides[1][::-1]
    assert f"?a={ids[DENSE_A]}&amp;b={ids[DENSE_E]}#pair" in one


def test_by_needle_a_pair_groups_the_phrasings_of_each_needle(client, ids):
    page = text(client, f"{PAGE}?per=needle&a={ids[DENSE_E]}&b={ids[BM25_A]}")
    listed = rows(client, f"/sweeps/1/pairs/discordant.csv?per=needle&a={ids[DENSE_E]}&b={ids[BM25_A]}")
    assert len(listed) % 2 == 0
    assert "needles" in re.findall(r"<h3>(.*?)</h3>", page.split('id="pair"')[1])[0]


def test_a_filter_that_takes_the_pair_away_leaves_the_page(client, ids):
    page = text(client, f"{PAGE}?strategy=E&a={ids[DENSE_E]}&b={ids[DENSE_A]}")
    assert '<section id="pair" aria-label="The chosen pair">' in page


@pytest.mark.parametrize("form", ["csv", "json", "md"])
@pytest.mark.parametrize("table", ["pairs", "pairs/order", "pairs/discordant"])
def test_every_table_is_handed_out(client, ids, table, form):
    body = text(client, f"/sweeps/1/{table}.{form}?a={ids[BM25_E]}&b={ids[BM25_A]}")
    if form == "json":
        assert json.loads(body)["rows"]
    else:
        assert len(body.splitlines()) > 2


def test_links_to_files_carry_the_state_of_the_page(client):
    page = text(client, f"{PAGE}?k=4&per=needle&strategy=E")
    assert "/sweeps/1/pairs.csv?k=4&amp;per=needle&amp;strategy=E" in page
    assert "/sweeps/1/pairs/order.json?k=4&amp;per=needle&amp;strategy=E" in page


def test_a_sweep_that_broke_off_shows_what_there_is_and_what_is_missing(client):
    page = text(client, "/sweeps/2/pairs")
    assert "This sweep is interrupted (killed)." in page
    assert "3 of 5 combinations are recorded" in page
    assert "1 combination failed and cannot be shown." in page
    assert "out of &lt;memory&gt;" in page
    assert len(matrix(page)) == 3


def test_a_sweep_without_anything_says_what_to_run(client):
    page = text(client, "/sweeps/3/pairs")
    assert "Nothing to compare" in page and "bluffline run" in page
    assert rows(client, "/sweeps/3/pairs.csv") == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("k=5", "k may be one of 1, 4, 8, 20."),
        ("per=word", "per may be one of question, needle."),
        ("order=random", "order may be one of found, grid."),
        ("strategy=Z", "strategy may be one or more of A, E."),
        ("a=1", "b may be the id of another combination."),
        ("a=1&b=1", "b may be the id of another combination."),
        ("a=x&b=2", "a may be a whole number"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_is_allowed(client, query, said):
    assert said in text(client, f"{PAGE}?{query}", 400)


def test_what_is_not_there_is_a_page_that_says_what_to_do(client):
    assert "There is no such sweep" in text(client, "/sweeps/99/pairs", 404)
    assert "no combination 998 and 999" in text(client, f"{PAGE}?a=998&b=999", 404)
    assert "a = &#39;&#39;" in text(client, "/sweeps/1/pairs/discordant.csv", 400)


def test_what_stands_in_the_address_is_escaped(client):
    page = text(client, f'{PAGE}?x="><script>alert(1)</script>')
    assert "<script>alert(1)" not in page


def test_a_page_takes_at_most_eight_statements(client, engine, ids):
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    text(client, f"{PAGE}?a={ids[DENSE_E]}&b={ids[DENSE_A]}")
    assert len([one for one in asked if one.lstrip().upper().startswith("SELECT")]) <= 8


def test_the_page_is_reached_from_the_navigation(client):
    assert '<a href="/sweeps/1/pairs" aria-current="page">Win/loss</a>' in text(client, PAGE)
