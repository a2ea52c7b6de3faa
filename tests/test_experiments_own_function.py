"""Calling a team's function: in threads that are left behind when a call hangs, and what it raises is its reason."""

import sys
import threading

import pytest

from experiments.own.asking import ask_all
from experiments.own.function import load
from experiments.own.kept_answers import KeptAnswers
from experiments.own.spec import Function, OwnRetriever

CODE = """
import sqlite3, sys, threading
connections, answered, go_on = [], [], threading.Event()

def hang(query, k):
    if query == "q0":
        go_on.wait(60)
    answered.append(query)
    return [query]

def in_one_thread(query, k):
    if not connections:
        connections.append(sqlite3.connect(":memory:"))
    connections[0].execute("select 1")  # refuses to be used in another thread
    return ["found"] * (k + 3)

def ends(query, k):
    sys.exit(1)

def gives(query, k):
    return {"text": "a"}

def too_few(queries, k):
    return [[]]

class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("not even this")

def speechless(query, k):
    raise Speechless

class Lazy(list):
    def __iter__(self):
        raise KeyError("the index is gone")

def lazy(query, k):
    return Lazy(["a"])

def large_score(query, k):
    return [{"text": "a", "score": 10 ** 5000}]

def half_a_character(query, k):
    return ["a \\ud800 b"]

def zero_in_an_id(query, k):
    return [{"text": "a", "id": "1\\0"}]

def out_of_time(query, k):
    raise TimeoutError("the index took too long")
"""


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "functions_of_a_team.py").write_text(CODE, "utf-8")

    def ask(name, queries, *, batch=False, **settings):
        own = OwnRetriever(
            "ours", Function(f"functions_of_a_team:{name}", batch), **{"k": 2, "concurrency": 1, **settings}
        )
        kept = KeptAnswers(tmp_path / f"{name}.jsonl")
        return ask_all(own, queries, kept, root=tmp_path, seed=1, advance=lambda _: None)

    return ask


def test_a_call_that_hangs_is_a_timeout_and_the_others_go_on(asked):
    answers = asked("hang", ["q0", "q1", "q2"], deadline=0.5)
    functions = sys.modules["functions_of_a_team"]
    assert [answer.status for answer in answers] == ["timeout", "ok", "ok"]
    assert functions.answered == ["q1", "q2"]  # it hangs still, and nobody waits for it
    functions.go_on.set()


def test_what_it_opened_in_a_thread_is_used_in_that_thread(asked):
    answers = asked("in_one_thread", [f"q{n}" for n in range(5)])
    assert {answer.status for answer in answers} == {"ok"}
    assert len(answers[0].returned) == 2  # more than were asked for are cut off


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ends", "SystemExit: 1"),
        ("gives", "it gave dict, not a list of results"),
        ("out_of_time", "TimeoutError: the index took too long"),
        ("speechless", "Speechless"),
        ("lazy", "KeyError: 'the index is gone'"),
        ("large_score", "result 1: its score is a very long number, not a number"),
        ("half_a_character", "result 1: its text holds half a surrogate pair, which is no character"),
        ("zero_in_an_id", "result 1: its id holds a zero character, which no text has"),
    ],
)
def test_whatever_it_does_is_its_own_error(asked, name, reason):
    (answer,) = asked(name, ["q"])
    assert (answer.status, answer.reason) == ("error", reason)


def test_all_at_once_must_give_one_list_a_question(asked):
    answers = asked("too_few", ["a", "b"], batch=True)
    assert answers[1].reason == "it gave 1 lists for 2 questions"


def test_no_thread_keeps_the_process_alive(asked):
    asked("in_one_thread", ["q"])
    assert all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())


def test_a_function_that_cannot_be_imported_says_why(tmp_path):
    (tmp_path / "broken_module_of_a_team.py").write_text("import nothing_like_it\n", "utf-8")
    (tmp_path / "ending_module_of_a_team.py").write_text("raise SystemExit\n", "utf-8")
    for path, said in (
        ("broken_module_of_a_team:find", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("ending_module_of_a_team:find", "the module ends the program"),
        ("json:__name__", "is str, not a function"),
        ("json", "does not name a function"),
    ):
        with pytest.raises(ValueError, match=said):
            load(path, tmp_path)
