"""The check as a whole: counts, overlap and every fault at once."""

import json
from pathlib import Path

import pytest

from corpus.check import check
from corpus.key_facts import find_key_facts
from corpus.overlap import content_words, lexical_overlap


def project(tmp_path: Path, *entries: dict[str, object]) -> tuple[Path, Path]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\n## One\n\nThe norm is never negative.\n\n```\n## no\n```\n", encoding="utf-8")
    (docs / "b.md").write_text("# B\n\n## Two\n\nTokens are bytes.\n\n## References\n\nBook.\n", encoding="utf-8")
    (docs / "c.png").write_bytes(b"\x89PNG")
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(json.dumps(entry) for entry in entries), encoding="utf-8")
    return docs, questions


NORM = "The norm is never negative."


def test_a_sound_corpus_is_counted(tmp_path: Path) -> None:
    docs, questions = project(
        tmp_path,
        {"id": "1", "question": "Can a norm be negative?", "needle": NORM, "phrasing": "course"},
        {"id": "2", "question": "length below nought?", "needle": NORM, "phrasing": "ticket"},
        {"id": "3", "question": "What are tokens?", "needle": "Tokens are bytes.", "phrasing": "course"},
        {"id": "4", "question": "Stream?", "stratum": "near", "key_facts": ["stream"]},
        {"id": "5", "question": "Paella?", "stratum": "far"},
    )
    report = check(docs, questions, strip_bibliography=["References"])
    assert report.ok
    counts = report.counts
    assert (counts.documents, counts.sections, counts.needles) == (2, 2, 2)
    assert counts.characters == sum(len(document.text) for document in report.documents)
    assert counts.answerable == {"course": 2, "ticket": 1}
    assert (counts.near, counts.far, counts.unanswerable) == (1, 1, 2)
    assert report.skipped == ("c.png",)
    course, ticket = report.overlaps
    assert {o.query_id: o.share for o in course.queries} == pytest.approx({"1": 2 / 3, "3": 1 / 2})
    assert (course.phrasing, course.n) == ("course", 2)
    assert course.mean == pytest.approx(7 / 12)
    assert course.median == pytest.approx(7 / 12)
    assert (ticket.phrasing, ticket.mean) == ("ticket", 0)


def test_faults_of_documents_and_questions_are_reported_together(tmp_path: Path) -> None:
    docs, questions = project(tmp_path, {"id": "1", "question": "?", "needle": NORM, "stratum": "far"})
    (docs / "empty.md").touch()
    report = check(docs, questions)
    assert not report.ok
    assert [fault.sentence for fault in report.faults] == [
        f"{docs.as_posix()}/empty.md: the file is empty. Write the document, or remove the file.",
        f"{questions.as_posix()}:1: a question with a needle has a stratum: 'far'. "
        "Remove `stratum`, or remove `needle` if the corpus does not answer the question.",
    ]


def test_a_document_in_a_guessed_encoding_is_pointed_out(tmp_path: Path) -> None:
    docs, questions = project(tmp_path, {"id": "1", "question": "?", "stratum": "far"})
    (docs / "old.txt").write_bytes("Das ist nicht köstlich, sondern schön.".encode("cp1252"))
    report = check(docs, questions)
    assert report.ok
    assert [(document.id, document.encoding) for document in report.guessed] == [("old.txt", "cp1252")]


def test_a_missing_folder_and_a_missing_file_are_both_reported(tmp_path: Path) -> None:
    report = check(tmp_path / "docs", tmp_path / "q.jsonl")
    problems = [fault.problem for fault in report.faults]
    assert problems[:2] == ["the documents folder does not exist", "the questions file does not exist"]
    assert report.counts.characters == 0
    assert report.overlaps == ()


def test_overlap_is_the_share_of_the_needles_own_words() -> None:
    assert content_words("The KV-cache is 2 GB, and it grows.") == {"kv", "cache", "2", "gb", "grows"}
    assert lexical_overlap("Why does the cache take 2 gigabytes?", "The KV-cache is 2 GB, and it grows.") == 0.4
    assert lexical_overlap("anything", "東京") is None


def test_a_phrasing_whose_needles_have_no_content_words_has_no_mean(tmp_path: Path) -> None:
    docs, questions = project(tmp_path, {"id": "1", "question": "?", "needle": "東京です", "phrasing": "course"})
    (docs / "j.txt").write_text("そこは東京です。", encoding="utf-8")
    (row,) = check(docs, questions).overlaps
    assert (row.n, row.mean, row.median, row.queries) == (0, None, None, ())


def test_a_blank_key_fact_is_refused() -> None:
    with pytest.raises(ValueError, match="' '"):
        find_key_facts([" "], ())
