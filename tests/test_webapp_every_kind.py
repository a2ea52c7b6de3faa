"""Every page over a store that holds a sweep of every kind and a folder that holds a document of every kind."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter

import pytest
from every_kind_world import every_kind
from page_walk import walk
from sqlalchemy import event

from webapp.app import create_app

MOST_STATEMENTS = 8
FORMULA = re.compile(r"[=+@\t\r]|-(?![\d.])")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    engine, project = every_kind(tmp_path_factory.mktemp("every_kind"))
    yield engine, create_app(engine, root=project.root, allowed_hosts={"localhost"})
    engine.dispose()


@pytest.fixture(scope="module")
def visited(world):
    return walk(world[1], each=4)


def test_no_link_is_broken_whatever_kind_of_sweep_or_document_it_leads_to(visited):
    broken = {
        address: answer.status
        for address, answer in visited.items()
        if answer.status_code != 200 and "combinations is recorded yet" not in answer.get_data(as_text=True)
    }
    assert len(visited) > 150
    assert not broken


def test_words_of_others_are_words_on_every_page(visited):
    for address, answer in visited.items():
        if answer.mimetype == "text/html":
            page = answer.get_data(as_text=True)
            assert "<b>{{7*7}}" not in page, address
            assert "<script>alert" not in page, address
            assert 'href="javascript:' not in page, address


def test_every_file_of_numbers_can_be_read_and_runs_no_formula(visited):
    kinds = Counter(answer.mimetype for answer in visited.values())
    assert kinds["text/csv"] > 20
    assert kinds["application/json"] > 20
    for address, answer in visited.items():
        if answer.mimetype == "application/json":
            json.loads(answer.get_data(), parse_constant=lambda word, at=address: pytest.fail(f"{at}: {word}"))
        if answer.mimetype == "text/csv":
            rows = csv.reader(io.StringIO(answer.get_data(as_text=True)))
            assert not [cell for row in rows for cell in row if FORMULA.match(cell)], address


def test_no_page_takes_more_than_eight_statements(world, visited):
    engine, app = world
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    client, many = app.test_client(), {}
    for address, answer in visited.items():
        if answer.mimetype == "text/html" and "Content-Disposition" not in answer.headers:
            statements.clear()
            client.get(address).close()
            if len(statements) > MOST_STATEMENTS:
                many[address] = len(statements)
    assert not many
