import json
from datetime import UTC, datetime

import pytest
from worlds import BLIND, MODEL, NOON, SECTIONS, THRESHOLDS, filled, retrieved

from experiments.evaluation import answerable, ranks
from experiments.reading import load_sweep
from experiments.report import report
from experiments.stats.intervals import wilson
from experiments.stats.retrieval import recall_at
from experiments.thresholds import ThresholdRow

FAILED = f"A/hybrid/{MODEL}"


@pytest.fixture
def plain(engine):
    """The report of a sweep with one failed combination, through JSON and back."""
    sweep_id = filled(engine, [BLIND, SECTIONS], failed={FAILED: "ModelError: broke"}, tag="v1", author_date=NOON)
    return json.loads(json.dumps(report(load_sweep(engine, sweep_id)), allow_nan=False))


def test_a_report_is_json_without_nan_and_says_what_was_measured_and_where(plain):
    assert plain.keys() == {"sweep", "verdicts", "combinations", "pairs", "gains"}
    sweep = plain["sweep"]
    assert (sweep["commit"], sweep["branch"], sweep["dirty"], sweep["tag"]) == ("c" * 40, "main", False, "v1")
    assert (sweep["documents"], sweep["needles"], sweep["answerable"], sweep["near"], sweep["far"]) == (3, 4, 8, 2, 1)
    assert datetime.fromisoformat(sweep["author_date"]) == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert sweep["settings"]["thresholds"] == list(THRESHOLDS)
    assert not {"pid", "heartbeat_at", "cancel_requested"} & sweep.keys()


def test_every_number_carries_hits_n_low_and_high(plain):
    recorded = [one for one in plain["combinations"] if one["state"] == "recorded"]
    assert len(recorded) == 5
    for combination in recorded:
        numbers = combination["numbers"]
        assert {"recall_at_1", "recall_at_4", "mrr", "destroyed", "truncated", "chunks", "tokens"} <= numbers.keys()
        for number in numbers.values():
            assert number.keys() == {"value", "low", "high", "hits", "n"}
        for row in combination["thresholds"]:
            assert row.keys() == set(ThresholdRow._fields)
            for name, share in row.items():
                if name != "threshold":
                    assert share.keys() == {"hits", "n", "value", "low", "high"}
                    again = wilson(share["hits"], share["n"])
                    assert (share["value"], share["low"], share["high"]) == (again.estimate, again.low, again.high)


def test_the_numbers_are_those_of_the_retrieval(plain):
    for combination in plain["combinations"]:
        if combination["state"] == "recorded":
            strategy = {"A": BLIND, "E": SECTIONS}[combination["strategy"]]
            outcomes = retrieved(strategy, combination["retriever"]).outcomes
            for k in (1, 4):
                share = recall_at(ranks(answerable(outcomes)), k)
                assert combination["numbers"][f"recall_at_{k}"] == {
                    "hits": share.hits,
                    "n": 8,
                    "value": share.estimate,
                    "low": share.low,
                    "high": share.high,
                }
            assert combination["cutting"] == retrieved(strategy, "dense").cutting._asdict()
            assert combination["gate_model"]["name"] == MODEL


def test_every_threshold_and_none_is_a_row(plain):
    for combination in plain["combinations"]:
        if combination["state"] == "recorded":
            assert [row["threshold"] for row in combination["thresholds"]] == [None, *THRESHOLDS]
    (dense,) = [one for one in plain["combinations"] if one["key"] == f"E/dense/{MODEL}"]
    free = dense["thresholds"][0]
    assert (free["right"]["hits"], free["right"]["n"]) == (8, 8)
    assert (free["bluffs"]["hits"], free["bluffs_near"]["hits"], free["bluffs_far"]["hits"]) == (3, 2, 1)
    assert dense["extremes"] == {
        "worst_answerable": 1.0,
        "worst_query": "heat-ticket",
        "best_unanswerable": 0.292893,
        "best_query": "near-ferry",
        "separable": False,
    }


def test_a_failed_combination_has_its_reason_and_no_number(plain):
    (failed,) = [one for one in plain["combinations"] if one["key"] == FAILED]
    assert (failed["state"], failed["reason"]) == ("failed", "ModelError: broke")
    assert (failed["numbers"], failed["thresholds"], failed["extremes"]) == ({}, [], None)
    assert (failed["gate_model"], failed["cutting"]) == (None, None)


def test_all_pairs_of_recorded_combinations_are_reported_at_every_k(plain):
    assert plain["pairs"].keys() == plain["verdicts"].keys() == {"1", "4"}
    for k, pairs in plain["pairs"].items():
        assert len(pairs) == 5 * 4 // 2
        for pair in pairs:
            assert FAILED not in (pair["first"], pair["second"])
            assert pair["k"] == int(k)
            assert pair["n"] == 8
            assert pair["p"] <= pair["holm_p"] <= 1
            assert pair["by_needle"].keys() == {"wins", "losses", "ties", "n", "p"}
            assert pair["by_needle"]["n"] == 4
    for sentences in plain["verdicts"].values():
        assert sentences
        assert all(sentence.endswith(".") for sentence in sentences)


def test_a_sweep_of_which_nothing_is_recorded_is_still_a_report(engine):
    sweep_id = filled(engine, [SECTIONS], ["bm25"], failed={"E/bm25": "broke"}, state="failed")
    plain = json.loads(json.dumps(report(load_sweep(engine, sweep_id)), allow_nan=False))
    assert plain["pairs"] == {"1": [], "4": []}
    assert plain["verdicts"]["1"] == ["Nothing is measured yet: no combination has an answerable question on record."]
