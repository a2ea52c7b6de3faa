"""Reranking: the first chunks in the order of their scores, nothing scored twice, nothing lost to a kill."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from made_scorers import OverlapScorer

from experiments import reranking
from experiments.ranking import Ranking, rank
from experiments.reranking import Reranker, key_of
from experiments.second_model_loading import find_cross_encoder
from store.pair_scores import PairScoreCache

TEXTS = (
    "the moon pulls the sea and everything in it",
    "bread needs yeast and time",
    "moon and sea",
    "bees make honey",
    "moon sea",
)
QUESTIONS = ("moon and sea", "yeast")


def first() -> Ranking:
    """All chunks as they stand for the first question, only two for the second."""
    scores = np.array([[5.0, 4.0, 3.0, 2.0, 1.0], [2.0, 1.0, 0.0, 0.0, 0.0]])
    return rank(scores, positive_only=True)


def cache_in(folder: Path, scorer: OverlapScorer) -> PairScoreCache:
    return PairScoreCache(folder / "scores.db", scorer.stamp.cache_stamp)


def test_the_first_chunks_stand_in_the_order_of_their_scores_and_the_rest_keeps_its_order() -> None:
    found = Reranker(OverlapScorer(), TEXTS, 3).rank(QUESTIONS, first())
    assert found.order.tolist() == [[2, 0, 1, 3, 4], [1, 0, -1, -1, -1]]
    # "moon and sea" shares all three words and has three; the first shares three and has nine; bread shares "and".
    assert found.scores[0, :3].tolist() == [2.97, 2.91, 0.95]
    assert np.isnan(found.scores[0, 3:]).all()
    assert np.isneginf(found.scores[1, 2:]).all()


def test_equal_scores_are_ordered_by_document_and_start() -> None:
    texts = ["same words", "other", "same words"]
    backwards = rank(np.array([[1.0, 2.0, 3.0]]))
    found = Reranker(OverlapScorer(), texts, 3).rank(["same"], backwards)
    assert found.order.tolist() == [[0, 2, 1]]
    assert found.scores[0, 0] == found.scores[0, 1]


def test_a_score_that_differs_by_its_last_bits_only_is_equal() -> None:
    heads = [np.array([1, 0])]
    order = Ranking(np.array([[1, 0]]), np.array([[2.0, 1.0]]))
    found = reranking.reordered(order, heads, [np.array([1.00000001, 1.0])])
    assert found.order.tolist() == [[0, 1]]


def test_a_ranking_shorter_than_the_depth_is_scored_whole() -> None:
    scorer = OverlapScorer()
    Reranker(scorer, TEXTS, 25).rank(QUESTIONS, first())
    assert len(scorer.scored) == 5 + 2


def test_a_second_run_scores_nothing_and_finds_the_same(tmp_path: Path) -> None:
    scorer = OverlapScorer()
    once = Reranker(scorer, TEXTS, 4, cache_in(tmp_path, scorer)).rank(QUESTIONS, first())
    again = OverlapScorer()
    reranker = Reranker(again, TEXTS, 4, cache_in(tmp_path, again))
    assert reranker.to_score(QUESTIONS, first()) == 0
    twice = reranker.rank(QUESTIONS, first())
    assert again.scored == []
    np.testing.assert_array_equal(once.order, twice.order)
    np.testing.assert_array_equal(once.scores, twice.scores)


def test_texts_that_two_strategies_share_are_scored_once(tmp_path: Path) -> None:
    scorer = OverlapScorer()
    cache = cache_in(tmp_path, scorer)
    Reranker(scorer, TEXTS, 4, cache).rank(QUESTIONS, first())
    before = len(scorer.scored)
    Reranker(scorer, [*TEXTS[:3], "something new", TEXTS[4]], 4, cache).rank(QUESTIONS, first())
    assert scorer.scored[before:] == [("moon and sea", "something new")]


def test_a_repeated_pair_is_scored_once_without_a_cache() -> None:
    scorer = OverlapScorer()
    Reranker(scorer, ["a", "a", "a"], 3).rank(["a", "a"], rank(np.ones((2, 3))))
    assert scorer.scored == [("a", "a")]


def test_a_killed_sweep_loses_at_most_the_batch_it_was_working_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "BATCH", 2)
    scorer = OverlapScorer()
    told: list[int] = []

    def killed(pairs: int) -> None:
        told.append(pairs)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Reranker(scorer, TEXTS, 5, cache_in(tmp_path, scorer), killed).rank(QUESTIONS, first())
    assert Reranker(scorer, TEXTS, 5, cache_in(tmp_path, scorer)).to_score(QUESTIONS, first()) == 7 - 4


def test_batches_hold_pairs_of_one_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranking, "BATCH", 3)
    scorer = OverlapScorer()
    Reranker(scorer, TEXTS, 5).rank(QUESTIONS, first())
    lengths = [len(question) + len(text) for question, text in scorer.scored]
    assert lengths == sorted(lengths, reverse=True)
    assert scorer.batches == [3, 3, 1]


def test_questions_are_timed_one_by_one_and_what_is_scored_for_it_is_kept(tmp_path: Path) -> None:
    scorer = OverlapScorer()
    told: list[int] = []
    reranker = Reranker(scorer, TEXTS, 4, cache_in(tmp_path, scorer), told.append)
    times = reranker.milliseconds(QUESTIONS, first())
    assert [len(times), len(times["rerank"])] == [1, 2]
    assert scorer.batches == [4, 4, 2]  # the first question warms up
    reranker.rank(QUESTIONS, first())
    assert scorer.batches == [4, 4, 2]
    assert sum(told) == 6
    again = OverlapScorer()
    assert Reranker(again, TEXTS, 4, cache_in(tmp_path, again)).milliseconds(QUESTIONS, first()) == times
    assert again.scored == []
    Reranker(again, TEXTS, 4, cache_in(tmp_path, again), fresh=True).milliseconds(QUESTIONS, first())
    assert again.batches == [4, 4, 2]


def test_a_score_that_is_no_number_is_refused() -> None:
    class Broken(OverlapScorer):
        def _score(self, question: str, text: str) -> float:
            return float("nan")

    with pytest.raises(ValueError, match=r"broken gave the score nan for 'moon and sea' and 'the moon pulls"):
        Reranker(Broken("broken"), TEXTS, 3).rank(QUESTIONS, first())


def test_a_question_leaves_less_of_the_window_to_the_text() -> None:
    reranker = Reranker(OverlapScorer(window=6), TEXTS, 3)
    assert reranker.characters_read("moon", [0, 3]) == [len("the moon pulls the sea"), len(TEXTS[3])]
    assert reranker.characters_read("what pulls the sea", [0]) == [len("the moon")]
    assert reranker.characters_read("moon", []) == []


def test_keys_tell_where_the_question_ends() -> None:
    assert key_of(("ab", "c")) != key_of(("a", "bc"))
    assert key_of(("1 a", "b")) != key_of(("1", " ab"))


@pytest.mark.model
def test_the_real_cross_encoder_puts_the_answer_first_and_scores_as_it_does_by_itself(
    wheel_models: Path, tmp_path: Path
) -> None:
    scorer = find_cross_encoder("ms-marco-MiniLM-L12-v2-int8", wheel_models)
    texts = [
        "Berlin is well known for its museums.",
        "Munich is a city in Bavaria.",
        "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
    ]
    question = "How many people live in Berlin?"
    cache = PairScoreCache(tmp_path / "scores.db", scorer.stamp.cache_stamp)
    found = Reranker(scorer, texts, 3, cache).rank([question], rank(np.array([[3.0, 2.0, 1.0]])))
    assert found.order[0, 0] == 2
    bare = scorer.model().predict([(question, text) for text in texts], activation_fn=torch.nn.Identity())
    np.testing.assert_allclose(found.scores[0], bare[found.order[0]], atol=1e-3)
