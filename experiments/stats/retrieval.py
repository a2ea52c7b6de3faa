"""How well a retriever ranks: success at k, reciprocal ranks and nDCG.

Recall@k means one thing in this project: the share of *answerable queries* with a hit in the top k. A needle has one
place in the corpus, so this is what the literature calls success@k (or hit rate); it is not the share of all
relevant chunks that were found, which overlap between chunks would distort.

Ranks are counted from 1; 0 stands for "never found".
"""

import numpy as np
import numpy.typing as npt

from experiments.stats.checks import BoolArray, FloatArray, floats, integer, integers
from experiments.stats.intervals import Proportion, wilson


def success_at(ranks: npt.ArrayLike, k: int) -> BoolArray:
    """Return which queries have their hit in the top k.

    Args:
        ranks: Shape (n_queries,). Rank of the first hit from 1, 0 where there is none.
        k: Depth, at least 1.

    Returns:
        Shape (n_queries,). True where the rank is 1 to k.

    Raises:
        ValueError: If a rank is negative or not an integer, or k is under 1.
    """
    found = integers("ranks", ranks)
    return (found > 0) & (found <= integer("k", k, 1))


def recall_at(ranks: npt.ArrayLike, k: int, confidence: float = 0.95) -> Proportion:
    """Return R@k, the share of answerable queries with a hit in the top k, with its Wilson interval.

    Recall@k here is success@k on answerable queries: see the module's docstring.

    Args:
        ranks: Shape (n_queries,). Rank of the first hit from 1, 0 where there is none; answerable queries only.
        k: Depth, at least 1.
        confidence: Confidence level of the interval.

    Raises:
        ValueError: If a rank is negative or not an integer, k is under 1, or confidence is out of range.
    """
    hits = success_at(ranks, k)
    return wilson(int(hits.sum()), hits.size, confidence)


def reciprocal_ranks(ranks: npt.ArrayLike) -> FloatArray:
    """Return 1 / rank for every query, 0 where the hit was never found.

    Args:
        ranks: Shape (n_queries,). Rank of the first hit from 1, 0 where there is none.

    Returns:
        Shape (n_queries,), in [0, 1].

    Raises:
        ValueError: If a rank is negative or not an integer.
    """
    found = integers("ranks", ranks)
    reciprocal = np.zeros(found.shape, dtype=np.float64)
    np.divide(1.0, found, out=reciprocal, where=found > 0)
    return reciprocal


def mrr(ranks: npt.ArrayLike) -> float | None:
    """Return the mean reciprocal rank, None when there are no queries.

    Args:
        ranks: Shape (n_queries,). Rank of the first hit from 1, 0 where there is none.

    Raises:
        ValueError: If a rank is negative or not an integer.

    References:
        Voorhees, "The TREC-8 question answering track report", TREC 1999.
    """
    reciprocal = reciprocal_ranks(ranks)
    return float(reciprocal.mean()) if reciprocal.size else None


def ndcg_at(gains: npt.ArrayLike, ideal: npt.ArrayLike, k: int) -> FloatArray:
    """Return the normalised discounted cumulative gain of every query.

    The gain is the relevance itself and the discount log2(rank + 1), as in trec_eval. Binary relevance is the case
    where all gains are 0 or 1.

    Args:
        gains: Shape (n_queries, depth). Relevance of what stands at each rank, best rank first.
        ideal: Shape (n_queries, n_judged). Relevance of all that is relevant to the query in the corpus, in any
            order, filled up with 0; it need not have been retrieved.
        k: Depth, at least 1.

    Returns:
        Shape (n_queries,), in [0, 1]; NaN where nothing is relevant, since no ranking could be right or wrong.

    Raises:
        ValueError: If the arrays are not two-dimensional, differ in rows, hold a negative or infinite gain, rank
            more gain than is ideal, or k is under 1.

    References:
        Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
    """
    ranked, best = floats("gains", gains, 2), floats("ideal", ideal, 2)
    depth = integer("k", k, 1)
    if len(ranked) != len(best):
        raise ValueError(f"lengths differ: gains {len(ranked)}, ideal {len(best)}")
    for name, array in (("gains", ranked), ("ideal", best)):
        if array.size and array.min() < 0:
            raise ValueError(f"{name} must be at least 0, got {array.min()}")
    reached, possible = _discounted(ranked, depth), _discounted(-np.sort(-best, axis=1), depth)
    if bool((reached > possible * (1 + 1e-9)).any()):
        query = int(np.argmax(reached - possible))
        raise ValueError(f"gains of query {query} exceed its ideal: {reached[query]} over {possible[query]}")
    ndcg = np.full(len(ranked), np.nan)
    np.divide(reached, possible, out=ndcg, where=possible > 0)
    # Rounding alone can lift a perfect ranking over 1.
    capped: FloatArray = np.minimum(ndcg, 1.0)
    return capped


def _discounted(gains: FloatArray, depth: int) -> FloatArray:
    kept = gains[:, :depth]
    discounted: FloatArray = kept @ (1.0 / np.log2(np.arange(2, kept.shape[1] + 2)))
    return discounted
