"""The question set: what it holds and can show, its check, and files the check accepts again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page
from small_project import DOCUMENTS as SMALL_DOCUMENTS
from sqlalchemy import event
from worlds import DOCUMENTS, QUERIES, filled

from corpus.fingerprint import questions_hash
from corpus.questions import load_questions
from experiments.reviewing.question_set import Balance
from store.engine import open_store
from webapp.app import create_app
from webapp.contexts.question_figures import width_spec, width_summary
from webapp.contexts.question_tables import TABLES
from webapp.contexts.questions import QuestionsContext

SETTINGS = {"k": [1, 4], "alpha": 0.05, "seed": 7, "strategies": {"A": "", "B": "", "E": ""}, "models": ["keywords"],
            "retrievers": ["dense", "bm25", "hybrid"], "thresholds": [0.5]}  # fmt: skip
TOML = '[corpus]\ndocuments = "documents"\nquestions = "questions.jsonl"\n'


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('questions') / 'store.db'}")
    filled(opened, settings=SETTINGS)
    yield opened
    opened.dispose()


@pytest.fixture
def root(tmp_path):
    """A project with the small world's documents and questions."""
    (tmp_path / "documents").mkdir()
    for document in DOCUMENTS:
        (tmp_path / "documents" / document.id).write_text(document.text, "utf-8")
    (tmp_path / "bluffline.toml").write_text(TOML, "utf-8")
    written(tmp_path, QUERIES)
    return tmp_path


def written(root: Path, queries) -> None:
    from corpus.question_writing import to_jsonl

    (root / "questions.jsonl").write_text(to_jsonl(queries), "utf-8")


@pytest.fixture
def app(engine, root):
    return create_app(engine, root=root, allowed_hosts={"localhost"})


@pytest.fixture
def client(app):
    return app.test_client()


def text(client, path="/questions", status=200):
    response = client.get(path)
    assert response.status_code == status, response.get_data(as_text=True)[:2000]
    return response.get_data(as_text=True)


def test_the_first_sentence_says_what_the_set_holds_and_the_next_what_it_can_show(client):
    page = text(client)
    assert "11 questions: 8 answerable over 4 needles, 3 unanswerable (2 near, 1 far)." in page
    assert "known to within ±0.28 on 8 answerable questions" in page
    assert "not one bluff on 1 far question would still only promise at most 95 %" in page


def test_phrasings_stand_side_by_side_with_their_overlap(client):
    page = text(client)
    row = re.search(r"Let the yeast rest in warm water.*?</tr>", page, re.DOTALL)[0]
    assert "How long does the yeast rest?" in row
    assert "my yeast does nothing" in row
    assert "29\N{NO-BREAK SPACE}% of the needle" in row
    assert "14\N{NO-BREAK SPACE}% of the needle" in row


def test_what_is_out_of_reach_is_said_to_be(client):
    page = text(client)
    assert "out of reach" in page
    assert "Must differ on, among 36 pairs" in page  # nine combinations


def test_a_difference_is_reckoned_from_how_often_the_sweeps_combinations_differ(client):
    page = client.get("/questions?points=25&k=4").get_data(as_text=True)
    assert "To see a difference of 25 points in R@4 with 80 % power takes about" in page
    assert "of this sweep do or less" in page
    assert "differ on" in page
    table = client.get("/questions/planning.csv?points=25&k=4").get_data(as_text=True)
    assert table.splitlines()[0] == "of,discordant_share,questions_alone,questions_in_family"
    assert "median of" in table


def test_a_promise_is_reckoned_for_any_target_and_confidence(client):
    page = text(client, "/questions?target=5&confidence=90")
    assert "To promise at most 5 % bluffs with 90 % confidence takes 45 unanswerable questions" in page
    assert 'value="5"' in page


@pytest.mark.parametrize(
    "address",
    [
        "/questions?target=0",
        "/questions?target=x",
        "/questions?confidence=100",
        "/questions?check=2",
        "/questions?points=0",
        "/questions?k=3",
    ],
)
def test_a_parameter_that_cannot_be_read_is_named(client, address):
    assert re.search(r"\?(\w+)=", address)[1] + " =" in text(client, address, 400)


def test_an_unknown_sweep_is_not_found(client):
    assert "Sweep 9 is not in this dashboard" in text(client, "/questions?sweep=9", 404)


def test_nothing_is_checked_until_it_is_asked_for(client):
    page = text(client)
    assert "Check now" in page
    assert "No faults" not in page


def test_a_check_without_faults_says_so_and_that_the_file_is_what_was_measured(client):
    page = text(client, "/questions?check=1")
    assert "3 documents and 11 questions are without fault" in page
    assert "The file holds the questions that sweep 1 measured." in page


def test_faults_of_every_kind_stand_with_their_line_and_advice(client, root):
    needles = ["Nothing of the kind stands here.", "one queen lays ALL the eggs.", "tide", "Spring"]
    lines = [{"id": f"q{at}", "question": "<why>?", "needle": needle} for at, needle in enumerate(needles)]
    (root / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    page = text(client, "/questions?check=1")
    for kind in ("missing", "drifted", "repeated", "heading"):
        assert f'<span class="tag bad">{kind}</span>' in page
    assert "questions.jsonl:2" in page
    assert "Copy it from there." in page
    rows = json.loads(text(client, "/questions/faults.json"))["rows"]
    assert [row["kind"] for row in rows] == ["missing", "drifted", "repeated", "heading"]


def test_a_file_that_changed_since_the_sweep_is_said_to_have(client, root):
    written(root, QUERIES[2:])
    assert "Since sweep 1 the file has changed: 2 removed (moon-course and moon-ticket)" in text(
        client, "/questions?check=1"
    )


def test_a_change_of_a_file_is_seen_by_the_next_check(client, root):
    assert "No faults" in text(client, "/questions?check=1")
    (root / "documents" / "bees.md").unlink()
    assert "Something is wrong" in text(client, "/questions?check=1")


def test_a_project_file_that_cannot_be_read_is_said_to_be_so(client, root):
    (root / "bluffline.toml").write_text("[corpus]\ndocument = 3\n", "utf-8")
    page = text(client, "/questions?check=1")
    assert "Something is wrong" in page
    assert "unknown setting" in page
    assert "The project cannot be read" in text(client, "/questions/project.csv", 409)


def test_before_anything_is_measured_the_projects_own_set_is_shown(root, tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    page = text(create_app(opened, root=root, allowed_hosts={"localhost"}).test_client())
    assert "11 questions: 8 answerable" in page
    assert "Nothing has been measured yet" in page
    opened.dispose()


def test_without_a_project_it_is_the_bundled_corpus(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    page = text(create_app(opened, root=tmp_path, allowed_hosts={"localhost"}).test_client())
    assert "94 questions: 64 answerable over 32 needles, 30 unanswerable (21 near, 9 far)." in page
    opened.dispose()


@pytest.mark.parametrize("which", ["measured", "project"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_files_are_accepted_by_the_check_again(client, tmp_path, which, form):
    response = client.get(f"/questions/{which}.{form}")
    assert response.headers["Content-Disposition"].startswith("attachment")
    file = tmp_path / f"again.{form}"
    file.write_bytes(response.data)
    loaded = load_questions(file, DOCUMENTS)
    assert loaded.faults == ()
    assert questions_hash(loaded.queries) == questions_hash(QUERIES)


@pytest.mark.parametrize("which", TABLES)
def test_every_table_is_handed_out_as_csv_json_and_markdown(client, which):
    for form in ("csv", "json", "md"):
        assert client.get(f"/questions/{which}.{form}").status_code == 200
    assert json.loads(text(client, f"/questions/{which}.json"))["columns"]


def test_the_fragments_are_part_of_their_page(client):
    assert_fragment_is_part_of_its_page(client, "/questions?check=1", "check")
    assert_fragment_is_part_of_its_page(client, "/questions?target=20", "bounds")
    assert_fragment_is_part_of_its_page(client, "/questions?points=20&k=1", "planning")


def test_the_context_is_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "questions", QuestionsContext)


def test_the_page_takes_at_most_eight_statements(client, engine):
    statements = []
    event.listen(engine, "before_cursor_execute", count := lambda *args: statements.append(args[2]))
    try:
        text(client, "/questions?check=1")
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert len(statements) <= 8, statements


def test_questions_are_other_peoples_text(engine, root, tmp_path):
    shutil.rmtree(root / "documents")
    (root / "documents").mkdir()
    for name, body in SMALL_DOCUMENTS.items():
        (root / "documents" / name).write_text(body, "utf-8")
    line = {"id": "<i>", "question": "<script>alert(1)</script>", "stratum": "near"}
    needle = {"id": "n", "question": "?", "needle": "The norm of a vector is never negative."}
    (root / "questions.jsonl").write_text(json.dumps(line) + "\n" + json.dumps(needle) + "\n", "utf-8")
    opened = open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    page = text(create_app(opened, root=root, allowed_hosts={"localhost"}).test_client())
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    opened.dispose()


def test_groups_of_one_size_are_one_mark_with_both_names():
    held = Balance(26, 20, 20, near=4, far=2, phrasings=(None,), by_phrasing=(20,), by_document=(), single=0)
    spec = width_spec(held)
    assert spec is not None
    marks = spec["data"][1]
    assert (marks["text"], marks["x"]) == (["answerable, needles", "near", "far"], [20, 4, 2])
    highest = spec["layout"]["yaxis"]["range"][1]
    assert all(height < highest for trace in spec["data"] for height in trace["y"])
    assert "on the 20 answerable, ±0.20 on the 20 needles" in width_summary(held)
