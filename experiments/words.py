"""Numbers in sentences: one way to write a share, a p-value and a list, wherever text is made."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.stats.intervals import Proportion

NOTHING = "-"


def p_value(p: float) -> str:
    """`p = 0.0015`, or `p < 0.0001`."""
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.4f}" if p < 0.01 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """`[0.72, 0.90]` or `[550, 1,012]`, or nothing where there is none."""
    return "" if low is None or high is None else f"[{low:,.{digits}f}, {high:,.{digits}f}]"


def counted(share: Proportion, word: str = "") -> str:
    """`53 of 64 [0.72, 0.90]` or `53 of 64 questions [0.72, 0.90]`; never a bare 0 where there was nothing to count."""
    if share.n == 0:
        return f"{NOTHING} (n = 0)"
    of = plural(share.n, word) if word else f"{share.n:,}"
    return f"{share.hits:,} of {of} {interval(share.low, share.high)}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """`A, B and C`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""


def plural(count: int, word: str, many: str | None = None) -> str:
    """`1 needle`, `32 needles`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"
