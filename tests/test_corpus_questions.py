"""Questions files: every fault with its line and value, needles at their place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.documents import Document
from corpus.faults import Fault
from corpus.fingerprint import questions_hash
from corpus.questions import LoadedQuestions, load_questions

DOT = (
    "# Dot products\n\nThe product is a sum. It is zero at right angles.\n\n"
    "## Uses\n\nIt scores pairs.\nTwo\nlines here.\n"
)
NORM = "Norms and lengths\n=====\n\nA norm is never negative. It scores pairs.\n\n```\n## not a heading here\n```\n"


def document(name: str, text: str) -> Document:
    return Document(name, name, text, name, "", "utf-8")


DOCUMENTS = (document("a/dot.md", DOT), document("norm.md", NORM))
NEEDLE = "It is zero at right angles."
GOOD: dict[str, Any] = {"id": "q1", "question": "When is it zero?", "needle": NEEDLE, "phrasing": "course"}
FAR: dict[str, Any] = {"id": "q2", "question": "How long does paella take?", "stratum": "far"}


def load(path: Path, content: str | bytes, name: str = "questions.jsonl") -> LoadedQuestions:
    file = path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_questions(file, DOCUMENTS)


def lines(*entries: object) -> str:
    return "\n".join(json.dumps(entry) for entry in entries)


def only_fault(path: Path, **changes: object) -> Fault:
    """Load one good and one changed question (a change to None removes the key); return the only fault."""
    entry = {key: value for key, value in (GOOD | {"id": "x"} | changes).items() if value is not None}
    loaded = load(path, lines(FAR, entry))
    (fault,) = loaded.faults
    assert [query.id for query in loaded.queries] == ["q2"]
    assert (fault.file, fault.line) == ((path / "questions.jsonl").as_posix(), 2)
    return fault


def test_a_needle_is_found_at_its_offsets(tmp_path: Path) -> None:
    loaded = load(tmp_path, lines(GOOD, FAR | {"key_facts": ["saffron"]}))
    assert loaded.faults == ()
    asked, far = loaded.queries
    assert asked.needle is not None
    assert asked.needle.id == "a/dot.md#char=38,65"
    assert DOT[asked.needle.start : asked.needle.end] == asked.needle.text == NEEDLE
    assert (asked.phrasing, asked.stratum, asked.line) == ("course", None, 1)
    assert (far.needle, far.stratum, far.key_facts, far.line) == (None, "far", ("saffron",), 2)


def test_two_queries_with_one_needle_are_two_phrasings_of_it(tmp_path: Path) -> None:
    loaded = load(tmp_path, lines(GOOD, GOOD | {"id": "q9", "phrasing": "ticket", "question": "help"}))
    assert len({query.needle.id for query in loaded.queries if query.needle}) == 1
    assert [query.phrasing for query in loaded.queries] == ["course", "ticket"]


def test_a_repeated_needle_is_a_fault_that_lists_its_places(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, needle="It scores pairs.")
    assert fault.value == "It scores pairs."
    assert fault.problem == "the needle occurs 2 times in the corpus"
    assert f"'a/dot.md' at {DOT.index('It scores')}" in fault.advice
    assert f"'norm.md' at {NORM.index('It scores')}" in fault.advice


def test_naming_the_document_alone_does_not_settle_a_repeated_needle(tmp_path: Path) -> None:
    assert "2 times" in only_fault(tmp_path, needle="It scores pairs.", document="norm.md").problem


def test_document_and_start_settle_a_repeated_needle(tmp_path: Path) -> None:
    start = NORM.index("It scores")
    entry = GOOD | {"needle": "It scores pairs.", "document": "norm.md", "start": start, "end": start + 16}
    loaded = load(tmp_path, lines(entry))
    assert loaded.faults == ()
    assert loaded.queries[0].needle is not None
    assert loaded.queries[0].needle.id == f"norm.md#char={start},{start + 16}"


def test_overlapping_occurrences_count_as_repeated(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(lines(GOOD | {"needle": "aba"}))
    (fault,) = load_questions(file, [document("d.md", "x ababa y")]).faults
    assert fault.problem == "the needle occurs 2 times in the corpus"


@pytest.mark.parametrize("needle", ["Uses", "## Uses", "Norms and lengths", "right angles.\n\n## U", "====\n\nA norm"])
def test_a_needle_that_is_a_heading_is_reported(tmp_path: Path, needle: str) -> None:
    fault = only_fault(tmp_path, needle=needle)
    assert fault.problem.startswith("the needle overlaps the heading '")
    assert fault.value == needle.replace("\n", "\\n")


def test_a_comment_in_a_code_block_may_be_a_needle(tmp_path: Path) -> None:
    assert load(tmp_path, lines(GOOD | {"needle": "not a heading here"})).faults == ()


def test_wrong_offsets_say_what_stands_there_and_where_the_needle_is(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, document="a/dot.md", start=16)
    assert fault.problem == "the needle does not stand at offset 16 of 'a/dot.md'"
    assert "There stands 'The product is a sum." in fault.advice
    assert "'a/dot.md' at 38" in fault.advice


def test_a_wrong_end_is_told_the_right_one(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, document="a/dot.md", start=38, end=64)
    assert (fault.value, fault.problem) == ("64", "`end` does not fit the needle, which ends at 65")


def test_a_needle_in_another_document_than_said_is_a_fault(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, document="norm.md")
    assert fault.problem == "the needle does not stand in 'norm.md'"
    assert "'a/dot.md' at 38" in fault.advice


def test_an_unknown_document_is_told_the_closest_name(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, document="a/dots.md")
    assert (fault.value, fault.problem) == ("a/dots.md", "there is no such document")
    assert fault.advice == "The closest name is 'a/dot.md'."


def test_a_document_is_known_in_either_unicode_form(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(lines(GOOD | {"needle": "Words.", "document": "caf\u00e9.md"}), encoding="utf-8")
    loaded = load_questions(file, [document("cafe\u0301.md", "Words.")])
    assert loaded.faults == ()
    assert loaded.queries[0].needle is not None
    assert loaded.queries[0].needle.document == "cafe\u0301.md"


def test_a_missing_needle_is_told_where_it_drifted_from(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, needle="It  is ZERO at right angles.")
    assert fault.problem == "the needle stands nowhere in the corpus"
    assert fault.advice.startswith("It differs by white space and case only from 'a/dot.md' at 38: 'It is zero")


def test_a_missing_needle_is_told_the_closest_sentence(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, needle="It is zero at wide angles.")
    assert "alike) stands in 'a/dot.md' at 38: 'It is zero at right angles.'" in fault.advice


@pytest.mark.parametrize(
    ("changes", "value", "problem"),
    [
        ({"id": None}, "", "`id` is missing or blank"),
        ({"id": " "}, "", "`id` is missing or blank"),
        ({"id": ["x"]}, "['x']", "`id` is not a text"),
        ({"question": None}, "", "`question` is missing or blank"),
        ({"question": 5}, "5", "`question` is not a text"),
        ({"needle": 5}, "5", "`needle` is not a text"),
        ({"needle": NEEDLE + "\n"}, NEEDLE + "\\n", "the needle begins or ends with white space"),
        ({"stratum": "near"}, "near", "a question with a needle has a stratum"),
        ({"key_facts": ["429"]}, "['429']", "a question with a needle has key facts"),
        ({"start": 3}, "3", "`start` is given without `document`"),
        ({"document": "a/dot.md", "end": 3}, "3", "`end` is given without `start`"),
        ({"document": "a/dot.md", "start": "3"}, "3", "`start` is not a whole number from 0"),
        ({"document": "a/dot.md", "start": -1}, "-1", "`start` is not a whole number from 0"),
        ({"document": "a/dot.md", "start": True}, "True", "`start` is not a whole number from 0"),
        ({"document": "a/dot.md", "start": 38.0}, "38.0", "`start` is not a whole number from 0"),
        ({"needle": None}, "When is it zero?", "the question has neither a needle nor a stratum"),
        ({"needle": ""}, "When is it zero?", "the question has neither a needle nor a stratum"),
        ({"needle": None, "stratum": "middling"}, "middling", "the stratum is unknown"),
        ({"needle": None, "stratum": 1}, "1", "`stratum` is not a text"),
        ({"needle": None, "stratum": "far", "document": "norm.md"}, "norm.md", "`document` is given without a needle"),
        ({"needle": None, "stratum": "far", "key_facts": "429"}, "429", "`key_facts` is not a list of texts"),
        ({"needle": None, "stratum": "far", "key_facts": [""]}, "['']", "`key_facts` is not a list of texts"),
        ({"phrasing": 3}, "3", "`phrasing` is not a text"),
        ({"question": "x" * 20_001}, "x" * 99 + "…", "`question` is 20001 characters long"),
        ({"question": "a \ud800"}, "a \\ud800", "`question` holds half a surrogate pair, which is no character"),
    ],
)
def test_a_wrong_field_is_a_fault_with_its_value(
    tmp_path: Path, changes: dict[str, object], value: str, problem: str
) -> None:
    fault = only_fault(tmp_path, **changes)
    assert (fault.value, fault.problem) == (value, problem)
    assert fault.advice


def test_an_unknown_key_is_told_the_allowed_ones(tmp_path: Path) -> None:
    fault = only_fault(tmp_path, neddle="x")
    assert (fault.value, fault.problem) == ("neddle", "unknown key")
    assert fault.advice.startswith("Did you mean 'needle'? Allowed are id, question, needle, document, start, end,")


def test_a_number_may_be_an_id(tmp_path: Path) -> None:
    assert load(tmp_path, lines(GOOD | {"id": 7})).queries[0].id == "7"


def test_a_used_id_names_the_line_of_the_first(tmp_path: Path) -> None:
    loaded = load(tmp_path, lines(FAR, GOOD, FAR))
    (fault,) = loaded.faults
    assert (fault.line, fault.value, fault.problem) == (3, "q2", "the id is used already on line 1")
    assert [query.line for query in loaded.queries] == [1, 2]


@pytest.mark.parametrize("fact", ["right angles", "RIGHT  Angles", "Two lines", "sum"])
def test_a_key_fact_that_stands_in_the_corpus_is_a_fault(tmp_path: Path, fact: str) -> None:
    loaded = load(tmp_path, lines(FAR | {"key_facts": ["saffron", fact]}))
    (found,) = loaded.faults
    assert found.value == fact.replace("  ", "  ")
    assert found.problem.startswith("the key fact of an unanswerable question stands in 'a/dot.md' at ")
    assert loaded.queries == ()


@pytest.mark.parametrize("fact", ["right angle", "um", "HTTP 429", "product is a"])
def test_a_key_fact_counts_only_as_whole_words(tmp_path: Path, fact: str) -> None:
    faults = load(tmp_path, lines(FAR | {"key_facts": [fact]})).faults
    assert len(faults) == (1 if fact == "product is a" else 0)


def test_one_fault_does_not_hide_another(tmp_path: Path) -> None:
    text = "\n".join(
        [
            '{"id": "a", "question": "?", ',
            "",
            lines(GOOD | {"stratum": "far", "needle": "nowhere at all", "typo": 1}),
            '["not", "an object"]',
            lines(GOOD | {"needle": "It scores pairs."}),
            '{"id": "d", "id": "e", "question": "?"}',
            lines(FAR | {"stratum": "close"}),
            lines(FAR | {"id": "fine"}),
        ]
    )
    loaded = load(tmp_path, text)
    assert [(fault.line, fault.problem) for fault in loaded.faults] == [
        (1, "the line is not JSON (expecting property name enclosed in double quotes at column 30)"),
        (3, "unknown key"),
        (3, "a question with a needle has a stratum"),
        (3, "the needle stands nowhere in the corpus"),
        (4, "the line is not a JSON object"),
        (5, "the id is used already on line 3"),
        (5, "the needle occurs 2 times in the corpus"),
        (6, "the key stands twice in the object"),
        (7, "the stratum is unknown"),
    ]
    assert [query.id for query in loaded.queries] == ["fine"]


def test_a_json_array_is_told_apart_from_json_lines(tmp_path: Path) -> None:
    (fault,) = load(tmp_path, json.dumps([GOOD, FAR], indent=2)).faults
    assert (fault.line, fault.problem) == (1, "the file is one JSON array")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"id": ' * 50_000, '{"id": ' + "9" * 5000 + "}"])
def test_a_hostile_line_is_a_fault_and_no_crash(tmp_path: Path, line: str) -> None:
    assert len(load(tmp_path, f"{lines(FAR)}\n{line}").faults) == 1


def test_a_line_of_fifty_megabytes_is_a_fault_of_that_line(tmp_path: Path) -> None:
    loaded = load(tmp_path, lines(FAR, GOOD | {"needle": "word " * 10_000_000}))
    assert {fault.line for fault in loaded.faults} == {2}


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
def test_an_empty_questions_file_is_a_fault(tmp_path: Path, content: bytes) -> None:
    assert [fault.problem for fault in load(tmp_path, content).faults] == ["the questions file is empty"]


def test_a_missing_questions_file_and_a_folder_are_faults(tmp_path: Path) -> None:
    assert load_questions(tmp_path / "no.jsonl", DOCUMENTS).faults[0].problem == "the questions file does not exist"
    assert load_questions(tmp_path, DOCUMENTS).faults[0].problem == "the questions file is not a file"


def test_without_documents_the_questions_say_so_once(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(lines(GOOD, GOOD | {"id": "b"}, FAR))
    (fault,) = load_questions(file, ()).faults
    assert fault.problem == "there are no documents to find the needles in"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_lines_may_have_a_mark_and_crlf(tmp_path: Path, encoding: str) -> None:
    content = lines(GOOD, FAR).replace("\n", "\r\n").encode(encoding)
    loaded = load(tmp_path, content)
    assert loaded.faults == ()
    assert [query.line for query in loaded.queries] == [1, 2]


def test_a_line_separator_inside_a_json_string_ends_no_line(tmp_path: Path) -> None:
    content = json.dumps(FAR | {"question": "one\u2028two"}, ensure_ascii=False)
    assert load(tmp_path, content).queries[0].text == "one\u2028two"


HEADER = ["id", "question", "needle", "phrasing", "stratum", "key_facts"]


def table(delimiter: str, *rows: list[str], end: str = "\n") -> str:
    quoted = (delimiter.join('"' + cell.replace('"', '""') + '"' if cell else "" for cell in row) for row in rows)
    return end.join([delimiter.join(HEADER), *quoted]) + end


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_csv_reads_the_same_however_a_spreadsheet_wrote_it(
    tmp_path: Path, delimiter: str, end: str, encoding: str
) -> None:
    question = f'Is it "zero",\nor; not{end}at all – für André?'
    rows = [
        ["q1", question, f"Two{end}lines here.", "course", "", ""],
        ["q2", "Paella?", "", "", "far", "saffron|rice"],
    ]
    loaded = load(tmp_path, table(delimiter, *rows, end=end).encode(encoding), "questions.csv")
    assert loaded.faults == ()
    asked, far = loaded.queries
    assert asked.text == 'Is it "zero",\nor; not\nat all – für André?'
    assert asked.needle is not None
    assert DOT[asked.needle.start : asked.needle.end] == "Two\nlines here."
    assert (asked.line, far.line) == (2, 6)
    assert (far.stratum, far.key_facts, far.needle) == ("far", ("saffron", "rice"), None)


def test_a_csv_may_begin_with_a_separator_hint(tmp_path: Path) -> None:
    loaded = load(tmp_path, "sep=;\nid;question;stratum\nq;What, really?;far\n", "q.csv")
    assert loaded.faults == ()
    assert (loaded.queries[0].text, loaded.queries[0].line) == ("What, really?", 3)


def test_a_csv_gives_offsets_as_numbers(tmp_path: Path) -> None:
    loaded = load(tmp_path, "ID,Question,Needle,Document,Start,End\nq,?,It scores pairs.,norm.md,51,67\n", "q.csv")
    assert loaded.faults == ()
    assert loaded.queries[0].needle is not None
    assert loaded.queries[0].needle.start == 51
    (fault,) = load(tmp_path, "id,question,needle,document,start\nq,?,It,norm.md,53.0\n", "q.csv").faults
    assert (fault.line, fault.value, fault.problem) == (2, "53.0", "`start` is not a whole number from 0")


def test_csv_faults_name_the_line_their_row_begins_on(tmp_path: Path) -> None:
    text = 'id,question,stratum\n"a","two\nlines",far\n\n,no id,far\n"b","x",mid\n;;\nc,d,far,surplus\n'
    faults = load(tmp_path, text, "q.csv").faults
    assert [(fault.line, fault.value, fault.problem) for fault in faults] == [
        (5, "", "`id` is missing or blank"),
        (6, "mid", "the stratum is unknown"),
        (7, "", "`question` is missing or blank"),
        (7, "", "the question has neither a needle nor a stratum"),
        (8, "c,d,far,surplus", "the row has 4 values and the header 3"),
    ]


def test_a_csv_header_is_checked_once(tmp_path: Path) -> None:
    faults = load(tmp_path, "id,questoin,stratum,stratum\na,b,far,\nc,d,far,\n", "q.csv").faults
    header = [(fault.value, fault.problem) for fault in faults if fault.line == 1]
    assert header == [
        ("questoin", "unknown column"),
        ("stratum", "the column stands twice in the header"),
        ("question", "the column is missing in the header"),
    ]


def test_an_open_quote_is_reported_where_its_row_begins(tmp_path: Path) -> None:
    loaded = load(tmp_path, 'id,question,stratum\na,b,far\nb,"never closed,far\nc,d,far\n', "q.csv")
    (fault,) = loaded.faults
    assert (fault.line, fault.value) == (3, 'b,"never closed,far')
    assert [query.id for query in loaded.queries] == ["a"]


def test_a_large_csv_with_every_row_broken_names_every_row(tmp_path: Path) -> None:
    loaded = load(tmp_path, "id,question,stratum\n" + '"a"x,b,far\n' * 50_000, "q.csv")
    assert [fault.line for fault in loaded.faults] == list(range(2, 50_002))


def test_a_csv_of_nothing_but_a_header_is_a_fault(tmp_path: Path) -> None:
    faults = load(tmp_path, "id,question,needle\n", "q.csv").faults
    assert [fault.problem for fault in faults] == ["the questions file holds no questions"]


def test_without_a_telling_suffix_the_content_decides(tmp_path: Path) -> None:
    assert len(load(tmp_path, lines(GOOD), "questions.txt").queries) == 1
    assert len(load(tmp_path, "id,question,stratum\na,b,far\n", "questions.txt").queries) == 1


def test_the_questions_hash_knows_content_but_not_order_or_layout(tmp_path: Path) -> None:
    def hashed(*entries: dict[str, Any]) -> str:
        return questions_hash(load(tmp_path, lines(*entries)).queries)

    first = hashed(GOOD, FAR)
    assert first == hashed(FAR, GOOD)
    assert first == hashed(GOOD, FAR | {"key_facts": ["saffron"]})
    changes = ({"question": "Else?"}, {"needle": "The product is a sum."}, {"phrasing": "ticket"}, {"id": "other"})
    assert len({first, *(hashed(GOOD | change, FAR) for change in changes)}) == 5


@given(data=st.data())
def test_any_unrepeated_span_outside_headings_is_found_where_it_was_cut(
    data: st.DataObject, tmp_path_factory: Any
) -> None:
    words = st.sampled_from(["dot", "norm", "größe", "𝒙", "東京", "a.", "b\n", "c\n\n", "## h\n"])
    texts = data.draw(st.lists(st.lists(words, min_size=1, max_size=30).map(" ".join), min_size=1, max_size=3))
    documents = [document(f"{number}.md", text) for number, text in enumerate(texts)]
    chosen = data.draw(st.sampled_from(documents))
    start = data.draw(st.integers(0, len(chosen.text) - 1))
    end = data.draw(st.integers(start + 1, len(chosen.text)))
    needle = chosen.text[start:end]
    entry = {"id": "q", "question": "?", "needle": needle, "document": chosen.id, "start": start, "end": end}
    file = tmp_path_factory.mktemp("q") / "q.jsonl"
    file.write_text(lines(entry))
    loaded = load_questions(file, documents)
    for query in loaded.queries:
        assert query.needle is not None
        assert (query.needle.document, query.needle.start, query.needle.end) == (chosen.id, start, end)
        assert chosen.text[query.needle.start : query.needle.end] == needle
    for fault in loaded.faults:
        assert needle != needle.strip() or not needle.strip() or "heading" in fault.problem
