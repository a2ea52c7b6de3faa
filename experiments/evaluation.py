"""From the outcomes of a combination to its numbers, each with interval and n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import measures
from experiments.outcomes import DOCUMENTS_KEPT, Outcome, Recorded
from experiments.stats.intervals import Proportion, cluster_bootstrap_mean, wilson
from experiments.stats.retrieval import ndcg_at, recall_at, reciprocal_ranks


class Number(NamedTuple):
    """One number of a combination, ready to be kept."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    hits: int | None
    n: int


class Cutting(NamedTuple):
    """What a strategy did to the corpus, as one encoder sees it; of a team's own chunks most of it is not known."""

    chunks: int
    characters: int
    tokens: int | None
    header_tokens: int | None
    overlap_tokens: int | None
    over_budget: int | None
    over_window: int | None


def answerable(outcomes: Sequence[Recorded]) -> list[Recorded]:
    """The outcomes of questions that something answers: a needle, or a relevant document."""
    return [outcome for outcome in outcomes if outcome.needle_id is not None]


def ranks(outcomes: Sequence[Recorded]) -> NDArray[np.int64]:
    """Ranks from 1, 0 where the answer was never returned, shape (n_outcomes,)."""
    return np.array([outcome.rank or 0 for outcome in outcomes], np.int64)


class SideBySide(NamedTuple):
    """The answerable questions of several combinations in one order.

    Attributes:
        queries: Ids of the n questions that any of them was asked.
        needles: Their needles.
        ranks: Shape (n_combinations, n). Ranks from 1, 0 where the needle was never returned.
        asked: Shape (n_combinations, n). False where a combination has no answer on record, such as a retriever of
            one's own whose request failed: such a question is neither found nor missed.
    """

    queries: tuple[str, ...]
    needles: tuple[str, ...]
    ranks: NDArray[np.int64]
    asked: NDArray[np.bool_]


def side_by_side(outcomes: Sequence[Sequence[Recorded]]) -> SideBySide:
    """Lay combinations out over the questions that any of them was asked.

    Raises:
        ValueError: If a question has one needle under one combination and another under the next: those were asked
            different questions.
    """
    rows = [{outcome.query_id: outcome for outcome in answerable(one)} for one in outcomes]
    places: dict[str, int] = {}
    needles: list[str] = []
    for row in sorted(rows, key=len, reverse=True):  # the order of whoever was asked most is that of the question set
        for query, outcome in row.items():
            if query not in places:
                places[query] = len(needles)
                needles.append(outcome.needle_id or "")
            elif needles[places[query]] != outcome.needle_id:
                raise ValueError(f"{query!r} stands for different questions: its needle is not the same everywhere")
    found = np.zeros((len(rows), len(needles)), np.int64)
    asked = np.zeros((len(rows), len(needles)), bool)
    for number, row in enumerate(rows):
        at = [places[query] for query in row]
        found[number, at] = ranks(list(row.values()))
        asked[number, at] = True
    return SideBySide(tuple(places), tuple(needles), found, asked)


def score(
    outcomes: Sequence[Outcome],
    cutting: Cutting | None,
    milliseconds: Mapping[str, Sequence[float]],
    *,
    ks: Sequence[int],
    seed: int,
    token_bytes: int | None = None,
) -> list[Number]:
    """Every number of one combination that does not depend on a threshold.

    Args:
        outcomes: Of all questions.
        cutting: What the strategy did; None where nobody knows.
        milliseconds: Single-question times of each stage.
        ks: Depths.
        seed: Of the bootstrap.
        token_bytes: Of the chunks' token vectors on disk; None where the retriever keeps none.

    Returns:
        The numbers of `measures.registry(ks)` that apply.
    """
    asked = answerable(outcomes)
    found = ranks(asked)
    needles = [outcome.needle_id or "" for outcome in asked]
    reciprocal = cluster_bootstrap_mean(reciprocal_ranks(found), needles, seed=seed)
    hit = [outcome for outcome in asked if outcome.quotable is not None]
    numbers = [_proportion(measures.recall(k), recall_at(found, k)) for k in ks]
    numbers += document_numbers([outcome for outcome in outcomes if outcome.grades], ks=ks, seed=seed)
    numbers.append(Number("mrr", reciprocal.mean, reciprocal.low, reciprocal.high, None, reciprocal.n))
    # Of document-level relevance there are no needles to lose: n is 0, and that is shown as "-".
    lost = [outcome for outcome in outcomes if outcome.needle_id is not None and not outcome.grades]
    numbers.append(_proportion(measures.DESTROYED, _share_of_needles(lost, "destroyed")))
    numbers.append(_proportion(measures.TRUNCATED, _share_of_needles(lost, "truncated")))
    numbers.append(
        _proportion(measures.NOT_QUOTABLE, wilson(sum(outcome.quotable is False for outcome in hit), len(hit)))
    )
    numbers += _sizes(cutting) if cutting is not None else []
    if token_bytes is not None and cutting is not None:
        numbers.append(Number(measures.TOKEN_VECTORS.name, token_bytes, None, None, None, cutting.chunks))
    clusters = [outcome.needle_id or outcome.query_id for outcome in outcomes]
    for k in ks:
        sizes = [sum(hit.tokens for hit in outcome.hits[:k]) for outcome in outcomes]
        mean = cluster_bootstrap_mean(np.array(sizes, float), clusters, seed=seed)
        numbers.append(Number(measures.tokens(k).name, mean.mean, mean.low, mean.high, None, mean.n))
    numbers += [_latency(stage, times) for stage, times in milliseconds.items()]
    return numbers


def document_numbers(judged: Sequence[Outcome], *, ks: Sequence[int], seed: int) -> list[Number]:
    """nDCG@k and recall over documents, as trec_eval defines them, with bootstrap intervals over questions.

    Args:
        judged: Outcomes of document-level relevance; none gives no numbers.
        ks: Depths of nDCG; 10 is always among them.
        seed: Of the bootstrap.
    """
    if not judged:
        return []
    names = [outcome.query_id for outcome in judged]
    gains = _filled([[document.grade for document in outcome.documents] for outcome in judged])
    ideal = _filled([outcome.grades for outcome in judged])
    values = {measures.ndcg(k): ndcg_at(gains, ideal, k) for k in sorted({*ks, measures.NDCG_DEPTH})}
    values[measures.DOCUMENT_RECALL] = (gains[:, :DOCUMENTS_KEPT] > 0).sum(axis=1) / (ideal > 0).sum(axis=1)
    means = {measure: cluster_bootstrap_mean(each, names, seed=seed) for measure, each in values.items()}
    return [Number(measure.name, mean.mean, mean.low, mean.high, None, mean.n) for measure, mean in means.items()]


def _filled(rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Rows of different lengths as one matrix, filled up with 0."""
    matrix = np.zeros((len(rows), max(map(len, rows))), np.float64)
    for place, row in enumerate(rows):
        matrix[place, : len(row)] = row
    return matrix


def _share_of_needles(asked: Sequence[Recorded], fact: str) -> Proportion:
    """A needle is destroyed or truncated once, however many phrasings ask for it.

    A long question leaves a cross-encoder less of its window: what one phrasing lets it read was not lost for good.
    """
    needles: dict[str | None, list[bool | None]] = {}
    for outcome in asked:
        needles.setdefault(outcome.needle_id, []).append(getattr(outcome, fact))
    known = [all(lost) for lost in needles.values() if None not in lost]  # unknown is neither lost nor safe
    return wilson(sum(known), len(known))


def _proportion(measure: measures.Measure, share: Proportion) -> Number:
    return Number(measure.name, share.estimate, share.low, share.high, share.hits, share.n)


def _sizes(cutting: Cutting) -> list[Number]:
    """Counts are exact: they have no interval, and their n is themselves."""
    counted = {
        measures.CHUNKS: cutting.chunks,
        measures.CHARACTERS: cutting.characters,
        measures.TOKENS: cutting.tokens,
    }
    shares = {
        measures.HEADER_SHARE: (cutting.header_tokens, cutting.tokens),
        measures.OVERLAP_SHARE: (cutting.overlap_tokens, cutting.tokens),
        measures.OVER_BUDGET: (cutting.over_budget, cutting.chunks),
        measures.OVER_WINDOW: (cutting.over_window, cutting.chunks),
    }
    known = [(measure, count) for measure, count in counted.items() if count is not None]
    return [Number(measure.name, count, None, None, None, count) for measure, count in known] + [
        Number(measure.name, part / whole if whole else None, None, None, part, whole)
        for measure, (part, whole) in shares.items()
        if part is not None and whole is not None
    ]


def _latency(stage: str, times: Sequence[float]) -> Number:
    name = measures.latency(stage).name
    if not times:
        return Number(name, None, None, None, None, 0)
    low, median, high = np.percentile(times, [25, 50, 75])
    return Number(name, float(median), float(low), float(high), None, len(times))
