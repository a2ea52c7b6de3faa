"""The client of a team's own retriever: wall time against requests x latency / concurrency, and what a hang costs.

    python tests/benchmarks/bench_http_retriever.py

A real server answers each request after a fixed time. Exits with 1 when a ratio is over 1.2.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from own_server import Reply, serving

from experiments.own.asking import ask_all
from experiments.own.kept_answers import KeptAnswers
from experiments.own.responses import tally
from experiments.own.spec import Endpoint, OwnRetriever

REQUESTS, LATENCY, MOST = 96, 0.2, 1.2


def answering(hanging: frozenset[str], release: threading.Event) -> Reply:
    content = json.dumps({"results": [{"text": "word " * 100, "score": 1.0}] * 20}).encode()

    def reply(_path: str, body: bytes, _number: int) -> tuple[int, dict[str, str], bytes]:
        if json.loads(body)["query"] in hanging:
            release.wait(60)
        time.sleep(LATENCY)
        return 200, {}, content

    return reply


def timed(concurrency: int, hanging: frozenset[str] = frozenset()) -> tuple[float, str]:
    """Seconds to ask everything, and how it went."""
    release = threading.Event()
    with serving(answering(hanging, release)) as server, tempfile.TemporaryDirectory() as folder:
        paths = {"texts": "results.*.text", "scores": "results.*.score"}
        source = Endpoint(f"{server.url}/", "POST", (), {"query": "{query}"}, paths)
        own = OwnRetriever("ours", source, k=20, deadline=2.0, concurrency=concurrency, retries=0)
        kept = KeptAnswers(Path(folder) / "answers.jsonl")
        begin = time.perf_counter()
        answers = ask_all(
            own, [f"q{n}" for n in range(REQUESTS)], kept, root=Path(folder), seed=1, advance=lambda _: None
        )
        took = time.perf_counter() - begin
        release.set()
    return took, tally(answers).words


def main() -> int:
    """Measure each concurrency, then the same with two requests that hang."""
    failed = 0
    for concurrency in (2, 4, 8):
        took, _ = timed(concurrency)
        ratio = took / (REQUESTS * LATENCY / concurrency)
        failed += ratio > MOST
        print(
            f"{concurrency:>2} at once: {REQUESTS} requests of {LATENCY:g} s took {took:.2f} s, "
            f"{ratio:.3f} x requests x latency / concurrency (at most {MOST})"
        )
    took, went = timed(4, frozenset({"q0", "q1"}))
    print(f" 4 at once, two requests that hang until their deadline of 2 s: {took:.2f} s; {went}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
