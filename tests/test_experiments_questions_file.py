import codecs
import json
import stat
import threading
from dataclasses import replace

import pytest

from corpus.bundled import BUNDLED_QUESTIONS
from corpus.questions import load_questions
from experiments.asking.questions_file import NewQuestion, QuestionRefusedError, add_question, is_writable
from experiments.project import Project
from tests.worlds import DOCUMENTS, HEAT, document

LINES = '{"id": "a", "question": "How hot?", "needle": "The oven stands at 230 degrees."}\n'
NEAR = NewQuestion("What does honey cost?", stratum="near")
ANSWERED = NewQuestion("Which temperature?", document=HEAT.document, start=HEAT.start, end=HEAT.end)


def project(tmp_path, content=LINES, name="questions.jsonl"):
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Project(tmp_path, "p", tmp_path / "documents", file, True, (), "", "", "x")


def add(one, new, documents=DOCUMENTS):
    return add_question(one, new, documents)


def test_an_unanswerable_question_is_appended_and_nothing_else_is_touched(tmp_path):
    one = project(tmp_path)
    added = add(one, NEAR)
    assert (added.id, added.stratum, added.needle, added.line) == ("asked-1", "near", None, 2)
    content = one.questions.read_bytes()
    assert content.startswith(LINES.encode())
    assert json.loads(content[len(LINES) :]) == {"id": "asked-1", "question": NEAR.text, "stratum": "near"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["questions.jsonl"]


def test_a_needle_is_written_with_its_words_and_its_place(tmp_path):
    one = project(tmp_path)
    added = add(one, replace(ANSWERED, phrasing="ticket"))
    assert added.needle == HEAT
    assert added.phrasing == "ticket"
    assert load_questions(one.questions, DOCUMENTS).faults == ()


def test_white_space_at_the_ends_of_what_was_marked_is_left_out(tmp_path):
    text = document(HEAT.document, "x").id
    added = add(project(tmp_path), replace(ANSWERED, start=HEAT.start - 1, end=HEAT.end + 1, document=text))
    assert added.needle == HEAT


def test_a_needle_that_stands_twice_is_told_apart_by_its_place(tmp_path):
    twice = document("d.md", "# D\n\nThe same.\n\nOther words.\n\nThe same.\n")
    start = twice.text.rindex("The same.")
    added = add(project(tmp_path, """ {"id": "a", "question": "o?", "needle": "Other words."}\n"""),
                NewQuestion("Which?", document="d.md", start=start, end=start + 9), [twice])  # fmt: skip
    assert added.needle.start == start


def test_ids_are_free_also_of_faulty_lines(tmp_path):
    content = LINES + '{"id": "asked-1", "question": "x?", "stratum": "near"}\n{"id": "asked-2"\n'
    assert add(project(tmp_path, content), NEAR).id == "asked-3"


@pytest.mark.parametrize(
    ("content", "ending"),
    [(LINES.rstrip("\n"), b"\n"), (LINES.replace("\n", "\r\n"), b"\r\n"), ("\ufeff" + LINES, b"\n")],
    ids=["no line break at the end", "Windows", "byte order mark"],
)
def test_line_ends_and_marks_stay_what_they_were(tmp_path, content, ending):
    one = project(tmp_path, content)
    add(one, NEAR)
    after = one.questions.read_bytes()
    assert after.startswith(content.encode())
    assert after.endswith(b"}" + ending)
    assert after.count(b"\n") == 2
    assert len(load_questions(one.questions, DOCUMENTS).queries) == 2


def test_a_file_in_utf_16_stays_in_utf_16(tmp_path):
    content = codecs.BOM_UTF16_LE + LINES.replace("\n", "\r\n").encode("utf-16-le")
    one = project(tmp_path, content)
    add(one, replace(NEAR, text="Was kostet „Honig“?"))
    assert one.questions.read_bytes().startswith(content)
    assert [query.text for query in load_questions(one.questions, DOCUMENTS).queries] == [
        "How hot?",
        "Was kostet „Honig“?",
    ]


CSV = "id;question;needle;document;start;end;stratum;key_facts\r\na;How hot?;The oven stands at 230 degrees.;;;;;\r\n"


def test_a_csv_file_keeps_its_delimiter_and_its_columns(tmp_path):
    one = project(tmp_path, CSV, "questions.csv")
    add(one, NewQuestion('Costs; "honey"?', stratum="far", key_facts=("euro", "per jar")))
    add(one, ANSWERED)
    lines = one.questions.read_bytes().decode().split("\r\n")
    assert "\r\n".join(lines[:2]) + "\r\n" == CSV
    assert lines[2] == 'asked-1;"Costs; ""honey""?";;;;;far;euro | per jar'
    assert lines[3] == f"asked-2;Which temperature?;{HEAT.text};bread.md;{HEAT.start};{HEAT.end};;"
    assert lines[4:] == [""]
    assert load_questions(one.questions, DOCUMENTS).queries[1].key_facts == ("euro", "per jar")


def test_a_separator_hint_is_obeyed(tmp_path):
    one = project(tmp_path, "sep=;\n" + CSV.replace("\r", ""), "questions.csv")
    assert add(one, NEAR).stratum == "near"


def test_a_csv_file_without_place_columns_takes_a_needle_that_stands_once(tmp_path):
    one = project(tmp_path, "id,question,needle\na,How hot?,The oven stands at 230 degrees.\n", "questions.csv")
    assert add(one, ANSWERED).needle == HEAT


def test_a_csv_file_without_the_column_says_which_to_add(tmp_path):
    one = project(tmp_path, "id,question,needle\na,How hot?,The oven stands at 230 degrees.\n", "questions.csv")
    before = one.questions.read_bytes()
    with pytest.raises(QuestionRefusedError, match="no column stratum"):
        add(one, NEAR)
    assert one.questions.read_bytes() == before


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewQuestion("Hot?", document="bread.md", start=2, end=7), "overlaps the heading 'Bread'"),
        (NewQuestion("Hot?", document="bread.md", start=5, end=4), "is no range"),
        (NewQuestion("Hot?", document="bread.md", start=0, end=10**6), "is no range"),
        (NewQuestion("Hot?", document="bread.md"), "is no range"),
        (NewQuestion("Hot?", document="gone.md", start=0, end=4), "no document 'gone.md'"),
        (NewQuestion("Hot?", document="bread.md", start=7, end=9), "nothing but white space"),
        (NewQuestion("Hot?"), "neither a needle nor a stratum"),
        (NewQuestion(" ", stratum="near"), "`question` is missing or blank"),
        (replace(ANSWERED, stratum="near"), "a question with a needle has a stratum"),
        (replace(NEAR, key_facts=("queen",)), "the key fact of an unanswerable question stands in"),
        (NewQuestion("how  HOT?", stratum="near"), "is there already, as a"),
    ],
)
def test_what_the_check_would_find_is_refused_and_the_file_stays_as_it_was(tmp_path, new, message):
    one = project(tmp_path)
    with pytest.raises(QuestionRefusedError, match=message):
        add(one, new)
    assert one.questions.read_bytes() == LINES.encode()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_needle_repeated_where_the_file_has_no_place_for_its_place_is_refused(tmp_path):
    twice = document("d.md", "# D\n\nThe same.\n\nThe same.\n")
    one = project(tmp_path, "id,question,needle\nz,z?,D\n", "questions.csv")
    with pytest.raises(QuestionRefusedError, match="occurs 2 times in the corpus"):
        add(one, NewQuestion("Which?", document="d.md", start=5, end=14), [twice])


def test_faults_that_were_there_before_do_not_stand_in_the_way(tmp_path):
    one = project(tmp_path, LINES + '{"id": "b", "question": "x?"}\n')
    assert add(one, NEAR).id == "asked-1"


def test_a_character_the_files_encoding_lacks_is_refused(tmp_path):
    content = LINES.replace("How hot?", "Wie heiß wird der Ofen während des Backens für Brötchen?").encode("cp1252")
    one = project(tmp_path, content)
    with pytest.raises(QuestionRefusedError, match="save it as UTF-8 first"):
        add(one, replace(NEAR, text="Πόσο;"))
    assert one.questions.read_bytes() == content


def test_the_bundled_questions_are_read_only_and_say_what_to_do(tmp_path):
    one = replace(project(tmp_path), questions=BUNDLED_QUESTIONS)
    assert not is_writable(one)
    before = BUNDLED_QUESTIONS.read_bytes()
    with pytest.raises(QuestionRefusedError, match="bluffline init"):
        add(one, NEAR)
    assert BUNDLED_QUESTIONS.read_bytes() == before


def test_a_file_that_is_not_there_is_refused(tmp_path):
    one = project(tmp_path)
    one.questions.unlink()
    with pytest.raises(QuestionRefusedError, match="cannot be read"):
        add(one, NEAR)


def test_permissions_and_links_stay(tmp_path):
    one = project(tmp_path)
    one.questions.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(one.questions)
    add(replace(one, questions=link), NEAR)
    assert link.is_symlink()
    assert stat.S_IMODE(one.questions.stat().st_mode) == 0o640
    assert b"asked-1" in one.questions.read_bytes()


def test_questions_added_at_the_same_moment_all_arrive(tmp_path):
    one = project(tmp_path)
    threads = [
        threading.Thread(target=add, args=(one, NewQuestion(f"Question {number}?", stratum="far")))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loaded = load_questions(one.questions, DOCUMENTS)
    assert loaded.faults == ()
    assert len({query.id for query in loaded.queries}) == 9
