"""Where a fused ranking is significantly worse than one of the two it is made of: fusing is not always a gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from experiments.outcomes import Recorded
from experiments.reviewing.flips import Change, changes
from experiments.words import interval, listed, p_value

if TYPE_CHECKING:
    from experiments.verdicts.strategies import Arm

_SEED = 20260101  # of the bootstrap of the difference
PARTS = ("dense", "bm25")


def on_fusion(arms: Sequence[Arm], k: int, alpha: float) -> tuple[str, ...]:
    """One sentence for every fused ranking that loses to one of its parts.

    The family of tests is every fused ranking against each of its parts; p-values are Holm's over all of them.

    Args:
        arms: The recorded combinations of one sweep.
        k: Depth at which an answer counts as found.
        alpha: Significance level of the family.
    """
    parts: dict[str, Sequence[Recorded]] = {}
    fused: dict[str, Sequence[Recorded]] = {}
    names: dict[str, tuple[Arm, Arm]] = {}
    for whole, part in _pairs(arms):
        key = f"{whole.key} {part.key}"
        parts[key], fused[key], names[key] = part.outcomes, whole.outcomes, (whole, part)
    return tuple(
        _sentence(change, *names[change.key])
        for change in changes(parts, fused, k, _SEED)
        if change.holm_p <= alpha and len(change.broken) > len(change.fixed)
    )


def _pairs(arms: Sequence[Arm]) -> Iterator[tuple[Arm, Arm]]:
    for whole in arms:
        if whole.retriever == "hybrid":
            for part in arms:
                same = part.strategy == whole.strategy and part.model in (None, whole.model)
                if same and part.retriever in PARTS:
                    yield whole, part


def _sentence(change: Change, whole: Arm, part: Arm) -> str:
    other = listed([name for name in PARTS if name != part.retriever])
    gap = change.difference
    return (
        f"Fusing does harm: {whole.name} finds less than {part.retriever} alone at R@{change.k} "
        f"({len(change.fixed)} won, {len(change.broken)} lost of {change.n}, {p_value(change.p)}, "
        f"Holm {p_value(change.holm_p)}; difference {gap.mean:+.2f} {interval(gap.low, gap.high)}). "
        f"Use {part.retriever}, or give {other} less weight in [hybrid]."
    )
