"""Exact dense search over a million vectors against one float32 matrix product plus partition of that size.

    python tests/benchmarks/bench_dense_search.py

The vectors lie in a memory-mapped file, as those of a large corpus would. The bare product and partition run over the
same file; both are repeated in turn and the best of each counts. Memory is what NumPy allocates on top of the file.
What the search returns is compared with the ranking by all float64 distances. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import sys
import tempfile
import tracemalloc
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.dense_search import nearest
from experiments.ranking import dense_distances, rank

N_CHUNKS, DIMENSIONS, N_QUERIES, DEPTH = 1_000_000, 384, 64, 25
REPEATS = 4
RATIO, MEGABYTES = 1.3, 600
CHECKED = 4  # queries compared with the full float64 ranking
SEED = 20_260


def unit_vectors(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> None:
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.f32"
        mapped = np.memmap(file, np.float32, "w+", shape=(N_CHUNKS, DIMENSIONS))
        for start in range(0, N_CHUNKS, 50_000):
            mapped[start : start + 50_000] = unit_vectors(rng, 50_000)
        mapped[700_000:700_100] = mapped[:100]  # equal texts, whose order is that of their index
        mapped.flush()
        chunks = np.memmap(file, np.float32, "r", shape=(N_CHUNKS, DIMENSIONS))
        queries = unit_vectors(rng, N_QUERIES)

        bare, ours = [], []
        for _ in range(REPEATS):
            started = perf_counter()
            product = queries @ chunks.T
            np.argpartition(product, N_CHUNKS - DEPTH, axis=1)
            bare.append(perf_counter() - started)
            del product
            started = perf_counter()
            found = nearest(queries, chunks, DEPTH)
            ours.append(perf_counter() - started)

        tracemalloc.start()
        nearest(queries, chunks, DEPTH)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()

        wanted = rank(1 - np.round(dense_distances(queries[:CHECKED], chunks), 6), DEPTH)
        equal = np.array_equal(found.order[:CHECKED], wanted.order) and np.array_equal(
            found.scores[:CHECKED], wanted.scores
        )
    ratio = min(ours) / min(bare)
    print(f"{N_CHUNKS:,} x {DIMENSIONS} vectors, {N_QUERIES} queries, top {DEPTH}")
    print(f"search / float32 product plus partition: {ratio:.2f} (target: at most {RATIO})")
    print(f"peak memory on top of the file: {peak:.0f} MB (target: at most {MEGABYTES})")
    print(f"equal to the ranking by all float64 distances, scores included: {equal}")
    if ratio > RATIO or peak > MEGABYTES or not equal:
        sys.exit(1)


if __name__ == "__main__":
    main()
