"""What a longer prompt buys and costs: needles kept and tokens handed over, by how many chunks the gate may keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from experiments.outcomes import HITS_KEPT, Hit, Outcome
from experiments.stats.intervals import MeanInterval, Proportion, cluster_bootstrap_mean, wilson

SIZES = (1, 4, 8, 20)  # chunks; the gate itself keeps at most four


class ContextSize(NamedTuple):
    """One combination at one threshold, were the prompt to hold so many chunks."""

    chunks: int
    kept: Proportion  # of the answerable: the needle is in the prompt
    bluffs: Proportion  # of the unanswerable: something is in the prompt
    tokens: MeanInterval  # of the prompt's chunks, over the questions that are answered


def context_sizes(
    outcomes: Sequence[Outcome], threshold: float | None, *, seed: int, sizes: Sequence[int] = SIZES
) -> list[ContextSize]:
    """Read other prompt sizes from what was returned.

    Args:
        outcomes: Of all questions of one combination, with their hits.
        threshold: The gate's cut, strictly under which a chunk is kept; None keeps all.
        seed: Of the bootstrap.
        sizes: How many of the first chunks the prompt may hold, each at most the hits that are recorded.

    Returns:
        One row a size, in the order given.

    Raises:
        ValueError: If a size is not between 1 and the hits that are recorded.
    """
    for size in sizes:
        if not 1 <= size <= HITS_KEPT:
            raise ValueError(f"a prompt of {size} chunks cannot be read: 1 to {HITS_KEPT} are recorded")
    return [_size(outcomes, threshold, seed, size) for size in sizes]


def _size(outcomes: Sequence[Outcome], threshold: float | None, seed: int, size: int) -> ContextSize:
    prompts = {outcome.query_id: _kept(outcome, threshold, size) for outcome in outcomes}
    answerable = [outcome for outcome in outcomes if outcome.needle_id is not None]
    unanswerable = [outcome for outcome in outcomes if outcome.needle_id is None]
    answered = [outcome for outcome in outcomes if prompts[outcome.query_id]]
    kept = sum(any(hit.contains for hit in prompts[outcome.query_id]) for outcome in answerable)
    lengths = [float(sum(hit.tokens for hit in prompts[outcome.query_id])) for outcome in answered]
    return ContextSize(
        chunks=size,
        kept=wilson(kept, len(answerable)),
        bluffs=wilson(sum(bool(prompts[outcome.query_id]) for outcome in unanswerable), len(unanswerable)),
        tokens=cluster_bootstrap_mean(lengths, [one.needle_id or one.query_id for one in answered], seed=seed),
    )


def _kept(outcome: Outcome, threshold: float | None, size: int) -> list[Hit]:
    cut = float("inf") if threshold is None else threshold
    return [hit for hit in outcome.hits[:size] if hit.distance < cut]


def on_context_sizes(rows: Sequence[ContextSize]) -> str:
    """What the gate's own size costs against the largest, in a sentence."""
    small, large = rows[0], rows[-1]
    if small.tokens.mean is None or large.tokens.mean is None:
        return "Nothing is answered here, so no prompt is made."
    longer = large.tokens.mean / small.tokens.mean
    return (
        f"With {large.chunks} chunks instead of {small.chunks} the prompt holds the needle of "
        f"{large.kept.hits} instead of {small.kept.hits} of {small.kept.n} questions, and is {longer:.1f} times "
        f"as long ({large.tokens.mean:,.0f} instead of {small.tokens.mean:,.0f} tokens, mean over the answered)."
    )
