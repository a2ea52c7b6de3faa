"""Deterministic stand-ins for second models, whose rankings can be worked out by eye."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.models import ModelStamp
from experiments.second_models import Pair, TokenBatch

WINDOW = 60  # words


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _stamp(name: str, window: int, dimensions: int) -> ModelStamp:
    return ModelStamp(name, "test", "s" * 64, hashlib.sha256(name.encode()).hexdigest(), dimensions, window, "fp32")


def _read(text: str, room: int) -> int:
    """Characters of a text up to the end of its `room`-th word."""
    ends = [match.end() for match in re.finditer(r"\w+", text)]
    return len(text) if len(ends) <= room else ends[room - 1] if room > 0 else 0


class OverlapScorer:
    """Scores a pair by the words both share, less one hundredth for each word of the text: short ones first."""

    def __init__(self, name: str = "overlap", window: int = WINDOW) -> None:
        self.stamp = _stamp(name, window, 1)
        self.scored: list[Pair] = []
        self.batches: list[int] = []

    def score_pairs(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        self.scored += pairs
        self.batches.append(len(pairs))
        return np.array([self._score(*pair) for pair in pairs], np.float32)

    def _score(self, question: str, text: str) -> float:
        read = _words(text[: self.characters_read([(question, text)])[0]])
        return len(set(_words(question)) & set(read)) - len(read) / 100

    def characters_read(self, pairs: Sequence[Pair]) -> list[int]:
        return [_read(text, self.stamp.window - len(_words(question))) for question, text in pairs]


class WordTokenEncoder:
    """Every word has its own direction, made of its letters' hash; MaxSim is then near the number of shared words."""

    def __init__(
        self, name: str = "word-tokens", window: int = WINDOW, dimensions: int = 48, question_window: int = WINDOW
    ) -> None:
        self.stamp = _stamp(name, window, dimensions)
        self.encoded: list[str] = []
        self._question_window = question_window

    def encode_documents(self, texts: Sequence[str]) -> TokenBatch:
        self.encoded += texts
        seen = [_read(text, self.stamp.window) for text in texts]
        return TokenBatch([self._vectors(text[:end]) for text, end in zip(texts, seen, strict=True)], seen)

    def encode_queries(self, texts: Sequence[str]) -> TokenBatch:
        seen = [_read(text, self._question_window) for text in texts]
        return TokenBatch([self._vectors(text[:end]) for text, end in zip(texts, seen, strict=True)], seen)

    def _vectors(self, text: str) -> NDArray[np.float32]:
        vectors = np.stack([self._direction(word) for word in ["[marker]", *_words(text)]])
        return vectors.astype(np.float32)

    def _direction(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        vector = np.random.default_rng(seed).normal(size=self.stamp.dimensions)
        return vector / np.linalg.norm(vector)
