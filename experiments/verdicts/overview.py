"""What a history of sweeps says, in plain sentences. Two sweeps are never called different here: Compare tests that."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.measures import Measure
from experiments.reviewing.trends import TrendPoint
from experiments.verdicts.strategies import Verdict
from experiments.words import listed, plural


def written(measure: Measure, value: float | None) -> str:
    """A number of a measure as people write it: shares and means under 1 with decimals, sizes whole."""
    if value is None:
        return "-"
    if measure.kind == "proportion":
        return f"{value:.2f}"
    if measure.kind == "milliseconds":
        return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"
    if measure.kind == "mean" and abs(value) <= 1:
        return f"{value:.3f}"
    return f"{value:,.0f}"


def written_with_interval(measure: Measure, value: float | None, low: float | None, high: float | None, n: int) -> str:
    """`0.86 [0.75, 0.92] (n = 64)`; a count is exact and has neither."""
    if value is None:
        return f"- (n = {n:,})"
    if low is None or high is None:
        return written(measure, value)
    return f"{written(measure, value)} [{written(measure, low)}, {written(measure, high)}] (n = {n:,})"


def on_undecided(newest: int | None) -> Verdict:
    """That no threshold is in force, and how one comes to be."""
    if newest is None:
        return Verdict(
            "Nothing has been measured yet, so nothing is decided.",
            ("A first sweep measures every chunking strategy with every retriever: start it below.",),
        )
    return Verdict(
        "No threshold has been decided: nothing says yet when the system should rather give no answer.",
        (
            f"It is chosen on the Threshold page of sweep {newest}, or on the command line by bluffline decide, and "
            "recorded with its reason and its evidence.",
        ),
    )


def on_end(state: str, recorded: int, total: int) -> str:
    """What became of a sweep that did not finish, and what to do; empty for one that did or still runs."""
    kept = f"{recorded:,} of {plural(total, 'combination')} {'is' if recorded == 1 else 'are'} recorded"
    if not recorded and state in ("interrupted", "cancelled"):
        return "Nothing was recorded. Start a sweep again; texts that were embedded are not embedded again."
    if state == "interrupted":
        return f"{kept}. Start it again at the same commit: it goes on where it stopped."
    if state == "cancelled":
        stay = "stays" if recorded == 1 else "stay"
        return f"{kept} and {stay}. Start a sweep: what is recorded is not retrieved again."
    if state == "failed":
        return "No combination could be measured. Mend what the reasons below name, then start again."
    return ""


def on_failed(failed: int, total: int, unjudged: int = 0) -> str:
    """That a finished sweep lacks combinations; empty where it lacks none."""
    without = failed + unjudged
    if not without:
        return ""
    ended = [word for word, count in (("failed", failed), ("cannot be judged", unjudged)) if count]
    return (
        f"{without:,} of {plural(total, 'combination')} {listed(ended, 'or')} and "
        f"{'has' if without == 1 else 'have'} no numbers; "
        "what was recorded is not measured again when you start anew."
    )


def on_trend(points: Sequence[TrendPoint], measure: Measure, name: str) -> str:
    """The newest point of a trend beside the one before.

    Args:
        points: Oldest first.
        measure: What is shown.
        name: The combination as people call it, or `the best combination`.
    """
    if not points:
        return f"No sweep shown here has recorded {measure.label} of {name}."
    last = points[-1]
    now = written_with_interval(measure, last.value, last.low, last.high, last.n)
    said = f"{measure.label} of {name} is {now} in sweep {last.sweep_id}"
    if len(points) == 1:
        return f"{said}; there is no earlier sweep to set beside it."
    before = points[-2]
    if last.changed:
        return (
            f"{said}. The {' and '.join(last.changed)} changed since sweep {before.sweep_id}, so no line joins the two."
        )
    was = written_with_interval(measure, before.value, before.low, before.high, before.n)
    return f"{said} and was {was} in sweep {before.sweep_id}, on the same documents and questions."
