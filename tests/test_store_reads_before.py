from sqlalchemy import event
from worlds import BLIND, SECTIONS, filled

from store import reads
from store.reads_before import outcomes_by_key


def test_outcomes_are_found_by_key_and_equal_those_found_by_id(engine):
    sweep_id = filled(engine, [BLIND, SECTIONS], ["dense", "bm25"])
    filled(engine, [SECTIONS], ["dense"], key="other")
    by_id = reads.outcomes(engine, sweep_id)
    keys = {row.id: row.key for row in reads.combinations(engine, sweep_id)}
    assert outcomes_by_key(engine, sweep_id, list(keys.values())) == {
        keys[combination]: found for combination, found in by_id.items()
    }
    assert list(outcomes_by_key(engine, sweep_id, ["E/bm25", "X/bm25"])) == ["E/bm25"]


def test_it_takes_one_statement_and_a_sweep_that_is_not_there_has_none(engine):
    filled(engine, [SECTIONS], ["dense"])
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    assert outcomes_by_key(engine, 99, ["E/bm25"]) == {}
    assert len(asked) == 1
