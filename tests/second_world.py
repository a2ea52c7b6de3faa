"""A small sweep with all five retrievers and stand-ins for second models, whose rankings can be worked out by eye."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made_scorers import OverlapScorer, WordTokenEncoder
from small_project import QUESTIONS, WordEncoder, small_project
from sqlalchemy import Engine

from experiments import second_bench, workbench
from experiments.project import Project
from experiments.runner import run_sweep
from store.engine import open_store

SWEEP = """
strategies = ["E"]
thresholds = [0.3, 0.675]
retrievers = ["dense", "bm25", "hybrid", "rerank", "late"]
rerankers = ["org/x1", "org/x2"]
late_models = ["org/tokens"]
k = [1, 4]
"""
# Enough of each kind that a threshold can be chosen on some and reported on others.
MORE = [
    {"id": f"{stratum}{number}", "question": f"What about {stratum} {number}?", "stratum": stratum}
    for stratum in ("near", "far")
    for number in range(4)
]


@contextmanager
def stand_ins() -> Iterator[None]:
    """No model is looked for: what would be loaded is made up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second_bench, "find_cross_encoder", lambda spec, _: OverlapScorer(spec.name))
        patch.setattr(second_bench, "find_token_encoder", lambda spec, _: WordTokenEncoder(spec.name))
        patch.setattr(workbench, "find_encoder", lambda _project, name: WordEncoder(name))
        yield


def second_project(folder: Path, sweep: str = SWEEP) -> Project:
    """The project."""
    return small_project(folder, sweep, questions=(*QUESTIONS, *MORE))


def measured(folder: Path) -> Engine:
    """The store of its sweep, of two strategies."""
    with stand_ins():
        project = second_project(folder, SWEEP.replace('["E"]', '["A", "E"]'))
        engine = open_store(project.store_url)
        run_sweep(engine, project)
    return engine
