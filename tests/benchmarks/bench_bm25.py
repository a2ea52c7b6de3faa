"""How much faster one batch of BM25 scores is than rank-bm25's own loop, and how far the two are apart.

Run as ``python tests/benchmarks/bench_bm25.py``. The ratio is of one run on one machine; absolute times are not kept.
"""

import math
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from rank_bm25 import BM25Okapi

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from experiments.lexical import BM25Index, tokenise

N_CHUNKS = 20_000
N_QUERIES = 94
VOCABULARY = 30_000
CHUNK_WORDS = (40, 120)
QUERY_WORDS = (6, 16)
SEED = 20_250


class OkapiWithOurIdf(BM25Okapi):
    """rank-bm25's loop as it is, with the idf that never falls below zero."""

    def _calc_idf(self, nd):
        self.idf = {term: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for term, n in nd.items()}


def synthetic_texts(rng: np.random.Generator, n_texts: int, words: tuple[int, int]) -> list[str]:
    """Texts whose words are as unevenly frequent as those of natural language (Zipf's law)."""
    frequency = 1.0 / np.arange(1, VOCABULARY + 1)
    lengths = rng.integers(*words, size=n_texts)
    drawn = rng.choice(VOCABULARY, size=int(lengths.sum()), p=frequency / frequency.sum())
    return [" ".join(f"w{word}" for word in words) for words in np.split(drawn, np.cumsum(lengths)[:-1])]


def main() -> None:
    rng = np.random.default_rng(SEED)
    chunks = synthetic_texts(rng, N_CHUNKS, CHUNK_WORDS)
    queries = synthetic_texts(rng, N_QUERIES, QUERY_WORDS)
    chunk_tokens = [tokenise(text) for text in chunks]

    okapi = BM25Okapi(chunk_tokens, k1=1.2, b=0.75)
    same_idf = OkapiWithOurIdf(chunk_tokens, k1=1.2, b=0.75)
    started = perf_counter()
    index = BM25Index(chunks)
    build_seconds = perf_counter() - started

    started = perf_counter()
    for query in queries:
        okapi.get_scores(tokenise(query))
    loop_seconds = perf_counter() - started

    started = perf_counter()
    scores = index.scores(queries)
    batch_seconds = perf_counter() - started

    largest = max(
        float(np.max(np.abs(row - same_idf.get_scores(tokenise(query)))))
        for row, query in zip(scores, queries, strict=True)
    )
    ratio = loop_seconds / batch_seconds
    with_build = loop_seconds / (build_seconds + batch_seconds)
    print(f"{N_CHUNKS:,} chunks, {N_QUERIES} queries")
    print(f"BM25Okapi.get_scores loop / batched scores: {ratio:.1f} (target: at least 10)")
    print(f"the same with building our index counted, theirs not: {with_build:.1f}")
    print(f"largest difference to the loop with the same idf: {largest:.1e} (target: at most 1e-6)")
    if ratio < 10 or largest > 1e-6:
        sys.exit(1)


if __name__ == "__main__":
    main()
