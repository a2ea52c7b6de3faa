import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.intervals import wilson
from experiments.words import counted, interval, listed, p_value, plural


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.0015, "p = 0.0015"),
        (0.00009, "p < 0.0001"),
        (0.0, "p < 0.0001"),
        (0.0129, "p = 0.013"),
        (0.092, "p = 0.092"),
        (0.454, "p = 0.45"),
        (0.1, "p = 0.10"),
        (1.0, "p = 1.00"),
    ],
)
def test_a_p_value_has_the_digits_that_matter(p, said):
    assert p_value(p) == said


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.1, 0.05, 0.01]))
def test_a_printed_p_value_never_lands_on_the_wrong_side_of_another(one, other, alpha):
    def printed(p):
        said = p_value(p)
        return 0.0 if "<" in said else float(said.split()[-1])

    low, high = sorted((one, other))
    assert printed(low) <= printed(high)
    if one <= alpha:
        assert printed(one) <= alpha


def test_a_share_is_counted_with_its_interval():
    assert counted(wilson(53, 64)) == "53 of 64 [0.72, 0.90]"
    assert counted(wilson(9, 32), "needle") == "9 of 32 needles [0.16, 0.45]"
    assert counted(wilson(1, 1), "needle") == "1 of 1 needle [0.21, 1.00]"
    assert counted(wilson(1000, 2000), "question") == "1,000 of 2,000 questions [0.48, 0.52]"


def test_where_nothing_was_counted_there_is_no_share():
    assert counted(wilson(0, 0)) == counted(wilson(0, 0), "needle") == "- (n = 0)"


@given(st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_no_interval_shows_a_negative_zero_or_leaves_0_to_1(pair):
    said = counted(wilson(*pair))
    assert "-0" not in said
    assert "1.01" not in said


def test_an_interval_that_is_not_known_is_left_out():
    assert interval(None, 0.5) == interval(0.5, None) == ""
    assert interval(0.4712, 0.7051, digits=3) == "[0.471, 0.705]"


def test_an_interval_groups_thousands_as_the_number_before_it_does():
    assert interval(550, 1012.4, digits=0) == "[550, 1,012]"


def test_words_are_listed():
    assert listed([]) == ""
    assert listed(["A"]) == "A"
    assert listed(["A", "B"]) == "A and B"
    assert listed(["A", "B", "C"], "or") == "A, B or C"


def test_one_is_singular():
    assert [plural(count, "needle") for count in (0, 1, 2, 1200)] == [
        "0 needles",
        "1 needle",
        "2 needles",
        "1,200 needles",
    ]
    assert plural(2, "strategy", "strategies") == "2 strategies"
