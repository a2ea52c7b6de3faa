"""A strip of distances, drawn by the server: where a combination's hits lie, and the line the gate draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 320, 34, 6


class Tick(NamedTuple):
    """One hit."""

    distance: float
    gated: bool  # among those the gate looks at
    contains: bool  # the needle whole


def strip(ticks: Sequence[Tick], threshold: float | None, low: float, high: float) -> Markup:
    """Hits as ticks over a scale of cosine distances; the gate's are tall, those with the needle carry a dot.

    Args:
        ticks: Of one combination.
        threshold: Where the line stands; None for no line.
        low: Left end of the scale, shared by what is compared.
        high: Right end.

    Raises:
        ValueError: If the scale is empty.
    """
    if not high > low:
        raise ValueError(f"the scale of a strip is empty: [{low}, {high}]")
    drawn = [Markup('<line class="axis" x1="{}" x2="{}" y1="28" y2="28"/>').format(MARGIN, WIDTH - MARGIN)]
    for tick in ticks:
        x = _x(tick.distance, low, high)
        kind = " ".join(["gated"] * tick.gated + ["needle"] * tick.contains)
        top = 12 if tick.gated else 20
        drawn.append(Markup('<line class="tick {0}" x1="{1}" x2="{1}" y1="{2}" y2="28"/>').format(kind, x, top))
        if tick.contains:
            drawn.append(Markup('<circle class="needle" cx="{}" cy="{}" r="3.6"/>').format(x, top - 3))
    if threshold is not None and low <= threshold <= high:
        drawn.append(Markup('<line class="cut" x1="{0}" x2="{0}" y1="2" y2="33"/>').format(_x(threshold, low, high)))
    return Markup('<svg class="strip-of-hits" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, _said(ticks, threshold), Markup("").join(drawn)
    )


def _said(ticks: Sequence[Tick], threshold: float | None) -> str:
    gated = ", ".join(
        f"{tick.distance:.3f}{' with the needle' if tick.contains else ''}" for tick in ticks if tick.gated
    )
    line = "no threshold" if threshold is None else f"the line at {threshold:g}"
    return f"Distances of the chunks the gate looks at: {gated or 'none'}; {line}"


def _x(value: float, low: float, high: float) -> float:
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)
