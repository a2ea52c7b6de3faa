from drill_world import ASKED, BLIND, CORPUS, DOOR, OVENS, OVERLAPPING, SECTIONS, STONES
from worlds import KeywordEncoder

from experiments.chunking import chunk_document
from experiments.recording import query_rows
from experiments.relevance import destroyed
from experiments.reviewing.cuttings import lay_over, needle_places, unread, window_keys

ROWS = query_rows(ASKED, "q" * 64)


def test_each_needle_is_listed_once_with_all_questions_that_ask_for_it():
    places = {one.id: one for one in needle_places(ROWS)}
    assert len(places) == 6
    assert places[STONES.id].questions == ("stones/course", "stones/ticket")
    assert OVENS.text[places[STONES.id].start : places[STONES.id].end] == places[STONES.id].text == STONES.text


def test_unanswerable_questions_have_no_place():
    assert "near-literal" not in {question for one in needle_places(ROWS) for question in one.questions}


def test_only_the_needles_of_the_document_are_laid_over_it():
    overlay = lay_over(OVENS, SECTIONS, needle_places(ROWS))
    assert [one.needle.id for one in overlay.needles] == [STONES.id, DOOR.id]
    assert all(
        overlay.chunks[place].content.count(one.needle.text) for one in overlay.needles for place in one.quotable
    )


def test_what_is_destroyed_is_what_relevance_says_is_destroyed():
    for strategy in (BLIND, OVERLAPPING, SECTIONS):
        for document in CORPUS:
            overlay = lay_over(document, strategy, needle_places(ROWS))
            spans = [one.needle for one in overlay.needles]
            assert [one.destroyed for one in overlay.needles] == destroyed(overlay.chunks, spans).tolist()


def test_a_needle_whole_only_through_overlap_is_held_but_not_quotable():
    laid = [one for document in CORPUS for one in lay_over(document, OVERLAPPING, needle_places(ROWS)).needles]
    assert any(one.chunks and not one.quotable for one in laid)


def test_where_an_encoder_stopped_reading_is_an_offset_of_the_document():
    chunks = chunk_document(OVENS, SECTIONS)
    texts = [chunk.text for chunk in chunks]
    batch = KeywordEncoder(window=8).encode_documents(texts)
    seen = dict(zip(window_keys(chunks), batch.seen, strict=True))
    found = unread(chunks, seen)
    assert found
    for place, offset in found.items():
        chunk = chunks[place]
        read = batch.seen[place] - (len(chunk.text) - len(chunk.content))
        assert OVENS.text[chunk.start : offset] == chunk.content[: max(0, read)]
        assert OVENS.text[offset : chunk.end] == chunk.content[max(0, read) :]


def test_chunks_read_to_their_end_or_not_known_are_left_out():
    chunks = chunk_document(OVENS, SECTIONS)
    keys = window_keys(chunks)
    assert unread(chunks, {keys[0]: len(chunks[0].text)}) == {}
    assert unread(chunks, {}) == {}


def test_a_header_alone_longer_than_the_window_leaves_all_of_the_chunk_unread():
    chunks = chunk_document(OVENS, SECTIONS)
    assert unread(chunks, {window_keys(chunks)[0]: 3})[0] == chunks[0].start
