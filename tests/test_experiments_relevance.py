from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from corpus.documents import Document
from experiments.chunking import Chunk, chunk_corpus
from experiments.conditions import PRESETS, Strategy
from experiments.relevance import containing, destroyed, quotable


class Place(NamedTuple):
    document: str
    start: int
    end: int


def chunk(document, start, end, overlap_start=None):
    overlap_start = start if overlap_start is None else overlap_start
    return Chunk(document, "", start, end, overlap_start, "", "", "", over_budget=False)


def document(text, id):  # noqa: A002
    return Document(id=id, title="T", text=text, source=id, sha256="", encoding="utf-8")


CHUNKS = [chunk("a", 0, 10), chunk("a", 10, 20, overlap_start=6), chunk("b", 0, 10), chunk("a", 0, 30)]


def test_a_needle_is_held_by_every_chunk_whose_embedded_range_has_it_whole():
    needles = [Place("a", 2, 5), Place("a", 7, 12), Place("a", 0, 10), Place("b", 3, 10), Place("a", 5, 12)]
    assert [list(found) for found in containing(CHUNKS, needles)] == [[0, 3], [1, 3], [0, 3], [2], [3]]


def test_a_needle_held_only_through_the_overlap_is_not_quotable():
    needle = Place("a", 7, 12)
    assert [list(found) for found in containing(CHUNKS[:3], [needle])] == [[1]]
    assert [list(found) for found in quotable(CHUNKS[:3], [needle])] == [[]]


def test_half_a_needle_is_no_hit():
    assert destroyed(CHUNKS[:3], [Place("a", 5, 15), Place("a", 19, 21), Place("b", 0, 10)]).tolist() == [
        True,
        True,
        False,
    ]


def test_the_same_range_of_another_document_is_no_hit():
    assert destroyed([chunk("a", 0, 10)], [Place("b", 2, 4)]).tolist() == [True]


def test_no_chunks_destroy_every_needle_and_no_needles_give_nothing():
    assert destroyed([], [Place("a", 0, 1)]).tolist() == [True]
    assert containing(CHUNKS, []) == ()
    assert destroyed(CHUNKS, []).tolist() == []


def test_a_blind_cut_destroys_the_needle_it_runs_through_and_overlap_saves_it():
    text = "x" * 500 + "The answer is forty-two." + "x" * 500
    needle = Place("a", 500, 524)
    lost = [
        bool(destroyed(chunk_corpus([document(text, "a")], strategy), [needle])[0])
        for strategy in PRESETS
        if strategy.cuts == "blind"
    ]
    assert lost == [True, False]


@st.composite
def worlds(draw):
    """Documents, a strategy, and needles anywhere in them."""
    texts = draw(st.lists(st.text(st.sampled_from("ab.! \n"), min_size=1, max_size=80), min_size=1, max_size=3))
    budget = draw(st.integers(1, 30))
    cuts = draw(st.sampled_from(["blind", "boundaries"]))
    strategy = Strategy("s", cuts, header=False, overlap=draw(st.integers(0, budget - 1)), budget=budget)
    needles = []
    for _ in range(draw(st.integers(0, 6))):
        which = draw(st.integers(0, len(texts) - 1))
        start = draw(st.integers(0, len(texts[which]) - 1))
        needles.append(Place(f"{which}.md", start, draw(st.integers(start + 1, len(texts[which])))))
    return [document(text, f"{number}.md") for number, text in enumerate(texts)], strategy, needles


def covers(one, begin, needle):
    """Brute force: every single character of the needle is a character of the chunk."""
    return one.document == needle.document and set(range(needle.start, needle.end)) <= set(range(begin, one.end))


@given(worlds(), st.randoms(use_true_random=False))
def test_destroyed_needles_are_exactly_those_no_range_covers(world, random):
    documents, strategy, needles = world
    chunks = list(chunk_corpus(documents, strategy))
    random.shuffle(chunks)
    whole = [[i for i, one in enumerate(chunks) if covers(one, one.overlap_start, needle)] for needle in needles]
    own = [[i for i, one in enumerate(chunks) if covers(one, one.start, needle)] for needle in needles]
    assert [list(found) for found in containing(chunks, needles)] == whole
    assert [list(found) for found in quotable(chunks, needles)] == own
    assert destroyed(chunks, needles).tolist() == [not found for found in whole]


@given(worlds())
def test_a_chunk_holds_a_needle_by_range_only_if_its_text_holds_the_words(world):
    documents, strategy, needles = world
    texts = {one.id: one.text for one in documents}
    chunks = chunk_corpus(documents, strategy)
    for needle, holders, quoting in zip(needles, containing(chunks, needles), quotable(chunks, needles), strict=True):
        words = texts[needle.document][needle.start : needle.end]
        assert all(words in chunks[index].text for index in holders)
        assert all(words in chunks[index].content for index in quoting)
        assert set(quoting) <= set(holders)
