"""Small pictures inside tables, drawn by the server: an estimate with its interval, and shares of a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from flask import Flask
from markupsafe import Markup, escape

WIDTH, HEIGHT, MARGIN = 120, 16, 5
Kind = Literal["plain", "best", "alarm"]


class HasInterval(Protocol):
    """Anything with an estimate, its interval and the number it rests on, such as a row of measures."""

    @property
    def value(self) -> float | None: ...  # noqa: D102
    @property
    def low(self) -> float | None: ...  # noqa: D102
    @property
    def high(self) -> float | None: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102


class Estimate(NamedTuple):
    """A number that never stands alone.

    Attributes:
        value: The point estimate; None where the denominator is empty.
        low: Lower end of the interval.
        high: Upper end of the interval.
        n: What it rests on.
        hits: Numerator of a proportion, if it is one.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    hits: int | None = None


class Part(NamedTuple):
    """One share of a stacked bar: `kind` is a colour class such as right, wrong, refused, bluff or ok."""

    kind: str
    n: int
    label: str


def whisker(
    estimate: HasInterval,
    *,
    kind: Kind = "plain",
    reference: float | None = None,
    low: float = 0.0,
    high: float = 1.0,
    name: str = "",
) -> Markup:
    """An estimate and its interval on a scale shared by the whole column.

    Args:
        estimate: Value, low, high, n.
        kind: "best" and "alarm" take the evidence colours.
        reference: A value to compare with, drawn as a hairline, such as the best estimate of the column.
        low: Left end of the scale.
        high: Right end of the scale.
        name: What is estimated, for the accessible name.

    Raises:
        ValueError: If the scale is empty.
    """
    if not high > low:
        raise ValueError(f"the scale of a whisker is empty: [{low}, {high}]")
    if estimate.value is None:
        return Markup('<span class="whisker-none" aria-hidden="true"></span>')
    label = f"{name + ': ' if name else ''}{estimate.value:.2f}"
    # A page draws a thousand of these: only words are escaped, for everything else is a number made here.
    parts = [f'<line class="axis" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="8" y2="8"/>']
    if reference is not None:
        at = _x(reference, low, high)
        parts.append(f'<line class="ref" x1="{at}" x2="{at}" y1="0" y2="16"/>')
    if estimate.low is not None and estimate.high is not None:
        left, right = _x(estimate.low, low, high), _x(estimate.high, low, high)
        parts.append(f'<line class="ci" x1="{left}" x2="{right}" y1="8" y2="8"/>')
        label += f", interval {estimate.low:.2f} to {estimate.high:.2f}"
    parts.append(f'<circle cx="{_x(estimate.value, low, high)}" cy="8" r="3.4"/>')
    words = escape(f"{label}, n = {estimate.n}")
    return Markup(  # noqa: S704 - see above
        f'<svg class="whisker {escape(kind)}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}">'
        f"{''.join(parts)}</svg>"
    )


def stacked(parts: Sequence[Part], *, width: int = 160, name: str = "") -> Markup:
    """Counts as shares of one bar; nothing is drawn where there is nothing to share.

    Raises:
        ValueError: If a count is negative.
    """
    for part in parts:
        if part.n < 0:
            raise ValueError(f"{part.label}: a count of {part.n} cannot be drawn")
    total = sum(part.n for part in parts)
    if total == 0:
        return Markup('<span class="whisker-none" aria-hidden="true"></span>')
    drawn, at = [], 0.0
    for part in parts:
        if part.n == 0:
            continue
        span = part.n / total * width
        drawn.append(
            Markup('<rect class="{}" x="{}" y="0" width="{}" height="10"><title>{}</title></rect>').format(
                part.kind, round(at, 2), round(max(span - 1, 0.5), 2), f"{part.label}: {part.n}"
            )
        )
        at += span
    label = ", ".join(f"{part.label} {part.n}" for part in parts)
    return Markup(
        '<svg class="stacked" viewBox="0 0 {} 10" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(width, f"{name + ': ' if name else ''}{label}, n = {total}", Markup("").join(drawn))


def _x(value: float, low: float, high: float) -> float:
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)


def register(app: Flask) -> None:
    """Give templates `whisker(...)` and `stacked(...)`."""
    app.jinja_env.globals.update(whisker=whisker, stacked=stacked)
