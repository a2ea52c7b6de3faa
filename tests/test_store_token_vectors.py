"""The store of token vectors: side by side in a flat file, and only what the index names is there."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from store.stamped import StampMismatchError
from store.token_vectors import TokenVectorStore

STAMP = {"files": "x" * 64, "precision": "fp32"}


def opened(folder: Path, **stamp: str) -> TokenVectorStore:
    return TokenVectorStore(folder / "t.db", {**STAMP, **stamp}, 4)


def vectors(seed: int, rows: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)


def test_vectors_come_back_in_half_precision_from_a_memory_map(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put({b"a": (vectors(1, 3), 10), b"b": (vectors(2, 2), 20)})
    store.put({b"c": (vectors(3, 5), 30)})
    again = opened(tmp_path)
    places, flat = again.get([b"c", b"a", b"b", b"none"]), again.vectors()
    assert isinstance(flat, np.memmap)
    assert places.keys() == {b"a", b"b", b"c"}
    for key, seed in ((b"a", 1), (b"b", 2), (b"c", 3)):
        place = places[key]
        expected = vectors(seed, place.rows).astype(np.float16)
        np.testing.assert_array_equal(flat[place.first : place.first + place.rows], expected)
    assert [places[key].seen for key in (b"a", b"b", b"c")] == [10, 20, 30]


def test_a_text_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put({b"a": (vectors(1, 3), 10)})
    store.put({b"a": (vectors(9, 7), 99), b"b": (vectors(2, 2), 20)})
    assert store.get([b"a"])[b"a"].rows == 3
    assert len(store.vectors()) == 5


def test_rows_of_a_killed_writer_are_written_over(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put({b"a": (vectors(1, 3), 10)})
    with (tmp_path / "t.f16").open("ab") as flat:
        flat.write(b"torn")  # half a row, and no index knows of it
    again = opened(tmp_path)
    again.put({b"b": (vectors(2, 2), 20)})
    place = again.get([b"b"])[b"b"]
    np.testing.assert_array_equal(again.vectors()[place.first :][:2], vectors(2, 2).astype(np.float16))


def test_two_writers_take_turns(tmp_path: Path) -> None:
    stores = [opened(tmp_path), opened(tmp_path)]

    def write(number: int) -> None:
        for batch in range(10):
            key = number * 100 + batch
            stores[number].put({key.to_bytes(4, "big"): (vectors(key, 3), key)})

    threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [number * 100 + batch for number in (0, 1) for batch in range(10)]
    places, flat = stores[0].get([key.to_bytes(4, "big") for key in keys]), stores[0].vectors()
    for key in keys:
        place = places[key.to_bytes(4, "big")]
        np.testing.assert_array_equal(flat[place.first : place.first + 3], vectors(key, 3).astype(np.float16))


def test_another_model_or_missing_vectors_are_refused(tmp_path: Path) -> None:
    opened(tmp_path).put({b"a": (vectors(1, 3), 10)})
    with pytest.raises(StampMismatchError, match=r"holds token vectors of .*float16.*embed again"):
        opened(tmp_path, precision="bf16")
    (tmp_path / "t.f16").write_bytes(b"")
    with pytest.raises(StampMismatchError, match=r"t\.f16 holds 0 of the 24 bytes its index .* names: move both"):
        opened(tmp_path)


def test_an_empty_store_has_no_vectors(tmp_path: Path) -> None:
    assert opened(tmp_path).vectors().shape == (0, 4)
