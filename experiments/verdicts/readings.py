"""What a paired change comes to, in one word, whatever it is a change of."""

from __future__ import annotations

from typing import Literal

from experiments.stats.resolution import Resolution

Reading = Literal["more", "fewer", "not proven", "cannot be resolved", "same", "untested"]


def reading_of(more: int, fewer: int, holm_p: float, resolution: Resolution, *, tested: bool, alpha: float) -> Reading:
    """Read a change.

    Args:
        more: Questions that have become what is counted.
        fewer: Questions that have ceased to be.
        holm_p: Corrected p-value of the paired test.
        resolution: What so many changed questions could show at all.
        tested: Whether a test may be made.
        alpha: Significance level.
    """
    if not more and not fewer:
        return "same"
    if not tested:
        return "untested"
    if holm_p <= alpha:
        return "more" if more > fewer else "fewer"
    return "not proven" if resolution.resolvable else "cannot be resolved"
