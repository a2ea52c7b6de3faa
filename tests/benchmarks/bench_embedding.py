"""Embedding through the cache against a bare `SentenceTransformer.encode` of the same texts at the same precision.

    python tests/benchmarks/bench_embedding.py

Ours counts everything: cutting into tokens, token positions, the checks and writing an empty cache. Both run in turn in
one process with the same threads, models loaded before, and the best of each counts. Prints the ratios, how much faster
bf16 is than fp32, and by how much it moves a cosine distance. Exits with 1 when ours is slower.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.bundled import BUNDLED_BIBLIOGRAPHY, BUNDLED_DOCUMENTS
from corpus.documents import load_documents
from experiments.chunking import chunk_corpus
from experiments.conditions import PRESETS
from experiments.embedding import embed, open_cache
from experiments.model_specs import ModelSpec, plain_spec
from experiments.models import DEFAULT_MODEL, SentenceEncoder, find_model

N_TEXTS, REPEATS = 256, 3
TARGET = 1.0


def main() -> None:
    loaded = load_documents(BUNDLED_DOCUMENTS, strip_front_matter=True, strip_bibliography=BUNDLED_BIBLIOGRAPHY)
    chunks = chunk_corpus(loaded.documents, PRESETS[4])
    texts = [chunks[place].text for place in np.linspace(0, len(chunks) - 1, N_TEXTS).astype(int)]
    plain = plain_spec(DEFAULT_MODEL, "embedding")
    seconds, vectors = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for spec in (plain, replace(plain, name="bf16", precision="bf16")):
            ours, bare, found = compared(spec, texts, Path(folder))
            seconds[spec.precision], vectors[spec.precision] = (ours, bare), found
    print(f"{N_TEXTS} texts of the bundled corpus, {DEFAULT_MODEL}")
    for precision, (ours, bare) in seconds.items():
        print(f"{precision}: ours / bare encode {ours / bare:.2f} (target: at most {TARGET:g})")
    print(f"bf16 / fp32, ours: {seconds['bf16'][0] / seconds['fp32'][0]:.2f}")
    change = np.abs(vectors["fp32"] @ vectors["fp32"].T - vectors["bf16"] @ vectors["bf16"].T).max()
    print(f"largest change of a cosine distance between two of the texts by bf16: {change:.4f}")
    if any(ours > TARGET * bare for ours, bare in seconds.values()):
        sys.exit(1)


def compared(spec: ModelSpec, texts: list[str], folder: Path) -> tuple[float, float, np.ndarray]:
    """Best seconds of ours and of the bare encode, and our vectors."""
    import torch
    from sentence_transformers import SentenceTransformer

    encoder = find_model(spec)
    dtype = torch.bfloat16 if spec.precision == "bf16" else torch.float32
    bare = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True, model_kwargs={"dtype": dtype})
    encoder.encode_documents(texts[:2])
    bare.encode(texts[:2])
    ours_seconds, bare_seconds = [], []
    for repeat in range(REPEATS):
        taken, found = timed(lambda repeat=repeat: through_cache(encoder, texts, folder / f"{spec.precision}{repeat}"))
        ours_seconds.append(taken)
        taken, _ = timed(
            lambda: bare.encode(
                texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False, convert_to_tensor=True
            )
        )
        bare_seconds.append(taken)
    return min(ours_seconds), min(bare_seconds), found


def through_cache(encoder: SentenceEncoder, texts: list[str], folder: Path) -> np.ndarray:
    return embed("document", texts, encoder, open_cache(folder, encoder.stamp), lambda _: None).vectors


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = perf_counter()
    result = work()
    return perf_counter() - started, result


if __name__ == "__main__":
    main()
