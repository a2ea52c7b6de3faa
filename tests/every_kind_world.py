"""One store with a sweep of every kind, and a folder with a document of every kind; for crawling all pages.

Second models, retrievers of a team's own (one of which cannot be judged), several needles, document-level relevance,
failed and queued combinations, sweeps that were cancelled or whose process is gone, and a decision.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from answer_kinds_world import judged, several
from made_files import pdf, prose, workbook
from made_scorers import OverlapScorer, WordTokenEncoder
from own_server import serving
from own_world import reply
from small_project import QUESTIONS, WordEncoder, small_project
from sqlalchemy import Engine
from web_worlds import BM25_A, DENSE_A, KEYS, reviewed

from experiments import second_bench, workbench
from experiments.deciding.choosing import ByHand
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.indexing.indexer import index_documents
from experiments.models import DEFAULT_MODEL
from experiments.project import Project
from experiments.reading import load_sweep
from experiments.runner import run_sweep
from store.engine import open_store

SWEEP = """
strategies = ["A", "E"]
thresholds = [0.3, 0.675]
retrievers = ["dense", "bm25", "hybrid", "rerank", "late", "ours", "theirs"]
rerankers = ["org/x1", "org/x2"]
late_models = ["org/tokens"]
k = [1, 4]
"""
MARKUP = "</script><b>{{7*7}}</b><!--"
TRANSCRIPT = """WEBVTT

00:00:01.000 --> 00:00:04.000
<v Ada>The lighthouse is lit at dusk, and the keeper writes it down.

00:00:05.000 --> 00:00:09.000
<v Bob>=1+1 </script><script>alert(1)</script> The oil is measured every morning by hand.
"""
FILES = {
    "table & more/leave ünï.xlsx": workbook(
        lambda book: (
            setattr(book.active, "title", "<b>Sheet"),
            book.active.append(["name", "=cmd|'/c calc'!A0"]),
            book.active.append(["<script>alert(1)</script>", 25]),
        )
    ),
    "talk.vtt": TRANSCRIPT.encode(),
    "page.html": b"<html><title></title><h1>A &lt;b&gt;heading</h1><p>Somebody wrote this page by hand.</p></html>",
    "manual.pdf": pdf(
        [prose(72, 100, ["The manual has two pages and this is the first of them."]), prose(72, 100, ["The second."])],
        outline=[(MARKUP, 0)],
    ),
    "100% #1.md": f"# {MARKUP}\n\nA [link](javascript:alert(1)) stands here.\n".encode(),
    "empty.md": b"",
    "broken.pdf": b"%PDF-1.4 nothing of the kind",
}


def every_kind(folder: Path) -> tuple[Engine, Project]:
    """Write the world into a folder.

    Returns:
        Its store, and the project.
    """
    far = [{"id": f"x{n}", "question": f"Question {n}?", "stratum": "far"} for n in range(24)]
    near = [{"id": f"y{n}", "question": f"What about the norm and {n}?", "stratum": "near"} for n in range(8)]
    with pytest.MonkeyPatch.context() as patched, serving(reply) as server:
        patched.setattr(second_bench, "find_cross_encoder", lambda spec, _: OverlapScorer(spec.name))
        patched.setattr(second_bench, "find_token_encoder", lambda spec, _: WordTokenEncoder(spec.name))
        patched.setattr(workbench, "find_encoder", lambda _project, name: WordEncoder(name))
        patched.setattr("experiments.workbench.embedding_latency", lambda _encoder, asked: [1.0] * len(asked))
        patched.setattr("experiments.tracking.Ledger.push", lambda *_: None)
        tables = "".join(
            f'[retrievers.{name}]\nurl = "{server.url}{path}"\nrequest = {{ query = "{{query}}", limit = "{{k}}" }}\n'
            'texts = "results.*.text"\nscores = "results.*.score"\nretries = 0\n'
            for name, path in (("ours", "/search"), ("theirs", "/broken"))
        )
        project = small_project(folder, sweep=SWEEP, more=tables, questions=[*QUESTIONS, *near, *far])
        engine = open_store(project.store_url)
        run_sweep(engine, project)
        for name, content in FILES.items():
            path = project.documents / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        index_documents(engine, project, find=lambda _: WordEncoder(DEFAULT_MODEL), stream=io.StringIO())
        run_sweep(engine, project, skip_faults=True)
    several(engine)
    judged(engine)
    reviewed(engine, failed={DENSE_A: f"{MARKUP} it broke"}, queued=(BM25_A,))
    reviewed(engine, failed=dict.fromkeys(KEYS, "the model is gone"), state="failed")
    reviewed(engine, queued=KEYS, state="cancelled")
    reviewed(engine, queued=KEYS, state="running", pid=999_999, host="gone")
    loaded = load_sweep(engine, 1)
    evidence = consider(loaded, find_combination(loaded, f"E/dense/{project.settings.models[0]}"), Terms())
    record(engine, decision_from(evidence, evidence.choose(ByHand(0.675)), who="=W()", reason=MARKUP, project="p",
                                 supersedes=None))  # fmt: skip
    return engine, project
