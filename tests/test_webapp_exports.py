"""Tables as files, and how numbers are written."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp import filters
from webapp.exports import Column, Table, respond
from webapp.whiskers import Estimate, Part, stacked, whisker

COLUMNS = (Column("name", "Name"), Column("recall", "R@20", "share", "Hits among the first 20."))


def table(*rows):
    return Table("sweep-41", COLUMNS, rows)


def test_csv_is_read_back_by_the_standard_reader():
    rows = [('say "hi"', 0.5), ("two\nlines", 1), ("a,b", None), ("ümläut", 0.1 + 0.2)]
    text = table(*rows).csv()
    assert text.startswith("name,recall\r\n")
    read = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [row[0] for row in read] == [name for name, _ in rows]
    assert [float(row[1]) if row[1] else None for row in read] == [value for _, value in rows]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=cmd", "\n-x"])
def test_text_that_a_spreadsheet_would_run_is_disarmed(text):
    read = list(csv.reader(io.StringIO(table((text, -0.5)).csv(), newline="")))
    assert read[1][0] == "'" + text
    assert read[1][1] == "-0.5"  # numbers stay numbers


@given(st.lists(st.tuples(st.text(), st.one_of(st.none(), st.floats(), st.integers())), max_size=5))
def test_json_is_strict_and_keeps_numbers(rows):
    def refuse(constant):
        raise AssertionError(constant)

    read = json.loads(table(*rows).json(), parse_constant=refuse)
    assert [column["label"] for column in read["columns"]] == ["Name", "R@20"]
    for (name, value), row in zip(rows, read["rows"], strict=True):
        assert row["name"] == name
        expected = None if value is None or not math.isfinite(value) else value
        assert row["recall"] == expected


def test_numpy_scalars_and_nan_are_plain_in_every_format():
    one = table(("a", np.float64(0.25)), ("b", np.int64(3)), ("c", float("nan")))
    assert [row["recall"] for row in json.loads(one.json())["rows"]] == [0.25, 3, None]
    assert one.csv().splitlines()[1:] == ["a,0.25", "b,3", "c,"]
    assert one.markdown().splitlines()[2:] == ["| a | 0.25 |", "| b | 3 |", "| c | - |"]


def test_markdown_survives_pipes_and_line_breaks():
    text = table(("a|b\nc <b>", 0.828125)).markdown()
    assert text.splitlines() == ["| Name | R@20 (share) |", "| --- | ---: |", "| a\\|b c &lt;b> | 0.8281 |"]


def test_a_table_whose_rows_do_not_fit_is_refused():
    with pytest.raises(ValueError, match="row 0 has 1 cells, not 2"):
        Table("t", COLUMNS, (("a",),))
    with pytest.raises(ValueError, match="twice"):
        Table("t", (COLUMNS[0], COLUMNS[0]), ())


def test_files_are_named_after_their_table():
    answer = respond(Table("../sweep 41", COLUMNS, ()), "csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="sweep-41.csv"'
    assert answer.mimetype == "text/csv"
    assert respond(table(), "json").mimetype == "application/json"
    assert respond(table(), "md").mimetype == "text/markdown"


# ---- numbers ---------------------------------------------------------------------------------------------------

RECALL = Estimate(53 / 64, 0.718, 0.901, 64, 53)
EMPTY = Estimate(None, None, None, 0)


def test_a_proportion_carries_its_interval_and_a_missing_one_its_zero_n():
    assert filters.proportion(RECALL) == "0.83 [0.72, 0.90]"
    assert filters.proportion(EMPTY) == "- (n = 0)"
    assert filters.interval(RECALL, 3) == "[0.718, 0.901]"
    assert filters.interval(EMPTY) == ""


@pytest.mark.parametrize(
    ("p", "written"),
    [(1.0, "1.000"), (0.454, "0.454"), (0.0922, "0.092"), (0.01294, "0.013"), (0.00149, "0.0015"), (0.0009, "< 0.001")],
)
def test_p_values_keep_what_matters(p, written):
    assert filters.p_value(p) == written


def test_numbers_are_written_the_same_everywhere():
    assert filters.percent(0.2119) == "21.2\u00a0%"
    assert filters.integer(114275) == "114\u202f275"
    assert filters.integer(940) == "940"
    assert filters.signed(18) == "+18"
    assert filters.signed(-3) == "\u22123"
    assert filters.signed(0) == "0"
    assert filters.signed(-0.001, 2) == "0.00"
    assert filters.decimal(-0.5) == "\u22120.50"
    assert filters.short_hash("7c1e9ab5d2f0") == "7c1e9ab"
    assert filters.counted(1, "query", "queries") == "1 query"
    assert filters.counted(2, "query", "queries") == "2 queries"
    missing = (filters.percent, filters.integer, filters.signed, filters.decimal, filters.p_value, filters.short_hash,
               filters.duration, filters.ago)  # fmt: skip
    assert {each(None) for each in missing} == {"-"}


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.0003, "0.30 ms"), (0.0142, "14 ms"), (1.5, "1.5 s"), (42, "42 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")],
)
def test_durations_take_the_unit_that_fits(seconds, written):
    assert filters.duration(seconds).replace("\u00a0", " ") == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(3, "just now"), (50, "1 minute ago"), (119, "1 minute ago"), (7300, "2 hours ago"), (86_400 * 40, "1 month ago")],
)
def test_times_are_told_by_distance(seconds, written):
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert filters.ago(now - timedelta(seconds=seconds), now) == written
    naive = (now - timedelta(seconds=seconds)).replace(tzinfo=None)  # as SQLite gives it back
    assert filters.ago(naive, now) == written


def test_a_time_keeps_its_exact_moment():
    moment = datetime(2026, 3, 1, 12, 30, 5)  # noqa: DTZ001 - as SQLite gives it back
    assert 'datetime="2026-03-01T12:30:05Z"' in filters.time(moment)


# ---- pictures in tables ----------------------------------------------------------------------------------------


def test_a_whisker_says_in_words_what_it_draws():
    drawn = whisker(RECALL, kind="best", reference=0.9, name="R@20")
    assert 'aria-label="R@20: 0.83, interval 0.72 to 0.90, n = 64"' in drawn
    assert 'class="whisker best"' in drawn
    assert f'cx="{round(5 + 53 / 64 * 110, 1)}"' in drawn
    assert "style=" not in drawn


def test_a_missing_estimate_draws_nothing():
    assert "svg" not in whisker(EMPTY)
    assert "svg" not in stacked([Part("right", 0, "right")])


def test_an_empty_scale_and_a_negative_count_are_refused():
    with pytest.raises(ValueError, match="empty"):
        whisker(RECALL, low=1, high=1)
    with pytest.raises(ValueError, match="-1"):
        stacked([Part("right", -1, "right")])


def test_names_are_escaped_in_pictures():
    assert "<b>" not in whisker(RECALL, name='"><b>')
    assert "<b>" not in stacked([Part("right", 1, '"><b>')])


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5))
def test_shares_fill_the_bar_and_no_more(counts):
    drawn = str(stacked([Part("right", count, "part") for count in counts], width=100))
    assert drawn.count("<rect") == sum(count > 0 for count in counts)
    assert f"n = {sum(counts)}" in drawn or not sum(counts)
