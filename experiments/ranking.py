"""Scores to rankings, exact cosine distances, and reciprocal rank fusion.

Chunks are in (document, start) order, so "ties by chunk index" is the rule "ties by (document, start)" and a ranking
never depends on the order documents were read in.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.float64]
VectorMatrix = NDArray[np.float32] | NDArray[np.float64]
IndexMatrix = NDArray[np.intp]

_FUSION_WORDS = re.compile(r"k = (?P<k>\S+), (?:equal weights|weights: dense (?P<dense>\S+), bm25 (?P<bm25>\S+))")
ABSENT = -1
SCORE_DECIMALS = 6
# Neighbouring ranks around 30,000 differ by 1e-9 in a fused score, so six decimals would tie what is not tied.
FUSED_DECIMALS = 15
FUSION_K = 60
NORM_TOLERANCE = 1e-5
_BLOCK_ROWS = 8192
_SAMPLE_ROWS = 256


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the dense and the lexical ranking are fused; printed beside every number of a fused ranking.

    Attributes:
        k: The constant that flattens the top, at least 0.
        dense: Weight of the dense ranking, above 0.
        bm25: Weight of the lexical ranking, above 0.

    Raises:
        ValueError: If a value is not allowed; the message names it.
    """

    k: float = FUSION_K
    dense: float = 1.0
    bm25: float = 1.0

    def __post_init__(self) -> None:
        """Refuse values that are not allowed."""
        if not (math.isfinite(self.k) and self.k >= 0):
            raise ValueError(f"k is {self.k!r}, must be at least 0")
        for name, weight in (("dense", self.dense), ("bm25", self.bm25)):
            if not (math.isfinite(weight) and weight > 0):
                raise ValueError(f"{name} is {weight!r}, must be above 0")

    @classmethod
    def from_words(cls, words: str) -> "Fusion":
        """The settings `describe` has put in words.

        Raises:
            ValueError: If the words are not such a description.
        """
        found = _FUSION_WORDS.fullmatch(words)
        if found is None:
            raise ValueError(f"{words!r} does not describe how rankings are fused")
        return cls(k=float(found["k"]), dense=float(found["dense"] or 1), bm25=float(found["bm25"] or 1))

    def describe(self) -> str:
        """The settings in words, as in ``k = 60, weights: dense 1, bm25 2``."""
        weights = "equal weights" if self.dense == self.bm25 else f"weights: dense {self.dense:g}, bm25 {self.bm25:g}"
        return f"k = {self.k:g}, {weights}"


DEFAULT_FUSION = Fusion()


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Chunks of every query, best first.

    Attributes:
        order: Shape (n_queries, depth). Chunk indices; `ABSENT` (-1) behind the last chunk that was returned.
        scores: Shape (n_queries, depth). The rounded scores that decided the order, never ascending; ``-inf`` where
            the order is absent, NaN behind the chunks a reranker scored, where the order of an earlier ranking stands.
    """

    order: IndexMatrix
    scores: FloatMatrix


def rank(
    scores: FloatMatrix, depth: int | None = None, *, positive_only: bool = False, decimals: int = SCORE_DECIMALS
) -> Ranking:
    """Order chunks by score, highest first, ties by chunk index.

    Scores are rounded first. The last bit of a float depends on how a product was blocked and on the machine's
    arithmetic library; two chunks of equal text must not change places with it.

    Args:
        scores: Shape (n_queries, n_chunks). Higher is better; pass ``1 - distance`` for distances.
        depth: How many chunks to keep a query, at least 1; all of them by default and at most.
        positive_only: Leave out chunks whose score rounds to 0 or less, as BM25 must: no shared term is no hit.
        decimals: Decimals to round to.

    Returns:
        The ranking, ``min(depth, n_chunks)`` deep.

    Raises:
        ValueError: If the scores are no matrix, hold NaN, or the depth is below 1.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise ValueError(f"scores must have shape (n_queries, n_chunks), got {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError(f"score of query {int(np.argwhere(np.isnan(scores))[0, 0])} is NaN")
    if depth is not None and depth < 1:
        raise ValueError(f"depth must be at least 1, got {depth}")
    rounded = np.round(scores, decimals) + 0.0  # no negative zero
    if positive_only:
        rounded[rounded <= 0] = -np.inf
    order = np.argsort(-rounded, axis=1, kind="stable")[:, :depth]
    best = np.take_along_axis(rounded, order, axis=1)
    order[np.isneginf(best)] = ABSENT
    return Ranking(order, best)


def rank_matrix(ranking: Ranking, n_chunks: int) -> NDArray[np.int64]:
    """The rank of every chunk for every query.

    Args:
        ranking: A ranking of any depth.
        n_chunks: Number of chunks it ranks.

    Returns:
        Shape (n_queries, n_chunks). Ranks from 1; 0 where the chunk was not returned.
    """
    ranks = np.zeros((len(ranking.order), n_chunks), dtype=np.int64)
    rows, places = np.nonzero(ranking.order != ABSENT)
    ranks[rows, ranking.order[rows, places]] = places + 1
    return ranks


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking],
    n_chunks: int,
    depth: int | None = None,
    *,
    k: float = FUSION_K,
    weights: Sequence[float] | None = None,
) -> Ranking:
    """Fuse rankings of the same queries by the sum of ``weight / (k + rank)``, never by their scores.

    Args:
        rankings: At least one ranking; each with one row per query.
        n_chunks: Number of chunks they rank.
        depth: How many chunks to keep a query; all that any ranking returned by default.
        k: The constant that flattens the top, above -1.
        weights: One a ranking, above 0; 1 each by default, as the paper has it.

    Returns:
        The fused ranking, ties by chunk index. A chunk that no ranking returned is absent.

    Raises:
        ValueError: If there is no ranking, they differ in their number of queries, or the weights do not fit.

    References:
        Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
        Methods", SIGIR 2009.
    """
    if not rankings:
        raise ValueError("nothing to fuse: no ranking given")
    sizes = [len(ranking.order) for ranking in rankings]
    if len(set(sizes)) > 1:
        raise ValueError(f"rankings of different numbers of queries cannot be fused: {sizes}")
    weights = [1.0] * len(rankings) if weights is None else list(weights)
    if len(weights) != len(rankings) or not all(weight > 0 for weight in weights):
        raise ValueError(f"{len(rankings)} rankings need as many weights above 0, got {weights}")
    fused = np.zeros((sizes[0], n_chunks), dtype=np.float64)
    for ranking, weight in zip(rankings, weights, strict=True):
        ranks = rank_matrix(ranking, n_chunks)
        fused += np.where(ranks > 0, weight / (k + np.maximum(ranks, 1)), 0.0)
    return rank(fused, depth, positive_only=True, decimals=FUSED_DECIMALS)


def fuse(dense: Ranking, lexical: Ranking, n_chunks: int, fusion: Fusion) -> Ranking:
    """The hybrid ranking: the dense and the lexical one of the same queries, fused as the settings say."""
    weights = (fusion.dense, fusion.bm25)
    return reciprocal_rank_fusion([dense, lexical], n_chunks, k=fusion.k, weights=weights)


def dense_distances(queries: VectorMatrix, chunks: VectorMatrix) -> FloatMatrix:
    """Exact cosine distance ``1 - cos`` of every query to every chunk.

    Products are taken in float64 and in blocks of chunks, so that memory-mapped vectors are read once and the block
    size never shows in the sixth decimal.

    Args:
        queries: Shape (n_queries, dimensions). Unit vectors.
        chunks: Shape (n_chunks, dimensions). Unit vectors; may be memory-mapped.

    Returns:
        Shape (n_queries, n_chunks), float64, at least 0.

    Raises:
        ValueError: If the shapes do not fit, or the norm of a vector differs from 1 by more than 1e-5.
    """
    if queries.ndim != 2 or chunks.ndim != 2 or queries.shape[1] != chunks.shape[1]:
        raise ValueError(f"vectors do not fit: queries have shape {queries.shape}, chunks {chunks.shape}")
    left = np.asarray(queries, dtype=np.float64)
    check_unit_norms(left, "query")
    distances = np.empty((len(queries), len(chunks)), dtype=np.float64)
    for start in range(0, len(chunks), _BLOCK_ROWS):
        block = np.asarray(chunks[start : start + _BLOCK_ROWS], dtype=np.float64)
        check_unit_norms(block, "chunk", first_row=start)
        # A norm a hair over 1 would make the distance of equal vectors negative.
        np.maximum(1.0 - left @ block.T, 0.0, out=distances[:, start : start + len(block)])
    return distances


def check_unit_norms(vectors: VectorMatrix, what: str = "vector", first_row: int = 0) -> None:
    """Refuse vectors whose norm is not 1 within 1e-5: their distances would not be cosine distances.

    Args:
        vectors: Shape (n_vectors, dimensions).
        what: What a row is, for the message.
        first_row: Number of the first row, for the message.

    Raises:
        ValueError: Naming the first row that is off, and its norm. NaN is off.
    """
    norms = np.linalg.norm(np.asarray(vectors, dtype=np.float64), axis=1)
    off = np.flatnonzero(~(np.abs(norms - 1.0) <= NORM_TOLERANCE))
    if off.size:
        row = int(off[0])
        raise ValueError(f"{what} vector {first_row + row} has norm {norms[row]:.7g}, not 1 within {NORM_TOLERANCE:g}")


def distance_identity_error(queries: VectorMatrix, chunks: VectorMatrix, sample: int = _SAMPLE_ROWS) -> float:
    """How far ``L2^2 / 2`` and ``1 - cos`` are apart; 0 for vectors of norm exactly 1.

    Args:
        queries: Shape (n_queries, dimensions).
        chunks: Shape (n_chunks, dimensions).
        sample: How many rows of each to compare, evenly spaced, so that the same vectors give the same answer.

    Returns:
        The largest absolute difference over all pairs of the sample; NaN if there is no pair.

    Raises:
        ValueError: If the sample is below 1.
    """
    if sample < 1:
        raise ValueError(f"sample must be at least 1, got {sample}")
    left, right = _evenly(queries, sample), _evenly(chunks, sample)
    if not (len(left) and len(right)):
        return float("nan")
    half_squares = np.stack([np.sum((right - row) ** 2, axis=1) / 2 for row in left])
    return float(np.max(np.abs(half_squares - (1.0 - left @ right.T))))


def _evenly(vectors: VectorMatrix, sample: int) -> FloatMatrix:
    rows = np.unique(np.linspace(0, len(vectors) - 1, num=min(sample, len(vectors))).round().astype(np.intp))
    return np.asarray(vectors[rows], dtype=np.float64)
