"""Two sweeps for pages: one of questions with several needles, one of document-level relevance."""

from __future__ import annotations

from dataclasses import replace

from drill_world import settings
from sqlalchemy import Engine
from worlds import (
    BLIND,
    DOCUMENTS,
    EGGS,
    FULL_MOON,
    HEAT,
    MODEL,
    REST,
    SECTIONS,
    combination_row,
    from_index,
    indexed,
    query,
    record,
    sweep_row,
)

from corpus.fingerprint import corpus_hash, questions_hash
from corpus.questions import Judgement, Query
from experiments.conditions import Strategy, grid
from experiments.provenance import hit_rule
from experiments.recording import document_rows, query_rows
from store import reads, writes

KS = (1, 4, 8)
WHOLE = Strategy("W", "document", header=True, overlap=0)
SEVERAL = (
    replace(query("both", "When is high tide at the moon, and how hot is the oven?", FULL_MOON),
            needles=(FULL_MOON, HEAT), require="all"),
    replace(query("either", "How long does the yeast rest, or who lays the eggs, the queen?", REST),
            needles=(REST, EGGS), require="any"),
    query("one", "Which of them lays the eggs, the queen?", EGGS),
    query("near-price", "What does honey cost?", stratum="near"),
    query("far-paella", "paella recipe", stratum="far"),
)  # fmt: skip
JUDGED = (
    Query("tide", "At which moon is the tide high?", (), None, None, (), 1, relevant=(Judgement("tides.md", 2),)),
    Query("warm", "Is the oven warm, the queen?", (), None, None, (), 2,
          relevant=(Judgement("bees.md", 1), Judgement("bread.md", 3), Judgement("tides.md", 0))),
    Query("lost", "honey", (), None, None, (), 3, relevant=(Judgement("tides.md", 1),)),
    query("near-price", "What does honey cost?", stratum="near"),
    query("far-paella", "paella recipe", stratum="far"),
)  # fmt: skip


def asked_over(engine: Engine, queries: tuple[Query, ...], strategies: tuple[Strategy, ...]) -> int:
    """Record a finished sweep of these questions over the small world.

    Returns:
        Its id.
    """
    answerable = [one for one in queries if one.answerable]
    row = sweep_row(
        settings=settings(strategies),
        corpus_hash=corpus_hash(DOCUMENTS),
        questions_hash=questions_hash(queries),
        hit_rule=hit_rule(queries),
        needles=len({one.answer_id for one in answerable if one.needles}),
        answerable=len(answerable),
        near=1,
        far=1,
    )
    writes.add_corpus(engine, *document_rows(DOCUMENTS, row.corpus_hash))
    writes.add_questions(engine, query_rows(queries, row.questions_hash))
    cells = grid(strategies, ("dense", "bm25", "hybrid"), [MODEL])
    rows = [combination_row(cell.strategy, cell.retriever, place) for place, cell in enumerate(cells)]
    sweep_id = writes.add_sweep(engine, row, rows)
    for one in reads.combinations(engine, sweep_id):
        strategy = next(each for each in strategies if each.name == one.strategy)
        record(engine, one.id or 0, from_index(indexed(strategy, queries=queries), one.retriever), KS, queries)
    return sweep_id


def several(engine: Engine) -> int:
    """A sweep of questions with several needles."""
    return asked_over(engine, SEVERAL, (BLIND, SECTIONS))


def judged(engine: Engine) -> int:
    """A sweep of document-level relevance."""
    return asked_over(engine, JUDGED, (SECTIONS, WHOLE))
