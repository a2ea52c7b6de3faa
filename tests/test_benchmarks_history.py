"""The long history of the benchmark is a store like any other: the same for the same seed, and true to itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import bench_pages
import history

from experiments.conditions import PRESETS
from experiments.recording import from_parquet
from store import reads
from store.decisions import decisions
from store.engine import open_store
from webapp.app import create_app

SWEEPS = 10


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('history') / 'store.db'}")
    ids = history.fill(engine, sweeps=SWEEPS, strategies=(PRESETS[0], PRESETS[4]))
    yield engine, ids
    engine.dispose()


def test_documents_and_questions_change_on_the_way(filled):
    engine, ids = filled
    sweeps = [reads.sweep(engine, sweep_id) for sweep_id in ids]
    assert len({sweep.corpus_hash for sweep in sweeps}) == 2
    assert len({sweep.questions_hash for sweep in sweeps}) == 3
    assert {sweep.branch for sweep in sweeps} <= set(history.BRANCHES)


def test_every_file_of_hits_agrees_with_its_outcomes(filled):
    engine, ids = filled
    outcomes = reads.outcomes(engine, ids[-1])
    for combination_id, parquet in reads.hits(engine, list(outcomes)).items():
        for kept, row in zip(from_parquet(parquet), outcomes[combination_id], strict=True):
            assert (kept.query_id, kept.rank, kept.nearest) == (row.query_id, row.rank, row.nearest)
            first = next((place for place, hit in enumerate(kept.hits, 1) if hit.contains), None)
            assert first == (row.rank if row.rank and row.rank <= 20 else None)
            assert min(hit.distance for hit in kept.hits[:4]) == row.nearest


def test_hits_are_spans_of_the_corpus(filled):
    engine, ids = filled
    sweep = reads.sweep(engine, ids[-1])
    documents = {row.document_id: row for row in reads.documents(engine, sweep.corpus_hash)}
    combination = reads.combinations(engine, ids[-1])[0]
    for outcome in from_parquet(reads.hits(engine, [combination.id])[combination.id]):
        for hit in outcome.hits:
            assert 0 <= hit.overlap_start <= hit.start < hit.end <= documents[hit.document].characters


def test_the_same_seed_gives_the_same_history(filled, tmp_path):
    engine, ids = filled
    again = open_store(f"sqlite:///{tmp_path / 'again.db'}")
    history.fill(again, sweeps=2, strategies=(PRESETS[0], PRESETS[4]))
    first, second = (reads.measures(each, ids[0]) for each in (engine, again))
    assert {key: {name: one.value for name, one in rows.items()} for key, rows in first.items()} == {
        key: {name: one.value for name, one in rows.items()} for key, rows in second.items()
    }
    again.dispose()


def test_a_decision_was_made_and_superseded(filled):
    assert [one.supersedes for one in decisions(filled[0])] == [1, None]


def test_the_benchmark_reaches_every_page_and_each_takes_at_most_eight_statements(filled, tmp_path):
    engine, _ = filled
    app = create_app(engine, root=tmp_path, allowed_hosts={bench_pages.HOST})
    addresses = list(bench_pages.urls(app, engine))
    assert {"/", "/compare", "/questions", "/decisions"} <= set(addresses)
    for url in addresses:
        timing = bench_pages.measured(app, engine, url, requests=1)
        assert timing.status < 500, url
        assert timing.statements <= bench_pages.MOST_STATEMENTS, f"{url}: {timing.statements} statements"
