"""Document-level relevance: a chunk of a relevant document is a hit, and documents are ranked by their best chunk."""

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import R, nDCG
from worlds import BLIND, DOCUMENTS, SECTIONS, found, from_index, indexed

from corpus.questions import Judgement, Query
from experiments.conditions import Strategy
from experiments.evaluation import document_numbers, score
from experiments.outcomes import Outcome, RankedDocument, stage
from experiments.provenance import DOCUMENT_HIT_RULE, HIT_RULE, document_level, hit_rule
from experiments.recording import DOCUMENT_SCHEMA, SCHEMA, from_parquet, query_rows, to_parquet
from experiments.retrieval import cut

WHOLE = Strategy("W", "document", header=True, overlap=0)


def judged(name, text, **grades):
    relevant = tuple(Judgement(f"{document}.md", grade) for document, grade in sorted(grades.items()))
    return Query(name, text, (), None, None, (), 1, relevant=relevant)


ASKED = (
    judged("moon", "When does the moon bring a tide?", tides=2),
    judged("warm", "Is the oven warm, the yeast?", bread=1, bees=1),
    judged("wrong", "queen honey swarm", tides=1),
    Query("far", "paella", (), None, "far", (), 4),
)


@pytest.mark.parametrize("strategy", [BLIND, SECTIONS, WHOLE], ids=lambda strategy: strategy.name)
@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid"])
def test_ndcg_and_recall_are_what_ir_measures_finds(strategy, retriever):
    retrieval = from_index(indexed(strategy, queries=ASKED), retriever)
    numbers = {n.name: n for n in score(retrieval.outcomes, retrieval.cutting, {}, ks=(1, 4), seed=1)}
    qrels = [ir_measures.Qrel(query.id, *judgement) for query in ASKED for judgement in query.relevant]
    run = [
        ir_measures.ScoredDoc(outcome.query_id, document.document, -float(rank))
        for outcome in retrieval.outcomes
        for rank, document in enumerate(outcome.documents)
    ]
    theirs = ir_measures.calc_aggregate([nDCG @ 1, nDCG @ 4, nDCG @ 10, R @ 100], qrels, run)
    assert numbers["ndcg_at_1"].value == pytest.approx(theirs[nDCG @ 1])
    assert numbers["ndcg_at_4"].value == pytest.approx(theirs[nDCG @ 4])
    assert numbers["ndcg_at_10"].value == pytest.approx(theirs[nDCG @ 10])
    assert numbers["document_recall_at_100"].value == pytest.approx(theirs[R @ 100])
    assert numbers["ndcg_at_10"].n == numbers["document_recall_at_100"].n == 3
    assert numbers["ndcg_at_10"].low <= numbers["ndcg_at_10"].value <= numbers["ndcg_at_10"].high


@given(st.data())
def test_any_ranking_of_graded_documents_scores_as_ir_measures_scores_it(data):
    names = [f"d{n}" for n in range(data.draw(st.integers(1, 120)))]
    outcomes, qrels, run = [], [], []
    for query in ("a", "b"):
        grades = {name: data.draw(st.integers(0, 3)) for name in data.draw(st.sets(st.sampled_from(names), min_size=1))}
        grades[names[0]] = max(1, grades.get(names[0], 1))
        order = data.draw(st.permutations(names))[: data.draw(st.integers(0, len(names)))]
        ranked = tuple(RankedDocument(name, 0.0, grades.get(name, 0)) for name in order[:100])
        positive = tuple(sorted((grade for grade in grades.values() if grade), reverse=True))
        outcomes.append(
            Outcome(query, f"documents:{query}", None, None, *[None] * 8, documents=ranked, grades=positive)
        )
        qrels += [ir_measures.Qrel(query, name, grade) for name, grade in grades.items()]
        run += [ir_measures.ScoredDoc(query, name, -float(rank)) for rank, name in enumerate(order)]
    ours = {number.name: number.value for number in document_numbers(outcomes, ks=(3,), seed=1)}
    theirs = ir_measures.calc_aggregate([nDCG @ 3, nDCG @ 10, R @ 100], qrels, run)
    # A question of which nothing was returned is no line of a run, and counts as 0 all the same.
    asked = 2
    values = dict.fromkeys(theirs, 0.0)
    for metric in ir_measures.iter_calc([nDCG @ 3, nDCG @ 10, R @ 100], qrels, run):
        values[metric.measure] += metric.value / asked
    assert ours["ndcg_at_3"] == pytest.approx(values[nDCG @ 3])
    assert ours["ndcg_at_10"] == pytest.approx(values[nDCG @ 10])
    assert ours["document_recall_at_100"] == pytest.approx(values[R @ 100])


def test_a_chunk_of_a_relevant_document_is_a_hit_and_nothing_can_be_destroyed_or_quoted():
    outcomes = {one.query_id: one for one in from_index(indexed(BLIND, queries=ASKED), "dense").outcomes}
    moon = outcomes["moon"]
    assert (moon.rank, moon.destroyed, moon.truncated, moon.quotable) == (1, None, False, None)
    assert {hit.document for hit in moon.hits if hit.contains} == {"tides.md"}
    assert moon.documents[0] == ("tides.md", moon.hits[0].score, 2)
    assert [document.document for document in moon.documents] == list(dict.fromkeys(hit.document for hit in moon.hits))
    assert moon.grades == (2,)
    assert stage(moon, None) == "kept"
    assert outcomes["far"].documents == outcomes["far"].grades == ()


def test_needle_words_have_no_number_under_document_level_relevance():
    retrieval = from_index(indexed(BLIND, queries=ASKED), "dense")
    numbers = {n.name: n for n in score(retrieval.outcomes, retrieval.cutting, {}, ks=(1,), seed=1)}
    for name in ("destroyed", "truncated", "not_quotable"):
        assert (numbers[name].value, numbers[name].n) == (None, 0)


def test_needles_have_no_numbers_of_documents():
    numbers = score(
        [found("q", "n", 1)], from_index(indexed(BLIND, queries=ASKED), "dense").cutting, {}, ks=(1,), seed=1
    )
    assert not any(number.name.startswith(("ndcg", "document")) for number in numbers)


def test_a_whole_document_is_one_passage_with_its_title_in_front():
    pieces = cut(DOCUMENTS, ASKED, WHOLE)
    assert [chunk.document for chunk in pieces.chunks] == ["bees.md", "bread.md", "tides.md"]
    for chunk, document in zip(pieces.chunks, DOCUMENTS, strict=True):
        assert chunk.text == f"{document.title}\n{chunk.content}"
        assert document.text[chunk.start : chunk.end] == chunk.content
        assert not chunk.content.startswith("# ")
    plain = cut(DOCUMENTS, ASKED, Strategy("P", "document", header=False, overlap=0))
    assert [chunk.text for chunk in plain.chunks] == [document.text.strip() for document in DOCUMENTS]


def test_the_two_hit_rules_are_told_apart():
    assert hit_rule(ASKED) == DOCUMENT_HIT_RULE
    assert hit_rule(ASKED[3:]) == HIT_RULE
    assert (document_level(DOCUMENT_HIT_RULE), document_level(HIT_RULE)) == (True, False)


def test_ranked_documents_come_back_from_parquet_and_needles_keep_their_columns():
    outcomes = from_index(indexed(BLIND, queries=ASKED), "dense").outcomes
    assert from_parquet(to_parquet(outcomes)) == outcomes
    assert {*DOCUMENT_SCHEMA.names} - {*SCHEMA.names} == {"documents", "grades"}
    plain = [found("q", "n", 1)]
    assert from_parquet(to_parquet(plain)) == tuple(plain)


def test_judgements_are_kept_with_the_question():
    rows = query_rows(ASKED, "h")
    assert rows[1].relevant == [{"document": "bees.md", "grade": 1}, {"document": "bread.md", "grade": 1}]
    assert (rows[1].needle_id, rows[1].needle, rows[1].needles, rows[3].relevant) == (
        "documents:warm",
        None,
        None,
        None,
    )


def test_a_question_with_no_passage_of_its_document_returned_scores_nothing():
    nothing = Outcome("q", "documents:q", None, None, None, False, False, None, None, None, None, None, grades=(1,))
    numbers = {number.name: number for number in document_numbers([nothing], ks=(1,), seed=1)}
    assert (numbers["ndcg_at_10"].value, numbers["ndcg_at_10"].n) == (0.0, 1)
    assert np.isclose(numbers["document_recall_at_100"].value, 0.0)
