"""What a second model does for a retriever: score pairs of question and chunk, or embed texts token by token.

The two protocols that `rerank` and `late` are written against; `experiments.reranking` and
`experiments.late_interaction` rank with them, tests put a deterministic stand-in in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.models import ModelStamp
from experiments.ranking import Ranking

Pair = tuple[str, str]  # question, text

# A score's last decimals depend on how texts were batched; two equal texts must not change places with them.
SCORE_DECIMALS = 4


class PairScorer(Protocol):
    """A cross-encoder: reads a question and a text together."""

    stamp: ModelStamp

    def score_pairs(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Raw relevance scores (logits, before any activation), shape (n,), in the order given; higher is better."""
        ...

    def characters_read(self, pairs: Sequence[Pair]) -> list[int]:
        """Characters of each pair's text that fit into the window beside its question; no score is computed."""
        ...


class TokenBatch(NamedTuple):
    """Texts as a late-interaction model sees them."""

    vectors: list[NDArray[np.float32]]  # of each text (tokens, dimensions), unit length, special tokens included
    seen: list[int]  # characters of each text inside the window


class TokenEncoder(Protocol):
    """A late-interaction model: one unit vector a token, made of questions and texts apart."""

    stamp: ModelStamp

    def encode_documents(self, texts: Sequence[str]) -> TokenBatch:
        """Embed texts to be found, with the model's own document marker and without what it skips (punctuation)."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> TokenBatch:
        """Embed questions, with the model's own query marker and, where it does so, padded with mask tokens."""
        ...


class SecondModel(Protocol):
    """Ranks the chunks of one strategy by a second model."""

    stamp: ModelStamp
    bytes_kept: int | None  # of what it keeps of the chunks on disk; None where it keeps nothing of them

    def rank(self, questions: Sequence[str], first: Ranking) -> Ranking:
        """Rank chunks for each question, given the ranking of another retriever (which not every one looks at)."""
        ...

    def milliseconds(self, questions: Sequence[str], first: Ranking) -> dict[str, list[float]]:
        """Milliseconds of its stages, of the first `TIMED_QUESTIONS` questions one by one."""
        ...

    def characters_read(self, question: str, chunks: Sequence[int]) -> list[int]:
        """Characters of each of these chunks' texts that it reads for this question."""
        ...
