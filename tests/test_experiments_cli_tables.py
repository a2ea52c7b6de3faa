"""Tables for the terminal."""

from __future__ import annotations

from worlds import found

from experiments.cli.tables import threshold_lines
from experiments.thresholds import read_thresholds
from experiments.verdicts.strategies import Arm


def test_without_unanswerable_questions_no_bluffs_are_counted_rather_than_none():
    outcomes = [found("q1", "n1", 1), found("q2", "n2", 2)]
    (_, _, line) = threshold_lines(Arm("E", "bm25", None, outcomes), read_thresholds(outcomes, [None]))
    assert line.split() == ["none", "2", "0", "0", "|", "-", "(", "-,", "-)"]
