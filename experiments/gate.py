"""The gate: the only part of a retriever that can say no.

It looks at the retriever's first chunks and keeps those under a cosine distance. It never looks further down: what it
keeps at a stricter threshold is always part of what it keeps at a looser one.
"""

from __future__ import annotations

from collections.abc import Sequence

GATE_SIZE = 4  # chunks at most


def refusal(question: str, threshold: float) -> str:
    """What the system says when nothing is kept; no model is called."""
    return f'NO ANSWER: nothing under cosine distance {threshold:g} for "{question}"'


def kept(distances: Sequence[float], threshold: float | None) -> list[int]:
    """Positions of the ranked chunks that pass.

    Args:
        distances: Cosine distances of the ranked chunks, best rank first.
        threshold: The cut, strictly under which a chunk passes; None keeps all the gate looks at.
    """
    cut = float("inf") if threshold is None else threshold
    return [position for position, distance in enumerate(distances[:GATE_SIZE]) if distance < cut]
