"""Reranking beside bare `CrossEncoder.predict`, and what MaxSim costs beside one matrix product of its size.

Run as ``python tests/benchmarks/bench_rerank.py [FOLDER]``: a folder of a cross-encoder, else the one out of a wheel.
The same pairs, batch, precision and threads in one run, in turns; ratios of one run on one machine, absolute times are
not kept. The target for reranking is at most 1.1, writing every score into the cache included.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.bundled import BUNDLED_DOCUMENTS
from corpus.documents import load_documents
from experiments.chunking import chunk_corpus
from experiments.conditions import PRESETS
from experiments.late_interaction import TokenIndex, max_sim
from experiments.models import BATCH
from experiments.ranking import Ranking
from experiments.reranking import Reranker
from experiments.second_model_loading import find_cross_encoder
from store.pair_scores import PairScoreCache
from store.token_vectors import Place

QUESTIONS = 8
DEPTH = 25
ROUNDS = 3
CHUNKS, TOKENS, DIMENSIONS, QUERY_TOKENS = 4000, 120, 96, 32


def reranking() -> float:
    """Seconds of our reranking over seconds of bare predict, the median of paired rounds."""
    import torch

    known = "ms-marco-MiniLM-L12-v2-int8"
    scorer = find_cross_encoder(sys.argv[1] if len(sys.argv) > 1 else known, Path("var/models"))
    chunks = chunk_corpus(load_documents(BUNDLED_DOCUMENTS, strip_front_matter=True).documents, PRESETS[4])
    texts = [chunk.text for chunk in chunks]
    questions = [f"What does the course say about {chunks[31 * n].section or 'it'}?" for n in range(QUESTIONS)]
    order = np.random.default_rng(1).permuted(np.tile(np.arange(len(texts)), (QUESTIONS, 1)), axis=1)
    first = Ranking(order, np.zeros(order.shape))
    pairs = [(question, texts[chunk]) for question, row in zip(questions, order, strict=True) for chunk in row[:DEPTH]]
    bare = scorer.model()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS + 1):
            cache = PairScoreCache(Path(folder) / f"{number}.db", scorer.stamp.cache_stamp)
            started = perf_counter()
            bare.predict(pairs, batch_size=BATCH, show_progress_bar=False, activation_fn=torch.nn.Identity())
            middle = perf_counter()
            Reranker(scorer, texts, DEPTH, cache).rank(questions, first)
            ratios.append((perf_counter() - middle) / (middle - started))
    return float(np.median(ratios[1:]))  # the first round warms up


def late() -> float:
    """Seconds of exact MaxSim over seconds of the float32 product of its size alone."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(CHUNKS * TOKENS, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    places = tuple(Place(chunk * TOKENS, TOKENS, 0) for chunk in range(CHUNKS))
    index = TokenIndex(vectors.astype(np.float16), places, 0)
    question = vectors[:QUERY_TOKENS]
    ratios = []
    for _ in range(ROUNDS + 1):
        started = perf_counter()
        vectors @ question.T
        middle = perf_counter()
        max_sim([question], index)
        ratios.append((perf_counter() - middle) / (middle - started))
    return float(np.median(ratios[1:]))


def main() -> None:
    ratio = reranking()
    print(
        f"reranking {QUESTIONS} x {DEPTH} pairs, scores cached: {ratio:.2f} times bare CrossEncoder.predict "
        "(at most 1.1)"
    )
    print(
        f"MaxSim of one question ({QUERY_TOKENS} tokens) over {CHUNKS:,} chunks of {TOKENS} tokens, {DIMENSIONS} "
        f"dimensions in float16: {late():.1f} times one float32 product of that size; "
        f"{TOKENS * DIMENSIONS * 2 / 1e3:.1f} kB a chunk on disk"
    )
    if ratio > 1.1:
        sys.exit(1)


if __name__ == "__main__":
    main()
