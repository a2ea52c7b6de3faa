"""`bluffline import`: a project that check accepts, all faults at once, and nothing overwritten."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from small_project import Told, typed
from test_corpus_importing import CORPUS, PARIS, QRELS, TOPICS, asked, beir, squad, trec

from experiments.project import open_project
from experiments.sweep import check_project


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> Told:
    return typed(capsys, "import", *arguments)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


def test_a_beir_folder_becomes_a_project_of_whole_documents(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = told(capsys, "beir", beir(source), tmp_path / "made")
    assert (code, error) == (0, "")
    assert "made" in out
    assert "3 documents, 2 questions (document-level relevance)" in out
    project = open_project(tmp_path / "made")
    assert [strategy.cuts for strategy in project.settings.strategies] == ["document"]
    report = check_project(project)
    assert report.ok
    assert (report.counts.documents, report.counts.relevant, report.counts.needles) == (3, 2, 0)
    assert (tmp_path / "made" / ".gitignore").read_text() == "var/\n__pycache__/\n"


def test_a_squad_file_becomes_a_project_of_needles_with_the_usual_strategies(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = told(capsys, "squad", squad(source, PARIS, asked("u", is_impossible=True)), tmp_path / "made")
    assert (code, "1 document, 2 questions (needles)" in out) == (0, True)
    project = open_project(tmp_path / "made")
    assert [strategy.name for strategy in project.settings.strategies] == list("ABCDEF")
    report = check_project(project)
    assert report.ok
    assert (report.counts.needles, report.counts.near) == (1, 1)


def test_trec_files_and_tables_become_projects_over_the_folder_they_are_about(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "d1.txt").write_text("The moon pulls.")
    topics, qrels = trec(source, TOPICS.replace("<desc> No title here.", "<title> Sea"), "301 0 d1 1\n")
    code, _, error = told(capsys, "trec", topics, qrels, tmp_path / "made", "--documents", folder)
    assert (code, error) == (0, "")
    project = open_project(tmp_path / "made")
    assert project.documents.resolve() == folder
    assert check_project(project).ok
    table = source / "asked.csv"
    table.write_text("Frage,Antwort\nWas zieht?,The moon pulls.\n")
    mapped = ("--map", "question=Frage", "--map", "needle=Antwort")
    code, _, error = told(capsys, "table", table, tmp_path / "mapped", "--documents", folder, *mapped)
    assert (code, error) == (0, "")
    assert check_project(open_project(tmp_path / "mapped")).ok
    code, _, error = told(capsys, "table", table, tmp_path / "other", "--documents", folder, "--map", "frage=Frage")
    assert (code, "'frage' is no column of ours" in error) == (2, True)


def test_faults_are_all_said_and_nothing_is_written_unless_they_may_be_skipped(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = beir(source, [*CORPUS, CORPUS[0]], qrels=QRELS + "q2\tgone\t1\n")
    code, out, error = told(capsys, "beir", folder, tmp_path / "made")
    assert (code, out) == (2, "")
    assert "corpus.jsonl:4: the document's id is used already on line 1: 'd1'." in error
    assert "test.tsv:5: the judgement names a document that is not there: 'gone'." in error
    assert "2 faults." in error
    assert not (tmp_path / "made").exists()
    code, out, error = told(capsys, "beir", folder, tmp_path / "made", "--skip-faults")
    assert (code, "2 faults, left out." in error) == (0, True)
    assert check_project(open_project(tmp_path / "made")).ok


def test_nothing_that_is_there_is_overwritten(tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, made = beir(source), tmp_path / "made"
    for name in ("bluffline.toml", "questions.jsonl", "documents/collection.jsonl"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("mine")
        code, _, error = told(capsys, "beir", folder, made)
        assert (code, f"{made / name} is there already" in error) == (2, True)
        assert (made / name).read_text() == "mine"
        (made / name).unlink()
    (made / ".gitignore").write_text("mine")
    assert told(capsys, "beir", folder, made)[0] == 0
    assert (made / ".gitignore").read_text() == "mine"


def test_where_nothing_is_left_there_is_no_project(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = told(capsys, "beir", beir(source, qrels="q1\tgone\t1\n"), tmp_path / "made", "--skip-faults")
    assert (code, "nothing is left to measure" in error) == (2, True)


def test_the_project_file_says_what_is_measured_and_keeps_the_other_settings_in_sight(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "beir", beir(source), tmp_path / "made")
    text = (tmp_path / "made" / "bluffline.toml").read_text()
    read = tomllib.loads(text)
    assert read["strategies"] == {"document": {"cuts": "document", "header": True}}
    assert read["corpus"]["documents"] == "documents/collection.jsonl"
    assert "# retrievers = " in text
    lines = (tmp_path / "made" / "questions.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"id": "q1", "question": "What pulls the sea?", "relevant": {"d1": 2, "d3": 0}}
