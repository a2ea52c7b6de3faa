"""Late interaction: exact MaxSim in bounded memory, token vectors made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_scorers import WordTokenEncoder

from experiments import late_interaction
from experiments.late_interaction import LateRanker, TokenIndex, index_tokens, max_sim
from experiments.ranking import rank
from store.token_vectors import TokenVectorStore

TEXTS = ("the moon pulls the sea", "bread needs yeast", "moon and sea", "honey", "moon and sea")
NO_RANKING = rank(np.zeros((0, 0)))


def store_in(folder: Path, encoder: WordTokenEncoder) -> TokenVectorStore:
    return TokenVectorStore(folder / "tokens.db", encoder.stamp.cache_stamp, encoder.stamp.dimensions)


def indexed(folder: Path, encoder: WordTokenEncoder | None = None) -> TokenIndex:
    encoder = encoder or WordTokenEncoder()
    return index_tokens(TEXTS, encoder, store_in(folder, encoder))


def test_max_sim_is_the_sum_of_each_question_tokens_best_match(tmp_path: Path) -> None:
    encoder = WordTokenEncoder()
    questions = encoder.encode_queries(["moon sea", "yeast in bread dough", "x"]).vectors
    found = max_sim(questions, indexed(tmp_path, encoder))
    documents = [vectors.astype(np.float16).astype(np.float64) for vectors in encoder.encode_documents(TEXTS).vectors]
    for row, question in enumerate(questions):
        for column, document in enumerate(documents):
            assert found[row, column] == pytest.approx((question @ document.T).max(axis=1).sum(), abs=1e-5)


def test_the_size_of_a_block_changes_no_similarity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = WordTokenEncoder()
    questions = encoder.encode_queries(["moon sea", "yeast"]).vectors
    whole = max_sim(questions, indexed(tmp_path, encoder))
    for floats in (1, 30, 100):  # one chunk at a time, two, a few
        monkeypatch.setattr(late_interaction, "_BLOCK_FLOATS", floats)
        np.testing.assert_allclose(max_sim(questions, indexed(tmp_path, encoder)), whole, atol=1e-5)


def test_storing_as_float16_moves_a_score_by_less_than_a_thousandth_a_token(tmp_path: Path) -> None:
    encoder = WordTokenEncoder()
    questions = encoder.encode_queries(["moon sea honey bread"]).vectors
    exact = [(questions[0] @ vectors.T).max(axis=1).sum() for vectors in encoder.encode_documents(TEXTS).vectors]
    np.testing.assert_allclose(max_sim(questions, indexed(tmp_path, encoder))[0], exact, atol=0.001 * len(questions[0]))


def test_no_question_and_no_chunk_give_an_empty_matrix(tmp_path: Path) -> None:
    assert max_sim([], indexed(tmp_path)).shape == (0, 5)
    encoder = WordTokenEncoder()
    nothing = index_tokens([], encoder, store_in(tmp_path / "empty", encoder))
    assert max_sim(encoder.encode_queries(["a"]).vectors, nothing).shape == (1, 0)


def test_all_chunks_are_ranked_ties_by_document_and_start(tmp_path: Path) -> None:
    encoder = WordTokenEncoder()
    found = LateRanker(encoder, indexed(tmp_path, encoder)).rank(["moon and sea"], NO_RANKING)
    assert found.order[0, :3].tolist() == [2, 4, 0]
    assert found.scores[0, 0] == found.scores[0, 1] == pytest.approx(4.0, abs=0.01)  # three words and the marker
    assert len(found.order[0]) == 5


def test_a_text_is_embedded_once_whatever_strategy_has_it(tmp_path: Path) -> None:
    encoder = WordTokenEncoder()
    once = indexed(tmp_path, encoder)
    assert (once.computed, sorted(encoder.encoded)) == (4, sorted(set(TEXTS)))
    more = index_tokens(["honey", "something new"], encoder, store_in(tmp_path, encoder))
    assert (more.computed, encoder.encoded[-1]) == (1, "something new")


def test_what_is_kept_is_counted_in_bytes(tmp_path: Path) -> None:
    encoder = WordTokenEncoder()
    index = indexed(tmp_path, encoder)
    words = [len(text.split()) + 1 for text in TEXTS]
    assert index.bytes_kept == sum(words) * 48 * 2
    assert LateRanker(encoder, index).bytes_kept == index.bytes_kept


def test_a_question_is_timed_in_two_stages(tmp_path: Path) -> None:
    encoder = WordTokenEncoder()
    times = LateRanker(encoder, indexed(tmp_path, encoder)).milliseconds(["moon", "sea"] * 30, NO_RANKING)
    assert {stage: len(values) for stage, values in times.items()} == {"tokens": 25, "maxsim": 25}


def test_what_lies_beyond_the_window_is_not_read(tmp_path: Path) -> None:
    encoder = WordTokenEncoder(window=3)
    ranker = LateRanker(encoder, indexed(tmp_path, encoder))
    assert ranker.characters_read("any question", [0, 3]) == [len("the moon pulls"), len("honey")]


@pytest.mark.parametrize(
    ("vectors", "said"), [(np.ones((2, 48)), "length 6.9"), (np.zeros((0, 48)), "no token vector")]
)
def test_vectors_that_are_no_unit_vectors_are_refused(tmp_path: Path, vectors: np.ndarray, said: str) -> None:
    class Broken(WordTokenEncoder):
        def _vectors(self, text: str) -> np.ndarray:
            return vectors.astype(np.float32)

    with pytest.raises(ValueError, match=said):
        indexed(tmp_path, Broken())
