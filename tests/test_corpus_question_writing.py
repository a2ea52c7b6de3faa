"""Files that are written are files the check accepts, and mean the same questions."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS
from corpus.check import check
from corpus.fingerprint import questions_hash
from corpus.question_writing import to_csv, to_jsonl
from corpus.questions import Needle, Query, load_questions


@pytest.fixture(scope="module")
def bundled():
    return check(BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS, strip_bibliography=BUNDLED_BIBLIOGRAPHY)


@pytest.mark.parametrize(("write", "name"), [(to_csv, "questions.csv"), (to_jsonl, "questions.jsonl")])
def test_the_bundled_questions_survive_being_written_and_read(bundled, tmp_path, write, name):
    file = tmp_path / name
    file.write_text(write(bundled.queries), "utf-8", newline="")
    again = load_questions(file, bundled.documents)
    assert again.faults == ()
    assert questions_hash(again.queries) == questions_hash(bundled.queries)
    assert [query.key_facts for query in again.queries] == [query.key_facts for query in bundled.queries]


def test_a_question_that_looks_like_a_formula_stays_what_it_is():
    query = Query("q", "=1+1, what is that?", (), None, "far", (), 1)
    assert next(csv.DictReader(io.StringIO(to_csv([query]))))["question"] == "=1+1, what is that?"


def test_what_a_question_does_not_have_is_left_out():
    line = json.loads(to_jsonl([Query("q", "Which?", (), None, "near", (), 1)]))
    assert line == {"id": "q", "question": "Which?", "stratum": "near"}


def test_a_needle_is_written_with_its_place():
    needle = Needle("a.md#char=2,7", "seven", "a.md", 2, 7)
    line = json.loads(to_jsonl([Query("q", "Which?", (needle,), "course", None, (), 1)]))
    assert (line["needle"], line["document"], line["start"], line["end"]) == ("seven", "a.md", 2, 7)


printable = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(printable, st.sampled_from(["near", "far"])), min_size=1, max_size=6))
def test_any_question_is_read_back_from_jsonl_as_it_was(rows):
    queries = [Query(f"q{at}", text, (), None, kind, (), at + 1) for at, (text, kind) in enumerate(rows)]
    lines = to_jsonl(queries).split("\n")[:-1]
    assert [json.loads(line)["question"] for line in lines] == [text for text, _ in rows]
