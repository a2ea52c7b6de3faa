"""A chunk's distance on a small scale, drawn by the server, with the line the gate draws."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 150, 18, 6
_STEP = 0.1
_LARGEST = 2.0  # a cosine distance


class Scale(NamedTuple):
    """Both ends, shared by everything that is compared."""

    low: float
    high: float


def scale_of(distances: Iterable[float | None]) -> Scale:
    """A scale in whole tenths that holds all distances with some room; a usual one where there are none."""
    known = [distance for distance in distances if distance is not None]
    if not known:
        return Scale(0.3, 0.9)
    low = max(math.floor((min(known) - _STEP / 2) / _STEP) * _STEP, 0.0)
    high = min(math.ceil((max(known) + _STEP / 2) / _STEP) * _STEP, _LARGEST)
    return Scale(round(low, 1), round(high, 1))


def drawn(distance: float, threshold: float | None, scale: Scale, *, kept: bool) -> Markup:
    """One distance as a dot: filled where the gate kept the chunk, open where it did not.

    Args:
        distance: Cosine distance.
        threshold: Where the line stands; None for no line.
        scale: Both ends.
        kept: Whether the chunk passed.
    """
    parts = [Markup('<line class="axis" x1="{}" x2="{}" y1="9" y2="9"/>').format(MARGIN, WIDTH - MARGIN)]
    if threshold is not None:
        at = _x(threshold, scale)
        parts.append(Markup('<line class="open-side" x1="{}" x2="{}" y1="9" y2="9"/>').format(MARGIN, at))
        parts.append(Markup('<line class="cut" x1="{0}" x2="{0}" y1="1" y2="17"/>').format(at))
    parts.append(Markup('<circle cx="{}" cy="9" r="4"/>').format(_x(distance, scale)))
    line = "no threshold" if threshold is None else f"threshold {threshold:g}"
    return Markup('<svg class="distance {}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        "kept" if kept else "beyond",
        WIDTH,
        HEIGHT,
        f"distance {distance:.3f}, {'kept' if kept else 'not kept'}, {line}",
        Markup("").join(parts),
    )


def _x(value: float, scale: Scale) -> float:
    share = min(max((value - scale.low) / (scale.high - scale.low), 0.0), 1.0)
    return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)
