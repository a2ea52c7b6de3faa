"""Reading decisions: the list, one with its evidence, whether it holds, and what production reads."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from page_contracts import assert_context_is_what_the_templates_use, text
from sqlalchemy import event
from web_worlds import BM25_E, DENSE_E, HYBRID_E, reviewed

from experiments.deciding.choosing import ByHand, Cheapest
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.reading import load_sweep
from store.decisions import add_decision, decision
from store.engine import open_store
from store.tables import DecisionRow
from webapp.app import create_app
from webapp.contexts.decisions import DecisionContext, DecisionsContext


def decide(engine, sweep_id, key, way, supersedes, reason, target=None):
    loaded = load_sweep(engine, sweep_id)
    also = [way.threshold] if isinstance(way, ByHand) else []
    evidence = consider(loaded, find_combination(loaded, key), Terms(target=target), also)
    made = decision_from(
        evidence, evidence.choose(way), who="Ada <ada>", reason=reason, project="p", supersedes=supersedes
    )
    return record(engine, made)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """Two sweeps; a decision on the first, superseded by one on the second."""
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('decisions') / 'store.db'}")
    reviewed(opened, commit="1" * 40)
    reviewed(opened, commit="2" * 40, dirty=True, branch="try")
    decide(opened, 1, DENSE_E, ByHand(0.55), None, "First\nguess <b>", target=0.2)
    decide(opened, 2, HYBRID_E, Cheapest(), 1, "Cheaper.")
    yield opened
    opened.dispose()


def test_the_list_begins_with_what_is_in_force_and_whether_it_holds(client):
    page = text(client, "/decisions")
    said = re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1]
    assert "for E hybrid all-MiniLM-L6-v2 is in force" in said
    assert "Decision 2 holds on sweep 2, on which it was made" in said
    rows = re.findall(r"<tr[^>]*>\s*<th scope=\"row\">.*?</tr>", page, re.DOTALL)
    assert ["in force" in row for row in rows] == [True, False]
    assert "superseded" in rows[1]
    assert "First\nguess &lt;b&gt;" in rows[1]
    assert "Ada &lt;ada&gt;" in rows[1]


def test_shares_of_the_list_are_those_of_questions_that_had_no_part_in_the_choice(client, engine):
    row = decision(engine, 1).evidence["choice"]["evaluation"]["row"]["bluffs"]
    page = text(client, "/decisions")
    assert f'{row["value"]:.2f}</span> <span class="ci">[{row["low"]:.2f}, {row["high"]:.2f}]</span>' in page


def test_without_decisions_it_says_how_one_is_made(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    page = text(create_app(opened, root=tmp_path, allowed_hosts={"localhost"}).test_client(), "/decisions")
    assert "No threshold has been decided yet." in page
    assert "bluffline decide" in page
    opened.dispose()


def test_one_decision_shows_everything_that_was_known(client, engine):
    page = text(client, "/decisions/2")
    made = decision(engine, 2)
    for words in (
        "2" * 7, "uncommitted changes", "d" * 12, "e" * 12, "rule/1", "Cheaper.", "least expected cost",
        "Cost of a bluff",
        "of the traffic", "boundaries + header", made.stamp["name"], "k1 = 1.2, b = 0.75", "4 chunks",
    ):  # fmt: skip
        assert words in page, words
    share = made.evidence["choice"]["evaluation"]["row"]["right"]
    assert f'<span class="est">{share["hits"]}</span> <span class="quiet">of {share["n"]}</span>' in page
    assert "out of fold" in page
    assert made.evidence["bounds"]["near"]["sentence"] in page
    assert 'href="/decisions/1"' in page


def test_an_evaluation_is_not_called_honest_where_the_threshold_was_given_by_hand(client):
    by_hand, picked = text(client, "/decisions/1"), text(client, "/decisions/2")
    assert "every column flatters it" in by_hand
    assert "the honest one" not in by_hand
    assert "the honest one" in picked
    assert "every column flatters it" not in picked


def test_a_superseded_decision_says_by_what(client):
    page = text(client, "/decisions/1")
    assert "Decision 1 is no longer in force: decision 2 superseded it, by Ada &lt;ada&gt;" in page
    assert "Would it still hold?" in page
    assert "First\nguess &lt;b&gt;" in page
    assert "at most 20 %" in page


def test_every_check_of_whether_it_holds_stands_with_what_it_found(client):
    page = text(client, "/decisions/1")
    for check in ("corpus", "questions", "combination", "model", "near bluffs", "needles kept"):
        assert f'<th scope="row">{check}</th>' in page


def test_the_cost_curve_is_the_one_that_was_recorded(client, engine):
    figure = json.loads(re.search(r'id="cost-figure-data">(.*?)</script>', text(client, "/decisions/2"))[1])
    curve = [one for one in decision(engine, 2).evidence["costs"]["curve"] if one["threshold"] is not None]
    assert figure["data"][2]["y"] == [one["cost"] for one in curve]
    assert figure["layout"]["shapes"][0]["x0"] == decision(engine, 2).threshold
    assert "<b>" not in json.dumps(figure)


def test_production_reads_toml_or_json_of_the_same_content(client):
    first = client.get("/decisions/2.toml")
    assert first.headers["Content-Disposition"] == 'attachment; filename="bluffline-decision-2.toml"'
    assert tomllib.loads(first.get_data(as_text=True)) == json.loads(text(client, "/decisions/2.json"))
    assert tomllib.loads(first.get_data(as_text=True))["decision"]["id"] == 2


def test_the_tables_are_handed_out_as_files(client, engine):
    rows = json.loads(text(client, "/decisions/2/evidence.json"))["rows"]
    assert [row["outcome"] for row in rows][:3] == ["right", "wrong", "refused"]
    assert rows[0]["evaluation_n"] == 64
    assert len(json.loads(text(client, "/decisions/2/costs.json"))["rows"]) == len(
        decision(engine, 2).evidence["costs"]["curve"]
    )
    listed = json.loads(text(client, "/decisions.json"))["rows"]
    assert [(row["id"], row["superseded_by"]) for row in listed] == [(2, None), (1, 2)]
    assert "| Decision |" in text(client, "/decisions.md")


@pytest.mark.parametrize(
    "path", ["/decisions/9", "/decisions/9.toml", "/decisions/9/evidence.csv", f"/decisions/{2**70}"]
)
def test_an_unknown_decision_is_not_found(client, path):
    assert "There is no such decision" in text(client, path, 404)


def test_a_record_that_lacks_what_newer_ones_keep_is_shown_with_what_there_is(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'old.db'}")
    sweep_id = reviewed(opened)
    made = decide(opened, sweep_id, BM25_E, ByHand(0.5), None, "old")
    values = {**made.model_dump(), "id": None, "key": "k", "supersedes": 1, "evidence": {}}
    add_decision(opened, DecisionRow(**values))
    page = text(create_app(opened, root=tmp_path, allowed_hosts={"localhost"}).test_client(), "/decisions/2")
    assert "The record holds no outcomes." in page
    assert "cost-figure" not in page
    opened.dispose()


def test_a_decision_outlives_its_sweep(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'gone.db'}")
    sweep_id = reviewed(opened)
    made = decide(opened, sweep_id, BM25_E, ByHand(0.5), None, "kept")
    values = {**made.model_dump(), "id": None, "key": "k", "supersedes": 1, "sweep_key": "0" * 32, "sweep_id": 77}
    add_decision(opened, DecisionRow(**values))
    page = text(create_app(opened, root=tmp_path, allowed_hosts={"localhost"}).test_client(), "/decisions/2")
    assert "not in this store any more" in page
    opened.dispose()


def test_the_contexts_are_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "decisions", DecisionsContext)
    assert_context_is_what_the_templates_use(app, "decision", DecisionContext)


@pytest.mark.parametrize("address", ["/decisions", "/decisions/1"])
def test_a_page_takes_at_most_eight_statements(client, engine, address):
    statements = []
    event.listen(engine, "before_cursor_execute", count := lambda *args: statements.append(args[2]))
    try:
        text(client, address)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len(statements) <= 8, statements
