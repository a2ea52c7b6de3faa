"""A baseline, better chunking and a regression in a repository: gate, compare and dashboard say the same of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import xmlschema
from three_commits import TOPICS, bluffline, git, make_history

from store import reads
from store.engine import open_store
from webapp.app import create_app

pytestmark = pytest.mark.model
KEY = "manual/dense/sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("three") / "repository"


@pytest.fixture(scope="module")
def gates(folder):
    return make_history(folder)


@pytest.fixture(scope="module")
def broken(gates):
    """The questions that the last gate names, of the loss and of the destroyed needles."""
    loss, destroyed = gates[-1].record["results"]
    return {one["query_id"] for one in loss["broken"]}, {one["query_id"] for one in destroyed["broken"]}


def client_of(folder, store):
    engine = open_store(f"sqlite:///{folder / 'var' / store}")
    return create_app(engine, root=folder, allowed_hosts={"localhost"}).test_client(), engine


def test_the_gate_passes_passes_and_fails(gates):
    assert [gate.code for gate in gates] == [0, 0, 1], [gate.said for gate in gates]
    assert [[result["state"] for result in gate.record["results"]] for gate in gates] == [
        ["pass", "pass"],
        ["pass", "pass"],
        ["fail", "fail"],
    ]


def test_the_broken_questions_are_named_in_every_report(gates, broken, folder):
    lost, destroyed = broken
    assert len(lost) >= 6
    assert destroyed == {f"{phrasing}{number}" for phrasing in "mt" for number in range(1, len(TOPICS) + 1)}
    xml, said = ((folder / "reports" / f"regression.{form}").read_text("utf-8") for form in ("xml", "md"))
    xmlschema.XMLSchema(Path(__file__).parent / "golden" / "junit.xsd").validate(xml)
    questions = (folder / "questions.jsonl").read_text("utf-8").splitlines()
    asked = {row["id"]: row["question"] for row in map(json.loads, questions)}
    for query in lost | destroyed:
        assert f"{query}: {asked[query].replace('&', '&amp;')} (" in xml
        assert f"| {query} | {asked[query]} |" in said
    assert 'tests="2" failures="2" errors="0"' in xml
    assert 'failures="0" errors="0"' in (folder / "reports" / "better.xml").read_text("utf-8")


def test_each_sweep_is_of_its_commit_and_tag(gates, folder):
    engine = open_store(f"sqlite:///{folder / 'var' / 'bluffline.db'}")
    rows = reads.sweeps(engine)[::-1]
    engine.dispose()
    assert [row.commit for row in rows] == [gate.commit for gate in gates]
    assert [row.tag for row in rows] == ["baseline-1", "better-1", "regression-1"]
    assert [(row.branch, row.dirty) for row in rows] == [("main", False)] * 3


@pytest.mark.parametrize(("a", "b"), [("baseline-1", "HEAD"), ("HEAD~2", "main"), ("baseline.json", "regression-1")])
def test_compare_says_the_same_by_whatever_name(gates, broken, folder, a, b):
    data = json.loads(bluffline(folder, "compare", a, b, "--format", "json").stdout)
    assert {one["query_id"] for one in data["questions"] if one["broken"]} == broken[0]
    (one,) = data["combinations"]
    loss = gates[-1].record["results"][0]["numbers"]
    assert (one["p"], one["holm_p"], one["difference"]["low"]) == (loss["p"], loss["holm_p"], loss["difference_low"])
    assert one["reading"] == "fewer"


def the_dashboard_shows_it(client, gates, broken):
    page = client.get("/compare?a=baseline-1&b=regression-1").get_data(as_text=True)
    rows = set(re.findall(r'<th scope="row"><a href="/sweeps/\d+/queries/(\w+)">', page))
    assert rows == broken[0]
    assert "finds fewer than before" in page
    assert "finds more" not in page
    better = client.get("/compare?a=baseline-1&b=better-1").get_data(as_text=True)
    assert "0 broken, 4 only fixed, in all combinations" in better
    overview = client.get("/").get_data(as_text=True)
    for gate, tag in zip(gates, ("baseline-1", "better-1", "regression-1"), strict=True):
        assert gate.commit[:7] in overview
        assert tag in overview
    trend = client.get(f"/overview/trend.json?measure=recall_at_4&combination={KEY}&k=4").get_json()["rows"]
    assert [row["value"] for row in reversed(trend)] == [
        pytest.approx(gate.record["results"][0]["numbers"]["after"]) for gate in gates
    ]


def test_the_dashboard_shows_the_same(gates, broken, folder):
    client, engine = client_of(folder, "bluffline.db")
    the_dashboard_shows_it(client, gates, broken)
    engine.dispose()


def test_a_gate_against_the_commit_before_fails_too(gates, folder):
    gate = bluffline(folder, "gate", "--against", "main", "--format", "json")
    data = json.loads(gate.stdout)
    assert (gate.returncode, data["baseline"]["commit"]) == (1, git(folder, "rev-parse", "HEAD~1"))


def test_a_second_store_made_from_mlflow_alone_shows_the_same(gates, broken, folder):
    store = {"BLUFFLINE_STORE_URL": f"sqlite:///{folder / 'var' / 'second.db'}"}
    synced = bluffline(folder, "sync", "--pull", **store)
    assert synced.returncode == 0, synced.stdout + synced.stderr
    client, engine = client_of(folder, "second.db")
    the_dashboard_shows_it(client, gates, broken)
    engine.dispose()
    gate = bluffline(folder, "gate", "--format", "json", **store)
    assert gate.returncode == 1
    assert json.loads(gate.stdout)["results"] == gates[-1].record["results"]
