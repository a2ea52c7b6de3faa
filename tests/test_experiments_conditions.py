from dataclasses import replace

import pytest

from experiments.conditions import (
    DEFAULT_RETRIEVERS,
    PRESETS,
    Combination,
    Strategy,
    describe,
    grid,
    strategy_from_settings,
    strategy_from_spec,
)


def test_the_six_presets_are_the_documented_ingredients():
    table = {strategy.name: (strategy.cuts, strategy.header, strategy.overlap) for strategy in PRESETS}
    assert table == {
        "A": ("blind", False, 0),
        "B": ("blind", False, 64),
        "C": ("boundaries", False, 0),
        "D": ("boundaries", False, 64),
        "E": ("boundaries", True, 0),
        "F": ("boundaries", True, 64),
    }
    assert {strategy.budget for strategy in PRESETS} == {512}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"budget": -5}, "budget is -5"),
        ({"budget": True}, "budget is True"),
        ({"budget": 512.0}, "budget is 512.0"),
        ({"overlap": -1}, "overlap is -1"),
        ({"overlap": 512}, "below the budget of 512"),
        ({"overlap": "64"}, "overlap is '64'"),
        ({"cuts": "clever"}, "'clever', allowed are blind, boundaries"),
        ({"header": "yes"}, "header is 'yes'"),
        ({"name": ""}, "a name is"),
        ({"name": "E/F"}, "'E/F': a name is"),
        ({"name": "it's"}, "a name is"),
    ],
)
def test_an_ingredient_that_is_not_allowed_is_refused_with_its_value(change, named):
    with pytest.raises(ValueError, match=named):
        replace(PRESETS[0], **change)


def test_all_wrong_ingredients_are_reported_at_once():
    with pytest.raises(ValueError, match=r"cuts is 'x'.*header is 1.*budget is 0"):
        Strategy("wrong", "x", header=1, overlap=0, budget=0)


def test_the_smallest_budget_and_the_largest_overlap_are_allowed():
    assert Strategy("s", "blind", header=False, overlap=0, budget=1).budget == 1
    assert Strategy("s", "blind", header=False, overlap=9, budget=10).overlap == 9


def test_a_settings_table_becomes_a_strategy_with_defaults():
    assert strategy_from_settings("short", {"cuts": "boundaries"}) == Strategy("short", "boundaries", False, 0, 512)
    full = {"cuts": "blind", "header": True, "overlap": 10, "budget": 100}
    assert strategy_from_settings("x", full) == Strategy("x", "blind", True, 10, 100)


def test_an_unknown_setting_is_refused_and_the_known_ones_are_named():
    with pytest.raises(ValueError, match=r"'short': unknown setting 'bugdet', allowed are cuts, header, overlap, bud"):
        strategy_from_settings("short", {"cuts": "blind", "bugdet": 100})


def test_a_settings_table_without_cuts_is_refused():
    with pytest.raises(ValueError, match="'short': cuts is missing, allowed are blind, boundaries"):
        strategy_from_settings("short", {"budget": 100})


def test_a_strategy_is_described_by_its_ingredients():
    words = [describe(strategy) for strategy in PRESETS]
    assert words == [
        "blind",
        "blind + overlap 64",
        "boundaries",
        "boundaries + overlap 64",
        "boundaries + header",
        "boundaries + header + overlap 64",
    ]
    assert describe(replace(PRESETS[4], budget=300)) == "boundaries + header, 300 characters"


def test_the_spec_tells_ingredients_apart_and_ignores_the_name():
    changes = [{}, {"cuts": "blind"}, {"header": False}, {"overlap": 1}, {"budget": 513}]
    assert len({replace(PRESETS[4], **change).spec for change in changes}) == len(changes)
    assert replace(PRESETS[4], name="mine").spec == PRESETS[4].spec
    assert PRESETS[4].spec == "cuts=boundaries;header=true;overlap=0;budget=512"


def test_the_grid_of_the_presets_has_eighteen_combinations_with_bm25_once_per_strategy():
    combinations = grid(PRESETS, DEFAULT_RETRIEVERS, ["mini"])
    assert len(combinations) == 18
    assert [combination.key for combination in combinations[:3]] == ["A/dense/mini", "A/bm25", "A/hybrid/mini"]
    assert len({combination.key for combination in combinations}) == 18


def test_a_second_model_adds_no_bm25_combination():
    keys = [combination.key for combination in grid(PRESETS[4:5], DEFAULT_RETRIEVERS, ["m2", "m1"])]
    assert keys == ["E/dense/m2", "E/dense/m1", "E/bm25", "E/hybrid/m2", "E/hybrid/m1"]


def test_bm25_alone_needs_no_model():
    assert grid(PRESETS[:1], ["bm25"], []) == (Combination("A", "bm25", None),)


@pytest.mark.parametrize(
    ("strategies", "retrievers", "models", "named"),
    [
        (
            PRESETS,
            ["dense", "splade"],
            ["m"],
            "unknown retriever 'splade', known are dense, bm25, hybrid, rerank, late",
        ),
        (PRESETS, ["dense"], [], "retriever 'dense' needs a model"),
        (PRESETS, ["bm25", "bm25"], [], "retriever given more than once: 'bm25'"),
        (PRESETS, ["dense"], ["m", "m"], "model given more than once: 'm'"),
        ([PRESETS[0], PRESETS[0]], ["bm25"], [], "strategy given more than once: 'A'"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(strategies, retrievers, models, named):
    with pytest.raises(ValueError, match=named):
        grid(strategies, retrievers, models)


def test_bm25_with_a_model_is_refused():
    with pytest.raises(ValueError, match="'bm25' uses no model, got 'mini'"):
        Combination("E", "bm25", "mini")


@pytest.mark.parametrize("strategy", [*PRESETS, Strategy("own", "boundaries", header=True, overlap=3, budget=77)])
def test_a_strategy_is_read_back_from_the_line_a_sweep_keeps_of_it(strategy):
    assert strategy_from_spec(strategy.name, strategy.spec) == strategy


@pytest.mark.parametrize("spec", ["", "cuts=blind", "cuts=blind;header=false;overlap=0;budget=512;glue=1"])
def test_a_line_that_is_no_strategy_is_refused(spec):
    with pytest.raises(ValueError, match="does not name cuts, header, overlap, budget"):
        strategy_from_spec("A", spec)


def test_rerank_stands_once_per_model_and_cross_encoder_and_late_once_per_late_model():
    combinations = grid(PRESETS[4:5], ["rerank", "late"], ["m1", "m2"], ["x1", "x2"], ["c1", "c2"])
    assert [one.key for one in combinations] == [
        *("E/rerank/m1/x1", "E/rerank/m1/x2", "E/rerank/m2/x1", "E/rerank/m2/x2"),
        *("E/late/c1", "E/late/c2"),
    ]
    assert {one.model for one in combinations if one.retriever == "late"} == {None}


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        (("E", "rerank", "m"), "'rerank' needs a scorer"),
        (("E", "rerank", None, "x"), "'rerank' needs a model"),
        (("E", "late"), "'late' needs a scorer"),
        (("E", "late", "m", "c"), "'late' uses no model, got 'm'"),
        (("E", "dense", "m", "x"), "'dense' uses no scorer, got 'x'"),
    ],
)
def test_a_second_model_is_demanded_where_it_is_used_and_refused_where_it_is_not(parts, named):
    with pytest.raises(ValueError, match=named):
        Combination(*parts)
