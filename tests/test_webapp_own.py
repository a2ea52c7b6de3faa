"""A team's own retriever on the pages: how asking it went, what could not be located, and what cannot be judged."""

import re

import pytest
from own_world import STRANGE, measured

from experiments.asking.asker import Asker, DecisionMismatchError
from experiments.deciding.choosing import ByHand, choose
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.reading import load_sweep
from store.decisions import decision_in_force
from webapp.app import create_app
from webapp.dashboard import EXTENSION


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    engine = measured(folder)
    yield create_app(engine, root=folder, allowed_hosts={"localhost"}).test_client()
    engine.dispose()


def text(client, path):
    response = client.get(path)
    page = response.get_data(as_text=True)
    assert response.status_code == 200, page[:3000]
    return re.sub(r"\s+", " ", page)


def test_the_strategies_page_says_how_asking_went_and_shows_no_number_of_what_cannot_be_judged(client):
    page = text(client, "/sweeps/1")
    assert "29 of 30 requests answered: " in page
    assert "4 of 4 answerable and 25 of 26 unanswerable questions" in page
    assert "Which answers the chunks of ours destroy is not known" in page
    assert page.count("not known</span>") == 2
    assert "29 of 30 answered" in page
    assert "own/theirs cannot be judged." in page
    assert "status 500: &#39;the index is gone&#39;" in page
    rows = re.findall(r'<tr class="failed">.*?</tr>', page)
    assert len(rows) == 1
    assert "cannot be judged" in rows[0]
    assert "stand nowhere in the documents (not located)" in page


def test_exports_carry_the_tally(client):
    rows = client.get("/sweeps/1/strategies.csv").get_data(as_text=True)
    assert "requests" in rows.splitlines()[0]
    assert "0 of 30 requests answered" in rows


def test_every_page_of_the_sweep_opens_with_it(client):
    for path in (
        "/",
        "/sweeps/1?strategy=own",
        "/sweeps/1/pairs",
        "/sweeps/1/queries",
        "/sweeps/1/queries/n1",
        "/sweeps/1/queries/x7",
        "/sweeps/1/threshold?strategy=own&retriever=ours",
        "/sweeps/1/threshold?strategy=own&retriever=ours&t=0.675",
        "/compare?a=1&b=1",
        "/documents",
        "/documents/vectors.md",
        "/questions",
        "/ask",
    ):
        text(client, path)


def ours(client):
    (found,) = {
        match[1] for match in re.finditer(r'id="pick-(\d+)" aria-label="Compare own ours"', text(client, "/sweeps/1"))
    }
    return found


def test_a_text_that_stands_nowhere_is_shown_with_its_question(client):
    page = text(client, f"/sweeps/1/queries/x1?open={ours(client)}")
    assert STRANGE in page
    assert "a text that stands at no one place of the documents" in page


def test_a_question_without_an_answer_says_why(client):
    page = text(client, "/sweeps/1/queries/x7")
    assert "own/ours gave this question no answer." in page
    assert "error: status 500" in page
    assert "own/ours did not answer every question." in text(client, "/sweeps/1/queries")


def test_a_located_text_leads_to_its_place(client):
    page = text(client, f"/sweeps/1/queries/c1?open={ours(client)}")
    assert "/documents/serving.md?" in page
    assert "cut=own" not in page


def test_the_gate_reads_its_distances_and_bluffs_are_listed(client):
    page = text(client, "/sweeps/1/threshold?strategy=own&retriever=ours&t=none")
    assert "25" in page
    assert "a text that stands at no one place of the documents" in page


def test_no_decision_is_possible_on_what_cannot_be_judged(client):
    response = client.get("/sweeps/1/threshold?strategy=own&retriever=theirs")
    page = response.get_data(as_text=True)
    assert "cannot be judged" in page
    assert "Choose this threshold" not in page


def test_a_decision_about_it_is_recorded_and_ask_says_that_it_is_not_asked_here(client):
    engine = client.application.extensions[EXTENSION].engine
    loaded = load_sweep(engine, 1)
    evidence = consider(loaded, find_combination(loaded, "own/ours"), Terms(), [0.675])
    choice = choose(evidence.outcomes, [0.675], ByHand(0.675), seed=1)
    record(engine, decision_from(evidence, choice, who="me", reason="a trial", project="own", supersedes=None))
    assert "a retriever of your own" in text(client, "/decisions/1")
    assert 'asks = "POST' in client.get("/decisions/1.toml").get_data(as_text=True)
    with pytest.raises(DecisionMismatchError, match="decision 1 is about your own retriever ours"):
        Asker.check_decision(None, decision_in_force(engine))
    page = text(client, "/ask")
    assert 'value="own/' not in page
    assert "asked in sweeps only, so they are not offered here." in page


def test_the_overview_names_it(client):
    page = text(client, "/")
    assert "own theirs" in page
    assert "cannot be judged: 0 of 30 requests answered" in page
