import math

import pytest
from worlds import (
    BLIND,
    MODEL,
    SECTIONS,
    combination_row,
    filled,
    found,
    sweep_row,
    unanswerable,
)

from experiments.reading import load_sweep
from experiments.run_contents import (
    combination_metrics,
    combination_params,
    own_metrics,
    sweep_params,
    tags,
    threshold_metrics,
)
from experiments.thresholds import read_thresholds
from store.tables import MeasureRow


def measure(name, **values):
    return MeasureRow(combination_id=1, name=name, **{"n": 64, **values})


def test_tags_say_where_a_run_belongs_and_what_it_was_made_from():
    sweep = sweep_row(key="k" * 32, dirty=True)
    assert tags(sweep, "threshold", "parent-id") == {
        "bluffline.kind": "threshold",
        "bluffline.sweep": "k" * 32,
        "commit": "c" * 40,
        "branch": "main",
        "dirty": "true",
        "corpus_hash": sweep.corpus_hash,
        "questions_hash": sweep.questions_hash,
        "mlflow.source.git.commit": "c" * 40,
        "mlflow.parentRunId": "parent-id",
    }


@pytest.mark.parametrize(("dirty", "said"), [(None, "unknown"), (True, "true"), (False, "false")])
def test_outside_git_nothing_is_claimed(dirty, said):
    found_tags = tags(sweep_row(commit=None, branch=None, dirty=dirty), "sweep")
    assert (found_tags["commit"], found_tags["branch"], found_tags["dirty"]) == ("none", "none", said)
    assert "mlflow.source.git.commit" not in found_tags
    assert "mlflow.parentRunId" not in found_tags


def test_parameters_find_a_combination_and_never_pass_what_mlflow_takes():
    row = combination_row("E", "dense", stamp={"model": {"name": MODEL}})
    assert combination_params(row) == {
        "strategy": "E",
        "retriever": "dense",
        "model": MODEL,
        "scorer": "none",
        "gate_model": MODEL,
    }
    bm25 = combination_row("E", "bm25")
    assert (combination_params(bm25)["model"], combination_params(bm25)["gate_model"]) == ("none", "none")
    params = sweep_params(sweep_row(settings={"thresholds": list(range(5000)), "alpha": 0.05}))
    assert params["alpha"] == "0.05"
    assert params["answerable"] == "8"
    assert all(isinstance(value, str) and len(value) <= 6000 for value in params.values())


def test_metrics_hold_every_part_of_a_number_and_no_unknown_one():
    metrics = combination_metrics(
        {
            "recall_at_4": measure("recall_at_4", value=0.5, low=0.4, high=0.6, hits=32),
            "not_quotable": measure("not_quotable", hits=0, n=0),
            "mrr": measure("mrr", value=0.25),
        }
    )
    assert metrics == {
        "recall_at_4": 0.5,
        "recall_at_4_low": 0.4,
        "recall_at_4_high": 0.6,
        "recall_at_4_hits": 32.0,
        "recall_at_4_n": 64.0,
        "not_quotable_hits": 0.0,
        "not_quotable_n": 0.0,
        "mrr": 0.25,
        "mrr_n": 64.0,
    }


def test_a_threshold_s_metrics_are_its_columns_beside_the_combination_s_quality():
    outcomes = [found("a", "n", 1, 0.2), found("b", "m", 1, 0.6), unanswerable("u", "near", 0.3)]
    (row,) = read_thresholds(outcomes, [0.5])
    metrics = threshold_metrics(row, {"recall_at_4": 0.5, "mrr_n": 64.0, "chunks": 940.0, "ms_embed": 13.0})
    assert (metrics["recall_at_4"], metrics["mrr_n"]) == (0.5, 64.0)
    assert not {"chunks", "ms_embed"} & metrics.keys()
    assert (metrics["right"], metrics["right_hits"], metrics["right_n"]) == (0.5, 1.0, 2.0)
    assert (metrics["refused_could_answer_hits"], metrics["bluffs"], metrics["bluffs_near_hits"]) == (1.0, 1.0, 1.0)
    assert metrics["bluffs_far_n"] == 0.0
    assert not {"bluffs_far", "bluffs_far_low", "bluffs_far_high"} & metrics.keys()  # nothing asked is not 0


def test_no_metric_of_a_real_sweep_overwrites_another_or_is_not_a_number(engine):
    loaded = load_sweep(engine, filled(engine, [BLIND, SECTIONS]))
    for row, arm in zip(loaded.recorded, loaded.arms, strict=True):
        numbers = loaded.measures[row.id or 0]
        metrics = combination_metrics(numbers)
        parts = [part for one in numbers.values() for part in (one.value, one.low, one.high, one.hits, one.n)]
        assert len(metrics) == sum(part is not None for part in parts)
        assert all(isinstance(value, float) and math.isfinite(value) for value in metrics.values())
        (threshold,) = read_thresholds(arm.outcomes, [0.3])
        columns = threshold_metrics(threshold, {})
        assert not columns.keys() & metrics.keys()
        assert all(len(name) <= 250 for name in metrics)


def test_a_run_of_a_team_s_own_retriever_says_how_asking_it_went():
    tally = {"ok": 60, "empty": 1, "timeout": 2, "error": 1, "not_asked": 0, "n": 64}
    ways = {"offsets": 0, "text": 1200, "ambiguous": 3, "not located": 17}
    row = combination_row(
        "own", "ours", stamp={"own": {"asks": "POST http://x/search", "tally": tally, "located": ways}}
    )
    assert own_metrics(row)["requests_timeout"] == 2.0
    assert own_metrics(row)["requests_n"] == 64.0
    assert own_metrics(row)["located_not_located"] == 17.0
    assert combination_params(row)["asks"] == "POST http://x/search"
    assert own_metrics(combination_row("A", "dense")) == {}
