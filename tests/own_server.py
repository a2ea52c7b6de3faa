"""A small example of a team's own retriever: an HTTP server that cuts documents into paragraphs and counts words.

It answers `POST /search` with `{"query": "...", "limit": 20}`. For tests it can also hang, fail now and then, or
answer nonsense; run as a script it serves the documents of a folder: `python own_server.py FOLDER PORT`.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Document = Mapping[str, str]  # texts by id


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Paragraphs:
    """Its own chunking: a paragraph is a chunk."""

    def __init__(self, documents: Document) -> None:
        self.chunks = [
            {"id": f"{name}-{number}", "document": name, "start": found.start(), "end": found.end(), "text": found[0]}
            for name, text in sorted(documents.items())
            for number, found in enumerate(re.finditer(r"\S(?:.|\n(?!\s*\n))*", text))
        ]

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Paragraphs that share words with the question, most words first."""
        scored = [(len(words(query) & words(chunk["text"])), chunk) for chunk in self.chunks]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:limit]
        return [{**chunk, "score": score} for score, chunk in best]


class Answering(BaseHTTPRequestHandler):
    """Answers from the server's `reply`; what it was sent is kept in the server's `received`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # as any server in earnest: headers and body are two small packets
    server: OwnServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.received.append((self.path, dict(self.headers), body))
        status, headers, content = self.server.reply(self.path, body, len(self.server.received))
        try:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:  # whoever asked has gone
            self.close_connection = True

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


Reply = Callable[[str, bytes, int], tuple[int, dict[str, str], bytes]]


class OwnServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, reply: Reply, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Answering)
        self.reply = reply
        self.received: list[tuple[str, dict[str, str], bytes]] = []

    def handle_error(self, *_: object) -> None:
        """A client that went away in the middle is meant."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def searching(documents: Document, seconds: float = 0.0) -> Reply:
    """A reply that searches."""
    paragraphs = Paragraphs(documents)

    def reply(_path: str, body: bytes, _number: int) -> tuple[int, dict[str, str], bytes]:
        time.sleep(seconds)
        asked = json.loads(body)
        found = paragraphs.search(asked["query"], asked["limit"])
        return 200, {}, json.dumps({"results": found}).encode()

    return reply


@contextmanager
def serving(reply: Reply) -> Iterator[OwnServer]:
    """A running server."""
    server = OwnServer(reply)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    OwnServer(
        searching({str(file.relative_to(folder)): file.read_text("utf-8") for file in folder.rglob("*.md")}),
        int(sys.argv[2]),
    ).serve_forever()
