import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import BLIND, OVERLAPPING, QUERIES, SECTIONS, KeywordEncoder, document, found, hit, needle, query, retrieved
from worlds import unanswerable as refused_question

from experiments.chunking import chunk_corpus
from experiments.collecting import collect
from experiments.outcomes import STAGES, stage
from experiments.ranking import Ranking
from experiments.relevance import Held, Projection

DOCUMENT = document("d.md", "one. two. three. four. five. six. ")


def chunks(count):
    """`count` blind chunks of five characters."""
    strategy = type(SECTIONS)("tiny", "blind", header=False, overlap=0, budget=5)
    return chunk_corpus([document("d.md", "abcd " * count)], strategy)


ASKED = query("q", "which?", needle(DOCUMENT, "three."))


def collected(order, distances, containing, quotable=None, truncated=(), asked=ASKED, reads_vectors=True, depth=20):
    """The outcome of one question over chunks given by their distances."""
    laid = chunks(len(distances))
    arrays = [np.array(part, np.intp) for part in (containing, containing if quotable is None else quotable, truncated)]
    row = np.array([order + [-1] * (len(distances) - len(order))], np.intp)
    (outcome,) = collect(
        [asked],
        laid,
        Ranking(row, np.where(row < 0, -np.inf, -np.arange(float(len(distances)))[None, :])),
        np.array([distances], float),
        [Projection((Held(*arrays),) if asked.needles else ())],
        list(range(10, 10 + len(distances))),
        reads_vectors=reads_vectors,
        depth=depth,
    )
    return outcome


def test_rank_and_distances_are_read_off_the_ranking():
    outcome = collected([2, 0, 4, 1, 3], [0.5, 0.2, 0.4, 0.1, 0.3], containing=[1, 3])
    assert outcome.rank == 4  # chunk 1 at place 4, before chunk 3 at place 5
    assert outcome.nearest == 0.2  # the gate looks at chunks 2, 0, 4 and 1
    assert outcome.needle_distance == 0.2  # of which chunk 1 alone contains the needle
    assert outcome.chunk_distance == 0.1  # chunk 3, at whatever rank
    assert outcome.gap == pytest.approx(0.1)  # chunk 0 minus chunk 2
    assert (outcome.destroyed, outcome.truncated, outcome.quotable) == (False, False, True)


def test_a_gap_is_negative_where_the_ranking_is_not_by_distance():
    assert collected([0, 1], [0.5, 0.2], containing=[0]).gap == pytest.approx(-0.3)


def test_a_needle_in_no_chunk_is_destroyed_and_has_no_rank_and_no_distance():
    outcome = collected([1, 0], [0.5, 0.2], containing=[])
    assert outcome.destroyed
    assert (outcome.rank, outcome.needle_distance, outcome.chunk_distance, outcome.quotable) == (None,) * 4
    assert outcome.nearest == 0.2


def test_a_needle_that_is_not_returned_has_a_distance_but_no_rank():
    outcome = collected([1], [0.5, 0.2, 0.7], containing=[2])
    assert not outcome.destroyed
    assert (outcome.rank, outcome.needle_distance, outcome.chunk_distance, outcome.gap) == (None, None, 0.7, None)


def test_where_nothing_is_returned_nothing_is_near():
    outcome = collected([], [0.5, 0.2], containing=[0])
    assert (outcome.rank, outcome.nearest, outcome.needle_distance, outcome.gap, outcome.hits) == (
        None,
        None,
        None,
        None,
        (),
    )


def test_the_first_hit_decides_whether_an_answer_can_be_quoted():
    assert collected([0, 1], [0.1, 0.2], containing=[0, 1], quotable=[1]).quotable is False
    assert collected([1, 0], [0.1, 0.2], containing=[0, 1], quotable=[1]).quotable is True


@pytest.mark.parametrize(
    ("truncated", "reads_vectors", "said"),
    [([0, 1], True, True), ([0], True, False), ([0, 1], False, False), ([], True, False)],
)
def test_a_needle_is_truncated_when_every_chunk_of_it_is_and_the_retriever_reads_vectors(
    truncated, reads_vectors, said
):
    outcome = collected([0, 1], [0.1, 0.2], containing=[0, 1], truncated=truncated, reads_vectors=reads_vectors)
    assert outcome.truncated is said


def test_an_unanswerable_question_is_neither_destroyed_nor_truncated():
    asked = query("q", "which?", stratum="near")
    outcome = collected([1, 0], [0.5, 0.2], containing=[], asked=asked)
    assert (outcome.destroyed, outcome.truncated, outcome.needle_id, outcome.stratum) == (False, False, None, "near")
    assert outcome.nearest == 0.2


def test_hits_are_the_top_chunks_with_their_own_facts():
    outcome = collected([2, 0, 1], [0.5, 0.2, 0.4], containing=[0, 1], quotable=[1], depth=2)
    assert [(one.start, one.end, one.distance, one.tokens, one.contains, one.quotable) for one in outcome.hits] == [
        (10, 15, 0.4, 12, False, False),
        (0, 5, 0.5, 10, True, False),
    ]
    assert [one.score for one in outcome.hits] == [0.0, -1.0]
    assert outcome.hits[0].locator == "#char=10,15"


def test_inputs_of_different_lengths_are_refused():
    empty = Ranking(np.zeros((0, 1), np.intp), np.zeros((0, 1)))
    with pytest.raises(ValueError, match="shorter"):
        collect([ASKED], chunks(1), empty, np.zeros((1, 1)), [], [1], reads_vectors=True)


@given(st.data())
def test_an_outcome_is_what_a_plain_loop_finds(data):
    n = data.draw(st.integers(1, 8))
    order = data.draw(st.permutations(range(n)).map(list))[: data.draw(st.integers(0, n))]
    distances = data.draw(st.lists(st.integers(0, 20).map(lambda tenth: tenth / 10), min_size=n, max_size=n))
    containing = sorted(data.draw(st.sets(st.integers(0, n - 1))))
    outcome = collected(order, distances, containing)
    places = [place for place, chunk in enumerate(order, 1) if chunk in containing]
    assert outcome.rank == (places[0] if places else None)
    assert outcome.nearest == min((distances[chunk] for chunk in order[:4]), default=None)
    assert outcome.needle_distance == min(
        (distances[chunk] for chunk in order[:4] if chunk in containing), default=None
    )
    assert outcome.chunk_distance == min((distances[chunk] for chunk in containing), default=None)
    assert outcome.destroyed == (not containing)
    assert [one.contains for one in outcome.hits] == [chunk in containing for chunk in order]
    if outcome.needle_distance is not None:
        assert outcome.nearest <= outcome.needle_distance


@pytest.mark.parametrize(
    ("outcome", "threshold", "where"),
    [
        (found("q", "n", None, None, destroyed=True), None, "destroyed"),
        (found("q", "n", None, 0.4, truncated=True), None, "truncated"),
        (found("q", "n", 5, 0.4, truncated=True), 0.3, "truncated"),
        (found("q", "n", 2, 0.4, truncated=True), 0.5, "kept"),
        (found("q", "n", None, 0.4), None, "ranked below k"),
        (found("q", "n", 5, 0.4), 0.9, "ranked below k"),
        (found("q", "n", 4, 0.4), 0.5, "kept"),
        (found("q", "n", 4, 0.4), 0.4, "refused"),  # strictly under the cut
        (found("q", "n", 4, 0.4), 0.3, "refused"),
        (found("q", "n", 1, 1.9), None, "kept"),
    ],
)
def test_an_answer_is_lost_at_the_first_stage_that_explains_it(outcome, threshold, where):
    assert where in STAGES
    assert stage(outcome, threshold) == where


def test_an_unanswerable_question_has_no_answer_to_lose():
    with pytest.raises(ValueError, match="paella is unanswerable"):
        stage(refused_question("paella", "far", 0.1), None)


def stages(strategy, retriever, threshold=None, encoder=None):
    outcomes = retrieved(strategy, retriever, encoder).outcomes
    return {one.query_id: stage(one, threshold) for one in outcomes if one.needle_id}


def test_in_the_small_world_the_blind_cut_destroys_two_needles_of_four():
    lost = stages(BLIND, "dense")
    assert [query_id for query_id, where in lost.items() if where == "destroyed"] == [
        "moon-course",
        "moon-ticket",
        "rest-course",
        "rest-ticket",
    ]
    assert lost["heat-course"] == lost["eggs-ticket"] == "kept"
    assert lost["heat-ticket"] == "ranked below k"  # it says none of the keywords


def test_in_the_small_world_an_overlap_saves_a_needle_but_cannot_be_quoted():
    by_id = {one.query_id: one for one in retrieved(OVERLAPPING, "dense").outcomes}
    assert (by_id["moon-course"].destroyed, by_id["moon-course"].quotable) == (False, False)
    assert by_id["rest-course"].destroyed  # 49 characters do not fit into an overlap of 40


def test_in_the_small_world_sections_keep_every_needle():
    assert set(stages(SECTIONS, "dense").values()) == {"kept"}
    strict = stages(SECTIONS, "dense", 0.1)
    assert strict["moon-course"] == "kept"
    assert strict["moon-ticket"] == strict["heat-ticket"] == "refused"


def test_what_lies_beyond_a_short_window_is_truncated_for_vectors_and_not_for_bm25():
    window = KeywordEncoder(window=6)
    assert stages(SECTIONS, "bm25", encoder=window)["rest-ticket"] == "kept"
    by_id = {one.query_id: one for one in retrieved(SECTIONS, "dense", window).outcomes}
    assert by_id["rest-ticket"].truncated
    assert {one.query_id for one in retrieved(SECTIONS, "bm25", window).outcomes if one.truncated} == set()
    assert len(by_id) == len(QUERIES)


def test_a_hit_says_where_its_own_words_stand():
    assert hit(start=25873, end=26272, overlap_start=25809).locator == "#char=25873,26272"


def projected(order, distances, needles, require, quotable=None, truncated=None):
    """The outcome of a question with several needles, each given by the chunks that hold it."""
    laid = chunks(len(distances))
    row = np.array([order + [-1] * (len(distances) - len(order))], np.intp)
    held = [
        Held(*(np.array(part, np.intp) for part in (holding, quoting, beyond)))
        for holding, quoting, beyond in zip(needles, quotable or needles, truncated or [[]] * len(needles), strict=True)
    ]
    (outcome,) = collect(
        [ASKED],
        laid,
        Ranking(row, np.zeros(row.shape)),
        np.array([distances], float),
        [Projection(tuple(held), require)],
        [1] * len(distances),
        reads_vectors=True,
    )
    return outcome


ORDER, APART = [0, 1, 2, 3, 4, 5], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_of_several_needles_any_is_found_with_the_first_and_all_with_the_last():
    needles = [[1, 5], [3]]
    either, both = (projected(ORDER, APART, needles, require) for require in ("any", "all"))
    assert (either.rank, either.needle_distance, either.chunk_distance) == (2, 0.2, 0.2)
    assert (both.rank, both.needle_distance, both.chunk_distance) == (4, 0.4, 0.4)
    assert [one.contains for one in both.hits] == [False, True, False, True, False, True]


def test_all_needles_are_kept_only_when_the_gate_keeps_each_of_them():
    late = projected(ORDER, APART, [[1], [5]], "all")
    assert (late.rank, late.needle_distance, late.chunk_distance) == (6, None, 0.6)
    assert stage(late, None) == "ranked below k"
    both = projected(ORDER, APART, [[1], [3]], "all")
    assert [stage(both, cut) for cut in (None, 0.5, 0.4, 0.3)] == ["kept", "kept", "refused", "refused"]
    either = projected(ORDER, APART, [[1], [3]], "any")
    assert [stage(either, cut) for cut in (0.3, 0.2)] == ["kept", "refused"]


def test_one_destroyed_needle_destroys_all_that_are_needed_but_not_any():
    needles = [[], [2]]
    either, both = (projected(ORDER, APART, needles, require) for require in ("any", "all"))
    assert (either.destroyed, either.rank, stage(either, None)) == (False, 3, "kept")
    assert (both.destroyed, both.rank, both.needle_distance, both.chunk_distance) == (True, None, None, None)
    assert stage(both, None) == "destroyed"
    assert projected(ORDER, APART, [[], []], "any").destroyed


def test_one_needle_beyond_the_window_truncates_all_that_are_needed_but_not_any():
    needles, beyond = [[4], [5]], [[4], []]
    either, both = (projected(ORDER, APART, needles, require, truncated=beyond) for require in ("any", "all"))
    assert (either.truncated, both.truncated) == (False, True)
    assert projected(ORDER, APART, [[4], []], "any", truncated=[[4], []]).truncated
    assert not projected(ORDER, APART, [[4], []], "all", truncated=[[4], []]).truncated  # destroyed comes first


def test_any_is_quotable_by_its_first_hit_and_all_by_the_first_hit_of_each():
    needles = [[0, 2], [0, 1]]
    assert projected(ORDER, APART, needles, "any", quotable=[[2], [0]]).quotable is True
    assert projected(ORDER, APART, needles, "any", quotable=[[2], [1]]).quotable is False
    assert projected(ORDER, APART, needles, "all", quotable=[[0], [0]]).quotable is True
    assert projected(ORDER, APART, needles, "all", quotable=[[2], [0]]).quotable is False
    assert projected(ORDER, APART, [[], [1]], "all").quotable is None


@given(st.data())
def test_one_needle_is_the_same_whether_any_or_all_is_required(data):
    n = data.draw(st.integers(1, 6))
    order = data.draw(st.permutations(range(n)).map(list))[: data.draw(st.integers(0, n))]
    distances = data.draw(st.lists(st.integers(0, 9).map(lambda tenth: tenth / 10), min_size=n, max_size=n))
    holding = sorted(data.draw(st.sets(st.integers(0, n - 1))))
    assert projected(order, distances, [holding], "any") == projected(order, distances, [holding], "all")
    twice = projected(order, distances, [holding, holding], "all")
    assert twice == projected(order, distances, [holding], "any")
