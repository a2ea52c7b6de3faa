"""The second models of live questions: each found once, used by one thread at a time, over the chunks at hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from experiments.conditions import Combination
from experiments.deciding.decision_fit import scorer_record
from experiments.late_interaction import LateRanker, TokenIndex, index_tokens
from experiments.models import ModelStamp
from experiments.project import Project
from experiments.reranking import Reranker
from experiments.second_bench import find_late_model, find_reranker, open_tokens
from experiments.second_models import Pair, PairScorer, SecondModel, TokenBatch, TokenEncoder

Answer = TypeVar("Answer")


class _Locked:
    """A second model that is used by one thread at a time: a tokeniser stands only one."""

    def __init__(self, model: Any) -> None:
        self.stamp: ModelStamp = model.stamp
        self._model, self._lock = model, threading.Lock()

    def _alone(self, work: Callable[..., Answer], argument: Any) -> Answer:
        with self._lock:
            return work(argument)


class _LockedScorer(_Locked):
    def score_pairs(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        return self._alone(self._model.score_pairs, pairs)

    def characters_read(self, pairs: Sequence[Pair]) -> list[int]:
        return self._alone(self._model.characters_read, pairs)


class _LockedTokens(_Locked):
    def encode_documents(self, texts: Sequence[str]) -> TokenBatch:
        encoded: TokenBatch = self._alone(self._model.encode_documents, texts)
        return encoded

    def encode_queries(self, texts: Sequence[str]) -> TokenBatch:
        encoded: TokenBatch = self._alone(self._model.encode_queries, texts)
        return encoded


class LiveSeconds:
    """Second models by name. Safe for many threads; what is scored live is written into no cache."""

    def __init__(self, project: Project) -> None:
        """Prepare; no model is looked for yet."""
        self._project = project
        self._lock = threading.RLock()
        self._scorers: dict[str, PairScorer] = {}
        self._encoders: dict[str, TokenEncoder] = {}

    def record(self, combination: Combination) -> dict[str, Any]:
        """What is at hand of a combination's second model, as a decision keeps it; empty where it has none.

        Raises:
            ModelError: If it cannot be found.
        """
        if combination.scorer is None:
            return {}
        reranks = combination.retriever == "rerank"
        found = self._scorer(combination.scorer) if reranks else self._encoder(combination.scorer)
        settings = {"rerank_depth": self._project.settings.rerank_depth}
        return scorer_record({"scorer": found.stamp._asdict()}, combination.retriever, settings)

    def tokens(self, combination: Combination, texts: Sequence[str]) -> TokenIndex | None:
        """The chunks' token vectors, out of the store or made now; None where the combination needs none.

        Raises:
            ModelError: If the model cannot be found or loaded.
        """
        if combination.retriever != "late" or combination.scorer is None:
            return None
        encoder = self._encoder(combination.scorer)
        return index_tokens(texts, encoder, open_tokens(self._project, encoder))

    def model(
        self,
        combination: Combination,
        texts: Sequence[str],
        tokens: TokenIndex | None,
        tell: Callable[[list[int]], object],
    ) -> SecondModel | None:
        """A combination's second model over chunks; None where it needs none.

        Args:
            combination: The combination.
            texts: Embedded texts of the chunks.
            tokens: Their token vectors, for late interaction.
            tell: Told how many characters of the question a late-interaction model read.

        Raises:
            ModelError: If it cannot be found.
        """
        if combination.scorer is None:
            return None
        if tokens is not None:
            return LateRanker(self._encoder(combination.scorer), tokens, tell)
        return Reranker(self._scorer(combination.scorer), texts, self._project.settings.rerank_depth)

    def _scorer(self, name: str) -> PairScorer:
        with self._lock:
            if name not in self._scorers:
                self._scorers[name] = _LockedScorer(find_reranker(self._project, name))
            return self._scorers[name]

    def _encoder(self, name: str) -> TokenEncoder:
        with self._lock:
            if name not in self._encoders:
                self._encoders[name] = _LockedTokens(find_late_model(self._project, name))
            return self._encoders[name]
