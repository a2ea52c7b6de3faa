"""Exact dense search over many chunks: the first few of a ranking without the distances to all the others.

What is returned is, chunk for chunk, the beginning of the ranking by float64 distances rounded to six decimals. A
float32 product finds the chunks that can be among them, and float64 decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.ranking import NORM_TOLERANCE, SCORE_DECIMALS, Ranking, VectorMatrix, check_unit_norms

_BLOCK_ROWS = 16_384
_KEPT_AT_MOST = 64  # times the depth, of candidates a query before they are thinned out
_UNIT_ROUNDOFF = 2.0**-24  # of float32


def nearest(queries: VectorMatrix, chunks: VectorMatrix, depth: int) -> Ranking:
    """The chunks nearest to every query by cosine, exactly, ties by chunk index.

    Args:
        queries: Shape (n_queries, dimensions). Unit vectors.
        chunks: Shape (n_chunks, dimensions). Unit vectors; may be memory-mapped, and is read once.
        depth: How many chunks to keep a query, at least 1.

    Returns:
        The same as ``rank(1 - round(dense_distances(queries, chunks), 6), depth)``, ``min(depth, n_chunks)`` deep. A
        score is the similarity that decided the order.

    Raises:
        ValueError: If the shapes do not fit, the depth is below 1, or the norm of a vector differs from 1 by more than
            1e-5.
    """
    if queries.ndim != 2 or chunks.ndim != 2 or queries.shape[1] != chunks.shape[1]:
        raise ValueError(f"vectors do not fit: queries have shape {queries.shape}, chunks {chunks.shape}")
    if depth < 1:
        raise ValueError(f"depth must be at least 1, got {depth}")
    check_unit_norms(queries, "query")
    if not len(chunks):
        return Ranking(np.empty((len(queries), 0), np.intp), np.empty((len(queries), 0)))
    candidates = _candidates(np.ascontiguousarray(queries, dtype=np.float32), chunks, min(depth, len(chunks)))
    return _decided(np.asarray(queries, dtype=np.float64), chunks, candidates, min(depth, len(chunks)))


def _candidates(queries: NDArray[np.float32], chunks: VectorMatrix, depth: int) -> list[NDArray[np.intp]]:
    """Every chunk that can be among a query's first `depth`, with some that cannot; one array a query."""
    slack = _slack(queries.shape[1])
    least = np.full(len(queries), -np.inf, dtype=np.float32)  # nothing below it can be among the first
    found: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]] = []
    waiting = 0
    for start in range(0, len(chunks), _BLOCK_ROWS):
        block = np.ascontiguousarray(chunks[start : start + _BLOCK_ROWS], dtype=np.float32)
        _check_norms(block, start)
        scores = queries @ block.T
        if start == 0 and depth <= len(block):
            least = np.partition(scores, len(block) - depth, axis=1)[:, len(block) - depth] - slack
        rows, columns = np.nonzero(scores >= least[:, np.newaxis])
        found.append((rows, columns + start, scores[rows, columns]))
        waiting += len(rows)
        if waiting > _KEPT_AT_MOST * depth * len(queries):
            found, least = _thinned(found, least, depth, slack)
            waiting = len(found[0][0])
    found, _ = _thinned(found, least, depth, slack)
    rows, places, _ = found[0]
    return [places[rows == row] for row in range(len(queries))]


def _slack(dimensions: int) -> np.float32:
    """How far below the float32 score of the last one that is kept a chunk may lie and still come before it.

    Both scores may be off by the bound of a float32 inner product of unit vectors; and distances are equal, and ordered
    by index, when they round to the same sixth decimal.

    References:
        Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition 2002, section 3.1.
    """
    product = dimensions * _UNIT_ROUNDOFF / (1 - dimensions * _UNIT_ROUNDOFF)
    rounded_input = 2 * _UNIT_ROUNDOFF  # vectors that came in float64
    return np.float32(2 * (product + rounded_input) * (1 + NORM_TOLERANCE) ** 2 + 2 * 10.0**-SCORE_DECIMALS)


def _thinned(
    found: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]],
    least: NDArray[np.float32],
    depth: int,
    slack: np.float32,
) -> tuple[list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]], NDArray[np.float32]]:
    """Leave out what the candidates themselves show to be too far down, and raise the bar."""
    rows, places, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    least = least.copy()
    for row in range(len(least)):
        own = scores[rows == row]
        if len(own) >= depth:
            least[row] = max(least[row], np.partition(own, len(own) - depth)[len(own) - depth] - slack)
    kept = scores >= least[rows]
    return [(rows[kept], places[kept], scores[kept])], least


def _decided(
    queries: NDArray[np.float64], chunks: VectorMatrix, candidates: list[NDArray[np.intp]], depth: int
) -> Ranking:
    """Order candidates by their float64 distance, rounded as everywhere."""
    order = np.empty((len(queries), depth), dtype=np.intp)
    best = np.empty((len(queries), depth), dtype=np.float64)
    for row, places in enumerate(candidates):
        cosines = np.concatenate(
            [np.empty(0)]
            + [
                np.asarray(chunks[places[start : start + _BLOCK_ROWS]], dtype=np.float64) @ queries[row]
                for start in range(0, len(places), _BLOCK_ROWS)
            ]
        )
        distances = np.round(np.maximum(1.0 - cosines, 0.0), SCORE_DECIMALS)
        scores = np.round(1 - distances, SCORE_DECIMALS) + 0.0
        first = np.lexsort((places, -scores))[:depth]
        order[row], best[row] = places[first], scores[first]
    return Ranking(order, best)


def _check_norms(block: NDArray[np.float32], start: int) -> None:
    """Look at norms in float32, and again in float64 where that could be too little."""
    squares = np.einsum("ij,ij->i", block, block)
    doubtful = np.flatnonzero(~(np.abs(np.sqrt(squares) - 1.0) <= NORM_TOLERANCE / 2))
    for place in doubtful:
        check_unit_norms(block[place : place + 1], "chunk", first_row=start + int(place))
