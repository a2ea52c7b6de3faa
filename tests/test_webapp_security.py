"""Who is answered, what a form must carry, and what every response says."""

from __future__ import annotations

import gzip
import re

import pytest
from flask import Blueprint, request

from store.engine import open_store
from webapp.app import create_app
from webapp.security import loopback_hosts


@pytest.fixture
def app(tmp_path, monkeypatch):
    forms = Blueprint("forms", __name__)
    forms.add_url_rule("/change", "change", lambda: f"changed to {request.form['value']}", methods=["POST"])
    forms.add_url_rule("/empty", "empty", lambda: ("", 204))
    monkeypatch.setattr("webapp.app.BLUEPRINTS", (*__import__("webapp.app").app.BLUEPRINTS, forms))
    engine = open_store(f"sqlite:///{tmp_path / 'bluffline.db'}")
    yield create_app(engine, root=tmp_path, allowed_hosts=loopback_hosts(80))
    engine.dispose()


@pytest.fixture
def client(app):
    return app.test_client()


def token_of(client):
    page = client.get("/patterns").get_data(as_text=True)
    return re.search(r'name="csrf-token" content="([^"]+)"', page).group(1)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:80", "LOCALHOST", "[::1]:80"])
def test_the_hosts_of_this_machine_are_answered(client, host):
    assert client.get("/patterns", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:9999", "localhost.evil.example", "a b"])
@pytest.mark.parametrize("path", ["/patterns", "/static/app.css", "/nowhere"])
def test_another_host_is_refused_with_the_addresses_that_work(client, host, path):
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 400
    text = answer.get_data(as_text=True)
    assert "http://127.0.0.1/" in text
    assert "Traceback" not in text


def test_the_usual_port_may_be_left_out():
    assert {"127.0.0.1", "127.0.0.1:80"} <= loopback_hosts(80)
    assert "127.0.0.1" not in loopback_hosts(81)


def test_a_form_with_its_token_is_accepted_as_field_and_as_header(client):
    token = token_of(client)
    assert client.post("/change", data={"value": "x", "csrf_token": token}).get_data(as_text=True) == "changed to x"
    assert client.post("/change", data={"value": "y"}, headers={"X-CSRF-Token": token}).status_code == 200


def test_a_form_without_its_token_is_refused_and_told_what_to_do(client):
    token = token_of(client)
    for data in ({"value": "x"}, {"value": "x", "csrf_token": token + "x"}, {"value": "x", "csrf_token": "é"}):
        answer = client.post("/change", data=data)
        assert answer.status_code == 403
        assert "load the page again" in answer.get_data(as_text=True)


def test_a_token_of_another_session_is_refused(app, client):
    other = app.test_client()
    foreign = token_of(other)
    token_of(client)
    assert client.post("/change", data={"value": "x", "csrf_token": foreign}).status_code == 403


def test_a_form_without_a_session_is_refused(client):
    answer = client.post("/change", data={"value": "x", "csrf_token": "guess"})
    assert answer.status_code == 403
    assert "session has ended" in answer.get_data(as_text=True)


def test_a_form_another_site_sent_is_refused_even_with_the_token(client):
    token = token_of(client)
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert client.post("/change", data={"value": "x", "csrf_token": token}, headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/patterns", "/static/app.css", "/nowhere", "/patterns/table.json", "/empty"])
def test_every_response_carries_the_policy(client, path):
    headers = client.get(path, buffered=True).headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_the_session_cookie_is_out_of_reach_of_scripts(client):
    cookie = client.get("/patterns").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_pages_are_private_and_not_sent_again_when_unchanged(client):
    first = client.get("/patterns/table.json")
    assert first.headers["Cache-Control"] == "private, no-cache"
    again = client.get("/patterns/table.json", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert not again.data


@pytest.mark.parametrize("path", ["/patterns/table.json", "/static/app.css", "/static/vendor/plotly-basic-4.1.1.css"])
def test_text_is_compressed_for_those_who_take_it(client, path):
    plain = client.get(path, buffered=True)
    packed = client.get(path, headers={"Accept-Encoding": "gzip"}, buffered=True)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data) / 2
    assert "Accept-Encoding" in plain.headers["Vary"]
    known = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]}
    unchanged = client.get(path, headers=known, buffered=True)
    assert unchanged.status_code == 304


def test_compression_that_was_refused_is_not_used(client):
    assert "Content-Encoding" not in client.get("/patterns", headers={"Accept-Encoding": "gzip;q=0"}).headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE"])
def test_a_wrong_method_or_address_is_said_to_be_that_and_not_a_faulty_form(client, method):
    wrong = client.open("/patterns", method=method)
    assert wrong.status_code == 405
    assert f"/patterns does not take {method} requests." in wrong.get_data(as_text=True)
    assert client.open("/nowhere", method=method).status_code == 404


def test_a_request_larger_than_any_form_is_refused(client):
    token = token_of(client)
    answer = client.post("/change", data={"value": "x" * 1_100_000, "csrf_token": token})
    assert answer.status_code == 413
    assert "too large" in answer.get_data(as_text=True)


@pytest.mark.parametrize("path", ["/" + "a" * 20_000, "/sweeps/" + "9" * 4000, "/decisions/" + "9" * 4000])
def test_an_enormous_address_is_not_repeated_in_full(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert len(answer.get_data()) < 8_000
