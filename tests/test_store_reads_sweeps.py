"""Small reads of a sweep and of documents with their texts."""

from web_worlds import DENSE_A, DENSE_E, DOCUMENT, KEYS, TEXT, reviewed

from store import reads
from store.reads_sweeps import sweep_ids, values
from store.reads_texts import document_texts


def test_sweeps_are_found_by_key_and_unknown_ones_are_left_out(engine):
    first, second = reviewed(engine), reviewed(engine)
    keys = [sweep.key for sweep in reads.sweeps(engine)]
    assert sorted(sweep_ids(engine, [*keys, "elsewhere"]).values()) == [first, second]
    assert sweep_ids(engine, []) == {}


def test_one_number_of_every_recorded_combination_is_read(engine):
    reviewed(engine)
    sweep_id = reviewed(engine, failed={DENSE_A: "out of memory"})
    found = values(engine, sweep_id, "recall_at_20")
    rows = {row.key: row.id for row in reads.combinations(engine, sweep_id)}
    assert set(found) == {rows[key] for key in KEYS if key != DENSE_A}
    assert found[rows[DENSE_E]] == reads.measures(engine, sweep_id)[rows[DENSE_E]]["recall_at_20"].value
    assert values(engine, sweep_id, "taste") == {}


def test_documents_come_with_their_texts_and_unknown_ones_are_left_out(engine):
    reviewed(engine)
    found = document_texts(engine, "d" * 64, [DOCUMENT, "gone.md"])
    assert found[DOCUMENT] == ("Handbook", TEXT, ())
    assert list(found) == [DOCUMENT]
    assert document_texts(engine, "d" * 64, []) == {}
    assert document_texts(engine, "0" * 64, [DOCUMENT]) == {}
