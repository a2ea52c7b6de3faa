"""Reads that are shared: asked once, the same answer, and never beyond their block."""

from __future__ import annotations

import pytest
from sqlalchemy import event
from web_worlds import BM25_E, DENSE_A, reviewed

from store import reads
from store.sharing import shared_reads


@pytest.fixture
def asked(engine):
    """Statements sent to a store with one small sweep."""
    reviewed(engine, keys=[DENSE_A, BM25_E])
    statements = []
    event.listen(engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    return statements


def test_an_equal_read_is_asked_once_within_a_block_and_again_after_it(engine, asked):
    kept = {}
    with shared_reads(kept):
        first = reads.outcomes(engine, 1, [1])
        assert reads.outcomes(engine, 1, [1]) is first
        assert reads.outcomes(engine, 1, [2]) != first
    assert len(asked) == 2
    with shared_reads(kept):
        assert reads.outcomes(engine, 1, [1]) is first
    assert reads.outcomes(engine, 1, [1]) == first
    assert len(asked) == 3


def test_of_things_by_key_only_those_are_read_that_are_not_kept(engine, asked):
    alone = reads.hits(engine, [1, 2])
    asked.clear()
    with shared_reads({}):
        assert reads.hits(engine, [2]) == {2: alone[2]}
        assert list(reads.hits(engine, [2, 1, 9])) == [1, 2]
        assert reads.hits(engine, [1, 2, 9]) == alone
        assert reads.hits(engine, []) == {}
    assert len(asked) == 2


def test_a_read_that_fails_is_not_kept(engine, asked):
    with shared_reads({}):
        with pytest.raises(Exception, match="Python int too large"):
            reads.sweep(engine, 2**70)
        assert reads.sweep(engine, 1).id == 1
