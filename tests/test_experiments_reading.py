import pytest
from sqlalchemy import event
from worlds import BLIND, MODEL, QUERIES, SECTIONS, filled, retrieved

from experiments.outcomes import Outcome
from experiments.reading import UnknownSweepError, arm_of, load_sweep
from experiments.thresholds import read_thresholds
from store.tables import CombinationRow


def test_a_sweep_is_read_whole_in_four_statements(engine):
    sweep_id = filled(engine)
    seen = []
    event.listen(engine, "before_cursor_execute", lambda *arguments: seen.append(arguments[2]))
    loaded = load_sweep(engine, sweep_id)
    assert len([statement for statement in seen if statement.lstrip().startswith("SELECT")]) == 4
    assert loaded.sweep.id == sweep_id
    assert len(loaded.combinations) == len(loaded.recorded) == len(loaded.arms) == 9


def test_a_failed_combination_is_listed_and_has_no_arm(engine):
    failed = f"A/dense/{MODEL}"
    loaded = load_sweep(engine, filled(engine, [BLIND, SECTIONS], ["dense", "bm25"], failed={failed: "broke"}))
    assert [row.key for row in loaded.combinations] == [failed, "A/bm25", f"E/dense/{MODEL}", "E/bm25"]
    assert [row.key for row in loaded.recorded] == [arm.key for arm in loaded.arms]
    assert failed not in [arm.key for arm in loaded.arms]


def test_what_is_read_back_gives_the_numbers_that_were_measured(engine):
    loaded = load_sweep(engine, filled(engine))
    for row, arm in zip(loaded.recorded, loaded.arms, strict=True):
        strategy = {"A": BLIND, "E": SECTIONS}.get(row.strategy)
        if strategy is None:
            continue
        measured: tuple[Outcome, ...] = retrieved(strategy, row.retriever).outcomes
        thresholds = [None, 0.1, 0.3, 0.7]
        assert read_thresholds(arm.outcomes, thresholds) == read_thresholds(measured, thresholds)
        assert [one.query_id for one in arm.outcomes] == [query.id for query in QUERIES]
        assert (arm.strategy, arm.retriever, arm.model) == (row.strategy, row.retriever, row.model)


def test_a_sweep_that_does_not_exist_is_named_with_the_newest_there_is(engine):
    with pytest.raises(UnknownSweepError, match=r"no sweep 7; the store is empty: make one with `bluffline run`"):
        load_sweep(engine, 7)
    sweep_id = filled(engine, [SECTIONS], ["bm25"])
    with pytest.raises(UnknownSweepError, match=rf"no sweep 7; the newest is {sweep_id}"):
        load_sweep(engine, 7)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (("dense", "org/a", None), "E with dense (a)"),
        (("bm25", None, None), "E with bm25"),
        (("rerank", "org/b", "org/x"), "E with rerank (b)"),
        (("late", None, "org/t"), "E with late (t)"),
    ],
)
def test_an_arm_names_the_models_of_which_the_sweep_has_several(key, name):
    retriever, model, scorer = key
    settings = {"models": ["org/a", "org/b"], "rerankers": ["org/x"], "late_models": ["org/t", "org/u"]}
    row = CombinationRow(strategy="E", retriever=retriever, model=model, scorer=scorer)
    assert arm_of(row, (), settings).name == name
    assert arm_of(row, (), {"models": ["org/a"]}).name == f"E with {retriever}"
