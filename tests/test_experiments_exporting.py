"""A sweep as files for other tools: what they compute from them is what was recorded."""

from __future__ import annotations

import io
import json

import ir_measures
import pyarrow.parquet as pq
import pytest
from ir_measures import RR, Success
from worlds import STRATEGIES, filled

from experiments.exporting import DESTROYED, file_name, json_file, parquet_files, trec_files
from experiments.reading import load_sweep
from experiments.recording import from_parquet
from store.engine import open_store


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('exporting') / 'store.db'}")
    settings = {
        "k": [1, 4],
        "alpha": 0.05,
        "seed": 7,
        "strategies": {strategy.name: strategy.spec for strategy in STRATEGIES},
        "models": ["keywords"],
        "retrievers": ["dense", "bm25", "hybrid"],
        "thresholds": [0.5],
    }
    filled(opened, settings=settings)
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def loaded(engine):
    return load_sweep(engine, 1)


def read(files: dict[str, str], row):
    qrels = list(ir_measures.read_trec_qrels(io.StringIO(files[f"{row.strategy}.qrels"])))
    run = list(ir_measures.read_trec_run(io.StringIO(files[f"{file_name(row.key)}.run"])))
    return qrels, run


def test_success_at_k_of_other_tools_is_the_recorded_recall(engine, loaded):
    files = dict(trec_files(engine, loaded))
    for row in loaded.recorded:
        qrels, run = read(files, row)
        for k in loaded.sweep.settings["k"]:
            theirs = ir_measures.calc_aggregate([Success @ k], qrels, run)[Success @ k]
            assert theirs == pytest.approx(loaded.measures[row.id][f"recall_at_{k}"].value), (row.key, k)


def test_the_reciprocal_rank_is_the_recorded_one_as_far_as_the_list_goes(engine, loaded):
    files = dict(trec_files(engine, loaded))
    for row in loaded.recorded:
        qrels, run = read(files, row)
        ranks = [outcome.rank for outcome in loaded.outcomes[row.id] if outcome.needle_id is not None]
        ours = sum(1 / rank for rank in ranks if rank is not None and rank <= 20) / len(ranks)
        assert ir_measures.calc_aggregate([RR @ 20], qrels, run)[RR @ 20] == pytest.approx(ours), row.key


def test_every_answerable_question_is_judged_even_where_its_needle_is_destroyed(engine, loaded):
    files = dict(trec_files(engine, loaded))
    asked = {outcome.query_id for outcome in loaded.outcomes[loaded.recorded[0].id] if outcome.needle_id}
    for row in loaded.recorded:
        qrels, _ = read(files, row)
        assert {one.query_id for one in qrels} == asked
        lost = {one.query_id for one in qrels if one.doc_id == DESTROYED}
        assert lost == {outcome.query_id for outcome in loaded.outcomes[row.id] if outcome.destroyed}


def test_parquet_files_are_what_was_recorded(engine, loaded):
    files = dict(parquet_files(engine, loaded))
    row = loaded.recorded[0]
    outcomes = from_parquet(files[f"outcomes-{file_name(row.key)}.parquet"])
    assert [one.query_id for one in outcomes] == [one.query_id for one in loaded.outcomes[row.id]]
    numbers = pq.read_table(io.BytesIO(files["numbers.parquet"])).to_pylist()
    (found,) = [one for one in numbers if one["combination_key"] == row.key and one["name"] == "recall_at_1"]
    kept = loaded.measures[row.id]["recall_at_1"]
    assert (found["value"], found["low"], found["high"], found["n"]) == (kept.value, kept.low, kept.high, kept.n)
    assert pq.read_table(io.BytesIO(files["questions.parquet"])).num_rows == len(outcomes)
    assert pq.read_table(io.BytesIO(files["documents.parquet"])).num_rows == loaded.sweep.documents


def test_the_json_file_holds_every_combination(loaded):
    whole = json.loads(json_file(loaded))
    assert [one["key"] for one in whole["combinations"]] == [row.key for row in loaded.combinations]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("E/dense/org/model-v2", "E_dense_org_model-v2"),
        ("E/bm25", "E_bm25"),
        ("../..", "_"),
        ("own/a b:c", "own_a_b_c"),
    ],
)
def test_keys_become_names_of_files_on_any_system(key, name):
    assert file_name(key) == name
