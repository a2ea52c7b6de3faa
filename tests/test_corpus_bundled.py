"""The bundled corpus keeps what the project promises about it."""

import pytest

from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS
from corpus.check import CheckReport, check


@pytest.fixture(scope="module")
def report() -> CheckReport:
    return check(BUNDLED_DOCUMENTS, BUNDLED_QUESTIONS, strip_bibliography=BUNDLED_BIBLIOGRAPHY)


def test_the_bundled_corpus_has_no_faults(report: CheckReport) -> None:
    assert [fault.sentence for fault in report.faults] == []
    assert report.guessed == ()


def test_the_bundled_corpus_has_thirteen_chapters_and_127_sections(report: CheckReport) -> None:
    assert [document.id[:3] for document in report.documents] == [f"{n:02}-" for n in range(1, 14)]
    assert report.counts.characters >= 340_000
    assert report.counts.sections == 127


def test_front_matter_and_bibliographies_are_stripped(report: CheckReport) -> None:
    for document in report.documents:
        assert document.text.startswith("# ")
        assert "\n## References" not in document.text


def test_every_needle_is_asked_in_both_phrasings(report: CheckReport) -> None:
    assert report.counts.needles == 32
    assert report.counts.answerable == {"course": 32, "ticket": 32}
    asked = {(query.needle.id, query.phrasing) for query in report.queries if query.needle is not None}
    assert len(asked) == 64


def test_the_needles_are_spread_over_all_documents(report: CheckReport) -> None:
    holding = {query.needle.document for query in report.queries if query.needle is not None}
    assert holding == {document.id for document in report.documents}


def test_every_needle_is_the_text_at_its_offsets(report: CheckReport) -> None:
    texts = {document.id: document.text for document in report.documents}
    for query in report.queries:
        if query.needle is not None:
            needle = query.needle
            assert texts[needle.document][needle.start : needle.end] == needle.text
            assert sum(text.count(needle.text) for text in texts.values()) == 1


def test_thirty_questions_are_unanswerable_and_say_what_an_answer_would_hold(report: CheckReport) -> None:
    assert (report.counts.near, report.counts.far) == (21, 9)
    assert [query.id for query in report.queries if query.needle is None and not query.key_facts] == []


def test_tickets_give_away_fewer_of_the_needles_words_than_course_questions(report: CheckReport) -> None:
    means = {overlap.phrasing: overlap.mean for overlap in report.overlaps}
    assert means["ticket"] is not None
    assert means["course"] is not None
    assert means["ticket"] < means["course"]
