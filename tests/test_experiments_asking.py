import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from experiments.asking.answers import QuestionError, check_threshold, parse_combination
from experiments.asking.asker import Asker, DecisionMismatchError
from experiments.asking.live_index import LockedEncoder
from experiments.conditions import Combination
from experiments.embedding import embed
from experiments.models import EncodedBatch
from experiments.project import Project, open_project
from experiments.ranking import Fusion
from experiments.settings import Settings
from store.vectors import VectorCache
from tests.worlds import BLIND, DOCUMENTS, MODEL, QUERIES, SECTIONS, STRATEGIES, KeywordEncoder, retrieved

WORLD = Settings(strategies=STRATEGIES, models=(MODEL,))
DENSE = Combination("E", "dense", MODEL)


class Counting(KeywordEncoder):
    """Counts what it is asked to embed, and notices when two threads use it at once."""

    def __init__(self):
        super().__init__()
        self.documents, self.questions, self.busy, self.clashes = [], [], False, 0

    def encode_documents(self, texts):
        self.clashes += self.busy
        self.busy = True
        self.documents += texts
        encoded = super().encode_documents(texts)
        self.busy = False
        return encoded

    def encode_queries(self, texts):
        self.questions += texts
        return KeywordEncoder.encode_documents(self, texts)


def project(root, settings=WORLD):
    return Project(
        root, "world", root / "documents", root / "questions.jsonl", True, (), "", "", "x", settings=settings
    )


def asker(root, encoder=None, documents=DOCUMENTS):
    encoder = encoder or KeywordEncoder()
    return Asker(project(root), documents, find=lambda name: encoder)


def decision(**values):
    plain = {
        "id": 3, "strategy": "E", "strategy_spec": SECTIONS.spec, "retriever": "dense", "retriever_settings": None,
        "fusion": None, "scorer": None, "scorer_stamp": {},
        "model": MODEL, "stamp": KeywordEncoder().stamp._asdict(), "threshold": 0.5,
    }  # fmt: skip
    return SimpleNamespace(**{**plain, **values})


@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid"])
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_a_live_question_gets_exactly_what_a_sweep_measures(tmp_path, strategy, retriever):
    ask = asker(tmp_path)
    combination = Combination(strategy.name, retriever, None if retriever == "bm25" else MODEL)
    measured = retrieved(strategy, retriever)
    for query, outcome in zip(QUERIES, measured.outcomes, strict=True):
        answer = ask.ask(query.text, combination, 0.3)
        assert answer.nearest == outcome.nearest
        assert answer.refused == (outcome.nearest is None or outcome.nearest >= 0.3)
        seen = [(one.document, one.start, one.end, one.distance, one.score) for one in answer.looked_at]
        assert seen == [(one.document, one.start, one.end, one.distance, one.score) for one in outcome.hits[:4]]


def test_kept_chunks_are_numbered_in_order_and_quote_their_document(tmp_path):
    answer = asker(tmp_path).ask("How hot is the oven?", DENSE, 0.5)
    assert [one.number for one in answer.kept] == list(range(1, len(answer.kept) + 1))
    first = answer.kept[0]
    assert (first.rank, first.distance, first.label) == (1, 0.0, "Bread › Baking")
    text = {document.id: document.text for document in DOCUMENTS}[first.document]
    assert first.quote == text[first.start : first.end] == "The oven stands at 230 degrees. Bake until brown."
    assert first.locator == f"#char={first.start},{first.end}"
    assert answer.refusal is None
    assert set(answer.milliseconds) == {"index", "embed", "scan"}


def test_a_refusal_says_its_threshold_and_the_nearest_distance(tmp_path):
    answer = asker(tmp_path).ask("paella recipe", DENSE, 0.675)
    # A text without a keyword lies on an axis of its own, at distance 1 from all others but its like.
    assert answer.refused
    assert answer.refusal == 'NO ANSWER: nothing under cosine distance 0.675 for "paella recipe"'
    assert answer.nearest == 1.0
    assert answer.kept == ()
    assert len(answer.looked_at) == 4


def test_a_distance_equal_to_the_threshold_is_refused(tmp_path):
    ask = asker(tmp_path)
    nearest = ask.ask("Does the ferry sail at high tide?", DENSE, None).nearest
    assert ask.ask("Does the ferry sail at high tide?", DENSE, nearest).refused
    assert not ask.ask("Does the ferry sail at high tide?", DENSE, nearest + 1e-6).refused


def test_no_threshold_keeps_whatever_comes_first(tmp_path):
    assert len(asker(tmp_path).ask("paella recipe", DENSE, None).kept) == 4


def test_a_retriever_that_returns_nothing_refuses_without_a_distance(tmp_path):
    answer = asker(tmp_path).ask("paella", Combination("E", "bm25"), None)
    assert answer.refusal == 'NO ANSWER: bm25 returned nothing for "paella"'
    assert answer.nearest is None


def test_an_index_is_made_once_and_only_what_no_cache_holds_is_embedded(tmp_path):
    encoder = Counting()
    ask = asker(tmp_path, encoder)
    first = ask.ask("oven?", DENSE, 0.5)
    embedded = len(encoder.documents)
    again = ask.ask("queen?", DENSE, 0.5)
    assert embedded > 0
    assert len(encoder.documents) == embedded
    assert "index" in first.milliseconds
    assert "index" not in again.milliseconds
    later = Counting()
    asker(tmp_path, later).ask("oven?", DENSE, 0.5)
    assert later.documents == []
    edited = replace(DOCUMENTS[0], text=DOCUMENTS[0].text.replace("July", "August"))
    asker(tmp_path, later, (edited, *DOCUMENTS[1:])).ask("oven?", DENSE, 0.5)
    assert len(later.documents) == 1


def test_side_by_side_a_question_is_embedded_once_and_never_written_to_the_cache(tmp_path):
    encoder = Counting()
    ask = asker(tmp_path, encoder)
    for strategy in ("A", "B", "E"):
        ask.ask("oven?", Combination(strategy, "hybrid", MODEL), 0.5)
    assert encoder.questions == ["oven?"]
    asker(tmp_path, encoder).ask("oven?", DENSE, 0.5)
    assert encoder.questions == ["oven?", "oven?"]


def test_a_question_of_the_question_set_is_read_from_the_cache(tmp_path):
    encoder = Counting()
    cache = VectorCache(project(tmp_path).vectors / f"{encoder.stamp.files[:16]}.db", encoder.stamp.cache_stamp)
    embed("query", ["oven?"], encoder, cache, lambda _: None)
    encoder.questions.clear()
    assert not asker(tmp_path, encoder).ask("oven?", DENSE, 0.5).refused
    assert encoder.questions == []


@pytest.mark.parametrize(
    ("question", "message"), [("", "blank"), (" \n\t", "blank"), ("a" * 10_001, "10,001 characters")]
)
def test_blank_and_absurdly_long_questions_are_refused(tmp_path, question, message):
    with pytest.raises(QuestionError, match=message):
        asker(tmp_path).ask(question, DENSE, 0.5)


@pytest.mark.parametrize("threshold", [-0.1, 2.1, float("nan"), float("inf")])
def test_a_threshold_that_is_no_cosine_distance_is_refused(threshold):
    with pytest.raises(ValueError, match="no cosine distance"):
        check_threshold(threshold)


def test_an_unknown_strategy_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="no strategy 'Z', known are A, B, C, D, E, F"):
        asker(tmp_path).ask("oven?", Combination("Z", "dense", MODEL), 0.5)


def test_a_question_beyond_the_models_window_says_how_much_was_compared(tmp_path):
    answer = asker(tmp_path, KeywordEncoder(window=3)).ask("How hot is the oven then?", DENSE, 0.5)
    assert answer.notes[0].startswith("The model reads 3 tokens: only the first 10 of the question's 25 characters")


def test_a_question_in_another_language_is_answered_with_a_note(tmp_path):
    ask = asker(tmp_path)
    (note,) = ask.ask("Πόσο ζεστός είναι ο φούρνος;", DENSE, 0.5).notes
    assert note.startswith("Of the question's 5 different words the corpus holds 0.")
    assert ask.ask("How long does the yeast rest in water?", DENSE, 0.5).notes == ()


def test_a_corpus_without_documents_cannot_be_asked(tmp_path):
    with pytest.raises(ValueError, match="no document to ask"):
        asker(tmp_path, documents=())


def test_a_decision_answers_at_its_own_threshold(tmp_path):
    ask = asker(tmp_path)
    answer = ask.ask_decided("How hot is the oven?", decision(corpus_hash=ask.corpus_hash))
    assert answer.threshold == 0.5
    assert answer == replace(ask.ask("How hot is the oven?", DENSE, 0.5), milliseconds=answer.milliseconds)


def test_a_decision_of_another_model_is_refused_and_both_stamps_are_named(tmp_path):
    ask = asker(tmp_path)
    other = KeywordEncoder().stamp._replace(files="e" * 64, window=512)._asdict()
    with pytest.raises(DecisionMismatchError) as refused:
        ask.ask_decided("oven?", decision(corpus_hash=ask.corpus_hash, stamp=other))
    assert "keywords (files eeeeeeeeeeee, 9 dimensions, window 512, fp32, embedding 1)" in str(refused.value)
    assert "keywords (files ffffffffffff, 9 dimensions, window 256, fp32, embedding 1)" in str(refused.value)


def test_a_decision_about_other_documents_strategy_or_bm25_is_refused_with_every_difference(tmp_path):
    stale = decision(
        corpus_hash="0" * 64, strategy_spec=BLIND.spec, retriever="bm25", model=None, retriever_settings="k1 = 2"
    )
    with pytest.raises(DecisionMismatchError) as refused:
        asker(tmp_path).ask_decided("oven?", stale)
    for words in ("corpus 000000000000", "its strategy E was cuts=blind", "its BM25 was k1 = 2, here it is k1 = 1.2"):
        assert words in str(refused.value)


def test_a_decision_that_holds_on_the_changed_corpus_answers(tmp_path):
    ask = asker(tmp_path)
    elsewhere = decision(corpus_hash="0" * 64)
    answer = ask.ask_decided("How hot is the oven?", elsewhere, {ask.corpus_hash})
    assert not answer.refused
    with pytest.raises(DecisionMismatchError, match="it was made about corpus 000000000000"):
        ask.ask_decided("How hot is the oven?", elsewhere, {"1" * 64})


def test_a_decision_without_a_stamp_is_refused(tmp_path):
    ask = asker(tmp_path)
    with pytest.raises(DecisionMismatchError, match="carries no model stamp"):
        ask.ask_decided("oven?", decision(corpus_hash=ask.corpus_hash, stamp={}))


def test_the_same_model_under_another_name_or_place_is_the_same(tmp_path):
    ask = asker(tmp_path)
    moved = KeywordEncoder().stamp._replace(source="elsewhere")._asdict()
    ask.check_decision(decision(corpus_hash=ask.corpus_hash, stamp=moved))


def test_documents_that_change_on_disk_are_read_again(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    for one in DOCUMENTS:
        (folder / one.id).write_text(one.text, "utf-8")
    ask = Asker.of(project(tmp_path), find=lambda name: KeywordEncoder())
    assert ask.refreshed() is ask
    (folder / "bees.md").write_text("# Bees\n\nThe swarm is in the oven.\n", "utf-8")
    renewed = ask.refreshed()
    assert renewed is not ask
    assert renewed.corpus_hash != ask.corpus_hash
    assert renewed.ask("swarm in the oven", DENSE, 0.5).kept[0].document == "bees.md"


def test_many_threads_make_one_index_and_use_the_model_one_at_a_time(tmp_path):
    encoder = Counting()
    ask = asker(tmp_path, encoder)
    answers, start = [], threading.Barrier(8)

    def work(number):
        start.wait()
        answers.extend([ask.ask(f"oven {number} {turn}", DENSE, 0.9) for turn in range(3)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 24
    assert encoder.clashes == 0
    assert len(encoder.documents) == len(set(encoder.documents))


def test_a_locked_encoder_passes_questions_and_documents_on():
    encoder = Counting()
    batch = LockedEncoder(encoder).encode_queries(["oven"])
    assert isinstance(batch, EncodedBatch)
    assert encoder.questions == ["oven"]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("E/dense", Combination("E", "dense", "m/x")),
        ("E/bm25", Combination("E", "bm25")),
        ("A/hybrid/org/name", Combination("A", "hybrid", "org/name")),
    ],
)
def test_combinations_are_read_from_their_keys(key, expected):
    assert parse_combination(key, ["m/x"]) == expected


@pytest.mark.parametrize("key", ["E", "", "/dense", "E/bm25/model", "E/magic"])
def test_what_is_no_combination_is_refused(key):
    with pytest.raises(ValueError, match=r"combination|uses no model|unknown retriever"):
        parse_combination(key, ["m/x"])


@pytest.mark.model
def test_the_real_model_answers_and_refuses_on_the_bundled_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bundled = Asker.of(open_project())
    chapter = bundled.documents["13-inference-optimisation.md"]
    begin = chapter.text.index("## The KV cache")  # a section is enough, and is embedded in a second
    section = replace(chapter, text=chapter.text[begin : begin + 2_500])
    ask = Asker(bundled.project, [section])
    combination = Combination("E", "dense", bundled.project.settings.models[0])
    answer = ask.ask("How many bytes does the KV cache take?", combination, 0.675)
    assert answer.kept
    assert np.all(np.diff([one.distance for one in answer.looked_at]) >= 0)
    assert ask.ask("How much saffron goes into a paella?", combination, 0.675).refused


def test_a_decision_about_a_ranking_fused_otherwise_is_refused(tmp_path):
    ask, heavy = asker(tmp_path), Fusion(bm25=3).describe()
    with pytest.raises(DecisionMismatchError, match=r"fused with k = 60, weights: dense 1, bm25 3, here it is k = 60"):
        ask.ask_decided("q", decision(retriever="hybrid", fusion=heavy, corpus_hash=ask.corpus_hash))
