import pytest
from sqlalchemy import event
from worlds import BLIND, DOCUMENTS, MODEL, QUERIES, SECTIONS, combination_row, filled, record, retrieved, sweep_row

from experiments.recording import from_parquet
from store import reads, writes


@pytest.fixture
def statements(engine):
    """The SELECTs that reach the database."""
    seen = []

    def see(_connection, _cursor, statement, *_rest):
        if statement.lstrip().upper().startswith("SELECT"):
            seen.append(statement)

    event.listen(engine, "before_cursor_execute", see)
    yield seen
    event.remove(engine, "before_cursor_execute", see)


def add(engine, **values):
    return writes.add_sweep(engine, sweep_row(**values), [])


def test_an_empty_store_reads_as_empty(engine):
    assert reads.sweeps(engine) == []
    assert reads.sweep(engine, 1) is None
    assert reads.latest_sweep(engine) is None
    assert reads.combinations(engine, 1) == []
    assert reads.measures(engine, 1) == {}
    assert reads.outcomes(engine, 1) == {}
    assert reads.hits(engine, []) == {}
    assert reads.recorded_retrievals(engine, []) == {}
    assert reads.texts(engine, []) == {}


def test_the_newest_sweeps_come_first(engine):
    ids = [add(engine, key=f"sweep {number}") for number in range(5)]
    assert [row.id for row in reads.sweeps(engine, limit=3)] == ids[:1:-1]


def test_the_latest_sweep_can_be_asked_for_by_state(engine):
    finished, failed = add(engine, state="finished", key="1"), add(engine, state="failed", key="2")
    running = add(engine, state="running", key="3")

    def latest(*states):
        row = reads.latest_sweep(engine, *states)
        return row.id if row else None

    assert latest() == running
    assert latest("finished") == finished
    assert latest("finished", "failed") == failed
    assert latest("cancelled") is None
    assert [row.id for row in reads.running_sweeps(engine)] == [running]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, True),
        ({"fingerprint": "other"}, False),
        ({"commit": "other"}, False),
        ({"commit": None}, False),
        ({"patch_hash": None}, False),
        ({"patch_hash": "other"}, False),
        ({"state": "finished"}, False),
        ({"state": "running"}, False),
        ({"branch": "another", "key": "another"}, True),
    ],
)
def test_an_interrupted_sweep_is_found_for_the_same_inputs_and_code_only(engine, changed, found):
    recorded = {"state": "interrupted", "fingerprint": "f", "commit": "c", "patch_hash": "p", **changed}
    sweep_id = add(engine, **recorded)
    row = reads.interrupted_sweep(engine, "f", "c", "p")
    assert (row.id if row else None) == (sweep_id if found else None)


def test_outside_git_an_interrupted_sweep_is_found_by_its_inputs(engine):
    add(engine, state="interrupted", fingerprint="f", commit="c", patch_hash=None)
    sweep_id = add(engine, state="interrupted", fingerprint="f", commit=None, patch_hash=None)
    row = reads.interrupted_sweep(engine, "f", None, None)
    assert row is not None
    assert row.id == sweep_id


def test_of_two_interrupted_sweeps_the_newer_is_taken_up(engine):
    add(engine, state="interrupted", key="old")
    newer = add(engine, state="interrupted", key="new")
    row = reads.interrupted_sweep(engine, "f" * 64, "c" * 40, None)
    assert row is not None
    assert row.id == newer


def test_combinations_come_in_the_order_of_the_grid(engine):
    rows = [combination_row("B", "dense", 1), combination_row("A", "bm25", 2), combination_row("A", "dense", 0)]
    sweep_id = writes.add_sweep(engine, sweep_row(), rows)
    assert [row.key for row in reads.combinations(engine, sweep_id)] == [
        f"A/dense/{MODEL}",
        f"B/dense/{MODEL}",
        "A/bm25",
    ]


def test_outcomes_come_in_the_order_of_the_questions_with_what_the_questions_know(engine):
    sweep_id = filled(engine, [SECTIONS], ["dense", "bm25"])
    dense, bm25 = reads.combinations(engine, sweep_id)
    found = reads.outcomes(engine, sweep_id)
    assert found.keys() == {dense.id, bm25.id}
    for combination in (dense, bm25):
        measured = retrieved(SECTIONS, combination.retriever).outcomes
        for record_, outcome, query in zip(found[combination.id or 0], measured, QUERIES, strict=True):
            assert record_.query_id == outcome.query_id == query.id
            for name in record_._fields[1:]:
                assert getattr(record_, name) == getattr(outcome, name), (query.id, name)
    assert reads.outcomes(engine, sweep_id, [bm25.id or 0]) == {bm25.id: found[bm25.id or 0]}
    assert reads.outcomes(engine, sweep_id, []) == {}


def test_outcomes_of_two_question_sets_with_the_same_ids_are_not_mixed(engine):
    one = filled(engine, [SECTIONS], ["dense"])
    two = filled(engine, [SECTIONS], ["dense"], questions_hash="another", key="another")
    for sweep_id in (one, two):
        (rows,) = reads.outcomes(engine, sweep_id).values()
        assert [row.query_id for row in rows] == [query.id for query in QUERIES]


def test_reading_a_whole_sweep_takes_as_many_statements_as_reading_a_small_one(engine, statements):
    def read(sweep_id):
        statements.clear()
        reads.combinations(engine, sweep_id)
        reads.measures(engine, sweep_id)
        reads.outcomes(engine, sweep_id)
        return len(statements)

    assert read(filled(engine, [SECTIONS], ["bm25"])) == read(filled(engine, key="large")) == 3


def test_hits_are_the_files_that_were_recorded(engine):
    sweep_id = filled(engine, [BLIND], ["dense"])
    (row,) = reads.combinations(engine, sweep_id)
    assert from_parquet(reads.hits(engine, [row.id or 0])[row.id or 0]) == retrieved(BLIND, "dense").outcomes


def test_the_newest_recorded_retrieval_of_each_key_is_found(engine):
    sweeps = {}
    for name, key, state in (
        ("first", "same", "recorded"),
        ("second", "same", "recorded"),
        ("third", "same", "failed"),
        ("fourth", "other", "recorded"),
        ("fifth", None, "recorded"),
    ):
        sweeps[name] = filled(engine, [SECTIONS], ["dense"], key=name)
        (row,) = reads.combinations(engine, sweeps[name])
        writes.update_combination(engine, row.id or 0, retrieval_key=key, state=state)
    (second,) = reads.combinations(engine, sweeps["second"])
    found = reads.recorded_retrievals(engine, ["same", "other", "unknown"])
    assert {key: one.sweep_key for key, one in found.items()} == {"same": "second", "other": "fourth"}
    assert found["same"].parquet == reads.hits(engine, [second.id or 0])[second.id or 0]
    assert found["same"].stamp["depth"] == 20
    assert found["same"].measured_in is None


def test_a_retrieval_that_was_itself_read_again_names_where_it_was_measured(engine):
    sweep_id = writes.add_sweep(engine, sweep_row(), [combination_row("E", "dense", retrieval_key="k")])
    (row,) = reads.combinations(engine, sweep_id)
    record(engine, row.id or 0, retrieved(SECTIONS, "dense"))
    writes.update_combination(engine, row.id or 0, measured_in="the very first")
    assert reads.recorded_retrievals(engine, ["k"])["k"].measured_in == "the very first"


def test_documents_and_texts_come_back_by_hash(engine):
    filled(engine, [SECTIONS], ["bm25"])
    rows = reads.documents(engine, sweep_row().corpus_hash)
    assert [(row.document_id, row.title, row.characters) for row in rows] == [
        (document.id, document.title, len(document.text)) for document in DOCUMENTS
    ]
    assert [row.sections for row in rows] == [2, 2, 2]
    texts = reads.texts(engine, [*(row.text_sha256 for row in rows), "unknown"])
    assert [texts[row.text_sha256] for row in rows] == [document.text for document in DOCUMENTS]
    assert reads.documents(engine, "unknown") == []


def test_more_texts_than_one_statement_takes_are_read(engine):
    filled(engine, [SECTIONS], ["bm25"])
    hashes = [document.sha256 for document in DOCUMENTS]
    assert len(reads.texts(engine, [*hashes, *map(str, range(40_000))])) == 3


def test_reading_one_sweep_does_not_look_at_the_outcomes_of_the_others(engine):
    filled(engine)
    sweep_id = filled(engine, commit="d" * 40)
    asked: list[tuple[str, object]] = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
    reads.outcomes(engine, sweep_id)
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked[0][0]}", asked[0][1]).all()
    assert any("outcome USING" in step[3] and "(combination_id=?)" in step[3] for step in plan), plan
