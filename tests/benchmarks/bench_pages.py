"""How fast every page is on a long history: median and maximum of 15 requests, and how many SQL statements each takes.

Run as ``python tests/benchmarks/bench_pages.py [--store FILE] [--only WORD]``. A store that is named is filled once and
used again. Exits with 1 when a median is over 200 ms or a page needs more than 8 statements.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from flask import Flask
from sqlalchemy import Engine, event
from werkzeug.routing import Rule

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import history

from store import reads
from store.decisions import decision_in_force
from store.engine import open_store
from webapp.app import create_app

REQUESTS = 15
MOST_MILLISECONDS = 200.0
MOST_STATEMENTS = 8
HOST = "localhost"

# Pages whose address says more than which page it is: the same page in another state.
STATES = (
    "/?combination=best",
    "/?show=100&measure=mrr",
    "/questions?check=1",
    "/compare?a={first}&b={newest}",
)


class Timing(NamedTuple):
    """One address, requested again and again."""

    url: str
    status: int
    middle: float  # milliseconds
    most: float
    statements: int
    size: int  # bytes

    @property
    def ok(self) -> bool:
        return self.status < 500 and self.middle <= MOST_MILLISECONDS and self.statements <= MOST_STATEMENTS


NO_PAGES = ("static", "strategies.report")  # a report is every page of its sweep, asked for one by one


def urls(app: Flask, engine: Engine) -> Iterator[str]:
    """Every address that answers GET, with values of the newest sweep."""
    known = _known(engine)
    with app.test_request_context(headers={"Host": HOST}):
        for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
            if "GET" in (rule.methods or ()) and rule.endpoint not in NO_PAGES and not _needs_a_question(rule):
                yield from _filled(app, rule, known)
    for state in STATES:
        yield state.format(first=known["first"], newest=known["sweep_id"])


def _needs_a_question(rule: Rule) -> bool:
    """Whether an address answers a live question, which takes a model and is no reading of the store."""
    return rule.endpoint.startswith("ask.") and bool(rule.arguments)


def _known(engine: Engine) -> dict[str, Any]:
    """Values for the variable parts of addresses."""
    newest, decision = reads.latest_sweep(engine, "finished"), decision_in_force(engine)
    if newest is None or newest.id is None:
        raise SystemExit("the store holds no finished sweep")
    queries = reads.queries(engine, newest.questions_hash)
    documents = reads.documents(engine, newest.corpus_hash)
    combinations = [row for row in reads.combinations(engine, newest.id) if row.state == "recorded"]
    return {
        "sweep_id": newest.id,
        "first": reads.sweeps(engine, 1000)[-1].id,
        "query_id": queries[0].query_id,
        "document_id": documents[0].document_id,
        "corpus_hash": newest.corpus_hash,
        "combination_id": combinations[0].id,
        "key": combinations[0].key,
        "decision_id": decision.id if decision else 1,
        "form": "json",
    }


def _filled(app: Flask, rule: Rule, known: dict[str, Any]) -> Iterator[str]:
    """One address of a rule: a part with a few allowed words gets each of them, tables only one form."""
    values: dict[str, Any] = {}
    choices: list[tuple[str, list[str]]] = []
    for name in rule.arguments:
        items = getattr(rule._converters[name], "items", None)
        if name in known and (items is None or known[name] in items):
            values[name] = known[name]
        elif items:
            choices.append((name, sorted(items)))
        else:
            print(f"not measured, no value for <{name}>: {rule.rule}", file=sys.stderr)
            return
    for name, words in choices:
        if name == "form":
            values[name] = words[0]
    spread = [(name, words) for name, words in choices if name != "form"]
    if not spread:
        yield app.url_map.bind(HOST).build(rule.endpoint, values)
        return
    name, words = spread[0]
    rest = {other: each[0] for other, each in spread[1:]}
    for word in words:
        yield app.url_map.bind(HOST).build(rule.endpoint, {**values, **rest, name: word})


def measured(app: Flask, engine: Engine, url: str, requests: int = REQUESTS) -> Timing:
    """Request an address once to warm up and then for the record."""
    client, statements = app.test_client(), 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1

    with client.get(url, headers={"Host": HOST}) as first:
        status, size = first.status_code, len(first.data)
    times = []
    event.listen(engine, "before_cursor_execute", count)
    for _ in range(requests):
        statements = 0
        begun = perf_counter()
        client.get(url, headers={"Host": HOST}).close()
        times.append(1000 * (perf_counter() - begun))
    event.remove(engine, "before_cursor_execute", count)
    return Timing(url, status, median(times), max(times), statements, size)


def main() -> int:
    """Print one line a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="keep the store here and use it again")
    parser.add_argument("--only", default="", help="only addresses that contain this")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = asked.store or Path(folder) / "bluffline.db"
        fresh = not file.exists()
        engine = open_store(f"sqlite:///{file}")
        begun = perf_counter()
        if fresh:
            history.fill(engine)
            print(f"{history.SWEEPS} sweeps in {perf_counter() - begun:.0f} s, {file.stat().st_size / 1e6:.0f} MB")
        app = create_app(engine, root=Path(folder), allowed_hosts={HOST})
        app.test_client().get("/", headers={"Host": HOST})
        gc.collect()
        gc.freeze()  # as the server does
        print(f"{'median':>9} {'most':>9} {'SQL':>4} {'kB':>6}  page")
        slow = 0
        for url in urls(app, engine):
            if asked.only in url:
                timing = measured(app, engine, url)
                slow += not timing.ok
                mark = f"  ({timing.status}: needs parameters)" if 400 <= timing.status < 500 else ""
                mark += "" if timing.ok else f"  <-- {timing.status}, over the limit"
                times = f"{timing.middle:>6.0f} ms {timing.most:>6.0f} ms"
                print(f"{times} {timing.statements:>4} {timing.size / 1000:>6.0f}  {timing.url}{mark}", flush=True)
        engine.dispose()
    print(f"limits: median {MOST_MILLISECONDS:.0f} ms, {MOST_STATEMENTS} statements; over them: {slow}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
