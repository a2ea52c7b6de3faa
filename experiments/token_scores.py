"""Token-level scores of a combination: how much of what it returns is needle, and how much of the needles it returns.

Secondary numbers, beside the hits that a gate can act on: half a needle scores half here, and is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corpus.questions import Query
from experiments import measures
from experiments.evaluation import Number
from experiments.outcomes import Outcome
from experiments.relevance import APART
from experiments.stats.intervals import cluster_bootstrap_mean
from experiments.stats.ranges import RangeScores, range_scores


def token_numbers(
    outcomes: Sequence[Outcome],
    queries: Sequence[Query],
    omega: Mapping[str, float],
    *,
    ks: Sequence[int],
    seed: int,
) -> list[Number]:
    """Precision, recall and IoU of the top k chunks against all needles of a question, and precision omega.

    Means over the questions that have needles, with bootstrap intervals over needles. A question to which nothing
    was returned has a recall and an IoU of 0, and no precision.

    Args:
        outcomes: Of all questions, with at least `max(ks)` hits where so many were returned.
        queries: The questions.
        omega: Precision omega by question; empty where it is not known.
        ks: Depths.
        seed: Of the bootstrap.

    Returns:
        The numbers; none where no question has needles.
    """
    asked = {query.id: query for query in queries if query.needles}
    scored = [outcome for outcome in outcomes if outcome.query_id in asked]
    if not scored:
        return []
    clusters = [outcome.needle_id or outcome.query_id for outcome in scored]
    numbers = []
    for k in ks:
        found = [score_at(asked[outcome.query_id], outcome, k) for outcome in scored]
        for measure, values in (
            (measures.token_precision(k), [one and one.precision for one in found]),
            (measures.token_recall(k), [one and one.recall for one in found]),
            (measures.token_iou(k), [one and one.iou for one in found]),
        ):
            numbers.append(_mean(measure, values, clusters, seed))
    numbers.append(_mean(measures.PRECISION_OMEGA, [omega.get(one.query_id) for one in scored], clusters, seed))
    return numbers


def score_at(query: Query, outcome: Outcome, k: int) -> RangeScores | None:
    """One question's scores at k; None where a returned chunk stands at no one place of the documents."""
    hits = outcome.hits[:k]
    if any(hit.text is not None for hit in hits):
        return None
    names = sorted({*(needle.document for needle in query.needles), *(hit.document for hit in hits)})
    base = {name: place * APART for place, name in enumerate(names)}
    wanted = [(base[one.document] + one.start, base[one.document] + one.end) for one in query.needles]
    returned = [(base[hit.document] + hit.overlap_start, base[hit.document] + hit.end) for hit in hits]
    return range_scores(wanted, returned)


def _mean(measure: measures.Measure, values: Sequence[float | None], clusters: Sequence[str], seed: int) -> Number:
    known = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    mean = cluster_bootstrap_mean(
        np.array([value for value, _ in known], float), [cluster for _, cluster in known], seed=seed
    )
    return Number(measure.name, mean.mean, mean.low, mean.high, None, mean.n)
