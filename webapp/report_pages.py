"""The pages of one sweep, asked of the dashboard as a browser would, each once; they share what they read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask
from lxml import html
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from experiments.reading import LoadedSweep
from store.sharing import Kept, shared_reads
from store.tables import SweepRow
from webapp.contexts.queries import PER_PAGE
from webapp.security import HOSTS

MOST_QUESTIONS = 200  # more make a file that no browser likes to open; their table is there all the same


class Page(NamedTuple):
    """One page of the dashboard in the report."""

    title: str
    address: str
    level: int  # of its heading: 1 for a page of its own, 2 for one of several alike


class Pages:
    """What the dashboard says of one sweep.

    Attributes:
        app: The dashboard.
        loaded: The sweep.
    """

    def __init__(self, app: Flask, loaded: LoadedSweep) -> None:
        """Ask nothing yet."""
        self.app = app
        self.loaded = loaded
        self._texts: dict[str, str] = {}
        self._kept: Kept = {}

    def of_report(self) -> list[Page]:
        """The pages of a report, in its order."""
        return list(_pages(self))

    def document(self, address: str) -> html.HtmlElement:
        """A page, to be read or changed.

        Raises:
            ValueError: If it cannot be shown.
        """
        if address not in self._texts:
            self._texts[address] = self.answer(address).get_data(as_text=True)
        return html.document_fromstring(self._texts[address])

    def answer(self, address: str) -> TestResponse:
        """What the dashboard answers at one of its own addresses.

        Raises:
            ValueError: If that is not a page.
        """
        host = min(self.app.extensions[HOSTS])
        with shared_reads(self._kept):
            answer = self.app.test_client().get(address, base_url=f"http://{host}")
        if answer.status_code != 200:
            raise ValueError(f"{address} answers {answer.status}: nothing can be exported of it")
        return answer

    def hands_out(self, address: str) -> str | None:
        """The format in which a table is handed out there; None where it is no table, such as a document's own file."""
        try:
            _, values = self.app.url_map.bind("").match(urlsplit(address).path)
        except HTTPException:
            return None
        form = values.get("form")
        return form if isinstance(form, str) else None


def questions_in(sweep: SweepRow) -> int:
    """How many questions a sweep asked."""
    return sweep.answerable + sweep.near + sweep.far


def _pages(asked: Pages) -> Iterator[Page]:
    sweep = asked.loaded.sweep
    base = f"/sweeps/{sweep.id}"
    yield Page("Strategies", base, 1)
    yield Page("Win/loss", f"{base}/pairs", 1)
    for row in asked.loaded.recorded:
        chosen = {"strategy": row.strategy, "retriever": row.retriever, "model": row.model, "scorer": row.scorer}
        query = urlencode({name: value for name, value in chosen.items() if value})
        yield Page(f"Threshold: {row.key}", f"{base}/threshold?{query}", 2)
    for number in range(1, max(1, -(-questions_in(sweep) // PER_PAGE)) + 1):
        yield Page("Queries" if number == 1 else f"Queries, part {number}", f"{base}/queries?page={number}", 1)
    if questions_in(sweep) <= MOST_QUESTIONS:
        rows = json.loads(asked.answer(f"{base}/queries.json").get_data())["rows"]
        for query_id in dict.fromkeys(row["query_id"] for row in rows):
            yield Page(f"Query {query_id}", f"{base}/queries/{quote(query_id)}", 2)
    yield Page("Documents", f"/documents?sweep={sweep.id}", 1)
    yield Page("Questions", f"/questions?sweep={sweep.id}", 1)
    yield Page("Decisions", "/decisions", 1)
