"""Imports: what BEIR, SQuAD, TREC and tables say, as documents and questions of ours, with every fault at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from worlds import document

from corpus.importing.beir import read_beir
from corpus.importing.material import Material
from corpus.importing.squad import read_squad
from corpus.importing.table import MappingError, read_mapping, read_table
from corpus.importing.trec import read_trec
from corpus.questions import Judgement

CORPUS = [
    {"_id": "d1", "title": "Tides", "text": "The moon pulls the sea."},
    {"_id": "d2", "title": "Bread", "text": "Yeast needs warmth."},
    {"_id": "d3", "title": "", "text": "Bees make honey."},
]
QUERIES = [{"_id": "q1", "text": "What pulls the sea?"}, {"_id": "q2", "text": "What needs warmth?"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\nq2\td2\t1\n"


def beir(folder: Path, corpus: Any = CORPUS, queries: Any = QUERIES, qrels: str = QRELS) -> Path:
    (folder / "qrels").mkdir()
    for name, entries in (("corpus", corpus), ("queries", queries)):
        lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "qrels" / "test.tsv").write_text(qrels)
    return folder


def faults(material: Material) -> list[tuple[str, int | None, str, str]]:
    return [(Path(fault.file).name, fault.line, fault.value, fault.problem) for fault in material.questions().faults]


def test_a_beir_folder_becomes_documents_and_judged_questions(tmp_path: Path) -> None:
    material = read_beir(beir(tmp_path))
    loaded = material.questions()
    assert loaded.faults == ()
    first = material.documents[0]
    assert (first.id, first.title, first.text) == ("d1", "Tides", "The moon pulls the sea.")
    assert [(one.id, one.text, one.relevant) for one in loaded.queries] == [
        ("q1", "What pulls the sea?", (Judgement("d1", 2), Judgement("d3", 0))),
        ("q2", "What needs warmth?", (Judgement("d2", 1),)),
    ]
    assert material.notes == [
        "3 judgements of 2 questions in test.tsv; questions left out because they have none in it: 0."
    ]


def test_every_fault_of_a_beir_folder_is_said_at_once_and_the_rest_goes_on(tmp_path: Path) -> None:
    corpus = [*CORPUS, {"_id": "d1", "text": "again"}, {"_id": "d4", "text": 7}]
    queries = [*QUERIES, {"_id": "q1", "text": "again"}, {"text": "no id"}, {"_id": "q3", "text": "None is right?"}]
    qrels = QRELS + "q1\tgone\t1\nq9\td1\t1\nq1\td2\t-1\nq2\td3\thigh\nq2\td2\t1\nq1\td1\t1\nq2 d2 1\nq3\td1\t0\n"
    material = read_beir(beir(tmp_path, corpus, queries, qrels))
    assert faults(material) == [
        ("corpus.jsonl", 4, "d1", "the document's id is used already on line 1"),
        ("corpus.jsonl", 5, "7", "`text` is not a text"),
        ("test.tsv", 5, "gone", "the judgement names a document that is not there"),
        ("test.tsv", 6, "q9", "the judgement names a question that is not there"),
        ("test.tsv", 7, "q1 d2 -1", "the grade is negative"),
        ("test.tsv", 8, "high", "the grade is not a whole number"),
        ("test.tsv", 9, "q2 d2 1", "the judgement stands on line 4 already, with the same grade"),
        ("test.tsv", 10, "q1 d1 1", "the judgement stands on line 2 already, with grade 2"),
        ("test.tsv", 11, "q2 d2 1", "the line has 1 columns, not 3"),
        ("queries.jsonl", 3, "q1", "the question's id is used already on line 1"),
        ("queries.jsonl", 4, "", "the question has no `_id` or no `text`"),
        ("queries.jsonl", 5, "q3", "no document is judged relevant to the question"),
    ]
    assert [query.id for query in material.questions().queries] == ["q1", "q2"]


def test_missing_files_of_a_beir_folder_are_each_named(tmp_path: Path) -> None:
    assert faults(read_beir(tmp_path)) == [
        ("corpus.jsonl", None, "", "the file does not exist"),
        ("qrels", None, "", "there are no judgements (qrels/*.tsv)"),
        ("queries.jsonl", None, "", "the file does not exist"),
        ("queries.jsonl", None, "", "there are no documents to find the needles in"),
    ]


def test_the_split_is_chosen_by_name_where_there_are_several(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    (folder / "qrels" / "train.tsv").write_text("q2\td2\t1\n")  # without a header
    assert len(read_beir(folder).rows) == 2
    assert [row.values["id"] for row in read_beir(folder, "train").rows] == ["q2"]
    assert ("qrels", None, "dev", "there is no such split") in faults(read_beir(folder, "dev"))
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert ("qrels", None, "", "it is not clear which split is meant") in faults(read_beir(folder))


CONTEXT = "\ufeffMarie was born in Warsaw. She studied in Paris, at the Sorbonne. She won two prizes."


def squad(
    folder: Path, *questions: Any, title: str = "Marie_Curie", context: str = CONTEXT, indent: int | None = 1
) -> Path:
    file = folder / "squad.json"
    paragraphs = [{"context": "An earlier paragraph.", "qas": []}, {"context": context, "qas": list(questions)}]
    value = {"version": "2.0", "data": [{"title": title, "paragraphs": paragraphs}]}
    file.write_text(json.dumps(value, indent=indent))
    return file


def asked(name: str, *answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    found = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": name, "question": "Which?", "answers": found, **more}


PARIS = asked("paris", ("Paris", CONTEXT.index("Paris")))


def test_the_sentence_around_an_answer_becomes_the_needle_at_its_own_place(tmp_path: Path) -> None:
    material = read_squad(squad(tmp_path, PARIS, title="Marie_Curie"))
    (query,) = material.questions().queries
    (article,) = material.documents
    assert (article.id, article.title) == ("Marie_Curie", "Marie Curie")
    assert article.text == f"An earlier paragraph.\n\n{CONTEXT[1:]}"
    assert query.needle is not None
    assert query.needle.text == "She studied in Paris, at the Sorbonne."
    assert article.text[query.needle.start : query.needle.end] == query.needle.text


def test_answers_in_different_sentences_are_several_needles_any_of_which_answers(tmp_path: Path) -> None:
    answers = [(words, CONTEXT.index(words)) for words in ("Warsaw", "Paris", "Sorbonne")]
    (query,) = read_squad(squad(tmp_path, asked("q", *answers))).questions().queries
    assert [needle.text for needle in query.needles] == [
        "Marie was born in Warsaw.",
        "She studied in Paris, at the Sorbonne.",
    ]
    assert query.require == "any"


def test_an_answer_over_a_sentence_end_takes_both_sentences(tmp_path: Path) -> None:
    words = "Sorbonne. She won"
    (query,) = read_squad(squad(tmp_path, asked("q", (words, CONTEXT.index(words))))).questions().queries
    assert query.needles[0].text == "She studied in Paris, at the Sorbonne. She won two prizes."


def test_an_impossible_question_is_unanswerable_and_near(tmp_path: Path) -> None:
    (query,) = read_squad(squad(tmp_path, asked("q", is_impossible=True))).questions().queries
    assert (query.needles, query.stratum) == ((), "near")


def test_paragraphs_may_be_the_documents_and_be_judged_whole(tmp_path: Path) -> None:
    material = read_squad(squad(tmp_path, PARIS), "paragraphs", "documents")
    assert [one.id for one in material.documents] == ["Marie_Curie/001", "Marie_Curie/002"]
    (query,) = material.questions().queries
    assert query.relevant == (Judgement("Marie_Curie/002", 1),)


@pytest.mark.parametrize("indent", [None, 1])
def test_a_faulty_squad_question_is_one_line_and_costs_no_other(tmp_path: Path, indent: int | None) -> None:
    wrong = [asked("off", ("Paris", 3)), asked("gone", ("London", 3)), asked("none"), asked("paris"), {"id": "x"}]
    file = squad(tmp_path, PARIS, *wrong, asked("typed", ("Paris", "3")), indent=indent)  # type: ignore[arg-type]
    material = read_squad(file)
    assert [query.id for query in material.questions().queries] == ["paris"]
    found = material.questions().faults
    assert [(fault.value, fault.problem.partition(",")[0]) for fault in found] == [
        ("Paris", "the answer is not at its offset 3"),
        ("London", "the answer is not at its offset 3"),
        ("none", "the question has no answer"),
        ("paris", "the question's id is used already at data[0].paragraphs[1].qas[0]"),
        ("x", "the question has no id or no text"),
        ("{'text': 'Paris', 'answer_start': '3'}", "an answer has no text or no offset"),
    ]
    assert f"It stands at {CONTEXT.index('Paris')}." in found[0].advice
    assert "It stands nowhere in the paragraph." in found[1].advice
    lines = file.read_text().split("\n")
    assert all('"id": "off"' in lines[fault.line - 1] for fault in found[:1] if fault.line)


def test_what_is_no_squad_file_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "squad.json"
    for content, problem in (
        ("{", "the file is not JSON"),
        ("[]", "the file is no SQuAD file"),
        ('{"data": 5}', "the file is no SQuAD file"),
        ('{"data": ' + "9" * 5000 + "}", "the file is no SQuAD file"),
        ('{"data": [{"title": "t"}]}', "the article has no list of paragraphs"),
        ('{"data": [{"title": "t", "paragraphs": [5]}]}', "the paragraph has no context"),
    ):
        file.write_text(content)
        assert problem in read_squad(file).faults[0].problem
    for broken in ("\\ud800", "\\u0000"):
        file.write_text('{"data": [{"title": "t", "paragraphs": [{"context": "A ' + broken + ' b.", "qas": []}]}]}')
        assert read_squad(file).faults[0].value == "data[0].paragraphs[0]"
    with file.open("wb") as stream:
        stream.truncate(2_000_000_000)
    assert "larger than 200 MB" in read_squad(file).faults[0].problem


def test_every_title_becomes_an_id_of_its_own_that_can_be_seen(tmp_path: Path) -> None:
    titles = ["dup", "dup", "dup (2)", "", "a\0b\u202e\nc", "\ud800", "../../etc/x"]
    paragraphs = [{"context": "Some words.", "qas": []}]
    file = tmp_path / "squad.json"
    file.write_text(json.dumps({"data": [{"title": title, "paragraphs": paragraphs} for title in titles]}))
    ids = [document.id for document in read_squad(file).documents]
    assert ids == ["dup", "dup (2)", "dup (2) (2)", "untitled", "ab c", "untitled (2)", "../../etc/x"]


def test_a_header_of_fifty_thousand_columns_is_read_at_once(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("question,question," + ",".join(f"c{number}" for number in range(50_000)) + "\n")
    (fault,) = read_table(file, (), {}).faults
    assert fault.problem == "the column stands twice in the header"


TOPICS = """<top>
<num> Number: 301
<title> Moon and sea
<desc> Description:
What pulls the
sea?
</top>
<top>
<num> Number: 302
<desc> No title here.
</top>
"""
FOLDER = (document("ft/d1.txt", "The moon pulls."), document("d2.md", "Yeast."), document("other/d2.txt", "Two."))


def trec(folder: Path, topics: str, qrels: str) -> tuple[Path, Path]:
    (folder / "topics.txt").write_text(topics)
    (folder / "qrels.txt").write_text(qrels)
    return folder / "topics.txt", folder / "qrels.txt"


def test_topics_and_qrels_name_documents_by_file_with_or_without_suffix(tmp_path: Path) -> None:
    files = trec(tmp_path, TOPICS, "301 0 d1 2\n301 0 d2.md 1\n302 0 d1 1\n")
    material = read_trec(*files, FOLDER)
    (query,) = material.questions().queries
    assert (query.id, query.text) == ("301", "Moon and sea")
    assert query.relevant == (Judgement("d2.md", 1), Judgement("ft/d1.txt", 2))
    assert faults(material) == [
        ("qrels.txt", 3, "302", "the judgement names a question that is not there"),
        ("topics.txt", 8, "302", "the topic has no <title>"),
    ]
    (first, _) = read_trec(*files, FOLDER, "desc").questions().queries
    assert first.text == "What pulls the sea?"


def test_a_name_that_several_documents_share_is_none(tmp_path: Path) -> None:
    files = trec(tmp_path, "301\tMoon and sea\n", "301 0 d2 1\n301 0 d1 1\nbroken line\n")
    material = read_trec(*files, FOLDER)
    assert faults(material) == [
        ("qrels.txt", 1, "d2", "the judgement names a document that is not there"),
        ("qrels.txt", 3, "broken line", "the line has 2 columns, not 4"),
    ]
    assert [query.id for query in material.questions().queries] == ["301"]


def test_a_table_with_columns_of_its_own_is_mapped(tmp_path: Path) -> None:
    file = tmp_path / "fragen.csv"
    file.write_text("Frage;Antwort;Autor\nWas zieht?;The moon pulls.;ich\nWas noch?;;du\n")
    mapping = read_mapping(["question=Frage", "needle = Antwort"])
    material = read_table(file, FOLDER, mapping, "near")
    first, second = material.questions().queries
    assert (first.id, first.text, first.needles[0].text) == ("q1", "Was zieht?", "The moon pulls.")
    assert (second.id, second.stratum) == ("q2", "near")
    assert material.notes == ["Columns left out: Autor.", "Questions without an id are numbered: q1, q2, ..."]
    (fault,) = read_table(file, FOLDER, mapping).questions().faults
    assert (fault.line, fault.problem) == (3, "the question has neither a needle nor a stratum")


def test_json_lines_are_mapped_too_and_values_of_our_columns_are_read(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text('{"q": "Which?", "docs": {"d2.md": 1}, "id": "x"}\n')
    (query,) = read_table(file, FOLDER, {"question": "q", "relevant": "docs"}).questions().queries
    assert (query.id, query.relevant) == ("x", (Judgement("d2.md", 1),))


def test_a_mapping_to_a_column_that_is_not_there_is_a_fault_that_lists_the_columns(tmp_path: Path) -> None:
    file = tmp_path / "fragen.csv"
    file.write_text("Frage,Antwort\nWas zieht?,The moon pulls.\n")
    (fault, *_) = read_table(file, FOLDER, {"question": "Fragen"}).faults
    assert (fault.line, fault.value) == (1, "Fragen")
    assert fault.advice == "The closest is 'Frage'; the columns are Frage, Antwort."


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["question"], "write OURS=THEIRS"),
        (["answer=Antwort"], "'answer' is no column of ours"),
        (["needle=A", "needle=B"], "'needle' is mapped to 'A' already"),
    ],
)
def test_a_wrong_mapping_says_what_to_write(pairs: list[str], said: str) -> None:
    with pytest.raises(MappingError, match=said):
        read_mapping(pairs)
