import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import DOCUMENTS, QUERIES, STRATEGIES, document, found, hit, query, retrieved, unanswerable

from experiments.evaluation import Number
from experiments.outcomes import Hit, Outcome
from experiments.recording import (
    SCHEMA,
    document_rows,
    from_parquet,
    measure_rows,
    outcome_from_parquet,
    outcome_rows,
    query_rows,
    to_parquet,
)
from store.tables import OutcomeRow

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
offsets = st.integers(0, 2**40)
distances = st.floats(allow_nan=False)
hits = st.builds(
    Hit,
    words,
    offsets,
    offsets,
    offsets,
    words,
    distances,
    distances,
    st.integers(0, 4096),
    st.booleans(),
    st.booleans(),
    st.none() | words,
)
outcomes = st.builds(
    Outcome,
    query_id=words,
    needle_id=st.none() | words,
    phrasing=st.none() | words,
    stratum=st.none() | st.sampled_from(["near", "far"]),
    rank=st.none() | st.integers(1, 10**6),
    destroyed=st.none() | st.booleans(),
    truncated=st.booleans(),
    quotable=st.none() | st.booleans(),
    nearest=st.none() | distances,
    needle_distance=st.none() | distances,
    chunk_distance=st.none() | distances,
    gap=st.none() | distances,
    hits=st.lists(hits, max_size=3).map(tuple),
)


@given(st.lists(outcomes, max_size=5))
@settings(max_examples=50)
def test_outcomes_come_back_from_parquet_equal_to_the_last_bit(recorded):
    assert from_parquet(to_parquet(recorded)) == tuple(recorded)


def test_a_whole_retrieval_comes_back_equal():
    for strategy in STRATEGIES:
        measured = retrieved(strategy, "hybrid").outcomes
        assert from_parquet(to_parquet(measured)) == measured


def test_no_questions_are_no_rows():
    assert from_parquet(to_parquet([])) == ()


def test_the_file_says_in_its_columns_what_it_holds_whatever_is_missing_from_it():
    table = pq.read_table(io.BytesIO(to_parquet([unanswerable("u", "far", None)])))
    assert table.schema.equals(SCHEMA)


def rewritten(change):
    table = pq.read_table(io.BytesIO(to_parquet([found("q", "n", 1, hits=(hit(),))])))
    buffer = io.BytesIO()
    pq.write_table(change(table), buffer)
    return buffer.getvalue()


def with_hits_of(fields):
    def change(table):
        rows = [
            [{name: value for name, value in one.items() if name in fields} for one in row.as_py()]
            for row in table["hits"]
        ]
        return table.set_column(table.schema.get_field_index("hits"), "hits", pa.array(rows))

    return change


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a Parquet file"),
        (b"PAR1 and then nothing", "not a Parquet file"),
        (to_parquet([found("q", "n", 1)])[:-20], "not a Parquet file"),
        (rewritten(lambda table: table.drop_columns(["gap"])), "columns are"),
        (rewritten(lambda table: table.append_column("more", table["gap"])), "columns are"),
        (rewritten(with_hits_of({"document", "start"})), r"hits list<.*document: string, start: int64>>"),
        (rewritten(lambda table: table.set_column(4, "rank", pa.array(["first"]))), "rank string"),
    ],
    ids=["empty", "garbage", "cut off", "a column less", "a column more", "other hits", "another type"],
)
def test_a_file_of_something_else_is_refused(data, said):
    with pytest.raises(ValueError, match=said):
        from_parquet(data)


def test_outcome_rows_hold_the_scalars_and_leave_to_the_questions_what_is_theirs():
    outcome = found("q", "n", 2, 0.25, quotable=False, gap=0.125, phrasing="course")
    (row,) = outcome_rows(7, [outcome])
    assert row.model_dump() == {
        "combination_id": 7,
        "query_id": "q",
        "rank": 2,
        "destroyed": False,
        "truncated": False,
        "quotable": False,
        "nearest": 0.25,
        "needle_distance": 0.25,
        "chunk_distance": 0.25,
        "gap": 0.125,
        "truncated_by": None,
        "scorer_score": None,
    }
    assert set(OutcomeRow.model_fields) == set(row.model_dump())


def test_numbers_become_rows_field_by_field():
    (row,) = measure_rows(7, [Number("mrr", 0.5, 0.4, 0.6, None, 64)])
    assert row.model_dump() == {
        "combination_id": 7,
        "name": "mrr",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "hits": None,
        "n": 64,
    }


def test_questions_become_rows_in_their_order_with_their_needles():
    rows = query_rows(QUERIES, "hash")
    assert [(row.query_id, row.position, row.questions_hash) for row in rows] == [
        (one.id, position, "hash") for position, one in enumerate(QUERIES)
    ]
    texts = {one.id: one.text for one in DOCUMENTS}
    for row, one in zip(rows, QUERIES, strict=True):
        if one.needle is None:
            assert (row.needle_id, row.needle, row.document, row.start, row.end) == (None,) * 5
            assert row.stratum in ("near", "far")
        else:
            assert texts[row.document or ""][row.start : row.end] == row.needle
            assert row.stratum is None


def test_documents_become_rows_and_equal_texts_are_kept_once():
    twins = [document("a.md", "same\n"), document("b.md", "same\n"), document("c.md", "# C\n\n## One\n\nx\n\n## Two\n")]
    rows, texts = document_rows(twins, "hash")
    assert [(row.document_id, row.position, row.characters, row.sections) for row in rows] == [
        ("a.md", 0, 5, 0),
        ("b.md", 1, 5, 0),
        ("c.md", 2, len(twins[2].text), 2),
    ]
    assert {row.sha256: row.text for row in texts} == {one.sha256: one.text for one in twins}
    assert len(texts) == 2
    assert query_rows([query("q", "?")], "h")[0].stratum is None


@given(st.lists(outcomes, max_size=5, unique_by=lambda one: one.query_id))
@settings(max_examples=30)
def test_one_questions_outcome_is_read_without_the_others(recorded):
    data = to_parquet(recorded)
    for one in recorded:
        assert outcome_from_parquet(data, one.query_id) == one
    assert outcome_from_parquet(data, "not asked" * 9) is None


def test_a_file_of_something_else_has_no_outcome_of_any_question():
    with pytest.raises(ValueError, match="not a Parquet file"):
        outcome_from_parquet(b"PAR?", "q")


@pytest.mark.parametrize("lacking", [{"first_rank", "truncated_by", "scorer_score"}, {"first_rank", "text"}])
def test_a_file_of_before_fields_were_added_is_still_read(lacking):
    new = to_parquet(retrieved(STRATEGIES[0], "dense").outcomes)
    of_hits = SCHEMA.field("hits").type.value_type
    hit = pa.struct([field for field in of_hits if field.name not in lacking])
    old = pa.schema(
        [
            (field.name, pa.list_(hit) if field.name == "hits" else field.type)
            for field in SCHEMA
            if field.name not in lacking
        ]
    )
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(pq.read_table(io.BytesIO(new)).to_pylist(), schema=old), buffer)
    assert from_parquet(buffer.getvalue()) == from_parquet(new)
