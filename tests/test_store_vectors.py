import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.stamped import StampMismatchError
from store.vectors import CachedVector, VectorCache

ROOT = Path(__file__).parent.parent
STAMP = {"files": "abc", "dimensions": 3, "window": 256, "precision": "fp32"}


def entry(value=1.0, starts=(0, 4), seen=9):
    return CachedVector(np.array([value, 0.5, 0.25], np.float32), np.array(starts, np.uint32), seen)


def same(a, b):
    return np.array_equal(a.vector, b.vector) and np.array_equal(a.token_starts, b.token_starts) and a.seen == b.seen


@given(
    st.dictionaries(
        st.binary(min_size=1, max_size=32),
        st.tuples(
            st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3),
            st.lists(st.integers(0, 2**32 - 1), max_size=5),
            st.integers(0, 10**9),
        ),
        max_size=8,
    )
)
@settings(max_examples=20)
def test_vectors_come_back_bit_for_bit_also_through_another_handle(content):
    stored = {
        key: CachedVector(np.array(vector, np.float32), np.array(starts, np.uint32), seen)
        for key, (vector, starts, seen) in content.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        VectorCache(Path(folder) / "v.db", STAMP).put(stored)
        found = VectorCache(Path(folder) / "v.db", STAMP).get([*stored, b"\0never stored, and too long to be drawn"])
    assert found.keys() == stored.keys()
    assert all(same(found[key], stored[key]) for key in stored)


def test_more_keys_than_one_statement_takes_are_read(tmp_path):
    cache = VectorCache(tmp_path / "v.db", STAMP)
    keys = [number.to_bytes(4, "big") for number in range(1203)]
    cache.put({key: entry(number) for number, key in enumerate(keys)})
    found = cache.get(keys)
    assert [float(found[key].vector[0]) for key in keys] == list(range(1203))


def test_nothing_asked_is_nothing_found(tmp_path):
    assert VectorCache(tmp_path / "new" / "folder" / "v.db", STAMP).get([]) == {}


def test_token_starts_of_any_integer_type_are_kept_by_value(tmp_path):
    cache = VectorCache(tmp_path / "v.db", STAMP)
    cache.put({b"k": CachedVector(np.zeros(3, np.float64), np.array([0, 7, 300], np.int64), 5)})
    found = cache.get([b"k"])[b"k"]
    assert found.token_starts.tolist() == [0, 7, 300]
    assert found.vector.tolist() == [0.0, 0.0, 0.0]


def test_a_cache_of_another_model_is_refused_naming_both_and_stays_as_it_is(tmp_path):
    path = tmp_path / "v.db"
    VectorCache(path, STAMP).put({b"k": entry()})
    with pytest.raises(StampMismatchError) as refusal:
        VectorCache(path, {**STAMP, "files": "xyz", "window": 512})
    said = str(refusal.value)
    assert '"files": "abc"' in said
    assert '"window": 256' in said
    assert '"files": "xyz"' in said
    assert '"window": 512' in said
    assert str(path) in said
    assert same(VectorCache(path, STAMP).get([b"k"])[b"k"], entry())


def test_the_order_of_a_stamp_does_not_matter(tmp_path):
    VectorCache(tmp_path / "v.db", STAMP)
    VectorCache(tmp_path / "v.db", dict(reversed(STAMP.items())))


def test_a_file_that_is_no_cache_is_refused_and_stays_as_it_is(tmp_path):
    path = tmp_path / "v.db"
    path.write_text("not a database\n" * 300)
    with pytest.raises(StampMismatchError, match=r"v\.db is not a cache of vectors.*move the file away"):
        VectorCache(path, STAMP)
    assert path.read_text() == "not a database\n" * 300


def test_a_batch_is_put_whole_or_not_at_all(tmp_path):
    cache = VectorCache(tmp_path / "v.db", STAMP)
    broken = CachedVector(entry().vector, entry().token_starts, object())
    with pytest.raises(sqlite3.Error):
        cache.put({b"good": entry(), b"broken": broken})
    assert cache.get([b"good", b"broken"]) == {}


def test_what_is_cached_is_not_replaced(tmp_path):
    cache = VectorCache(tmp_path / "v.db", STAMP)
    cache.put({b"k": entry(1.0)})
    cache.put({b"k": entry(2.0), b"new": entry(3.0)})
    assert {key: float(one.vector[0]) for key, one in cache.get([b"k", b"new"]).items()} == {b"k": 1.0, b"new": 3.0}


def test_notes_are_kept_and_replaced(tmp_path):
    cache = VectorCache(tmp_path / "v.db", STAMP)
    assert cache.note("embed_milliseconds") is None
    cache.put_note("embed_milliseconds", [1.5, 2])
    cache.put_note("embed_milliseconds", [0.1])
    assert VectorCache(tmp_path / "v.db", STAMP).note("embed_milliseconds") == [0.1]


WRITER = """
import pathlib, sys, time
import numpy as np
from store.vectors import CachedVector, VectorCache
folder, name, batches = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
(folder / f"ready-{name}").touch()
while not (folder / "go").exists(): time.sleep(0.001)
cache = VectorCache(folder / "v.db", {"dimensions": 3})
vector = np.array([1, 0, 0], np.float32)
for batch in range(batches):
    cache.put({f"{owner} {batch} {n}".encode(): CachedVector(vector, np.zeros(1, np.uint32), batch)
               for n in range(20) for owner in (name, "both")})
    print(batch, flush=True)
"""


def start_writer(folder, name, batches):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(batches)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_two_processes_may_write_at_once(tmp_path):
    writers = [start_writer(tmp_path, name, 15) for name in ("one", "two")]
    while len(list(tmp_path.glob("ready-*"))) < 2 and all(writer.poll() is None for writer in writers):
        pass
    (tmp_path / "go").touch()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0]
    keys = [
        f"{owner} {batch} {n}".encode() for owner in ("one", "two", "both") for batch in range(15) for n in range(20)
    ]
    assert VectorCache(tmp_path / "v.db", {"dimensions": 3}).get(keys).keys() == set(keys)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill without warning")
def test_a_process_that_is_killed_loses_nothing_it_had_put(tmp_path):
    (tmp_path / "go").touch()
    writer = start_writer(tmp_path, "one", 100_000)
    assert writer.stdout is not None
    done = [int(writer.stdout.readline()) for _ in range(10)]
    os.kill(writer.pid, signal.SIGKILL)
    done += [int(line) for line in writer.stdout.read().splitlines()]
    writer.wait()
    writer.stdout.close()
    cache = VectorCache(tmp_path / "v.db", {"dimensions": 3})
    kept = cache.get([f"one {batch} {n}".encode() for batch in range(len(done) + 1) for n in range(20)])
    assert {f"one {batch} {n}".encode() for batch in done for n in range(20)} <= kept.keys()
    assert len(kept) % 20 == 0
