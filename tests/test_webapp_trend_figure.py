"""The figure of a number across commits: what is written over its breaks."""

from __future__ import annotations

from datetime import UTC, datetime

from experiments.measures import recall
from experiments.reviewing.trends import TrendPoint
from webapp.contexts.trend_figure import spec


def test_words_over_a_break_are_short_lines_that_stand_over_each_other_and_within_the_figure():
    changed = [(), ("documents", "questions"), ("documents", "questions", "hit rule", "pipeline"), ()]
    points = [
        TrendPoint(at, f"{at}" * 40, "main", False, datetime(2026, 1, 1, tzinfo=UTC), "E/bm25", 0.5, 0.4, 0.6, 64, what)
        for at, what in enumerate(changed)
    ]
    layout = spec(points, recall(20), {"E/bm25": "E bm25"}, dict.fromkeys(range(4), "/"))["layout"]
    words = [(one["text"], one["xanchor"], one["yshift"]) for one in layout["annotations"]]
    assert words == [
        ("documents and<br>questions changed", "left", 0),
        ("documents,<br>questions, hit rule<br>and pipeline changed", "left", 42),
    ]
    assert layout["margin"]["t"] == 8 + 2 * 42
