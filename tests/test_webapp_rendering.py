"""Pages, fragments and errors: who gets what."""

from __future__ import annotations

import sqlite3

import pytest
from flask import Blueprint

from store.engine import StoreError, open_store
from webapp.app import create_app
from webapp.security import loopback_hosts


def failing(error):
    def view():
        raise error

    return view


@pytest.fixture
def app(tmp_path, monkeypatch):
    views = Blueprint("views", __name__)
    views.add_url_rule("/broken", "broken", failing(RuntimeError("secret detail")))
    views.add_url_rule("/store", "store", failing(StoreError("the store x was written by a newer Bluffline")))
    monkeypatch.setattr("webapp.app.BLUEPRINTS", (*__import__("webapp.app").app.BLUEPRINTS, views))
    engine = open_store(f"sqlite:///{tmp_path / 'bluffline.db'}")
    yield create_app(engine, root=tmp_path, allowed_hosts=loopback_hosts(80), title="Handbook")
    engine.dispose()


@pytest.fixture
def client(app):
    return app.test_client()


def asked(client, path="/patterns", target="section#strategies", **headers):
    return client.get(path, headers={"HX-Request": "true", "HX-Target": target, **headers})


def is_page(answer):
    return "<!doctype html>" in answer.get_data(as_text=True)


def test_a_browser_gets_the_page_and_htmx_the_fragment_it_names(client):
    assert is_page(client.get("/patterns"))
    fragment = asked(client)
    assert not is_page(fragment)
    assert fragment.get_data(as_text=True).strip().startswith('<section id="strategies">')
    assert 'id="readout"' in asked(client, target="aside#readout").get_data(as_text=True)
    assert {"HX-Request", "HX-Target"} <= {part.strip() for part in fragment.headers["Vary"].split(",")}


@pytest.mark.parametrize(
    "headers",
    [
        {"HX-Boosted": "true"},
        {"HX-History-Restore-Request": "true"},
        {"HX-Request-Type": "full"},
    ],
)
def test_boosted_restored_and_full_requests_get_the_page(client, headers):
    assert is_page(asked(client, **headers))


def test_a_target_that_is_no_fragment_gets_the_page(client):
    assert is_page(asked(client, target="div#../../errors/page"))
    assert is_page(asked(client, target=""))


def test_the_title_names_the_page_and_the_dashboard(client):
    assert "<title>Patterns · Handbook</title>" in client.get("/patterns").get_data(as_text=True)


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/nowhere", 404, "Nothing is served at /nowhere."),
        ("/sweeps/7", 404, "Sweep 7 is not in this dashboard"),
        ("/sweeps/99999999999999999999999", 404, "bluffline sync"),
        ("/patterns?cut=wide", 400, "cut = &#39;wide&#39; is not allowed."),
        ("/patterns?sort=name", 400, "sort may be one of r20, -r20, mrr, -mrr."),
        ("/store", 503, "written by a newer Bluffline"),
    ],
)
def test_an_error_is_a_page_that_says_what_happened_and_what_to_do(client, path, status, said):
    answer = client.get(path)
    text = answer.get_data(as_text=True)
    assert answer.status_code == status
    assert is_page(answer)
    assert said in text
    assert "Traceback" not in text


def test_for_htmx_an_error_is_a_notice_and_the_page_stays(client):
    answer = asked(client, path="/patterns?cut=wide")
    assert answer.status_code == 400
    assert not is_page(answer)
    assert answer.headers["HX-Retarget"] == "#notices"
    assert answer.headers["HX-Push-Url"] == "false"
    assert "cut may be a number from 0.4 to 0.8" in answer.get_data(as_text=True)


def test_a_method_that_is_not_taken_is_said_so(client):
    assert client.options("/patterns").status_code == 200
    client.get("/patterns")
    with client.session_transaction() as session:
        token = session["csrf"]
    answer = client.post("/patterns", headers={"X-CSRF-Token": token})
    assert answer.status_code == 405
    assert "does not take POST requests" in answer.get_data(as_text=True)


def test_a_broken_page_gives_a_reference_to_the_log_and_no_detail(app, client, caplog):
    app.config["PROPAGATE_EXCEPTIONS"] = False
    answer = client.get("/broken")
    text = answer.get_data(as_text=True)
    assert answer.status_code == 500
    assert "secret detail" not in text
    reference = next(record.args[1] for record in caplog.records if record.args)
    assert reference in text
    assert "secret detail" in caplog.text


def test_a_store_that_went_away_is_a_page_and_not_a_crash(app, client, tmp_path):
    app.extensions["bluffline"].engine.dispose()
    with sqlite3.connect(tmp_path / "bluffline.db") as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DROP TABLE sweep")
    connection.close()
    answer = client.get("/sweeps/1")
    assert answer.status_code == 503
    assert is_page(answer)
    assert "The store cannot be read" in answer.get_data(as_text=True)
    # a page that does not need the store still comes, without links to a sweep
    assert client.get("/patterns").status_code == 200


def test_what_a_reader_typed_is_escaped_in_error_pages(client):
    text = client.get("/patterns?sort=<script>alert(1)</script>").get_data(as_text=True)
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_links_to_a_sweep_appear_only_once_there_is_one(client):
    assert "Strategies</a>" not in client.get("/patterns").get_data(as_text=True)
