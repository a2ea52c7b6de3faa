"""Tables for the terminal."""

from __future__ import annotations

import click
import pytest
from worlds import found

from experiments.cli.options import FloatRange
from experiments.cli.tables import threshold_lines
from experiments.thresholds import read_thresholds
from experiments.verdicts.strategies import Arm


def test_without_unanswerable_questions_no_bluffs_are_counted_rather_than_none():
    outcomes = [found("q1", "n1", 1), found("q2", "n2", 2)]
    (_, _, line) = threshold_lines(Arm("E", "bm25", None, outcomes), read_thresholds(outcomes, [None]))
    assert line.split() == ["none", "2", "0", "0", "|", "-", "(", "-,", "-)"]


def test_a_number_that_is_none_lies_in_no_range() -> None:
    with pytest.raises(click.BadParameter, match="nan is not a number"):
        FloatRange(0, 2).convert("nan", None, None)
    assert FloatRange(0, 2).convert("0.5", None, None) == 0.5
