"""What docs/own-retriever.md tells a team to write is what works."""

import json
import re
from pathlib import Path

import pytest
from own_server import Paragraphs, searching, serving
from small_project import DOCUMENTS, QUESTIONS, WordEncoder, make_project

from experiments.project import open_project
from experiments.reading import load_sweep
from experiments.runner import run_sweep
from store.engine import open_store

PAGE = (Path(__file__).parent.parent / "docs" / "own-retriever.md").read_text("utf-8")
SWEEP_LINE = re.compile(r"\[sweep\]\nretrievers = .*\n")


def section(title):
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def block(title, language):
    return re.search(rf"```{language}\n(.*?)```", section(title), re.S)[1]


def tables(title):
    written = block(title, "toml")
    assert SWEEP_LINE.search(written)
    return SWEEP_LINE.sub("", written)


@pytest.fixture
def measured(tmp_path, monkeypatch):
    def run(more):
        encoder = WordEncoder()
        monkeypatch.setattr("experiments.workbench.find_encoder", lambda *_: encoder)
        monkeypatch.setattr("experiments.workbench.embedding_latency", lambda _encoder, asked: [1.0] * len(asked))
        monkeypatch.setattr("experiments.tracking.Ledger.push", lambda *_: None)
        retrievers = SWEEP_LINE.search(PAGE)[0].partition("\n")[2]
        project = open_project(make_project(tmp_path, sweep=f'strategies = ["E"]\n{retrievers}', more=more))
        engine = open_store(project.store_url)
        result = run_sweep(engine, project)
        return next(row for row in load_sweep(engine, result.sweep_id).combinations if row.key == "own/ours")

    return run


@pytest.mark.parametrize("title", ["A Python function", "An HTTP endpoint", "A file of results"])
def test_a_team_plugs_its_retriever_in_with_ten_lines(title):
    lines = [line for line in block(title, "toml").splitlines() if line.strip()]
    assert len(lines) <= 10


def test_the_function_of_the_page_is_measured(tmp_path, measured):
    search = Paragraphs(DOCUMENTS)
    code = "from types import SimpleNamespace\n\n\nclass my_index:\n    @staticmethod\n    def search(query, limit):\n"
    code += f"        found = {search.chunks!r}[:limit]\n"
    code += "        return [SimpleNamespace(text=one['text'], id=one['id'], score=0.5) for one in found]\n\n\n"
    (tmp_path / "team_search.py").write_text(code + block("A Python function", "python"), "utf-8")
    row = measured(tables("A Python function"))
    assert (row.state, row.stamp["own"]["tally"]["ok"]) == ("recorded", len(QUESTIONS))


def test_the_endpoint_of_the_page_is_measured_with_the_example_server(measured, monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", "token")
    with serving(searching(DOCUMENTS)) as server:
        row = measured(tables("An HTTP endpoint").replace("http://127.0.0.1:8080", server.url))
        assert server.received[0][1]["Authorization"] == "Bearer token"
    assert row.state == "recorded"
    assert row.stamp["own"]["located"]["text"] > 0


def test_the_files_of_the_page_are_measured(tmp_path, measured):
    chunk = json.loads(block("A file of results", "json"))
    line = re.search(r"^q1 Q0 .*$", section("A file of results"), re.M)[0]
    assert chunk["id"] in line.split()
    text = DOCUMENTS["serving.md"]
    chunk |= {"document": "serving.md", "start": 0, "end": len(text)}
    (tmp_path / "chunks.jsonl").write_text(json.dumps(chunk), "utf-8")
    (tmp_path / "run.trec").write_text("\n".join(line.replace("q1", one["id"]) for one in QUESTIONS), "utf-8")
    row = measured(tables("A file of results"))
    assert row.state == "recorded"
    assert row.stamp["own"]["located"]["offsets"] == len(QUESTIONS)


def test_the_numbers_of_the_page_are_those_of_the_code():
    from experiments.own import spec
    from experiments.own.asking import NEVER_ANSWERED
    from experiments.own.responses import MOST_FAILED

    assert f"`deadline` ({spec.DEADLINE:g} seconds an attempt" in PAGE
    assert f"`concurrency` ({spec.CONCURRENCY}), `retries` ({spec.RETRIES})" in PAGE
    assert f"an answer over {spec.SIZE_LIMIT // 10**6} MB" in PAGE
    assert f"more than {100 * MOST_FAILED:g} %" in PAGE
    assert NEVER_ANSWERED == 10
