import numpy as np
import pytest
from worlds import (
    BLIND,
    DOCUMENTS,
    OVERLAPPING,
    QUERIES,
    SECTIONS,
    STRATEGIES,
    KeywordEncoder,
    document,
    embedded,
    from_index,
    indexed,
    query,
    retrieved,
)

from experiments.chunking import chunk_corpus
from experiments.embedding import Embedded
from experiments.lexical import BM25Index
from experiments.measures import TIMED_QUESTIONS
from experiments.ranking import rank
from experiments.retrieval import cut, index, retrieve


def by_id(retrieval):
    return {outcome.query_id: outcome for outcome in retrieval.outcomes}


def test_a_cut_lays_every_needle_over_the_chunks():
    pieces = cut(DOCUMENTS, QUERIES, BLIND)
    assert pieces.chunks == chunk_corpus(DOCUMENTS, BLIND)
    assert pieces.texts == [chunk.text for chunk in pieces.chunks]
    assert [answer.containing.tolist() for answer in pieces.answers] == [[], [], [], [], [3], [3], [0], [0], [], [], []]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_a_chunk_holds_a_needle_when_its_text_does(strategy):
    """A second implementation by searching: every needle of the small world occurs once."""
    pieces = cut(DOCUMENTS, QUERIES, strategy)
    for query_, answer in zip(QUERIES, pieces.answers, strict=True):
        words = query_.needle.text if query_.needle else "\0"
        assert answer.containing.tolist() == [n for n, chunk in enumerate(pieces.chunks) if words in chunk.text]
        assert answer.quotable.tolist() == [n for n, chunk in enumerate(pieces.chunks) if words in chunk.content]


def test_dense_ranks_by_what_can_be_seen_by_eye():
    found = by_id(retrieved(SECTIONS, "dense"))
    course = found["moon-course"]  # asks for moon and tide, as the chunk on spring tides says both
    assert (course.rank, course.nearest, course.needle_distance) == (1, 0.0, 0.0)
    assert course.gap == pytest.approx(1 - 1 / np.sqrt(2), abs=1e-6)  # the next chunk says one of the two
    ticket = found["moon-ticket"]  # asks for moon alone: the chunk that says only moon is nearer
    assert (ticket.rank, ticket.nearest) == (2, 0.0)
    assert ticket.needle_distance == pytest.approx(1 - 1 / np.sqrt(2), abs=1e-6)
    ferry = found["near-ferry"]  # asks for ferry and tide; of these the corpus says tide
    assert ferry.nearest == pytest.approx(1 - 1 / np.sqrt(2), abs=1e-6)
    assert found["far-paella"].nearest == 1.0


def test_bm25_returns_nothing_that_shares_no_word_and_so_refuses():
    found = by_id(retrieved(SECTIONS, "bm25"))
    for query_id in ("far-paella", "heat-ticket"):
        assert (found[query_id].hits, found[query_id].nearest, found[query_id].rank) == ((), None, None)
    assert found["heat-ticket"].chunk_distance == 1.0  # it exists, it is only not returned
    assert len(found["eggs-ticket"].hits) == 1


def test_the_gate_of_bm25_reads_the_model_s_distances():
    dense, bm25 = by_id(retrieved(SECTIONS, "dense")), by_id(retrieved(SECTIONS, "bm25"))
    distances = {(hit.document, hit.start): hit.distance for hit in dense["moon-course"].hits}
    assert [hit.distance for hit in bm25["moon-course"].hits] == [
        distances[hit.document, hit.start] for hit in bm25["moon-course"].hits
    ]


def test_hybrid_is_the_sum_of_reciprocal_ranks_worked_out_by_a_plain_loop():
    ready = indexed(SECTIONS)
    dense, bm25, hybrid = (from_index(ready, retriever) for retriever in ("dense", "bm25", "hybrid"))
    for one, two, fused in zip(dense.outcomes, bm25.outcomes, hybrid.outcomes, strict=True):
        scores = {}
        for outcome in (one, two):
            for place, hit in enumerate(outcome.hits, 1):
                key = (hit.document, hit.start)
                scores[key] = scores.get(key, 0) + 1 / (60 + place)
        expected = sorted(scores, key=lambda key: (-round(scores[key], 15), key))
        assert [(hit.document, hit.start) for hit in fused.hits] == expected
        assert [hit.score for hit in fused.hits] == pytest.approx([scores[key] for key in expected])


def test_hits_are_kept_as_deep_as_asked():
    assert {len(outcome.hits) for outcome in retrieved(SECTIONS, "dense", depth=3).outcomes} == {3}
    deep = retrieved(SECTIONS, "dense", depth=20)
    assert deep.depth == 20
    assert {len(outcome.hits) for outcome in deep.outcomes} == {7}  # there are no more chunks
    assert [outcome.rank for outcome in deep.outcomes] == [
        outcome.rank for outcome in retrieved(SECTIONS, "dense", depth=1).outcomes
    ]


def test_what_a_strategy_spends_is_counted_by_hand():
    sections = retrieved(SECTIONS, "dense").cutting
    # Six headers of three tokens, "[Bees > Hive]" and so on, and one of one, "[Tides]".
    assert (sections.chunks, sections.header_tokens, sections.overlap_tokens) == (7, 19, 0)
    assert sections.tokens == sum(len(chunk.text.split()) for chunk in chunk_corpus(DOCUMENTS, SECTIONS))
    blind, overlapping = retrieved(BLIND, "dense").cutting, retrieved(OVERLAPPING, "dense").cutting
    assert blind.characters == sum(len(one.text) for one in DOCUMENTS)
    assert overlapping.characters == blind.characters + 5 * 40  # five of eight chunks follow another
    assert blind.header_tokens == blind.overlap_tokens == overlapping.header_tokens == 0
    assert overlapping.overlap_tokens == sum(
        len(chunk.text[: chunk.start - chunk.overlap_start].split())
        # A word the copied stretch breaks off begins in it; the rest of it is no token of its own.
        for chunk in chunk_corpus(DOCUMENTS, OVERLAPPING)
    )


def test_what_does_not_fit_the_window_is_counted_and_its_needles_are_truncated():
    wide, narrow = retrieved(SECTIONS, "dense"), retrieved(SECTIONS, "dense", KeywordEncoder(window=8))
    assert wide.cutting.over_window == 0
    lengths = [len(chunk.text.split()) for chunk in chunk_corpus(DOCUMENTS, SECTIONS)]
    assert narrow.cutting.over_window == sum(length > 8 for length in lengths)
    found = by_id(narrow)
    assert found["rest-course"].truncated  # "[Bread > Dough] Let the yeast rest in|warm water for ten minutes."
    assert not found["rest-course"].destroyed
    assert narrow.cutting.tokens == wide.cutting.tokens  # what is not read is still there
    eggs = "[Bees > Hive]\nOne queen lays all the eggs."
    assert len(eggs.split()) == 9
    assert found["eggs-course"].truncated
    exact = by_id(retrieved(SECTIONS, "dense", KeywordEncoder(window=9)))
    assert not exact["eggs-course"].truncated


def test_vectors_of_unit_length_make_both_distances_one():
    assert retrieved(SECTIONS, "dense").identity_error < 1e-6


def test_vectors_that_are_not_of_unit_length_are_refused():
    encoder = KeywordEncoder()
    pieces = cut(DOCUMENTS, QUERIES, SECTIONS)
    asked = embedded([one.text for one in QUERIES], encoder)
    chunks = embedded(pieces.texts, encoder)
    longer = Embedded(chunks.vectors * np.float32(1.001), chunks.token_starts, chunks.seen, 0)
    with pytest.raises(ValueError, match=r"chunk vector 0 has norm 1\.001"):
        index(pieces, QUERIES, longer, asked, [])


def test_an_unknown_retriever_is_refused():
    ready = indexed(SECTIONS)
    lexical = BM25Index(ready.cut.texts)
    bm25 = rank(lexical.scores([one.text for one in QUERIES]), positive_only=True)
    with pytest.raises(ValueError, match="unknown retriever 'oracle'"):
        retrieve(ready, "oracle", lexical, bm25, 20)


def test_each_retriever_is_timed_in_the_stages_it_has():
    ready = indexed(SECTIONS)
    stages = {retriever: from_index(ready, retriever).milliseconds for retriever in ("dense", "bm25", "hybrid")}
    assert list(stages["dense"]) == ["embed", "scan"]
    assert list(stages["bm25"]) == ["lexical"]
    assert list(stages["hybrid"]) == ["embed", "scan", "lexical", "fuse"]
    assert stages["dense"]["embed"] == [1.0, 2.0, 3.0]
    for times in stages.values():
        assert all(time >= 0 for stage in times.values() for time in stage)
    many = [query(f"q{number}", "moon") for number in range(TIMED_QUESTIONS + 5)]
    assert len(indexed(SECTIONS, queries=many).milliseconds["scan"]) == TIMED_QUESTIONS


def test_the_order_of_the_documents_and_of_the_questions_changes_nothing():
    straight = by_id(retrieved(SECTIONS, "hybrid"))
    turned = by_id(from_index(indexed(SECTIONS, documents=DOCUMENTS[::-1], queries=QUERIES[::-1]), "hybrid"))
    assert turned == straight


def test_a_corpus_without_a_single_chunk_returns_nothing():
    empty = from_index(indexed(SECTIONS, documents=[document("blank.md", " \n")], queries=QUERIES[-1:]), "hybrid")
    assert empty.cutting.chunks == 0
    assert [(outcome.hits, outcome.nearest) for outcome in empty.outcomes] == [((), None)]
