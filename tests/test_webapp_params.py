"""Query strings: typed, bounded, and a bad one is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from webapp import params
from webapp.params import BadParameterError


def test_absent_and_empty_parameters_are_the_default():
    for args in ({}, {"x": ""}):
        assert params.choice(args, "x", ("a", "b"), "a") == "a"
        assert params.integer(args, "x", 1, 20, 8) == 8
        assert params.decimal(args, "x", 0, 2, None) is None
        assert params.flag(args, "x") is False
        assert params.text(args, "x") == ""
        assert params.words(MultiDict(args), "x", ("a", "b")) == ()
        assert params.ids(MultiDict(args), "x") == ()


def test_values_are_read_with_their_types():
    assert params.choice({"x": "b"}, "x", ("a", "b"), "a") == "b"
    assert params.integer({"x": "-3"}, "x", -5, 5, 0) == -3
    assert params.integer_of({"k": "20"}, "k", (1, 4, 8, 20), 4) == 20
    assert params.decimal({"x": "0.675"}, "x", 0, 2, None) == 0.675
    assert params.flag({"x": "1"}, "x") is True
    assert params.text({"x": "  kv cache "}, "x") == "kv cache"
    assert params.words(MultiDict([("x", "b,a"), ("x", "b")]), "x", ("a", "b", "c")) == ("a", "b")
    assert params.ids(MultiDict([("x", "9,2"), ("x", "9")]), "x") == (9, 2)


@pytest.mark.parametrize("raw", ["21", "0", "1e3", "٣", "1.0", " 4", "--4", "9" * 30, "NaN"])
def test_what_is_no_whole_number_in_range_is_refused(raw):
    with pytest.raises(BadParameterError) as caught:
        params.integer({"k": raw}, "k", 1, 20, 4)
    assert (caught.value.name, caught.value.value, caught.value.status) == ("k", raw, 400)
    assert caught.value.advice == "k may be a whole number from 1 to 20."


@pytest.mark.parametrize("raw", ["nan", "inf", "-inf", "2.1", "-0.1", "0,675", "abc"])
def test_what_is_no_decimal_in_range_is_refused(raw):
    with pytest.raises(BadParameterError, match="is not allowed"):
        params.decimal({"t": raw}, "t", 0, 2, None)


def test_unknown_words_and_ids_are_refused_by_name():
    with pytest.raises(BadParameterError) as caught:
        params.words(MultiDict([("strategy", "E,Z")]), "strategy", ("A", "E"))
    assert caught.value.value == "Z"
    assert "A, E" in caught.value.advice
    for raw in ("x", "1,-2", "1,2.5", "9" * 25):
        with pytest.raises(BadParameterError):
            params.ids(MultiDict([("pick", raw)]), "pick")
    with pytest.raises(BadParameterError):
        params.ids(MultiDict([("pick", ",".join(map(str, range(300))))]), "pick")
    with pytest.raises(BadParameterError):
        params.choice({"sort": "zz"}, "sort", ("a",), "a")
    with pytest.raises(BadParameterError):
        params.integer_of({"k": "5"}, "k", (1, 4), 4)
    with pytest.raises(BadParameterError):
        params.flag({"x": "yes"}, "x")
    with pytest.raises(BadParameterError):
        params.text({"x": "a" * 501}, "x")


def test_links_keep_the_other_parameters_and_drop_the_empty_ones():
    pairs = [("k", "20"), ("strategy", "E"), ("words", "")]
    assert params.changed(pairs, sort="-r20") == "?k=20&strategy=E&sort=-r20"
    assert params.changed(pairs, k=None, strategy=("E", "F")) == "?strategy=E%2CF"
    assert params.changed(pairs, k=None, strategy=None) == ""
    assert params.changed([("pick", "1"), ("pick", "2")], pick=(3,)) == "?pick=3"


@given(st.text(), st.floats(), st.integers())
def test_any_text_is_either_read_within_its_bounds_or_refused(raw, _number, _other):
    args = MultiDict([("x", raw)])
    for read in (
        lambda: params.integer(args, "x", -10, 10, 0),
        lambda: params.decimal(args, "x", -10, 10, 0.0),
    ):
        try:
            assert -10 <= read() <= 10
        except BadParameterError as error:
            assert error.value == raw
