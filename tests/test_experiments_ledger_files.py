"""The ledger's files: every column of every row goes into them and comes back, and what cannot be read is named."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError
from sqlmodel import SQLModel
from worlds import SECTIONS, filled, sweep_row

from experiments import ledger_files, recording, row_files
from experiments.ledger_files import (
    LOCAL,
    combination_file,
    decision_file,
    input_files,
    read_combination_file,
    read_decision_file,
    read_input_file,
    read_sweep_file,
    sweep_file,
)
from experiments.outcomes import Hit, Outcome
from experiments.recording import from_parquet, outcome_rows
from experiments.row_files import UnreadableFileError, columns
from store import reads
from store.tables import (
    CombinationRow,
    DecisionRow,
    DocumentRow,
    HitsRow,
    MeasureRow,
    OutcomeRow,
    QueryRow,
    SweepRow,
    TextRow,
)

# Facts of this machine's folders and of what its processes do now; no page about a sweep or a decision reads them.
HERE_ONLY = {"file", "indexing", "sync"}
# The file of outcomes itself, and what is made of it.
IN_THE_OUTCOMES = {HitsRow.__tablename__, OutcomeRow.__tablename__}
NOON = datetime(2026, 3, 4, 12, 30, 5, 123456, tzinfo=UTC)

JSON = ({"a": [1, 2.5, None, "é"], "b": {}}, {"a": 2.5}, {"a": 3}, {"é": "b"}, [{"a": [1, None]}], [[1, 2]], [3], ["é"])


def fits(table: type[SQLModel], name: str, value) -> bool:
    try:
        TypeAdapter(table.model_fields[name].annotation).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def an_example(table: type[SQLModel], **values) -> SQLModel:
    """A row with something in every column, whatever columns there are."""
    made = {}
    for name, column in columns(table).items():
        kind = column.type.impl if isinstance(column.type, sa.TypeDecorator) else column.type
        if isinstance(kind, sa.JSON):
            made[name] = next(value for value in JSON if fits(table, name, value))
            continue
        examples = (
            (sa.Boolean, True), (sa.Integer, 7), (sa.Float, 0.1 + 0.2), (sa.DateTime, NOON),
            (sa.LargeBinary, b"\x00\xff"), (object, f"{name} <é> \n"),
        )  # fmt: skip
        made[name] = next(value for sql, value in examples if isinstance(kind, sql))
    return table(**{**made, **values})


def shared(row: SQLModel) -> dict:
    return row.model_dump(exclude=set(LOCAL[type(row)]))


def test_every_table_is_carried_or_said_to_stay_here():
    """Whoever adds a table decides here whether a store built from the ledger alone needs it."""
    carried = {table.__tablename__ for table in LOCAL}
    assert carried | IN_THE_OUTCOMES | HERE_ONLY == {table.name for table in SQLModel.metadata.sorted_tables}
    assert not carried & HERE_ONLY


@pytest.mark.parametrize("table", list(LOCAL), ids=lambda table: table.__tablename__)
def test_a_column_is_only_left_out_by_name(table):
    """Whoever adds a column gets it carried; this fails for one that no file has a place for."""
    assert LOCAL[table] <= set(columns(table))
    row = an_example(table)
    assert set(row_files.values(row, LOCAL[table])) | LOCAL[table] == set(columns(table))


def test_every_column_of_a_sweep_and_its_combinations_comes_back():
    sweep, failed = an_example(SweepRow), an_example(CombinationRow, state="failed")
    recorded = an_example(CombinationRow, stamp={})
    record = read_sweep_file(sweep_file(sweep, [recorded, failed]))
    assert shared(record.sweep) == shared(sweep)
    assert record.number == 7
    assert [shared(row) for row in record.combinations] == [shared(recorded), shared(failed)]
    assert record.sweep.id is record.sweep.mlflow_uri is record.sweep.pulled_from is None


def test_every_column_of_a_combination_and_its_numbers_comes_back():
    row, numbers = an_example(CombinationRow), [an_example(MeasureRow), an_example(MeasureRow, name="b", value=None)]
    again, measures = read_combination_file(combination_file(row, numbers, b"outcomes"), b"outcomes")
    assert shared(again) == {**shared(row), "mlflow_run_id": None}  # not known yet when it is written
    with pytest.raises(UnreadableFileError, match=r"outcomes\.parquet is damaged"):
        read_combination_file(combination_file(row, numbers, b"outcomes"), b"outcome")
    assert [shared(one) for one in measures] == [shared(one) for one in numbers]


def test_every_column_of_a_decision_comes_back():
    decision = an_example(DecisionRow)
    written = decision_file(decision, "k" * 32)
    assert shared(read_decision_file(written)) == shared(decision)
    assert json.loads(written)["supersedes"] == "k" * 32


def test_every_column_of_documents_texts_and_questions_comes_back():
    text = TextRow(sha256=ledger_files.digest("é\n".encode()), text="é\n")
    document = an_example(DocumentRow, corpus_hash="c")
    question, empty = an_example(QueryRow, questions_hash="q"), an_example(QueryRow, questions_hash="q", query_id="b")
    for name, column in columns(QueryRow).items():
        if column.nullable:
            setattr(empty, name, None)
    files = input_files([document], {text.sha256: text.text}, [question, empty])
    assert read_input_file("documents.parquet", files["documents.parquet"], "c") == [document]
    assert read_input_file("texts.parquet", files["texts.parquet"], "c") == [text]
    assert read_input_file("questions.parquet", files["questions.parquet"], "q") == [question, empty]


def test_the_outcomes_file_holds_every_part_of_an_outcome_and_its_rows_are_made_of_it_alone(engine):
    assert set(recording.DOCUMENT_SCHEMA.names) == {field.name for field in fields(Outcome)}
    hit = recording.DOCUMENT_SCHEMA.field("hits").type.value_type
    assert {hit.field(place).name for place in range(hit.num_fields)} == {field.name for field in fields(Hit)}
    sweep_id = filled(engine, [SECTIONS], ["bm25"])
    (row,) = reads.combinations(engine, sweep_id)
    again = outcome_rows(row.id, from_parquet(reads.hits(engine, [row.id])[row.id]))
    with sa.orm.Session(engine) as session:
        kept = session.execute(sa.select(OutcomeRow).order_by(OutcomeRow.query_id)).scalars().all()
    assert sorted(again, key=lambda one: one.query_id) == list(kept)


def test_the_same_rows_give_the_same_file_whatever_zone_a_moment_was_written_in():
    elsewhere = NOON.astimezone(tz=None) + timedelta(0)
    here, there = (sweep_row(created_at=moment, key="k") for moment in (NOON, elsewhere))
    assert sweep_file(here, []) == sweep_file(there, [])


def test_a_value_without_a_place_in_json_is_refused():
    with pytest.raises(TypeError, match="object has no place in a JSON file"):
        sweep_file(sweep_row(settings={"strange": object()}), [])


def spoiled(change) -> bytes:
    plain = json.loads(sweep_file(sweep_row(), []))
    change(plain)
    return json.dumps(plain).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is damaged"),
        (b"[]", "it is damaged: it holds no object"),
        (b"\xff\xfe", "it is damaged"),
        (spoiled(lambda plain: plain.pop("format")), "an older Bluffline wrote it"),
        (spoiled(lambda plain: plain.update(format=99)), "its format is 99, this version reads up to 1: upgrade"),
        (spoiled(lambda plain: plain.pop("sweep")), "damaged: 'sweep' is missing"),
        (spoiled(lambda plain: plain["sweep"].update(mood="good")), "it holds mood, which this version does not know"),
        (spoiled(lambda plain: plain["sweep"].pop("key")), "sweep key: field required"),
        (spoiled(lambda plain: plain["sweep"].update(needles="many")), "sweep needles: input should be a valid int"),
        (spoiled(lambda plain: plain.update(combinations=[{"key": "a"}])), "combination position: field required"),
        (spoiled(lambda plain: plain.update(combinations=[3])), "a row of combination is no object"),
    ],
)
def test_a_sweep_s_file_that_cannot_be_read_says_why(data, said):
    with pytest.raises(UnreadableFileError, match=said):
        read_sweep_file(data)


def test_files_of_rows_that_cannot_be_read_say_why():
    text = TextRow(sha256="not its hash", text="x")
    files = input_files([], {text.sha256: "x"}, [an_example(QueryRow, questions_hash="q")])
    for name, data, said in (
        ("texts.parquet", files["texts.parquet"], "does not hold what its hash says"),
        ("questions.parquet", files["questions.parquet"], "does not hold what its hash says"),
        ("questions.parquet", files["texts.parquet"], "it holds sha256, which this version does not know"),
        ("questions.parquet", b"PAR1 but no more", "it is damaged"),
        ("questions.parquet", files["questions.parquet"][:-20], "it is damaged"),
    ):
        with pytest.raises(UnreadableFileError, match=said):
            read_input_file(name, data, "another")
