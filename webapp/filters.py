"""How numbers, times and hashes are written, once for all pages. A missing value is "-", never 0."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Flask
from markupsafe import Markup

from experiments.verdicts.hit_rules import by_rule
from webapp.whiskers import HasInterval

NONE = "-"
THIN = "\u202f"  # narrow no-break space, between thousands
SPACE = "\u00a0"  # no-break space, before a unit
MINUS = "\u2212"


def proportion(estimate: HasInterval) -> str:
    """`0.83 [0.72, 0.90]`, or `- (n = 0)` where the denominator is empty."""
    if estimate.value is None:
        return f"{NONE} (n = {estimate.n})"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def interval(estimate: HasInterval, digits: int = 2) -> str:
    """`[0.72, 0.90]`, `[−0.50, 0.00]` or, with thin spaces, `[550, 1 012]`; nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = (f"{end:,.{digits}f}".replace(",", THIN).replace("-", MINUS) for end in (estimate.low, estimate.high))
    return f"[{low}, {high}]"


def decimal(value: float | None, digits: int = 2) -> str:
    """A decimal number with a fixed number of places and a true minus sign."""
    return NONE if value is None else f"{value:.{digits}f}".replace("-", MINUS)


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a percentage, `21.2 %`."""
    return NONE if share is None else f"{share * 100:.{digits}f}{SPACE}%".replace("-", MINUS)


def p_value(p: float | None) -> str:
    """`0.454`, `0.0015`, `< 0.001`: three decimals, a fourth under 0.01."""
    if p is None:
        return NONE
    if p < 0.001:
        return "< 0.001"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def integer(value: float | None) -> str:
    """A whole number with thin spaces between thousands."""
    return NONE if value is None else f"{round(value):,}".replace(",", THIN).replace("-", MINUS)


def signed(value: float | None, digits: int = 0) -> str:
    """A difference with its sign: `+18`, `−3`, `0`."""
    if value is None:
        return NONE
    written = f"{value:+.{digits}f}"
    if float(written) == 0:
        return written.lstrip("+-")
    return written.replace("-", MINUS)


def short_hash(value: str | None, length: int = 7) -> str:
    """The first characters of a commit or content hash."""
    return value[:length] if value else NONE


def duration(seconds: float | None) -> str:
    """`0.30 ms`, `14 ms`, `12 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds is None:
        return NONE
    if seconds < 1:
        thousandth = seconds * 1000
        return f"{thousandth:.0f}{SPACE}ms" if thousandth >= 10 else f"{thousandth:.2f}{SPACE}ms"
    if seconds < 60:
        return f"{seconds:.0f}{SPACE}s" if seconds >= 10 else f"{seconds:.1f}{SPACE}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{SPACE}min {rest:02d}{SPACE}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{SPACE}h {minutes:02d}{SPACE}min"


def utc(moment: datetime) -> datetime:
    """A time with its zone; SQLite gives back UTC without saying so."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """How long ago, in the largest unit that fits: `2 hours ago`."""
    if moment is None:
        return NONE
    seconds = ((now or datetime.now(UTC)) - utc(moment)).total_seconds()
    if seconds < 45:
        return "just now"
    for size, unit in ((31_557_600, "year"), (2_629_800, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count != 1 else ''} ago"
    return "1 minute ago"


def time(moment: datetime | None, now: datetime | None = None) -> str:
    """A `time` element: how long ago, with the exact moment for machines and as its title."""
    if moment is None:
        return NONE
    exact = utc(moment).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(exact, ago(moment, now))


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 question`, `64 questions`."""
    return f"{integer(count)} {one if count == 1 else many or one + 's'}"


def register(app: Flask) -> None:
    """Give templates the filters of this module."""
    for each in (
        proportion, interval, decimal, percent, p_value, integer, signed, short_hash, duration, ago, time, counted,
        by_rule,
    ):  # fmt: skip
        app.add_template_filter(each)
