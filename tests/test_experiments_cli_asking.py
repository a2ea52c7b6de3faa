import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from experiments.asking import asker as asking
from experiments.asking.generation import Generated, GeneratorStamp
from experiments.cli import COMMANDS
from experiments.cli import asking as command
from experiments.lexical import BM25Settings
from store.decisions import add_decision
from store.engine import open_store
from store.tables import DecisionRow
from tests.worlds import DOCUMENTS, HEAT, MODEL, QUERIES, SECTIONS, KeywordEncoder

PROJECT = f"""
[corpus]
documents = "documents"
questions = "questions.jsonl"

[strategies.S]
cuts = "boundaries"
header = true
budget = 200

[sweep]
strategies = ["S"]
models = ["{MODEL}"]
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A project of the small world, with its keyword encoder in the place of a model."""
    (tmp_path / "documents").mkdir()
    for one in DOCUMENTS:
        (tmp_path / "documents" / one.id).write_text(one.text, "utf-8")
    rows = [
        {"id": query.id, "question": query.text, "phrasing": query.phrasing}
        | ({"needle": query.needle.text} if query.needle else {"stratum": query.stratum})
        for query in QUERIES
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "bluffline.toml").write_text(PROJECT, "utf-8")
    plain = {"find": lambda name: KeywordEncoder(), "index": ()}
    monkeypatch.setattr(asking.Asker.of.__func__, "__kwdefaults__", plain)
    return tmp_path


@pytest.fixture
def decided(world):
    """The world with a decision in force."""
    engine = open_store(f"sqlite:///{world / 'var' / 'bluffline.db'}")
    row = add_decision(
        engine,
        DecisionRow(
            key="d" * 32, created_at=datetime(2026, 1, 1, tzinfo=UTC), who="me", reason="because", project="world",
            sweep_id=1, sweep_key="s" * 32, combination=f"S/dense/{MODEL}", strategy="S", strategy_spec=SECTIONS.spec,
            retriever="dense", model=MODEL, stamp=KeywordEncoder().stamp._asdict(), threshold=0.5, gate_size=4,
            corpus_hash=asking.Asker.of(command.open_project(world)).corpus_hash, questions_hash="q" * 64,
            hit_rule="whole", pipeline="1", picked_by="hand", unanswerable_share=0.3, confidence=0.95,
        ),
    )  # fmt: skip
    engine.dispose()
    return row


def run(world, *arguments):
    return CliRunner().invoke(command.ask, ["--project", str(world), *arguments])


class Scripted:
    stamp = GeneratorStamp("scripted", "a scripted generator", "test", "0" * 64)

    def load(self):
        pass

    def generate(self, prompt, *, max_tokens, time_limit, on_token):
        return Generated("The oven stands at 230 degrees [1]. See https://a.org.", 9, 80, 0.5, "length", self.stamp)


@pytest.fixture
def scripted(monkeypatch):
    monkeypatch.setattr("experiments.asking.generation.find_generator", lambda spec, models: Scripted())


def test_ask_is_a_command():
    assert COMMANDS["ask"][0] == "experiments.cli.asking:ask"


def test_the_decision_in_force_answers_and_is_named(world, decided):
    done = run(world, "How hot is the oven?")
    assert done.exit_code == 0
    assert f"S/dense/{MODEL}, threshold 0.5, decision {decided.id}" in done.output
    assert "[1] distance 0.000, rank 1, Bread › Baking, bread.md#char=" in done.output
    assert "    The oven stands at 230 degrees. Bake until brown." in done.output


def test_a_refusal_names_the_nearest_distance_and_is_no_error(world, decided):
    done = run(world, "paella recipe")
    assert done.exit_code == 0
    assert 'NO ANSWER: nothing under cosine distance 0.5 for "paella recipe"' in done.output
    assert "Nearest: distance 1.000, rank 1" in done.output


def test_without_a_decision_and_without_options_it_says_what_to_do(world):
    done = run(world, "How hot?")
    assert done.exit_code == 2
    assert "no decision yet" in done.output
    assert "bluffline decide" in done.output


def test_a_decision_about_other_documents_is_refused(world, decided):
    (world / "documents" / "new.md").write_text("# New\n\nNew words.\n", "utf-8")
    done = run(world, "How hot?")
    assert done.exit_code == 2
    assert f"decision {decided.id} does not fit what is at hand: it was made about corpus" in done.output


def test_combinations_stand_side_by_side_each_at_its_own_threshold(world):
    done = run(world, "How hot is the oven?", "--combination", "S/dense@0.4", "--combination", "S/bm25", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert [one["threshold"] for one in found["answers"]] == [0.4, None]
    assert [one["combination"] for one in found["answers"]] == [f"S/dense/{MODEL}", "S/bm25"]
    assert found["answers"][0]["looked_at"][0]["quote"].startswith("The oven stands")
    assert "no threshold: whatever comes first is kept" in found["answers"][1]["heading"]


def test_options_change_what_the_decision_says(world, decided):
    assert f"threshold 0.9 instead of decision {decided.id}'s" in run(world, "oven?", "--threshold", "0.9").output
    assert "S/hybrid/" in run(world, "oven?", "--retriever", "hybrid", "--threshold", "0.9").output


def test_the_prompt_is_printed_on_request_and_never_for_a_refusal(world, decided):
    assert "Question: How hot is the oven?" in run(world, "How hot is the oven?", "--prompt").output
    assert "Question:" not in run(world, "paella recipe", "--prompt").output


def test_a_generators_answer_is_printed_with_citations_and_marks(world, decided, scripted):
    done = run(world, "How hot is the oven?", "--generator", "x")
    assert "a scripted generator, 9 tokens in 0.5 s" in done.output
    assert "Stopped after 9 tokens: the answer is cut off." in done.output
    assert "[1] Bread › Baking, bread.md#char=" in done.output
    assert "! A link of the model's own" in done.output
    assert "3 marks in 2 sentences." in done.output


def test_a_refusal_calls_no_generator(world, decided, monkeypatch):
    monkeypatch.setattr("experiments.asking.generation.find_generator", lambda spec, models: pytest.fail("called"))
    assert run(world, "paella recipe", "--generator", "x").exit_code == 0


def test_a_batch_prints_counts_with_intervals(world, decided, scripted):
    done = run(world, "--all", "--generator", "x")
    assert done.exit_code == 0
    assert "8 answerable questions:" in done.output
    assert "answered               1 of 8 [0.02, 0.47]" in done.output
    assert "Rule: an answer contains the needle's facts when" in done.output


def test_a_batch_as_json_has_every_question(world, decided, scripted):
    found = json.loads(run(world, "--all", "--generator", "x", "--limit", "5", "--json").stdout)
    assert found["n"] == 5
    assert [one["id"] for one in found["questions"]] == [query.id for query in QUERIES[:5]]
    assert found["marks"]["link"]["answers"]["n"] == len([one for one in found["questions"] if one["text"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["  ", "--threshold", "0.5"], "the question is blank"),
        (["a" * 10_001, "--threshold", "0.5"], "10,001 characters long"),
        (["q", "--threshold", "2.5"], "no cosine distance"),
        (["q", "--combination", "Z/dense@0.5"], "no strategy 'Z'"),
        (["q", "--combination", "S"], "no combination"),
        (["q", "--combination", "S/dense", "--strategy", "S"], "already names"),
        ([], "either a QUESTION or --all"),
        (["q", "--all"], "either a QUESTION or --all"),
        (["--all", "--threshold", "0.5"], "--all needs --generator"),
        (["oven?", "--threshold", "0.5", "--generator", "./gone"], "no such file or folder"),
        (["q", "--add", "near", "--needle", "bread.md#char=1,2"], "either unanswerable"),
        (["q", "--needle", "bread.md"], "is no place"),
    ],
)
def test_mistakes_are_one_clear_line_and_exit_code_2(world, arguments, message):
    done = run(world, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_question_is_added_as_unanswerable_or_with_its_needle(world):
    done = run(world, "Is honey kosher?", "--add", "near")
    assert "added asked-1 to" in done.output
    assert "as unanswerable, near" in done.output
    done = run(world, "Which heat?", "--needle", f"bread.md#char={HEAT.start},{HEAT.end}", "--phrasing", "chat")
    assert f"with the needle {HEAT.text!r}" in done.output
    last = json.loads((world / "questions.jsonl").read_text("utf-8").splitlines()[-1])
    assert (last["id"], last["phrasing"]) == ("asked-2", "chat")


def test_a_decision_by_bm25_reads_the_gate_models_distances(world, decided):
    engine = open_store(f"sqlite:///{world / 'var' / 'bluffline.db'}")
    plain = decided.model_dump(exclude={"id", "key", "supersedes"})
    words = BM25Settings().describe()
    changed = {"retriever": "bm25", "model": None, "combination": "S/bm25", "retriever_settings": words}
    add_decision(engine, DecisionRow(**{**plain, **changed, "key": "e" * 32, "supersedes": decided.id}))
    engine.dispose()
    done = run(world, "How hot is the oven?", "--json")
    (answer,) = json.loads(done.stdout)["answers"]
    assert (answer["combination"], answer["gate_model"], answer["refused"]) == ("S/bm25", MODEL, False)
