"""The cache of pair scores: content-addressed, stamped, whole batches."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.pair_scores import PairScoreCache
from store.stamped import StampMismatchError

STAMP = {"files": "x" * 64, "precision": "fp32", "window": 512}


def test_scores_come_back_and_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    cache = PairScoreCache(tmp_path / "scores" / "x.db", STAMP)
    keys = [number.to_bytes(4, "big") for number in range(1200)]
    cache.put({key: place / 7 for place, key in enumerate(keys)})
    again = PairScoreCache(tmp_path / "scores" / "x.db", STAMP)
    assert again.get([*keys, b"never"]) == {key: place / 7 for place, key in enumerate(keys)}


def test_a_score_once_given_stands(tmp_path: Path) -> None:
    cache = PairScoreCache(tmp_path / "x.db", STAMP)
    cache.put({b"a": 1.0})
    cache.put({b"a": 2.0, b"b": 3.0})
    assert cache.get([b"a", b"b"]) == {b"a": 1.0, b"b": 3.0}


def test_scores_of_another_precision_are_refused_with_both_stamps_named(tmp_path: Path) -> None:
    PairScoreCache(tmp_path / "x.db", STAMP)
    with pytest.raises(StampMismatchError, match=r"holds scores of .*fp32.* at hand is .*bf16.*and score again"):
        PairScoreCache(tmp_path / "x.db", {**STAMP, "precision": "bf16"})
