"""Questions files with several needles to a question, and with relevant documents instead of needles."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_corpus_questions import DOCUMENTS, GOOD, NEEDLE, lines, load

from corpus.check import check
from corpus.fingerprint import questions_hash
from corpus.question_writing import to_csv, to_jsonl
from corpus.questions import Judgement, load_questions

OTHER = "A norm is never negative."
SEVERAL: dict[str, Any] = {
    "id": "s1",
    "question": "What is zero or more?",
    "needles": [{"needle": NEEDLE}, {"needle": OTHER, "document": "norm.md", "start": 25}],
    "require": "all",
}
JUDGED: dict[str, Any] = {"id": "j1", "question": "Where are norms?", "relevant": {"norm.md": 2, "a/dot.md": 0}}


def test_a_question_may_have_several_needles_in_several_documents(tmp_path: Path) -> None:
    loaded = load(tmp_path, lines(SEVERAL))
    assert loaded.faults == ()
    (query,) = loaded.queries
    assert [needle.text for needle in query.needles] == [NEEDLE, OTHER]
    assert query.needle == query.needles[0]
    assert (query.require, query.answerable) == ("all", True)
    assert query.answer_id == "a/dot.md#char=38,65 and norm.md#char=25,50"


def test_any_one_of_several_needles_is_enough_unless_all_are_required(tmp_path: Path) -> None:
    (query,) = load(tmp_path, lines({**SEVERAL, "require": None})).queries
    assert query.require == "any"
    assert query.answer_id == "a/dot.md#char=38,65 or norm.md#char=25,50"


def test_the_order_of_several_needles_is_kept_but_makes_no_other_answer(tmp_path: Path) -> None:
    (query,) = load(tmp_path, lines(SEVERAL)).queries
    (turned,) = load(tmp_path, lines({**SEVERAL, "needles": SEVERAL["needles"][::-1]})).queries
    assert turned.needles == query.needles[::-1]
    assert turned.answer_id == query.answer_id


def test_documents_may_be_judged_relevant_instead(tmp_path: Path) -> None:
    (query,) = load(tmp_path, lines(JUDGED)).queries
    assert query.relevant == (Judgement("a/dot.md", 0), Judgement("norm.md", 2))
    assert (query.needle, query.answerable, query.answer_id) == (None, True, "documents:j1")
    (listed,) = load(tmp_path, lines({**JUDGED, "relevant": ["norm.md"]})).queries
    assert listed.relevant == (Judgement("norm.md", 1),)


@pytest.mark.parametrize(
    ("entry", "value", "problem"),
    [
        ({**SEVERAL, "needle": NEEDLE}, "`needle` and `needles`", "in two ways"),
        ({**SEVERAL, "relevant": {"norm.md": 1}}, "`needles` and `relevant`", "in two ways"),
        ({**SEVERAL, "needles": "x"}, "x", "not a list of objects"),
        ({**SEVERAL, "needles": []}, "[]", "not a list of objects"),
        ({**SEVERAL, "needles": [{"document": "norm.md"}]}, "{'document': 'norm.md'}", "has no `needle`"),
        ({**SEVERAL, "needles": [{"needle": NEEDLE, "page": 3}]}, "page", "unknown key of a needle"),
        ({**SEVERAL, "needles": [{"needle": NEEDLE, "start": 3}]}, "3", "`start` is given without `document`"),
        ({**SEVERAL, "needles": [{"needle": NEEDLE}] * 2}, NEEDLE, "named twice"),
        ({**SEVERAL, "needles": [{"needle": NEEDLE}, {"needle": "Not there."}]}, "Not there.", "stands nowhere"),
        ({**SEVERAL, "document": "norm.md"}, "norm.md", "`document` is given beside `needles`"),
        ({**SEVERAL, "require": "most"}, "most", "`require` is unknown"),
        ({**GOOD, "require": "all"}, "all", "without `needles`"),
        ({**SEVERAL, "stratum": "near"}, "near", "a question with a needle has a stratum"),
        ({**JUDGED, "stratum": "near"}, "near", "a question with relevant documents has a stratum"),
        ({**JUDGED, "relevant": {"nrm.md": 1}}, "nrm.md", "there is no such document"),
        ({**JUDGED, "relevant": {"norm.md": -1}}, "norm.md: -1", "not a whole number from 0"),
        ({**JUDGED, "relevant": {"norm.md": True}}, "norm.md: True", "not a whole number from 0"),
        ({**JUDGED, "relevant": {"norm.md": 0}}, "{'norm.md': 0}", "no document of `relevant` has a grade above 0"),
        ({**JUDGED, "relevant": 5}, "5", "not an object of documents and grades"),
    ],
)
def test_what_is_wrong_with_several_needles_or_documents_is_one_line(
    tmp_path: Path, entry: dict[str, Any], value: str, problem: str
) -> None:
    loaded = load(tmp_path, lines(entry))
    assert loaded.queries == ()
    (fault,) = loaded.faults
    assert (fault.line, fault.value) == (1, value)
    assert problem in fault.problem


def test_one_set_of_questions_has_one_hit_rule(tmp_path: Path) -> None:
    (fault,) = load(tmp_path, lines(GOOD, JUDGED, {**JUDGED, "id": "u", "relevant": None, "stratum": "far"})).faults
    assert (fault.line, fault.value) == (2, "j1")
    assert "line 1 has a needle" in fault.problem


def test_a_csv_holds_what_no_cell_can_as_json(tmp_path: Path) -> None:
    for entry in (SEVERAL, JUDGED):
        (query,) = load(tmp_path, lines(entry)).queries
        (read,) = load(tmp_path, to_csv([query]), "questions.csv").queries
        assert questions_hash([read]) == questions_hash([query])
        (read,) = load(tmp_path, to_jsonl([query])).queries
        assert questions_hash([read]) == questions_hash([query])


def test_only_new_fields_change_the_hash_of_a_question_set(tmp_path: Path) -> None:
    one = load(tmp_path, lines(GOOD)).queries
    # Known before there were several needles: sweeps and decisions that were made then stay comparable.
    assert questions_hash(one) == "6f2496d18194e40d77c995b0ad7bdab3b68235396ea2b4a86b8cbc22add1092f"
    hashes = {
        questions_hash(load(tmp_path, lines(entry)).queries)
        for entry in (
            {**GOOD, "id": "s1"},
            {"id": "s1", "question": GOOD["question"], "needles": SEVERAL["needles"]},
            {"id": "s1", "question": GOOD["question"], "needles": SEVERAL["needles"], "require": "all"},
            {"id": "s1", "question": GOOD["question"], "relevant": {"norm.md": 1}},
            {"id": "s1", "question": GOOD["question"], "relevant": {"norm.md": 2}},
        )
    }
    assert len(hashes) == 5


def test_a_needle_in_a_list_of_one_is_the_question_it_always_was(tmp_path: Path) -> None:
    plain = load(tmp_path, lines(GOOD)).queries
    listed = load(tmp_path, lines({**GOOD, "needle": None, "needles": [{"needle": NEEDLE}]})).queries
    assert questions_hash(listed) == questions_hash(plain)
    assert [query.answer_id for query in listed] == [query.answer_id for query in plain]


def test_the_check_counts_sets_of_needles_and_relevant_documents(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    for document in DOCUMENTS:
        (folder / document.id).parent.mkdir(parents=True, exist_ok=True)
        (folder / document.id).write_text(document.text)
    questions = tmp_path / "questions.jsonl"
    questions.write_text(lines(SEVERAL, {**SEVERAL, "id": "s2"}, GOOD))
    counts = check(folder, questions).counts
    assert (counts.needles, sum(counts.answerable.values()), counts.relevant) == (2, 3, 0)
    questions.write_text(lines(JUDGED))
    counts = check(folder, questions).counts
    assert (counts.needles, sum(counts.answerable.values()), counts.relevant) == (0, 1, 1)
    assert len(load_questions(questions, DOCUMENTS).queries) == len(json.loads(f"[{lines(JUDGED)}]"))
