"""The sentences of the overview."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from experiments import measures
from experiments.reviewing.trends import TrendPoint
from experiments.verdicts.overview import on_end, on_failed, on_trend, on_undecided, written, written_with_interval

RECALL = measures.recall(20)


def point(sweep_id, value, low=None, high=None, changed=()):
    return TrendPoint(
        sweep_id, "c" * 40, "main", False, datetime(2026, 1, 1, tzinfo=UTC), "E/bm25", value, low, high, 64, changed
    )


@pytest.mark.parametrize(
    ("measure", "value", "words"),
    [
        (RECALL, 0.8594, "0.86"),
        (measures.MRR, 0.2804, "0.280"),
        (measures.tokens(4), 524.4, "524"),
        (measures.CHUNKS, 1068.0, "1,068"),
        (measures.latency("scan"), 0.307, "0.31 ms"),
        (measures.latency("embed"), 13.4, "13 ms"),
        (RECALL, None, "-"),
    ],
)
def test_a_number_is_written_as_its_kind_is(measure, value, words):
    assert written(measure, value) == words


def test_a_share_carries_its_interval_and_n():
    assert written_with_interval(RECALL, 0.859, 0.754, 0.924, 64) == "0.86 [0.75, 0.92] (n = 64)"


def test_nothing_measured_is_no_zero():
    assert written_with_interval(RECALL, None, None, None, 0) == "- (n = 0)"


def test_a_count_is_exact():
    assert written_with_interval(measures.CHUNKS, 740.0, None, None, 740) == "740"


def test_an_undecided_store_says_where_to_decide():
    assert "Threshold page of sweep 7" in on_undecided(7).asides[0]
    assert on_undecided(None).headline.startswith("Nothing has been measured")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("interrupted", "goes on where it stopped"),
        ("cancelled", "12 of 18 combinations are recorded and stay"),
        ("failed", "Mend what"),
    ],
)
def test_a_sweep_that_ended_early_says_what_to_do(state, words):
    assert words in on_end(state, 12, 18)


@pytest.mark.parametrize("state", ["interrupted", "cancelled"])
def test_a_sweep_that_ended_before_anything_was_recorded_claims_nothing(state):
    assert on_end(state, 0, 18).startswith("Nothing was recorded.")


@pytest.mark.parametrize("state", ["finished", "running", "queued"])
def test_a_sweep_that_is_well_needs_no_advice(state):
    assert on_end(state, 12, 18) == ""


def test_counts_agree_with_their_verbs():
    assert on_end("interrupted", 1, 18).startswith("1 of 18 combinations is recorded")
    assert on_failed(1, 18).startswith("1 of 18 combinations failed and has no numbers")
    assert on_failed(2, 18).startswith("2 of 18 combinations failed and have no numbers")
    assert on_failed(0, 18) == ""


def test_a_trend_sets_the_newest_beside_the_one_before_and_claims_no_change():
    said = on_trend([point(4, 0.8, 0.7, 0.9), point(5, 0.9, 0.8, 0.95)], RECALL, "E bm25")
    assert said == (
        "R@20 of E bm25 is 0.90 [0.80, 0.95] (n = 64) in sweep 5 and was 0.80 [0.70, 0.90] (n = 64) in sweep 4, "
        "on the same documents and questions."
    )
    assert "better" not in said


def test_a_trend_over_a_break_joins_nothing():
    said = on_trend([point(4, 0.8), point(5, 0.9, changed=("documents", "questions"))], RECALL, "E bm25")
    assert said.endswith("The documents and questions changed since sweep 4, so no line joins the two.")


def test_a_trend_of_one_point_and_of_none_say_so():
    assert "no earlier sweep" in on_trend([point(5, 0.9)], RECALL, "E bm25")
    assert on_trend([], RECALL, "E bm25") == "No sweep shown here has recorded R@20 of E bm25."
