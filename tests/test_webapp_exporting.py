"""`bluffline export`, and the report that opens from disk."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import event
from web_worlds import DENSE_A, DENSE_E, reviewed

from experiments.reading import load_sweep
from store.engine import open_store
from webapp import report_file as reports
from webapp import report_pages
from webapp.app import create_app
from webapp.exporting import export
from webapp.report_file import report_file
from webapp.report_pages import Pages

ADDRESS = re.compile(r'\b(?:src|href|action|data-plotly)="([^"]*)"')


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("export")
    (folder / "bluffline.toml").write_text("", "utf-8")
    engine = open_store(f"sqlite:///{folder / 'var' / 'bluffline.db'}")
    reviewed(engine, keys=[DENSE_A, DENSE_E])
    engine.dispose()
    return folder


def run(root: Path, *arguments: object):
    return CliRunner().invoke(export, ["--project", str(root), *map(str, arguments)])


@pytest.fixture(scope="module")
def exported(root):
    told = run(root, "--to", root / "out")
    assert told.exit_code == 0, told.output
    return root / "out"


def test_everything_is_written_when_nothing_is_chosen(exported):
    assert {path.name for path in exported.iterdir()} == {"report.html", "sweep.json", "csv", "parquet", "trec"}
    assert json.loads((exported / "sweep.json").read_text("utf-8"))["sweep"]["id"] == 1
    names = {path.name for path in (exported / "csv").iterdir()}
    assert {"sweep-1-strategies.csv", "questions-planning.csv"} <= names
    assert sum("bluffs" in name for name in names) > 1  # one for each combination


def test_a_document_that_is_a_csv_file_is_no_table_of_the_report(root):
    engine = open_store(f"sqlite:///{root / 'var' / 'bluffline.db'}")
    asked = Pages(create_app(engine, root=root, allowed_hosts={"localhost"}), load_sweep(engine, 1))
    assert asked.hands_out("/documents/prices.csv?sweep=1&sheet=1#sheet=1") is None
    assert asked.hands_out("/sweeps/1/strategies.csv?k=20") == "csv"
    assert asked.hands_out("/sweeps/1/strategies.md") == "md"
    assert asked.hands_out("#part") is asked.hands_out("https://example.org/a.csv") is None
    engine.dispose()


def test_the_report_asks_nobody_for_anything(exported):
    page = (exported / "report.html").read_text("utf-8")
    body = page[page.index("<body>") :]
    assert all(address.startswith("#") for address in ADDRESS.findall(body))
    assert not re.search(r"<(form|input|select|button|link|iframe)\b", body)
    assert "csrf" not in body
    assert " ago<" not in body


def test_links_of_the_report_lead_to_places_in_it(exported):
    page = (exported / "report.html").read_text("utf-8")
    body = page[page.index("<body>") :]
    ids = re.findall(r'\bid="([^"]*)"', body)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in ADDRESS.findall(body)} <= set(ids)


def test_the_report_says_what_the_pages_say(exported, root):
    page = (exported / "report.html").read_text("utf-8")
    for words in ("Strategies", "Win/loss", "Threshold: ", "Queries", "Query ", "Documents", "Questions", "Decisions"):
        assert f'report-title">{words}' in page
    assert "answerable" in page


def test_nothing_that_is_there_is_replaced_unless_asked(exported, root):
    before = (exported / "sweep.json").read_bytes()
    told = run(root, "--to", exported, "--as", "json")
    assert told.exit_code == 2
    assert "sweep.json is there already; --force replaces it" in told.output
    assert run(root, "--to", exported, "--as", "json", "--force").exit_code == 0
    assert (exported / "sweep.json").read_bytes() == before


def test_a_folder_that_cannot_be_written_is_one_line(root, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    told = run(root, "--to", tmp_path / "file" / "below", "--as", "json")
    assert told.exit_code == 2
    assert "cannot be written" in told.output


def test_many_questions_are_left_to_their_table_and_said_to_be(root, tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "MOST_QUESTIONS", 3)
    monkeypatch.setattr(report_pages, "MOST_QUESTIONS", 3)
    assert run(root, "--to", tmp_path, "--as", "html").exit_code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'report-title">Query ' not in page
    assert "single questions are left out (there are more than 3)" in page


def test_pages_that_share_what_they_read_say_the_same_in_a_few_statements(engine, tmp_path):
    reviewed(engine)
    loaded = load_sweep(engine, 1)
    asked = Pages(create_app(engine, root=tmp_path, allowed_hosts={"localhost"}), loaded)
    statements = []
    event.listen(engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    report_file(asked)
    pages = asked.of_report()
    assert len(pages) > 100
    assert len(statements) <= 40
    for page in (*pages[:9], *pages[-3:]):  # of every kind
        alone = Pages(asked.app, loaded).document(page.address)
        assert _said(asked.document(page.address)) == _said(alone), page.address


def _said(document):
    """The words of a page; times of day go on."""
    return re.sub(r"\b(just now|\d+ \w+ ago)\b", "", " ".join(document.find("body").text_content().split()))
