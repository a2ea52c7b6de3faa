"""The strategies page: what it says, sorts, filters, compares and hands out."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page, text
from sqlalchemy import event
from web_worlds import BM25_A, DENSE_A, DENSE_E, HYBRID_E, KEYS, outcomes_of, reviewed

from experiments.evaluation import Number
from store import reads, writes
from webapp.app import create_app
from webapp.contexts.strategies import StrategiesContext
from webapp.contexts.strategy_table import Choice, Row, ordered

PAGE = "/sweeps/1"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    from store.engine import open_store

    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('strategies') / 'store.db'}")
    reviewed(opened)
    reviewed(opened, failed={HYBRID_E: "out of memory <here>"}, queued=[BM25_A], state="interrupted",
             reason="its process ended", measured_in=f"{1:032x}")  # fmt: skip
    reviewed(opened, keys=[], state="failed", reason="nothing to do")
    yield opened
    opened.dispose()


def shown(page):
    """Names of the rows, from their tick boxes."""
    return re.findall(r'aria-label="Compare ([^"]+)"', page)


def ids(engine, sweep_id=1):
    return {row.key: row.id for row in reads.combinations(engine, sweep_id)}


def test_the_first_sentence_is_the_verdict_with_what_is_destroyed(client):
    page = text(client, PAGE)
    verdict = re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1]
    assert verdict.startswith("With 64 questions over 32 needles, E beats A")
    assert '<b class="alarm">A destroys 9 of 32 needles' in verdict


def test_what_a_strategy_destroys_leads_to_the_questions_it_destroys(client):
    page = text(client, PAGE)
    links = re.findall(r'<span class="alarm"><a href="([^"]+)">(\d+) of 32</a>', page)
    assert set(links) == {("/sweeps/1/queries?which=destroyed&amp;strategy=A", "9")}
    assert "destroyed" in text(client, links[0][0].replace("&amp;", "&"))


def test_every_combination_is_a_row_with_every_number_and_its_interval(client):
    page = text(client, PAGE)
    assert sorted(shown(page)) == ["A bm25", "A dense", "E bm25", "E dense", "E hybrid"]
    for heading in ("R@1", "R@4", "R@8", "R@20", "MRR", "destroyed", "truncated", "not quotable", "chunks", "tokens",
                    "header", "tokens@20", "ms a question"):  # fmt: skip
        assert re.search(rf">{re.escape(heading)}<", page), heading
    assert page.count('<svg class="whisker') == 5 * 5
    assert '>9 of 32</a></span><span class="ci">[0.16, 0.45]</span>' in page
    assert "<span><b>2.20</b> lexical</span>" in page


def test_what_must_be_said_beside_the_numbers_is_said_once(client):
    page = text(client, PAGE)
    for words in (
        "this recall is success@k",
        "Whiskers that overlap prove nothing",
        "k1 = 1.2, b = 0.75, tokens",
        "2 of 740 chunks of A and 9 of 1,068 chunks of E",
        "unit length",
        "differ by at most 2.4e-07",
    ):
        assert page.count(words) == 1, words
    assert page.count("<small>k1\u00a0=\u00a01.2, b\u00a0=\u00a00.75</small>") == 2  # beside each BM25


def test_rows_are_sorted_by_any_column_and_equal_ones_stay_in_grid_order(client, engine):
    best = shown(text(client, PAGE))
    assert best[:2] == ["E dense", "E hybrid"] or best[:2] == ["E hybrid", "E dense"]
    assert shown(text(client, f"{PAGE}?sort=chunks")) == ["A dense", "A bm25", "E dense", "E bm25", "E hybrid"]
    assert shown(text(client, f"{PAGE}?sort=-chunks")) == ["E dense", "E bm25", "E hybrid", "A dense", "A bm25"]
    assert shown(text(client, f"{PAGE}?sort=-strategy"))[0] == "E dense"
    values = reads.measures(engine, 1)
    for sort, name in (("r4", "recall_at_4"), ("mrr", "mrr"), ("context", "tokens_at_20"), ("header", "header_share")):
        by_value = sorted(KEYS, key=lambda key: values[ids(engine)[key]][name].value)
        assert shown(text(client, f"{PAGE}?sort={sort}")) == [" ".join(key.split("/")[:2]) for key in by_value], sort


def test_a_row_without_a_value_comes_last_whichever_way_it_is_sorted(engine):
    rows = [Row(row, {}) for row in reads.combinations(engine, 1)]
    rows[2] = rows[2]._replace(numbers={"mrr": Number("mrr", 0.5, 0.4, 0.6, None, 64)})
    for sort in ("mrr", "-mrr"):
        found = ordered(rows, (1, 4), Choice(4, sort))
        assert [row.combination.key for row in found][:1] == [KEYS[2]]
        assert [row.combination.key for row in found][1:] == [key for key in KEYS if key != KEYS[2]]


def test_filters_let_a_combination_without_a_model_through_for_every_model(client):
    assert sorted(shown(text(client, f"{PAGE}?strategy=A"))) == ["A bm25", "A dense"]
    assert sorted(shown(text(client, f"{PAGE}?retriever=bm25"))) == ["A bm25", "E bm25"]
    page = text(client, f"{PAGE}?strategy=E&model=sentence-transformers/all-MiniLM-L6-v2&k=4")
    assert sorted(shown(page)) == ["E bm25", "E dense", "E hybrid"]
    assert "3 of 5 combinations" in page
    assert "tokens@4" in page


def test_two_ticked_rows_are_compared_within_all_pairs(client, engine):
    known = ids(engine)
    page = text(client, f"{PAGE}?pick={known[DENSE_A]}&pick={known[DENSE_E]}")
    card = re.search(r'<section class="compare".*?</section>', page, re.DOTALL)[0]
    assert "E dense against A dense" in card  # the higher row first
    assert "E dense beats A dense at k = 20" in card
    assert "Holm, within all 10 pairs" in card
    first, second = (
        np.array([one.rank is not None for one in outcomes_of(key) if one.needle_id]) for key in (DENSE_E, DENSE_A)
    )
    assert f"<dd>{(first & ~second).sum()}, {(second & ~first).sum()} <i>of 64</i>" in card
    assert f"differs by</dt><dd>+{first.mean() - second.mean():.2f} <i>[" in card
    assert re.search(r"differs by</dt><dd>\+0\.\d\d <i>\[", card)


@pytest.mark.parametrize(("picks", "words"), [
    ([], "Tick two rows"), ([DENSE_A], "A dense is ticked"), ([DENSE_A, DENSE_E, BM25_A], "3 rows are ticked"),
])  # fmt: skip
def test_other_numbers_of_ticks_say_what_to_do(client, engine, picks, words):
    page = text(client, f"{PAGE}?pick={','.join(str(ids(engine)[key]) for key in picks)}")
    assert words in page
    assert 'id="compared"' not in page


def test_failed_and_queued_combinations_stand_in_the_table_with_their_reasons(client):
    page = text(client, "/sweeps/2")
    assert "out of memory &lt;here&gt;" in page
    assert '<span class="tag bad">failed</span>' in page
    assert '<span class="tag">queued</span>' in page
    assert "This sweep is interrupted (its process ended)." in page
    assert "3 of 5 combinations are recorded and shown" in page
    assert page.count('<tr class="failed">') == 2
    assert text(client, "/sweeps/2?strategy=A").count('<tr class="failed">') == 1


def test_a_retrieval_that_was_read_from_an_earlier_sweep_says_from_which(client):
    page = text(client, "/sweeps/2")
    assert "instead of retrieved again: sweep 1: all 3 combinations." in page
    assert "Read from" not in text(client, PAGE)


def test_a_sweep_without_combinations_says_what_to_run(client):
    page = text(client, "/sweeps/3")
    assert "This sweep has no combinations" in page
    assert "bluffline run" in page


def test_the_export_holds_what_the_page_shows_with_intervals_and_n(client, engine):
    rows = list(csv.DictReader(io.StringIO(text(client, "/sweeps/1/strategies.csv?strategy=E&sort=mrr"))))
    assert [row["strategy"] for row in rows] == ["E"] * 3
    assert [float(row["mrr"]) for row in rows] == sorted(float(row["mrr"]) for row in rows)
    kept = reads.measures(engine, 1)[ids(engine)[DENSE_E]]["recall_at_20"]
    row = next(row for row in rows if row["retriever"] == "dense")
    assert [float(row[f"recall_at_20{end}"]) for end in ("", "_low", "_high", "_n")] == [
        kept.value, kept.low, kept.high, kept.n]  # fmt: skip
    data = json.loads(text(client, "/sweeps/2/strategies.json"))
    assert {row["state"] for row in data["rows"]} == {"recorded", "failed", "queued"}
    assert any(row["reason"] == "out of memory <here>" and row["mrr"] is None for row in data["rows"])
    assert text(client, "/sweeps/1/strategies.md").startswith("| Strategy | Retriever |")


def test_the_export_links_carry_the_filters(client):
    assert "/sweeps/1/strategies.csv?strategy=E&amp;sort=mrr" in text(client, f"{PAGE}?strategy=E&sort=mrr")


@pytest.mark.parametrize(("query", "name"), [
    ("k=5", "k"), ("sort=taste", "sort"), ("strategy=Z", "strategy"), ("retriever=magic", "retriever"),
    ("model=gpt", "model"), ("pick=one", "pick"),
])  # fmt: skip
def test_a_bad_parameter_is_named_with_what_is_allowed(client, query, name):
    page = text(client, f"{PAGE}?{query}", 400)
    assert f"{name} = " in page
    assert f"{name} may be " in page


def test_an_unknown_sweep_says_what_to_do(client):
    assert "Choose one from the overview" in text(client, "/sweeps/99", 404)


def test_the_fragment_is_part_of_the_page_and_the_context_is_what_the_templates_use(app, client):
    assert_fragment_is_part_of_its_page(client, f"{PAGE}?k=4&sort=mrr", "strategies")
    assert_context_is_what_the_templates_use(app, "strategies", StrategiesContext)


def test_a_form_sent_by_htmx_leaves_a_short_address(client):
    htmx = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#strategies"}
    response = client.get(f"{PAGE}?k=20&strategy=A&strategy=E&sort=mrr&pick=1&pick=2", headers=htmx)
    assert response.headers["HX-Push-Url"] == f"{PAGE}?sort=mrr&pick=1%2C2&strategy=A%2CE"
    assert "HX-Push-Url" not in client.get(PAGE).headers


@pytest.mark.parametrize("path", [PAGE, "/sweeps/2", "/sweeps/1/strategies.csv"])
def test_the_page_takes_at_most_eight_statements(client, engine, path):
    statements = []

    def count(_connection, _cursor, statement, *_):
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", count)
    try:
        text(client, path)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len(statements) <= 8, statements


def test_a_sweep_without_answerable_questions_has_no_zero(tmp_path):
    from made_outcomes import question_set
    from made_sweeps import DENSE, add_sweep

    from store.engine import open_store

    engine = open_store(f"sqlite:///{tmp_path / 'none.db'}")
    sweep_id = add_sweep(engine, {DENSE: question_set(1, needles=0)},
                         settings={"retrievers": ["dense"], "models": [DENSE.split("/", 2)[2]]})  # fmt: skip
    writes.update_sweep(engine, sweep_id, state="finished")
    client = create_app(engine, root=tmp_path, allowed_hosts={"localhost"}).test_client()
    page = text(client, f"/sweeps/{sweep_id}")
    assert "Nothing is measured yet" in page
    assert "0.00" not in page.split("<tbody>")[1].split("</tbody>")[0]
    engine.dispose()


def test_a_pair_leads_to_its_questions_on_the_win_loss_page(client, engine):
    known = ids(engine)
    page = text(client, f"{PAGE}?k=4&pick={known[DENSE_A]},{known[DENSE_E]}")
    url = re.search(r'href="(/sweeps/1/pairs[^"]+)"', page)[1].replace("&amp;", "&")
    assert set(url.partition("?")[2].removesuffix("#pair").split("&")) == {
        "k=4", f"a={known[DENSE_E]}", f"b={known[DENSE_A]}"}  # fmt: skip
    assert 'id="pair"' in text(client, url.partition("#")[0])
