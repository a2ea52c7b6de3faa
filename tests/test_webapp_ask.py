"""The ask page: answers and refusals by the decision in force, side by side, written, and added to the question set."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import threading
import time
from html import unescape
from pathlib import Path

import pytest
from asked_world import (
    BAKING,
    BM25,
    CUT,
    CUT_DENSE,
    DENSE,
    HYBRID,
    OVEN,
    PAELLA,
    WHOLE,
    Scripted,
    SlowEncoder,
    decide,
    make_world,
    use,
)
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page
from sqlalchemy import event
from worlds import BREAD, KeywordEncoder, filled

from corpus.documents import load_documents
from corpus.fingerprint import corpus_hash
from experiments.indexing.indexer import index_documents
from experiments.models import ModelError
from experiments.project import open_project
from experiments.provenance import PIPELINE
from experiments.reading import load_sweep
from store import files
from store.engine import open_store
from webapp.app import create_app
from webapp.asking import EXTENSION as ASKING
from webapp.asking import Desk
from webapp.contexts.ask import AskContext

CHECKOUT = Path(__file__).resolve().parent.parent
NO_ANSWER = 'NO ANSWER: nothing under cosine distance 0.3 for "paella recipe"'


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A world that no test changes."""
    root = tmp_path_factory.mktemp("world")
    engine = open_store(f"sqlite:///{root / 'store.db'}")
    make_world(root, engine)
    decide(engine, 0.3)
    yield root, engine
    engine.dispose()


@pytest.fixture
def app(measured):
    root, engine = measured
    made = create_app(engine, root=root, allowed_hosts={"localhost"})
    use(made)
    return made


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def own(tmp_path, engine):
    """Makes a world of a test's own: `own(threshold, more)`."""

    def made(threshold=0.3, more="", **encoders):
        make_world(tmp_path, engine, more)
        if threshold is not None:
            decide(engine, threshold)
        one = create_app(engine, root=tmp_path, allowed_hosts={"localhost"})
        use(one, **encoders)
        return one

    return made


def get(client, status=200, path="/ask", **query):
    response = client.get(path, query_string=query)
    assert response.status_code == status, response.get_data(as_text=True)[-3000:]
    return unescape(response.get_data(as_text=True))


def asked(client, question=OVEN, status=200, **query):
    """The page once the answer is there."""
    for _ in range(200):
        page = get(client, status, q=question, **query)
        if "every 1s" not in page.split('class="side-by-side', 1)[0]:
            return page
        time.sleep(0.02)
    raise AssertionError("no answer came")


def plain(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def verdict(page):
    return plain(re.search(r'<p class="verdict[^"]*">(.*?)</p>', page, re.DOTALL)[1])


def post(client, path, status=303, **form):
    token = re.search(r'csrf-token" content="([^"]+)"', client.get("/ask").get_data(as_text=True))[1]
    response = client.post(path, data={"csrf_token": token, **form})
    assert response.status_code == status, response.get_data(as_text=True)[-3000:]
    return response


def columns(page):
    return re.findall(r'<article class="ask-way".*?</article>', page, re.DOTALL)


# ---- by the decision in force -----------------------------------------------------------------------------------


def test_without_a_question_it_is_said_how_questions_are_asked_and_what_to_begin_with(client):
    page = get(client)
    assert verdict(page).startswith("Asked by decision 1: whole dense, threshold 0.3, chosen by Ada on ")
    for kind in ("answerable, course", "answerable, ticket", "unanswerable, near", "unanswerable, far"):
        assert kind in page
    assert "/ask?q=paella+recipe" in page


def test_a_kept_chunk_carries_number_distance_place_and_its_own_words(client):
    page = asked(client)
    assert verdict(page) == "1 of the 4 chunks looked at lies under 0.3; the nearest lies at 0.000."
    said = plain(page)
    assert "[1] Bread › Baking 0.000" in said
    assert "The oven stands at 230 degrees. Bake until brown." in said
    assert f"bread.md#char={BAKING[0]},{BAKING[1]}" in page
    assert BREAD[slice(*BAKING)] == "The oven stands at 230 degrees. Bake until brown."
    assert "distance 0.000, kept, threshold 0.3" in page
    assert page.count("not kept, threshold 0.3") == 3
    assert "/documents/bread.md?char=" in page or "documents.document" not in client.application.view_functions


def test_the_numbered_prompt_stands_behind_its_chunks(client):
    page = asked(client)
    prompt = re.search(r'<code id="prompt-1">(.*?)</code>', page, re.DOTALL)[1]
    assert "[1]\nThe oven stands at 230 degrees. Bake until brown.\n\nQuestion: How hot is the oven?" in prompt


def test_the_needle_of_a_question_of_the_set_is_marked_where_it_was_kept(client):
    page = asked(client)
    assert "<mark>The oven stands at 230 degrees.</mark> Bake until brown." in page
    assert "It is question heat-course of the set: its needle stands in [1]." in page


def test_what_the_line_did_with_the_sweeps_questions_stands_beside_it_with_intervals(client):
    assert re.search(
        r"On sweep 1 at 0.3 the needle was kept for \d of 8 \[0\.\d\d, [01]\.\d\d\] answerable questions and \d of 3 "
        r"\[0\.\d\d, [01]\.\d\d\] unanswerable ones were answered all the same\.",
        asked(client),
    )


def test_a_refusal_is_the_gates_own_words_with_what_lay_nearest_and_nobody_saw(client):
    page = asked(client, PAELLA)
    assert verdict(page) == NO_ANSWER
    assert "The nearest chunk lies at 1.000" in page
    assert "It was not shown to anyone, and no model was called." in page
    assert "Looked at, not kept: not shown to anyone" in page
    assert "prompt-1" not in page
    assert "rightly refused" in page


def test_every_stage_says_how_long_it_took(client):
    said = plain(asked(client, "Which queen?"))
    assert re.search(r"index made [\d.]+ m?s question embedded (< )?[\d.]+ ms distances [\d.]+ ms", said)


def test_another_threshold_than_the_decisions_is_said_to_be_chosen_here(client):
    page = asked(client, PAELLA, t1="1.5")
    assert verdict(page).startswith("All 4 chunks looked at lie under 1.5")
    assert "chosen here" in page
    assert "of decision 1" not in plain(page).replace("The decision in force", "")


def test_no_threshold_is_an_alarm_because_anything_is_kept(client):
    page = asked(client, PAELLA, t1="none")
    assert '<p class="verdict warns">No threshold: all 4 chunks are kept, however far away' in page


def test_text_of_questions_is_escaped(client):
    response = client.get("/ask", query_string={"q": "<script>alert(1)</script> oven"})
    assert "<script>alert" not in response.get_data(as_text=True)


# ---- nothing decided --------------------------------------------------------------------------------------------


def test_without_a_decision_the_leading_combination_is_asked_and_nothing_refused(own):
    client = own(None).test_client()
    page = get(client)
    assert verdict(page).startswith("No decision is in force: ")
    assert "which finds most in sweep 1, is asked without a threshold, so nothing is refused." in verdict(page)
    assert "/sweeps/1/threshold" in page
    assert "bluffline decide" in page
    assert verdict(asked(client, PAELLA)).startswith("No threshold: ")


def test_without_a_sweep_the_first_combination_is_asked_and_measuring_advised(tmp_path, engine):
    make_world(tmp_path, engine, measured=False)
    app = create_app(engine, root=tmp_path, allowed_hosts={"localhost"})
    use(app)
    page = asked(app.test_client())
    assert "Nothing is measured and nothing decided: cut dense is asked" in page
    assert "bluffline run" in page


# ---- side by side -----------------------------------------------------------------------------------------------


def test_each_combination_has_a_threshold_of_its_own(client):
    page = asked(client, c2=BM25, t2="0.5", c3=CUT_DENSE, t3="0.05")
    found = columns(page)
    assert [plain(re.search(r"<h2>(.*?)<", one)[1]) for one in found] == ["whole dense", "whole bm25", "cut dense"]
    assert [re.search(r'figure-number">([^<]+)<', one)[1] for one in found] == ["0.3", "0.5", "0.05"]
    assert "boundaries + header" in found[0]


def test_a_threshold_left_empty_answers_as_many_questions_as_the_decision(client):
    page = asked(client, c2=CUT_DENSE)
    assert "answers as many of sweep 1's questions as the decision" in columns(page)[1]
    assert re.search(r'id="t2"[^>]+placeholder="[\d.]+"', page)


def test_side_by_side_it_is_said_who_answers_and_who_refuses(client):
    assert verdict(asked(client, PAELLA, c2=DENSE, t2="1.2")) == (
        "whole dense at threshold 1.2 answers, whole dense at threshold 0.3 refuses."
    )
    assert verdict(asked(client, OVEN, c2=HYBRID, t2="0.3")).startswith("Both of them answer")


def test_one_combination_that_cannot_be_asked_leaves_the_others_standing(own):
    def find(_project, name):
        raise ModelError(f"the model {name} cannot be loaded: there is no such folder")

    app = own()
    use(app)
    app.extensions["bluffline-asking"]._find = find
    page = asked(app.test_client())
    assert "The model cannot be used." in page
    assert "The model keywords cannot be loaded: there is no such folder." in page
    assert "Traceback" not in page


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"c1": "Z/dense"}, "c1 = 'Z/dense' is not allowed"),
        ({"t1": "3"}, "t1 may be a number from 0 to 2"),
        ({"t1": "nan"}, "t1 may be a number from 0 to 2"),
        ({"t2": "0.3"}, "t2 may be given where c2 names a combination"),
        ({"document": "no.md"}, "document may be the id of a document"),
        ({"document": "bread.md", "from": "9999"}, "from may be a whole number from 0 to"),
        ({"document": "bread.md", "from": "9", "to": "9"}, "to may be a whole number from 10 to"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(client, query, said):
    asked(client)
    assert said in get(client, 400, q=OVEN, **query)


def test_a_question_far_longer_than_a_question_comes_back_with_its_length(client):
    page = get(client, 422, q="oven " * 2500)
    assert "The question is 12,500 characters long, at most 10,000 can be asked" in page
    assert verdict(page).startswith("Asked by decision 1")


def test_a_blank_question_asks_nothing(client):
    assert "Questions of the set, to begin with" in get(client, q="   ")


def test_a_question_in_another_language_is_answered_with_a_warning(client):
    assert "If it is in another language than the documents" in asked(client, "Wie heiß ist denn der Ofen bitte?")


# ---- what no longer fits ----------------------------------------------------------------------------------------


def test_documents_changed_since_the_decision_are_refused_with_both_corpora_named(own, tmp_path):
    client = own().test_client()
    asked(client)
    path = tmp_path / "documents" / "bread.md"
    path.write_text(BREAD.replace("230", "240"), encoding="utf-8")
    page = asked(client)
    assert verdict(page) == "The decision does not fit what is at hand."
    assert re.search(r"it was made about corpus [0-9a-f]{12}, the documents here are corpus [0-9a-f]{12}", page)
    assert "The documents are not those of sweep 1." in page
    offered = re.search(r'<a class="button" href="([^"]+)">Ask whole dense at 0.3 all the same', page)[1]
    again = client.get(offered).get_data(as_text=True)
    assert "240 degrees" in again
    assert "chosen here" in again


def test_a_document_that_no_sweep_has_read_is_quoted_without_a_link_that_would_break(own, tmp_path):
    client = own(threshold=None).test_client()
    (tmp_path / "documents" / "new.md").write_text(BREAD, encoding="utf-8")
    page = asked(client)
    assert "new.md" in page
    assert "/documents/bread.md" in page
    assert "/documents/new.md" not in page


def changed(engine, root, **sweep):
    """Change a document and measure it again."""
    path = root / "documents" / "bread.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nEat it.\n", encoding="utf-8")
    documents = load_documents(root / "documents").documents
    settings = load_sweep(engine, 1).sweep.settings
    return filled(engine, [CUT, WHOLE], settings=settings, corpus_hash=corpus_hash(documents), **sweep)


def test_a_decision_that_holds_on_a_sweep_of_the_changed_documents_still_answers(own, tmp_path, engine):
    client = own().test_client()
    changed(engine, tmp_path)
    page = asked(client)
    assert verdict(page) == "1 of the 4 chunks looked at lies under 0.3; the nearest lies at 0.000."
    assert "Documents have changed since it was decided." in page
    assert "Decision 1 holds on sweep 2, but not everything is as it was: Corpus:" in page
    assert "The documents are not those of sweep" not in page


def test_a_decision_that_no_longer_holds_on_them_is_refused_with_the_reason(own, tmp_path, engine):
    client = own().test_client()
    changed(engine, tmp_path, failed={DENSE: "out of memory"})
    page = asked(client)
    assert verdict(page) == "The decision does not fit what is at hand."
    assert "Decision 1 no longer holds on sweep 2: whole dense keywords is failed there: out of memory." in page


def test_another_model_than_the_decisions_is_refused_with_both_stamps_named(own):
    other = KeywordEncoder()
    other.stamp = other.stamp._replace(files="9" * 64)
    page = asked(own(encoder=other).test_client())
    assert "its vectors are of keywords (files ffffffffffff" in page
    assert "the model at hand is keywords (files 999999999999" in page


def test_a_document_that_cannot_be_read_is_named_and_the_others_are_searched(own, tmp_path):
    client = own(None).test_client()
    (tmp_path / "documents" / "broken.md").write_bytes(b"\xff\xfe\x00")
    page = asked(client)
    assert "Not every document could be read; the others are searched." in page
    assert "broken.md" in page


def test_a_project_without_documents_says_so(own, tmp_path):
    client = own().test_client()
    for path in (tmp_path / "documents").iterdir():
        path.unlink()
    page = asked(client)
    assert verdict(page) == "The question could not be asked."
    assert "bluffline check" in page


def test_what_breaks_in_the_thread_is_said_on_the_page_and_in_the_log(own, caplog):
    class Broken(KeywordEncoder):
        def encode_documents(self, texts):
            raise RuntimeError("no such operator")

    page = asked(own(encoder=Broken()).test_client())
    assert "Something went wrong that should not (RuntimeError)" in page
    assert "no such operator" in caplog.text


def test_answers_over_documents_as_they_were_are_forgotten(own, tmp_path):
    app = own(None)
    for question in ("queen?", "oven?"):
        asked(app.test_client(), question)
    (tmp_path / "documents" / "new.md").write_text("# New\n\nA queen.\n", encoding="utf-8")
    asked(app.test_client(), "queen?")
    assert len(app.extensions["bluffline-asking"]._jobs) == 1


def test_a_faulty_project_file_is_a_page_that_says_what_is_wrong(own, tmp_path):
    client = own().test_client()
    (tmp_path / "bluffline.toml").write_text("[ask]\ngenerator = 3\n", encoding="utf-8")
    assert "generator: must be a folder" in get(client, 409)


# ---- loading and threads ----------------------------------------------------------------------------------------


def test_while_the_model_loads_the_page_says_so_and_asks_again_by_itself(own):
    client = own(encoder=SlowEncoder(1.0)).test_client()
    page = get(client, q=OVEN)
    assert verdict(page) == "Loading: the answer comes by itself."
    assert re.search(r'id="answers"[^>]+hx-get="/ask\?q=How\+hot\+is\+the\+oven\?"[^>]+hx-trigger="every 1s"', page)
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
    page = asked(client)
    assert "Bread › Baking" in page
    assert "refresh" not in page


def test_many_who_ask_at_once_are_all_answered_and_the_model_is_used_by_one_at_a_time(own):
    class Counting(SlowEncoder):
        inside, most, indexed = 0, 0, 0

        def encode_documents(self, texts):
            Counting.inside += 1
            Counting.most = max(Counting.most, Counting.inside)
            Counting.indexed += 1
            found = super().encode_documents(texts)
            Counting.inside -= 1
            return found

    app, pages = own(encoder=Counting(0.2)), {}

    def work(number):
        pages[number] = asked(app.test_client(), f"How hot is the oven, and why {number}?")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(pages) == 8
    assert all(f"and why {number}?" in page and "Bread › Baking" in page for number, page in pages.items())
    assert (Counting.most, Counting.indexed) == (1, 1)


def test_an_answer_is_remembered_until_a_document_changes(own, tmp_path):
    class Counting(KeywordEncoder):
        queries = 0

        def encode_queries(self, texts):
            Counting.queries += 1
            return self.encode_documents(texts)

    client = own(None, encoder=Counting()).test_client()
    asked(client, "queen?")
    asked(client, "queen?")
    assert Counting.queries == 1
    (tmp_path / "documents" / "new.md").write_text("# New\n\nA queen.\n", encoding="utf-8")
    assert "New" in plain(asked(client, "queen?"))
    assert Counting.queries == 2


def test_the_web_process_shows_the_page_without_torch_and_mlflow(measured):
    program = """
import sys
from pathlib import Path
from store.engine import open_store
from webapp.app import create_app
root = Path(sys.argv[1])
app = create_app(open_store(f"sqlite:///{root / 'store.db'}"), root=root, allowed_hosts={"127.0.0.1"})
assert app.test_client().get("/ask", base_url="http://127.0.0.1").status_code == 200
heavy = {"torch", "mlflow", "sentence_transformers", "transformers", "pandas"} & set(sys.modules)
sys.exit(f"imported: {sorted(heavy)}" if heavy else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(measured[0])], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---- contracts --------------------------------------------------------------------------------------------------


def test_the_page_carries_no_more_and_no_less_than_its_context(app):
    assert_context_is_what_the_templates_use(app, "ask", AskContext)


@pytest.mark.parametrize("query", ["", "?q=oven&c2=whole/bm25", "?q=paella"])
def test_the_answers_are_a_part_of_the_page(client, query):
    asked(client, "oven", c2=BM25)
    asked(client, "paella")
    assert_fragment_is_part_of_its_page(client, f"/ask{query}", "answers")


def test_the_page_takes_at_most_eight_statements(client, measured):
    asked(client, c2=BM25, c3=HYBRID, c4=CUT_DENSE)
    statements = []

    def note(*arguments):
        statements.append(arguments[2])

    event.listen(measured[1], "before_cursor_execute", note)
    get(client, q=OVEN, c2=BM25, c3=HYBRID, c4=CUT_DENSE)
    event.remove(measured[1], "before_cursor_execute", note)
    assert 0 < len([one for one in statements if one.lstrip().upper().startswith("SELECT")]) <= 8


def test_the_chunks_are_handed_out_as_files(client):
    table = json.loads(get(client, path="/ask.json", q=OVEN, c2=BM25))
    first = table["rows"][0]
    assert (first["combination"], first["threshold"], first["number"], first["distance"]) == (DENSE, 0.3, 1, 0.0)
    assert BREAD[first["start"] : first["end"]] == first["quote"]
    assert get(client, path="/ask.csv", q=OVEN).startswith("combination,threshold,number,rank,distance")
    assert "| whole/dense/keywords | 0.3 | 1 |" in get(client, path="/ask.md", q=OVEN)
    assert "q may be a question" in get(client, 400, path="/ask.csv")


# ---- into the question set --------------------------------------------------------------------------------------


def added(root):
    return json.loads((root / "questions.jsonl").read_text(encoding="utf-8").splitlines()[-1])


def test_an_unanswerable_question_is_added_with_its_key_facts(own, tmp_path):
    client = own().test_client()
    response = post(client, "/ask/questions", q="Can I bake a pizza?", kind="unanswerable", stratum="near",
                    key_facts="pizza stone\n\n 300 degrees ", phrasing="ticket")  # fmt: skip
    assert response.headers["Location"].startswith("/questions")
    assert added(tmp_path) == {
        "id": "asked-1", "question": "Can I bake a pizza?", "phrasing": "ticket", "stratum": "near",
        "key_facts": ["pizza stone", "300 degrees"],
    }  # fmt: skip


def test_a_needle_is_picked_sentence_by_sentence_out_of_a_kept_chunk(own, tmp_path):
    client = own().test_client()
    page = asked(client, "Until when is it in the oven?")
    picked = re.search(r'name="sentence" value="(\d+,\d+)"[^>]*> <span>Bake until brown\.</span>', page)[1]
    post(client, "/ask/questions", q="Until when is it in the oven?", kind="needle", document="bread.md",
         sentence=picked)  # fmt: skip
    row = added(tmp_path)
    assert row["needle"] == "Bake until brown."
    assert BREAD[row["start"] : row["end"]] == "Bake until brown."


def test_exact_characters_count_before_the_sentence(own, tmp_path):
    client = own().test_client()
    start = BREAD.index("230 degrees")
    post(client, "/ask/questions", q="Which heat?", kind="needle", document="bread.md", sentence="0,5",
         start=str(start), end=str(start + 11))  # fmt: skip
    assert added(tmp_path)["needle"] == "230 degrees"


def test_the_needle_can_be_marked_in_any_place_that_is_found_by_its_words(own):
    client = own().test_client()
    page = asked(client, "When does the swarm go?", find="swarm  LEAVES")
    href = re.search(r'<ul class="found"><li><a href="([^"]+)"', page)[1]
    page = unescape(client.get(href).get_data(as_text=True))
    assert "<span>A swarm leaves in May.</span>" in page
    assert "These words stand in no document" in asked(client, "When does the swarm go?", find="swarm arrives")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"kind": "unanswerable"}, "Say whether the question is near the topic of the documents or far from it."),
        ({"kind": "needle", "document": "bread.md"}, "Pick the sentence that answers the question"),
        (
            {"kind": "needle", "document": "bread.md", "start": "x", "end": "9"},
            "Exact characters are two whole numbers",
        ),
        ({"kind": "needle", "document": "bread.md", "start": "0", "end": "7"}, "heading"),
        ({"kind": "unanswerable", "stratum": "near", "key_facts": "230 degrees"}, "230 degrees"),
    ],
)
def test_what_the_check_finds_comes_back_in_the_form(own, tmp_path, form, said):
    client = own().test_client()
    before = (tmp_path / "questions.jsonl").read_bytes()
    page = unescape(post(client, "/ask/questions", 422, q="A new one?", **form).get_data(as_text=True))
    assert "The question was not added." in page
    assert said in page
    assert '<details class="adding" id="add" open>' in page
    assert (tmp_path / "questions.jsonl").read_bytes() == before


def test_a_question_that_stands_there_already_is_not_added_twice(own):
    client = own().test_client()
    assert "It is asked there already," in asked(client)
    page = post(client, "/ask/questions", 422, q=OVEN, kind="unanswerable", stratum="far").get_data(as_text=True)
    assert "the question is there already, as heat-course" in page


def test_the_bundled_questions_are_read_only_and_it_is_said_what_to_do(tmp_path, engine, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = create_app(engine, root=tmp_path, allowed_hosts={"localhost"})
    use(app)
    client = app.test_client()
    page = asked(client, "oven?")
    assert "The bundled question set is read-only." in page
    assert "bluffline init" in page
    assert '<form method="post" action="/ask/questions' not in page
    refused = post(client, "/ask/questions", 422, q="oven?", kind="unanswerable", stratum="far")
    assert "read-only" in refused.get_data(as_text=True)


def test_nothing_is_added_without_the_forms_token(own):
    assert own().test_client().post("/ask/questions", data={"q": "x"}).status_code == 403


# ---- a generator ------------------------------------------------------------------------------------------------

WITH_GENERATOR = '[ask]\ngenerator = "script"\ntime_limit = 30\n'
WRITTEN = (
    "The oven stands at “230 degrees” [1]. It bakes “until golden” [1]. See https://example.org [7]. Nobody knows more."
)


def written(client, question=OVEN):
    """The page once nothing is being written any more."""
    for _ in range(300):
        page = asked(client, question)
        if "hx-trigger" not in page.split('class="written"', 1)[1].split(">", 1)[0]:
            return page
        time.sleep(0.02)
    raise AssertionError("the writing did not end")


def test_without_a_generator_none_is_offered(client):
    assert "Let it answer" not in asked(client)
    page = post(client, "/ask/write", 409, q=OVEN).get_data(as_text=True)
    assert "BLUFFLINE_GENERATOR" in page


def test_a_written_answer_shows_citations_and_every_mark(own):
    generator = Scripted(WRITTEN)
    client = own(more=WITH_GENERATOR, generator=generator).test_client()
    assert "Let it answer" in asked(client)
    assert generator.prompts == []
    response = post(client, "/ask/write", q=OVEN, column="1")
    assert response.headers["Location"] == "/ask/written?q=How+hot+is+the+oven?&column=1"
    page = written(client)
    assert '<a class="cite" href="#cited-1-1">1</a>' in page
    assert 'id="cited-1-1"' in page
    said = plain(page)
    for words in (
        "5 marks in 4 sentences: do not take these on trust.",
        "Quoted words that do not stand in [1]",
        "A link of the model's own",
        "A URL that stands in no source.",
        "Cites [7], but only 1 to 1 were supplied.",
        "A sentence without a citation.",
        "number not supplied 1 link of its own 1 identifier in no source 1",
        "sentence without a citation 1 words not in the cited chunk 1",
    ):
        assert words in said, words
    assert '<mark class="fault uncited"' in page
    assert '<mark class="fault false"' in page
    assert len(generator.prompts) == 1


def test_an_answer_without_marks_is_not_called_right(own):
    client = own(more=WITH_GENERATOR, generator=Scripted("The oven stands at 230 degrees [1].")).test_client()
    post(client, "/ask/write", q=OVEN)
    said = plain(written(client))
    assert "No mark in 1 sentence: it cites, quotes and names only what it was given." in said
    assert "Whether it is right nobody has checked." in said


def test_while_it_is_written_the_fragment_asks_again_and_can_be_stopped(own):
    client = own(more=WITH_GENERATOR, generator=Scripted("word " * 2000, 0.01)).test_client()
    post(client, "/ask/write", q=OVEN)
    headers = {"HX-Request": "true", "HX-Target": "section#written-1"}
    fragment = client.get("/ask/written", query_string={"q": OVEN}, headers=headers).get_data(as_text=True)
    assert fragment.lstrip().startswith('<section class="written" id="written-1"')
    assert 'hx-trigger="every 1s"' in fragment
    time.sleep(0.1)
    post(client, "/ask/stop", q=OVEN)
    assert "Stopped on request after" in plain(written(client))


def test_without_htmx_the_written_answer_is_a_place_on_the_page(own):
    client = own(more=WITH_GENERATOR, generator=Scripted("Yes [1].")).test_client()
    asked(client)
    response = client.get("/ask/written", query_string={"q": OVEN})
    assert response.headers["Location"] == "/ask?q=How+hot+is+the+oven?#written-1"


def test_a_generator_that_fails_says_why_and_can_be_tried_again(own):
    class Failing:
        stamp = Scripted("").stamp

        def generate(self, prompt, **_):
            raise RuntimeError("out of memory")

    client = own(more=WITH_GENERATOR, generator=Failing()).test_client()
    post(client, "/ask/write", q=OVEN)
    page = written(client)
    assert "The generator failed: RuntimeError: out of memory." in page
    assert "Try again" in page


def test_a_refusal_offers_no_generator_and_calls_none(own):
    generator = Scripted("Paella is rice [1].")
    client = own(more=WITH_GENERATOR, generator=generator).test_client()
    assert "Let it answer" not in asked(client, PAELLA)
    page = post(client, "/ask/write", 400, q=PAELLA).get_data(as_text=True)
    assert "a refusal calls no model" in page
    assert generator.prompts == []


def test_an_index_made_with_something_else_is_refused_with_both_stamps(own, engine, tmp_path):
    made = own()
    made.extensions[ASKING] = Desk(lambda *_: KeywordEncoder(), engine)
    index_documents(engine, open_project(tmp_path), find=lambda _: KeywordEncoder(), stream=io.StringIO())
    client = made.test_client()
    assert "not made with what is at hand" not in asked(client)
    files.set_state(engine, ["bread.md"], "indexed", pipeline="0")
    page = asked(client, "Which queen lays the eggs?")
    assert "The index is not made with what is at hand." in page
    assert "half-migrated: 1 of 3 documents was made with keywords (files" in page
    assert "pipeline 0" in page
    assert f"pipeline {PIPELINE}" in page
    assert "<code>bluffline documents index</code></pre>" in page
