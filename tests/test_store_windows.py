import sqlite3

import numpy as np

from store.vectors import CachedVector, VectorCache
from store.windows import characters_read


def filled(path, count=3):
    cache = VectorCache(path, {"files": "f" * 64})
    keys = [bytes([place]) * 32 for place in range(count)]
    vector, starts = np.zeros(2, np.float32), np.zeros(1, np.uint32)
    cache.put({key: CachedVector(vector, starts, 10 * place) for place, key in enumerate(keys)})
    return keys


def test_what_the_encoder_read_is_found_by_key(tmp_path):
    keys = filled(tmp_path / "a model's.db")
    assert characters_read(tmp_path / "a model's.db", [keys[1], b"unknown", keys[2]]) == {keys[1]: 10, keys[2]: 20}


def test_more_keys_than_one_statement_takes_are_read(tmp_path):
    path = tmp_path / "cache.db"
    keys = filled(path, 120)
    assert len(characters_read(path, [*keys, *(bytes([1, place % 250]) * 16 for place in range(1200))])) == 120


def test_a_cache_that_is_missing_or_none_knows_nothing_and_is_not_made(tmp_path):
    assert characters_read(tmp_path / "none.db", [b"k"]) == {}
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("this is no database, and long enough to be read as one" * 20)
    assert characters_read(tmp_path / "text.db", [b"k"]) == {}
    sqlite3.connect(tmp_path / "empty.db").close()
    assert characters_read(tmp_path / "empty.db", [b"k"]) == {}
