"""Reranking: a cross-encoder reads question and chunk together, for the first chunks of another ranking."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.measures import TIMED_QUESTIONS
from experiments.models import BATCH
from experiments.ranking import ABSENT, Ranking
from experiments.second_models import SCORE_DECIMALS, Pair, PairScorer
from store.pair_scores import PairScoreCache

Advance = Callable[[int], object]  # told how many pairs were scored since the last call


class Reranker:
    """A cross-encoder over the chunks of one strategy; a `SecondModel`."""

    bytes_kept: int | None = None

    def __init__(
        self,
        scorer: PairScorer,
        texts: Sequence[str],
        depth: int,
        cache: PairScoreCache | None = None,
        advance: Advance = lambda _: None,
        *,
        fresh: bool = False,
    ) -> None:
        """Prepare to rerank.

        Args:
            scorer: The cross-encoder.
            texts: Embedded texts of all chunks, header and overlap included.
            depth: How many chunks of the first ranking are scored; the rest keeps its order behind them.
            cache: Scores that are known; a sweep that is killed loses at most the batch it was working on. None
                scores everything anew and keeps nothing.
            advance: Called after each batch.
            fresh: Time questions even where their pairs were timed before.
        """
        self.stamp = scorer.stamp
        self._scorer, self._texts, self._depth = scorer, texts, depth
        self._cache, self._advance, self._fresh = cache, advance, fresh

    def rank(self, questions: Sequence[str], first: Ranking) -> Ranking:
        """The first chunks of `first` in the order of their scores, the rest behind them as it was.

        Args:
            questions: n of them.
            first: Their ranking by another retriever.

        Returns:
            As many chunks as `first`; scores are NaN where the cross-encoder was not asked.
        """
        heads = self._heads(first)
        pairs = [self._pairs(question, head) for question, head in zip(questions, heads, strict=True)]
        scores = self._scores([pair for row in pairs for pair in row])
        ends = np.cumsum([len(head) for head in heads])[:-1]
        return reordered(first, heads, np.split(scores, ends))

    def milliseconds(self, questions: Sequence[str], first: Ranking) -> dict[str, list[float]]:
        """Milliseconds to score one question's first chunks, of the first questions one by one.

        Kept beside the scores of the same pairs until it is to be measured anew; what is scored for it is kept as well.
        """
        rows = list(zip(questions, self._heads(first), strict=True))[:TIMED_QUESTIONS]
        asked = [self._pairs(question, head) for question, head in rows if len(head)]
        name = "rerank_milliseconds " + _digest(key_of(pair) for pairs in asked for pair in pairs).hex()
        known = self._cache.note(name) if self._cache is not None and not self._fresh else None
        if known is None:
            known = [self._timed(pairs, warm=place > 0) for place, pairs in enumerate(asked)]
            if self._cache is not None:
                self._cache.put_note(name, known)
        return {"rerank": known}

    def characters_read(self, question: str, chunks: Sequence[int]) -> list[int]:
        """Characters of these chunks' texts that fit into the window beside the question."""
        return self._scorer.characters_read(self._pairs(question, chunks)) if len(chunks) else []

    def to_score(self, questions: Sequence[str], first: Ranking) -> int:
        """Pairs whose score is not known yet."""
        pairs = [pair for question, head in zip(questions, self._heads(first), strict=True)
                 for pair in self._pairs(question, head)]  # fmt: skip
        return len(self._missing(pairs))

    def _heads(self, first: Ranking) -> list[NDArray[np.intp]]:
        return [order[order != ABSENT] for order in first.order[:, : self._depth]]

    def _pairs(self, question: str, chunks: Iterable[int]) -> list[Pair]:
        return [(question, self._texts[chunk]) for chunk in chunks]

    def _timed(self, pairs: list[Pair], *, warm: bool) -> float:
        if not warm:
            self._scorer.score_pairs(pairs)
        new = len(self._missing(pairs))
        begin = time.perf_counter()
        scores = self._scorer.score_pairs(pairs)
        taken = (time.perf_counter() - begin) * 1000
        if self._cache is not None:
            self._cache.put({key_of(pair): float(score) for pair, score in zip(pairs, scores, strict=True)})
        self._advance(new)
        return taken

    def _missing(self, pairs: Sequence[Pair]) -> list[Pair]:
        """The distinct pairs whose score is not known, longest first so that a batch holds pairs of one length."""
        distinct = {key_of(pair): pair for pair in pairs}
        known = self._cache.get(list(distinct)) if self._cache is not None else {}
        missing = [pair for key, pair in distinct.items() if key not in known]
        return sorted(missing, key=lambda pair: (-len(pair[0]) - len(pair[1]), pair))

    def _scores(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """One score a pair, in order."""
        fresh: dict[bytes, float] = {}
        todo = self._missing(pairs)
        for start in range(0, len(todo), BATCH):
            batch = todo[start : start + BATCH]
            scored = dict(zip(map(key_of, batch), map(float, self._scorer.score_pairs(batch)), strict=True))
            unusable = next((pair for pair in batch if not np.isfinite(scored[key_of(pair)])), None)
            if unusable is not None:
                raise ValueError(
                    f"{self.stamp.name} gave the score {scored[key_of(unusable)]} for {unusable[0][:60]!r} "
                    f"and {unusable[1][:60]!r}"
                )
            if self._cache is not None:
                self._cache.put(scored)
            fresh |= scored
            self._advance(len(batch))
        keys = [key_of(pair) for pair in pairs]
        rest = [key for key in dict.fromkeys(keys) if key not in fresh]
        known = fresh if self._cache is None else {**self._cache.get(rest), **fresh}
        return np.array([known[key] for key in keys], np.float64)


def reordered(first: Ranking, heads: Sequence[NDArray[np.intp]], scores: Sequence[NDArray[np.float64]]) -> Ranking:
    """A ranking whose first chunks are put in the order of new scores, ties by chunk index.

    Args:
        first: The ranking as it was.
        heads: Of each question, the chunks that were scored: the first ones of its row.
        scores: Of each question, their scores in the same order.

    Returns:
        The same chunks; scores are the new ones, NaN where there is none.
    """
    order = first.order.copy()
    new = np.where(order == ABSENT, -np.inf, np.nan)
    for row, (head, values) in enumerate(zip(heads, scores, strict=True)):
        rounded = np.round(values, SCORE_DECIMALS) + 0.0  # no negative zero
        by_score = np.lexsort((head, -rounded))
        order[row, : len(head)] = head[by_score]
        new[row, : len(head)] = rounded[by_score]
    return Ranking(order, new)


def key_of(pair: Pair) -> bytes:
    """The cache key of a pair; window and precision are in the cache's stamp."""
    question, text = pair
    return hashlib.sha256(f"{len(question)} {question}{text}".encode("utf-8", "surrogatepass")).digest()


def _digest(keys: Iterable[bytes]) -> bytes:
    return hashlib.sha256(b"".join(keys)).digest()
