"""Whole sweeps with second models: what they find, what they keep, and how they fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from made_scorers import OverlapScorer, WordTokenEncoder
from small_project import QUESTIONS, WordEncoder, small_project
from sqlalchemy import Engine

from experiments import second_bench, workbench
from experiments.asking.asker import Asker
from experiments.conditions import Combination
from experiments.model_specs import ModelSpec
from experiments.models import EncodedBatch, ModelError
from experiments.planning import planned
from experiments.project import Project
from experiments.recording import from_parquet
from experiments.runner import run_sweep
from experiments.second_bench import SecondBench
from experiments.sweep import queued, read_inputs
from store import reads, writes
from store.engine import open_store

SWEEP = """
strategies = ["A", "E"]
thresholds = [0.3, 0.675]
retrievers = ["dense", "bm25", "hybrid", "rerank", "late"]
rerankers = ["x1", "gone"]
late_models = ["tokens"]
k = [1, 4]
"""


@pytest.fixture
def scorers(monkeypatch: pytest.MonkeyPatch) -> dict[str, OverlapScorer]:
    """The cross-encoders that were found, by name."""
    found: dict[str, OverlapScorer] = {}

    def find(model: ModelSpec, _: Path) -> OverlapScorer:
        if model.name == "gone":
            raise ModelError("the model gone cannot be loaded: there is no such folder")
        return found.setdefault(model.name, OverlapScorer(model.name))

    monkeypatch.setattr(second_bench, "find_cross_encoder", find)
    monkeypatch.setattr(second_bench, "find_token_encoder", lambda model, _: WordTokenEncoder(model.name))
    monkeypatch.setattr(workbench, "find_encoder", lambda _project, name: WordEncoder(name))
    return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return small_project(tmp_path, SWEEP)


def test_a_sweep_of_all_five_retrievers(engine: Engine, project: Project, scorers: dict[str, OverlapScorer]) -> None:
    told: list[str] = []
    result = run_sweep(engine, project, say=told.append)
    rows = reads.combinations(engine, result.sweep_id)
    model = project.settings.models[0]
    assert [row.key for row in rows if row.strategy == "E"] == [
        *(f"E/dense/{model}", "E/bm25", f"E/hybrid/{model}"),
        *(f"E/rerank/{model}/x1", f"E/rerank/{model}/gone", "E/late/tokens"),
    ]
    assert {row.scorer for row in rows if row.state == "failed"} == {"gone"}
    assert result.failed == 2
    assert "the model gone cannot be loaded" in told[0]
    measures = reads.measures(engine, result.sweep_id)
    by_key = {row.key: row for row in rows}
    reranked, late = by_key[f"E/rerank/{model}/x1"], by_key["E/late/tokens"]
    stages = {name for name in measures[reranked.id or 0] if name.startswith("ms_")}
    assert stages == {"ms_embed", "ms_scan", "ms_lexical", "ms_fuse", "ms_rerank"}
    assert {name for name in measures[late.id or 0] if name.startswith("ms_")} == {"ms_tokens", "ms_maxsim"}
    assert (measures[late.id or 0]["token_vector_bytes"].value or 0) > 0
    assert "token_vector_bytes" not in measures[reranked.id or 0]
    assert (late.model, late.scorer, late.stamp["model"]["name"]) == (None, "tokens", model)
    assert reranked.stamp["scorer"]["name"] == "x1"


def test_hits_keep_the_rank_before_and_the_outcome_the_best_score(
    engine: Engine, project: Project, scorers: dict[str, OverlapScorer]
) -> None:
    result = run_sweep(engine, project)
    rows = {row.key: row for row in reads.combinations(engine, result.sweep_id)}
    model = project.settings.models[0]
    hits = reads.hits(engine, [row.id or 0 for row in rows.values()])
    before = {one.query_id: one for one in from_parquet(hits[rows[f"E/hybrid/{model}"].id or 0])}
    for outcome in from_parquet(hits[rows[f"E/rerank/{model}/x1"].id or 0]):
        first = before[outcome.query_id]
        assert outcome.scorer_score == max((hit.score or 0 for hit in outcome.hits[:4]), default=None)
        assert sorted(hit.first_rank or 0 for hit in outcome.hits) == list(range(1, len(first.hits) + 1))
        for hit in outcome.hits:
            assert first.hits[(hit.first_rank or 0) - 1].start == hit.start
        assert outcome.nearest == min(hit.distance for hit in outcome.hits[:4])  # the gate still reads cosine
    assert all(one.scorer_score is None for one in before.values())
    stored = reads.outcomes(engine, result.sweep_id)[rows["E/late/tokens"].id or 0]
    assert all(one.scorer_score is not None for one in stored)


def test_a_second_sweep_scores_nothing_and_a_fresh_one_only_what_it_times_anew(
    engine: Engine, project: Project, scorers: dict[str, OverlapScorer]
) -> None:
    first = run_sweep(engine, project)
    pairs = len(scorers["x1"].scored)
    assert pairs > 0
    again = run_sweep(engine, project)
    assert (again.reused, again.recorded) == (first.recorded, first.recorded)
    assert len(scorers["x1"].scored) == pairs
    run_sweep(engine, project, fresh=True)
    assert len(scorers["x1"].scored) == 2 * pairs


def test_another_depth_or_cross_encoder_is_another_retrieval(
    engine: Engine, tmp_path: Path, scorers: dict[str, OverlapScorer]
) -> None:
    text = 'strategies = ["E"]\nretrievers = ["rerank"]\nrerankers = ["x1"]\nk = [1]\n'
    run_sweep(engine, small_project(tmp_path, text))
    deeper = run_sweep(engine, small_project(tmp_path, text, more="[rerank]\ndepth = 2\n"))
    other = run_sweep(engine, small_project(tmp_path, text.replace("x1", "x2")))
    assert (deeper.reused, other.reused) == (0, 0)
    settings = [row.settings for row in reads.sweeps(engine)]
    assert [(one["rerankers"], one["rerank_depth"]) for one in settings] == [(["x2"], 25), (["x1"], 2), (["x1"], 25)]


def test_a_sweep_without_second_models_says_nothing_of_them(
    engine: Engine, tmp_path: Path, scorers: dict[str, OverlapScorer]
) -> None:
    run_sweep(engine, small_project(tmp_path))
    (sweep,) = reads.sweeps(engine)
    assert {"rerankers", "late_models", "rerank_depth"}.isdisjoint(sweep.settings)
    assert scorers == {}


def test_a_needle_beyond_the_cross_encoders_window_is_truncated_by_the_scorer(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_bench, "find_cross_encoder", lambda model, _: OverlapScorer(model.name, window=16))
    monkeypatch.setattr(second_bench, "find_token_encoder", lambda model, _: WordTokenEncoder(model.name, window=8))
    monkeypatch.setattr(workbench, "find_encoder", lambda _project, name: WordEncoder(name))
    text = 'strategies = ["E"]\nretrievers = ["rerank", "late"]\nrerankers = ["x"]\nlate_models = ["t"]\nk = [1]\n'
    result = run_sweep(engine, small_project(tmp_path, text))
    reranked, late = reads.outcomes(engine, result.sweep_id).values()
    # "[Vectors > Norms]" and eight words: three words of question leave a window of 16 enough, eight do not.
    assert [one.query_id for one in reranked if one.needle_id and not one.truncated_by] == ["n2"]
    assert {one.truncated_by for one in reranked if one.needle_id} == {None, "scorer"}
    assert {one.query_id for one in late if one.truncated_by == "scorer"} >= {"b1", "c1", "n1"}
    numbers = list(reads.measures(engine, result.sweep_id).values())
    assert [numbers[0]["truncated"].hits, numbers[0]["truncated"].n] == [2, 3]  # one was read for one phrasing


def test_the_plan_knows_how_long_reranking_takes_from_the_newest_sweep_with_the_same_cross_encoder(
    engine: Engine, tmp_path: Path, scorers: dict[str, OverlapScorer]
) -> None:
    text = 'strategies = ["E"]\nretrievers = ["hybrid", "rerank"]\nrerankers = ["x1"]\nk = [1]\n'
    project = small_project(tmp_path, text)
    (unknown,) = planned_of(project, "x1")
    assert unknown.endswith(
        "each pair once; 0 are cached. How long that takes is not known: no sweep here has timed it yet."
    )
    store = open_store(project.store_url)
    first = run_sweep(store, project).sweep_id
    assert planned_of(project, "x1") == ["x1: nothing to do, all its combinations are recorded."]
    row = next(row for row in reads.combinations(store, first) if row.scorer == "x1")
    chunks = row.stamp["cutting"]["chunks"]
    # Four chunks and ten times 600 ms a question: 150 ms a pair.
    writes.update_combination(
        store, row.id or 0, stamp={**row.stamp, "milliseconds": {"rerank": [150.0 * chunks] * 10}}
    )
    deeper = small_project(tmp_path, text, more="[rerank]\ndepth = 2\n")
    pairs = 2 * len(read_inputs(deeper).queries)
    (known,) = planned_of(deeper, "x1")
    assert f"x1: at most {pairs} pairs to score, hybrid's first 2 chunks" in known
    assert known.endswith(f"That takes at most {round(pairs * 0.15)} s, at 150.0 ms a pair as in sweep {first}.")
    bench = SecondBench(deeper, [])
    waiting = queued(deeper.settings)
    assert bench.expected(store, waiting) == {"pairs": pytest.approx(0.15)}
    # The same name for other files, or a sweep that was pulled from another machine, says nothing.
    scorers["x1"].stamp = scorers["x1"].stamp._replace(files="0" * 64)
    assert bench.expected(store, waiting) == {}
    scorers["x1"].stamp = type(scorers["x1"].stamp)(**row.stamp["scorer"])
    assert bench.expected(store, waiting)
    writes.update_sweep(store, first, pulled_from="elsewhere")
    assert bench.expected(store, waiting) == {}


def test_the_plan_says_that_the_time_of_token_texts_is_not_known(
    tmp_path: Path, scorers: dict[str, OverlapScorer]
) -> None:
    text = 'strategies = ["E"]\nretrievers = ["hybrid", "late"]\nlate_models = ["tokens"]\nk = [1]\n'
    (said,) = planned_of(small_project(tmp_path, text), "tokens")
    assert "to embed token by token, the others are kept. How long that takes is not known" in said


def planned_of(project: Project, model: str) -> list[str]:
    return [line for line in planned(project) if line.startswith(f"{model}: ")]


def test_questions_longer_than_a_model_reads_are_counted_with_every_sweep(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        second_bench, "find_token_encoder", lambda model, _: WordTokenEncoder(model.name, question_window=5)
    )
    monkeypatch.setattr(workbench, "find_encoder", lambda _project, name: WordEncoder(name))
    project = small_project(
        tmp_path, 'strategies = ["A", "E"]\nretrievers = ["dense", "late"]\nlate_models = ["t"]\nk = [1]\n'
    )
    longer = sum(len(one["question"].split()) > 5 for one in QUESTIONS)
    assert 0 < longer < len(QUESTIONS)
    for _ in range(2):  # the second one reads what the first one retrieved, and no model
        sweep = reads.sweep(engine, run_sweep(engine, project).sweep_id)
        assert sweep is not None
        (warning,) = sweep.settings["warnings"]
        assert warning.startswith(f"t reads only the beginning of {longer} of {len(QUESTIONS)} questions")


def test_questions_an_embedding_model_cuts_off_are_counted_too(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Short(WordEncoder):
        def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
            return self.encode_documents(texts)._replace(seen=[min(len(text), 30) for text in texts])

    monkeypatch.setattr(workbench, "find_encoder", lambda _project, name: Short(name))
    result = run_sweep(engine, small_project(tmp_path, 'strategies = ["A"]\nretrievers = ["dense"]\n'))
    sweep = reads.sweep(engine, result.sweep_id)
    longer = sum(len(one["question"]) > 30 for one in QUESTIONS)
    assert sweep is not None
    (warning,) = sweep.settings["warnings"]
    assert f"reads only the beginning of {longer} of {len(QUESTIONS)} questions" in warning


def test_a_live_question_that_late_interaction_cuts_off_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        second_bench, "find_token_encoder", lambda model, _: WordTokenEncoder(model.name, question_window=5)
    )
    project = small_project(tmp_path, 'strategies = ["E"]\nretrievers = ["late"]\nlate_models = ["t"]\nk = [1]\n')
    asker = Asker.of(project, find=WordEncoder)
    late = Combination("E", "late", None, "t")
    assert asker.ask("How long is a unit vector", late, 0.5).notes[:1] == (
        "t reads only the first 18 of the question's 25 characters.",
    )
    assert not any("reads only" in note for note in asker.ask("How long is it?", late, 0.5).notes)
