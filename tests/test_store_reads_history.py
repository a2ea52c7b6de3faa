"""Reading many sweeps at once, and two side by side."""

from __future__ import annotations

from sqlalchemy import event
from worlds import filled, sweep_row

from store import reads_compare, reads_history, writes
from store.reads_history import Wanted


def counted(engine, read):
    statements = []
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    return read(), len(statements)


def test_sweeps_come_newest_first_and_stop_before_the_one_named(engine):
    ids = [writes.add_sweep(engine, sweep_row(commit=f"{at}" * 40), []) for at in range(4)]
    assert [sweep.id for sweep in reads_history.sweeps_before(engine)] == ids[::-1]
    assert [sweep.id for sweep in reads_history.sweeps_before(engine, ids[2], limit=1)] == [ids[1]]


def test_states_of_many_sweeps_take_one_statement(engine):
    first = filled(engine, failed={"A/bm25": "out of memory"})
    second = filled(engine, retrievers=["bm25"], commit="d" * 40)
    states, statements = counted(engine, lambda: reads_history.combination_states(engine, [first, second]))
    assert statements == 1
    assert [(one.key, one.state, one.reason) for one in states[second]] == [
        ("A/bm25", "recorded", None), ("B/bm25", "recorded", None), ("E/bm25", "recorded", None)
    ]  # fmt: skip
    assert ("failed", "out of memory") in {(one.state, one.reason) for one in states[first]}


def test_one_measure_of_many_sweeps_takes_one_statement_and_leaves_out_what_has_no_numbers(engine):
    first = filled(engine, failed={"A/bm25": "out of memory"})
    second = filled(engine, commit="d" * 40)
    found, statements = counted(
        engine, lambda: reads_history.numbers(engine, Wanted([first, second], "recall_at_4"))[0]
    )
    assert statements == 1
    assert "A/bm25" not in [one.key for one in found[first]]
    assert [one.key for one in found[second]][:3] == ["A/dense/keywords", "A/bm25", "A/hybrid/keywords"]
    assert all(one.n == 8 and one.low <= one.value <= one.high for one in found[second])


def test_a_combination_is_followed_by_its_key(engine):
    ids = [filled(engine), filled(engine, commit="d" * 40)]
    found = reads_history.numbers(engine, Wanted(ids, "mrr", "E/bm25"))[0]
    assert [(key, [one.key for one in rows]) for key, rows in found.items()] == [(each, ["E/bm25"]) for each in ids]


def test_two_measures_of_different_sweeps_take_one_statement(engine):
    first, second = filled(engine), filled(engine, commit="d" * 40)
    wanted = (Wanted([first, second], "mrr", "E/bm25"), Wanted([second], "recall_at_4"))
    (mrr, recall), statements = counted(engine, lambda: reads_history.numbers(engine, *wanted))
    assert statements == 1
    assert [[one.key for one in rows] for rows in mrr.values()] == [["E/bm25"], ["E/bm25"]]
    assert list(recall) == [second]
    assert len(recall[second]) > 1


def test_a_combination_is_found_by_sweep_and_key(engine):
    sweep_id = filled(engine)
    assert reads_history.combination(engine, sweep_id, "E/bm25").strategy == "E"
    assert reads_history.combination(engine, sweep_id, "Z/bm25") is None
    assert reads_history.combination(engine, sweep_id + 1, "E/bm25") is None


def test_ranks_of_two_sweeps_take_one_statement(engine):
    ids = [filled(engine), filled(engine, commit="d" * 40)]
    found, statements = counted(engine, lambda: reads_compare.ranks(engine, ids))
    assert statements == 1
    assert list(found[ids[0]])[:2] == ["A/dense/keywords", "A/bm25"]
    rows = {one.query_id: one for one in found[ids[1]]["E/bm25"]}
    assert len(rows) == 11
    assert rows["rest-course"].rank == 1
    assert not rows["rest-course"].destroyed


def test_a_sweep_without_numbers_has_no_ranks(engine):
    assert reads_compare.ranks(engine, [writes.add_sweep(engine, sweep_row(), [])]) == {1: {}}


def test_question_sets_come_by_hash_in_their_order(engine):
    filled(engine)
    hashed = sweep_row().questions_hash
    found = reads_compare.question_sets(engine, [hashed, "0" * 64])
    assert [row.query_id for row in found[hashed]][:2] == ["moon-course", "moon-ticket"]
    assert found["0" * 64] == []
