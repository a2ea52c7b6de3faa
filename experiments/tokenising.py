"""Texts as a model's tokeniser cuts them: where tokens begin, how far the window reaches, and what the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Tokenised(NamedTuple):
    """Texts as tokens."""

    starts: list[NDArray[np.uint32]]  # character at which each token begins, special tokens left out
    seen: list[int]  # characters of each text inside the window
    ids: list[list[int]]  # tokens inside the window, special ones included


def tokenised(tokenizer: Any, texts: Sequence[str], prompt: str, window: int) -> Tokenised:
    """Cut texts into tokens, once.

    The tokeniser is asked without truncation, so that what lies beyond the window is known and can be said aloud; what
    the model reads is then cut as the tokeniser would: special tokens stay at both ends.

    Args:
        tokenizer: A fast tokeniser.
        texts: Any texts.
        prompt: Put in front of each of them.
        window: Tokens, special ones included.
    """
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)  # the fast tokeniser under transformers' wrapper
    truncation, padding = tokenizer.truncation, tokenizer.padding
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        encodings = tokenizer.encode_batch([prompt + text for text in texts])
    finally:
        if truncation:
            tokenizer.enable_truncation(**truncation)
        if padding:
            tokenizer.enable_padding(**padding)
    starts, seen, ids = [], [], []
    for text, encoding in zip(texts, encodings, strict=True):
        special = np.asarray(encoding.special_tokens_mask, bool)
        spans = np.asarray(encoding.offsets, np.int64).reshape(-1, 2)[~special] - len(prompt)
        room = max(window - int(special.sum()), 0)
        starts.append(spans[:, 0].clip(min=0).astype(np.uint32))
        seen.append(len(text) if len(spans) <= room else int(max(spans[room - 1, 1], 0)) if room else 0)
        beyond = np.cumsum(~special) > room
        ids.append(np.asarray(encoding.ids, np.int64)[special | ~beyond].tolist())
    return Tokenised(starts, seen, ids)


def token_starts(
    tokenizer: Any, texts: Sequence[str], prompt: str, window: int
) -> tuple[list[NDArray[np.uint32]], list[int]]:
    """Where tokens begin, and how many characters of each text the encoder reads; see `tokenised`."""
    found = tokenised(tokenizer, texts, prompt, window)
    return found.starts, found.seen
