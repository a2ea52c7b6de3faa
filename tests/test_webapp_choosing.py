"""Choosing a threshold in the browser: what the form shows, what it refuses, and what is recorded."""

from __future__ import annotations

import re

import pytest
from page_contracts import assert_context_is_what_the_templates_use
from web_worlds import DENSE_E, outcomes_of, reviewed

from experiments.deciding.choosing import ByHand, choose
from store.decisions import decision_in_force, decisions
from store.engine import open_store
from webapp.app import create_app
from webapp.contexts.choosing import ChoosingContext

FORM = "/sweeps/1/threshold/choose"
QUERY = "?strategy=E&retriever=dense&t=0.55"


@pytest.fixture
def engine(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    reviewed(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def app(engine, tmp_path):
    return create_app(engine, root=tmp_path, allowed_hosts={"localhost"}, title="handbook")


@pytest.fixture
def client(app):
    return app.test_client()


def filled(page, **changes):
    """The form's fields as a browser would send them."""
    form = page.split("<form", 1)[1]
    values = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    return {**values, "who": "Ada", "reason": "bluffs are dear", **changes}


def opened(client, query=QUERY):
    response = client.get(FORM + query)
    assert response.status_code == 200
    return response.get_data(as_text=True)


def test_the_form_says_what_would_be_recorded(client):
    page = opened(client)
    assert "<b>0.55 for E dense all-MiniLM-L6-v2.</b>" in page
    choice = choose(outcomes_of(DENSE_E), [0.5], ByHand(0.55), seed=7)
    assert f">{choice.evaluation.row.right.hits} / {choice.evaluation.row.right.n}</span>" in page
    assert "Threshold 0.55, given by hand." in page
    assert "Choose 0.55" in page
    assert "It supersedes" not in page


def test_a_choice_with_who_and_why_is_recorded_and_leads_to_the_decision(client, engine):
    response = client.post(FORM, data=filled(opened(client)))
    assert response.status_code == 303
    decision = decision_in_force(engine)
    assert response.headers["Location"] == f"/decisions/{decision.id}"
    assert (decision.who, decision.reason, decision.project) == ("Ada", "bluffs are dear", "handbook")
    assert (decision.combination, decision.threshold, decision.picked_by) == (DENSE_E, 0.55, "hand")
    assert decision.supersedes is None
    assert decision.target is None


def test_terms_and_way_are_recorded_as_they_stood(client, engine):
    page = opened(client, f"{QUERY}&bluff=100&share=50&by=cost")
    assert client.post(FORM, data=filled(page)).status_code == 303
    decision = decision_in_force(engine)
    assert decision.picked_by == "cost"
    assert decision.costs == {"bluff": 100.0, "wrong": 6.0, "refusal": 1.0}
    assert decision.unanswerable_share == 0.5


def test_a_certified_bound_is_chosen_and_one_that_is_not_certifiable_is_refused(client, engine):
    page = opened(client, f"{QUERY}&most=40&by=bound")
    assert client.post(FORM, data=filled(page)).status_code == 303
    assert decision_in_force(engine).target == 0.4
    page = opened(client, f"{QUERY}&most=5&by=bound")
    assert "Nothing can be chosen for E dense all-MiniLM-L6-v2 in this way" in page
    assert "not certifiable with 9 questions" in page
    assert "Choose " not in page.split("<form", 1)[1].split("</form>")[0]
    response = client.post(FORM, data=filled(page))
    assert response.status_code == 422
    assert "No threshold is certified" in response.get_data(as_text=True)
    assert len(decisions(engine)) == 1


@pytest.mark.parametrize(("changes", "fault"), [
    ({"who": "  "}, "fault-who"), ({"reason": ""}, "fault-reason"), ({"who": "", "reason": " \n"}, "fault-who"),
])  # fmt: skip
def test_who_and_why_are_required_and_the_form_comes_back_as_it_was(client, engine, changes, fault):
    response = client.post(FORM, data=filled(opened(client), **changes))
    page = response.get_data(as_text=True)
    assert response.status_code == 422
    assert f'id="{fault}"' in page
    kept = {"who": "Ada", "reason": "bluffs are dear", **changes}
    assert f'value="{kept["who"]}"' in page
    assert f">{kept['reason']}</textarea>" in page
    assert decision_in_force(engine) is None


def test_a_reason_is_other_peoples_text_and_is_escaped(client):
    response = client.post(FORM, data=filled(opened(client), who="", reason="<script>x</script>"))
    assert "&lt;script&gt;x&lt;/script&gt;</textarea>" in response.get_data(as_text=True)


def test_a_name_that_no_file_can_hold_is_told_in_the_form(client, engine):
    response = client.post(FORM, data=filled(opened(client), who="Ada\x07"))
    assert response.status_code == 422
    assert "may not hold the character" in response.get_data(as_text=True)
    assert decision_in_force(engine) is None


def test_the_decision_in_force_is_named_and_superseded(client, engine):
    client.post(FORM, data=filled(opened(client)))
    page = opened(client)
    assert "It supersedes decision 1." in page
    assert client.post(FORM, data=filled(page, reason="measured again")).status_code == 303
    assert decision_in_force(engine).supersedes == 1


def test_a_decision_made_meanwhile_is_told_and_can_then_be_superseded(client, engine):
    page = opened(client)
    client.post(FORM, data=filled(page))
    response = client.post(FORM, data=filled(page, reason="late"))
    again = response.get_data(as_text=True)
    assert response.status_code == 422
    assert "recorded in the meantime" in again
    assert len(decisions(engine)) == 1
    assert client.post(FORM, data=filled(again, reason="late")).status_code == 303


def test_the_line_of_the_decision_in_force_is_where_the_page_opens(client):
    client.post(FORM, data=filled(opened(client)))
    assert "At cosine distance 0.55, E with dense" in client.get("/sweeps/1/threshold").get_data(as_text=True)


def test_nothing_is_recorded_without_the_forms_token(client, engine):
    values = filled(opened(client))
    values.pop("csrf_token")
    assert client.post(FORM, data=values).status_code == 403
    assert decision_in_force(engine) is None


def test_a_sweep_that_did_not_finish_cannot_be_decided_on(client, engine):
    reviewed(engine, state="interrupted")
    response = client.get(f"/sweeps/2/threshold/choose{QUERY}")
    assert response.status_code == 409
    assert "a threshold is chosen on a finished one" in response.get_data(as_text=True)


def test_without_a_line_the_cheapest_is_offered(client):
    page = opened(client, "?strategy=E&retriever=dense&t=none")
    assert "no threshold is no line to choose" in page
    assert 'aria-current="true">the cheapest' in page


def test_the_context_is_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "choosing", ChoosingContext)


@pytest.mark.parametrize("change", [{"t": ""}, {"t": "", "by": ""}])
def test_a_line_by_hand_that_is_missing_is_not_replaced_by_another(client, engine, change):
    response = client.post(FORM, data=filled(opened(client), **change))
    assert response.status_code == 422
    assert "The line is missing" in response.get_data(as_text=True)
    assert decisions(engine) == []
