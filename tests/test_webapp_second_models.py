"""Second models on every page: a small sweep with all five retrievers, looked at, decided on, and asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from made_scorers import OverlapScorer
from second_world import second_project, stand_ins
from small_project import WordEncoder
from sqlalchemy import Engine

from experiments import second_bench
from experiments.asking.asker import Asker, DecisionMismatchError
from experiments.cli.answer_lines import answer_data, answer_lines
from experiments.conditions import Combination
from experiments.deciding.choosing import ByHand
from experiments.deciding.decision_export import config
from experiments.deciding.decisions import decision_from
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.deciding.validity import judge
from experiments.models import ModelError
from experiments.project import Project
from experiments.reading import load_sweep
from experiments.report import report
from experiments.runner import run_sweep
from store.engine import open_store
from store.tables import DecisionRow
from webapp.app import create_app
from webapp.contexts.question_tables import combinations_of


@pytest.fixture(scope="module", autouse=True)
def stand_in() -> Iterator[None]:
    with stand_ins():
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return second_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def swept(project: Project, stand_in: None) -> Iterator[Engine]:
    engine = open_store(project.store_url)
    run_sweep(engine, project)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def client(swept: Engine, project: Project) -> FlaskClient:
    return create_app(swept, root=project.root, allowed_hosts={"localhost"}).test_client()


def page(client: FlaskClient, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.get_data(as_text=True)[:1000]
    return response.get_data(as_text=True)


def asker(project: Project) -> Asker:
    return Asker.of(project, find=WordEncoder)


def reranked(project: Project, scorer: str = "org/x1") -> Combination:
    return Combination("E", "rerank", project.settings.models[0], scorer)


def decided(swept: Engine, project: Project) -> DecisionRow:
    loaded = load_sweep(swept, 1)
    evidence = consider(loaded, find_combination(loaded, reranked(project).key), Terms())
    row = decision_from(evidence, evidence.choose(ByHand(0.675)), who="W", reason="R", project="p", supersedes=None)
    row.id = 1
    return row


def test_the_strategies_page_says_what_each_second_model_buys_and_costs(client: FlaskClient) -> None:
    html = page(client, "/sweeps/1")
    assert "What second models buy and cost" in html
    assert "first 25 chunks with x1 moves R@1 on E" in html
    assert "Late interaction with tokens moves R@1 on E" in html
    assert "org/x1: a cross-encoder that reads hybrid&#39;s first 25 chunks; window 60 tokens, fp32." in html
    assert "kB a chunk" in html
    lines = page(client, "/sweeps/1/gains.csv").splitlines()
    assert len(lines) == 1 + 3


def test_every_number_of_what_second_models_buy_and_cost_is_in_the_report(client: FlaskClient, swept: Engine) -> None:
    reported = json.loads(json.dumps(report(load_sweep(swept, 1)), allow_nan=False))["gains"]
    table = client.get("/sweeps/1/gains.json").get_json()["rows"]
    assert [(one["against"], one["recall_at_1"]["without"]["value"], one["recall_at_1"]["with"]["low"],
             one["recall_at_1"]["wins"], one["recall_at_1"]["holm_p"], one["mrr"]["with"],
             one["mrr"]["difference"]["high"], one["mrr"]["holm_p"], one["milliseconds"]["with"])
            for one in reported] == [
        (row["base"], row["r1_before"], row["r1_after_low"], row["wins"], row["holm_p"], row["mrr_after"],
         row["mrr_difference_high"], row["mrr_holm_p"], row["milliseconds"]) for row in table
    ]  # fmt: skip
    assert {one["family"] for one in reported} == {6}


def test_the_scorer_is_a_filter(client: FlaskClient) -> None:
    html = page(client, "/sweeps/1?retriever=rerank&scorer=org%2Fx2")
    assert 'aria-label="Compare E rerank x2"' in html
    assert 'aria-label="Compare E rerank x1"' not in html
    assert client.get("/sweeps/1?scorer=nobody").status_code == 400


def test_the_threshold_page_offers_the_second_model_and_judges_its_score(client: FlaskClient) -> None:
    html = page(client, "/sweeps/1/threshold?retriever=rerank&scorer=org%2Fx1")
    assert "Further signal" in html
    assert "best cross-encoder score" in html
    assert "best MaxSim score" in page(client, "/sweeps/1/threshold?retriever=late")
    assert "Further signal" not in page(client, "/sweeps/1/threshold?retriever=dense")


def test_a_hit_says_whose_score_it_carries_and_where_it_stood_before(client: FlaskClient, swept: Engine) -> None:
    ids = ",".join(str(row.id) for row in load_sweep(swept, 1).recorded if row.scorer)
    html = page(client, f"/sweeps/1/queries/n1?open={ids}")
    assert "by hybrid" in html
    assert "cross-encoder " in html
    assert "MaxSim " in html
    for address in ("/sweeps/1/queries", "/sweeps/1/pairs", "/", "/compare?a=1&b=1", "/documents"):
        page(client, address)


def test_a_live_question_is_reranked_as_in_the_sweep(swept: Engine, project: Project) -> None:
    live = asker(project)
    for scorer in ("org/x1", "org/x2"):
        answer = live.ask("What does the KV cache keep?", reranked(project, scorer), 0.9)
        scores = [passage.score for passage in answer.looked_at]
        assert scores == sorted(scores, key=lambda score: -(score or 0))
        assert {"embed", "scan", "lexical", "fuse", "rerank"} <= answer.milliseconds.keys()
    lines = answer_lines(answer)
    assert any("cross-encoder" in line and "by hybrid" in line for line in lines)
    assert answer_data("h", answer, None, with_prompt=False)["looked_at"][0]["first_rank"] >= 1
    late = live.ask("What does the KV cache keep?", Combination("E", "late", None, "org/tokens"), 0.9)
    assert "maxsim" in late.milliseconds
    assert "keys and values" in late.looked_at[0].quote


def test_a_decision_keeps_the_second_model_and_exports_it(swept: Engine, project: Project) -> None:
    decision = decided(swept, project)
    assert (decision.scorer, decision.scorer_stamp["depth"], decision.scorer_stamp["window"]) == ("org/x1", 25, 60)
    exported = config(decision)["scorer"]
    assert (exported["kind"], exported["name"], exported["reranks"]) == ("cross-encoder", "org/x1", 25)
    assert config(decision)["retriever"]["fusion"]["method"] == "reciprocal rank"
    assert asker(project).ask_decided("What does the KV cache keep?", decision).looked_at


def test_another_second_model_or_depth_is_refused_live_and_named_in_validity(swept: Engine, project: Project) -> None:
    decision = decided(swept, project)
    loaded = load_sweep(swept, 1)
    assert next(one for one in judge(decision, loaded).checks if one.name == "second model").state == "ok"
    decision.scorer_stamp = {**decision.scorer_stamp, "files": "0" * 64}
    changed = next(one for one in judge(decision, loaded).checks if one.name == "second model")
    assert changed.state == "changed"
    assert "second model was org/x1" in changed.sentence
    with pytest.raises(DecisionMismatchError, match="its second model was org/x1"):
        asker(project).ask_decided("q", decision)
    shallow = replace(project, settings=replace(project.settings, rerank_depth=5))
    with pytest.raises(DecisionMismatchError, match="first 25 chunks, here it is the first 5"):
        asker(shallow).ask_decided("q", decided(swept, project))


def test_a_second_model_that_is_gone_is_said(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(spec: object, _: Path) -> OverlapScorer:
        raise ModelError("the model org/x1 cannot be loaded")

    monkeypatch.setattr(second_bench, "find_cross_encoder", gone)
    with pytest.raises(ModelError, match="org/x1 cannot be loaded"):
        asker(project).ask("q", reranked(project), 0.5)


def test_the_questions_page_counts_the_combinations_of_second_models(swept: Engine) -> None:
    loaded = load_sweep(swept, 1)
    assert combinations_of(loaded.sweep) == len(loaded.combinations) == 6
