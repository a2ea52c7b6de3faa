"""The client of a team's own retriever: wall time against requests x latency / concurrency, and what a hang costs.

    python tests/benchmarks/bench_http_retriever.py

A server in a process of its own answers each request after a fixed time, however many it has at once, so that the
client alone is measured; the least of many turns, because other work on the machine only ever adds. Exits with 1 when
a ratio is over 1.2.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.own.asking import ask_all
from experiments.own.kept_answers import KeptAnswers
from experiments.own.responses import tally
from experiments.own.spec import Endpoint, OwnRetriever

REQUESTS, LATENCY, MOST = 96, 0.2, 1.2
AT_ONCE = (1, 4, 8, 16, 32)
SECONDS = 10.0  # spent on each, in as many turns as fit
HANGING = "hang"  # what a question begins with that is never answered
_CONTENT = json.dumps({"results": [{"text": "word " * 100, "score": 1.0}] * 20}).encode()
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_CONTENT) + _CONTENT


async def _serve() -> None:
    """Answer on a free port, which is printed, until somebody ends the process."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
                query = json.loads(await reader.readexactly(length))["query"]
                await asyncio.sleep(3600 if query.startswith(HANGING) else LATENCY)
                writer.write(_ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):  # whoever asked has gone
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving() -> Iterator[str]:
    """The address of a running server."""
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.kill()


def timed(url: str, concurrency: int, hanging: int = 0) -> tuple[float, str]:
    """Seconds to ask everything, and how it went."""
    paths = {"texts": "results.*.text", "scores": "results.*.score"}
    source = Endpoint(url, "POST", (), {"query": "{query}"}, paths)
    own = OwnRetriever("ours", source, k=20, deadline=2.0, concurrency=concurrency, retries=0)
    questions = [f"{HANGING if number < hanging else 'q'} {number}" for number in range(REQUESTS)]
    with tempfile.TemporaryDirectory() as folder:
        kept = KeptAnswers(Path(folder) / "answers.jsonl")
        begin = time.perf_counter()
        answers = ask_all(own, questions, kept, root=Path(folder), seed=1, advance=lambda _: None)
        return time.perf_counter() - begin, tally(answers).words


def main() -> int:
    """Measure each concurrency, then one with two requests that hang."""
    failed = 0
    with serving() as url:
        for concurrency in AT_ONCE:
            ideal = REQUESTS * LATENCY / concurrency
            turns = max(1, round(SECONDS / ideal))
            begin = time.process_time()
            took = min(timed(url, concurrency)[0] for _ in range(turns))
            busy = (time.process_time() - begin) / turns / REQUESTS * 1000
            failed += took / ideal > MOST
            print(
                f"{concurrency:>2} at once: {REQUESTS} requests of {LATENCY:g} s took {took:.2f} s, "
                f"{took / ideal:.3f} x requests x latency / concurrency (at most {MOST}; {turns} turns), "
                f"the client busy for {busy:.2f} ms a request"
            )
        took, went = timed(url, 4, hanging=2)
        print(f" 4 at once, two requests that hang until their deadline of 2 s: {took:.2f} s; {went}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(asyncio.run(_serve()) if sys.argv[1:] == ["serve"] else main())
