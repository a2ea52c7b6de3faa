"""A sweep with two retrievers of a team's own for pages: one that failed on one question, one that fails on all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from own_server import searching, serving
from small_project import DOCUMENTS, QUESTIONS, WordEncoder, small_project
from sqlalchemy import Engine

from experiments.runner import run_sweep
from store.engine import open_store

STRANGE = "A text that stands nowhere in the documents."


def reply(path: str, body: bytes, number: int) -> tuple[int, dict[str, str], bytes]:
    query = json.loads(body)["query"]
    if path == "/broken" or query.startswith("Question 7"):
        return 500, {}, b"the index is gone"
    if query.startswith(("Question", "Does the API")):
        return 200, {}, json.dumps({"results": [{"text": STRANGE, "score": 0.7}]}).encode()
    return searching(DOCUMENTS)(path, body, number)


def measured(folder: Path) -> Engine:
    """The store of a sweep of both, against a real server."""
    encoder = WordEncoder()
    questions = [{"id": f"x{n}", "question": f"Question {n}?", "stratum": "far"} for n in range(24)]
    with pytest.MonkeyPatch.context() as patched, serving(reply) as server:
        patched.setattr("experiments.workbench.find_encoder", lambda *_: encoder)
        patched.setattr("experiments.workbench.embedding_latency", lambda _encoder, asked: [1.0] * len(asked))
        patched.setattr("experiments.tracking.Ledger.push", lambda *_: None)
        tables = "".join(
            f'[retrievers.{name}]\nurl = "{server.url}{path}"\nrequest = {{ query = "{{query}}", limit = "{{k}}" }}\n'
            'texts = "results.*.text"\nscores = "results.*.score"\nretries = 0\n'
            for name, path in (("ours", "/search"), ("theirs", "/broken"))
        )
        project = small_project(
            folder,
            sweep='strategies = ["E"]\nretrievers = ["dense", "ours", "theirs"]\nthresholds = [0.3, 0.675]\n',
            more=tables,
            questions=[*QUESTIONS, *questions],
        )
        engine = open_store(project.store_url)
        run_sweep(engine, project)
    return engine
