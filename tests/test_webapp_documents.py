"""The documents page and the page of one document: numbers, cuts, marks, places, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from html import unescape
from urllib.parse import quote

import pytest
from drill_world import (
    ASKED,
    CORPUS,
    DOOR,
    OVENS,
    OVENS_ID,
    STONES,
    STRATEGIES,
    drilled,
    edited,
    embedded_in,
    settings,
)
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page, text
from small_project import small_project
from sqlalchemy import event
from worlds import document

from corpus.canonical import EXTRACTOR
from experiments.chunking import chunk_document
from experiments.recording import document_rows, query_rows
from experiments.reviewing.cuttings import lay_over, needle_places
from store import reads, writes
from store.engine import open_store
from webapp.app import create_app
from webapp.contexts.document import DocumentContext
from webapp.contexts.documents import DocumentsContext

OVENS_PAGE = f"/documents/{quote(OVENS_ID)}"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('documents') / 'store.db'}")
    drilled(opened)
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    embedded_in(folder)
    return folder


def rows(client, path):
    return list(csv.DictReader(io.StringIO(text(client, path))))


def laid(page):
    """The runs of a document's text: offset, attributes and words."""
    body = page.split('data-to="')[1].split(">", 1)[1].split("</div>")[0]
    runs = re.findall(r'<(mark|span) data-at="(\d+)"([^>]*)>([^<]*)</', body)
    return [(tag, int(at), attributes, unescape(words)) for tag, at, attributes, words in runs]


def other_client(tmp_path, root=None):
    engine = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    return engine, create_app(engine, root=root or tmp_path, allowed_hosts={"localhost"}).test_client()


def test_contexts_are_what_the_templates_use(app):
    assert_context_is_what_the_templates_use(app, "documents", DocumentsContext)
    assert_context_is_what_the_templates_use(app, "document", DocumentContext)


def test_fragments_are_parts_of_their_pages(client):
    assert_fragment_is_part_of_its_page(client, "/documents?sweep=1", "documents")
    assert_fragment_is_part_of_its_page(client, f"{OVENS_PAGE}?cut=B&char=10,40", "document")


def test_the_table_counts_chunks_and_destroyed_needles_as_cutting_does(client):
    found = {row["document"]: row for row in rows(client, "/documents.csv")}
    places = needle_places(query_rows(ASKED, "q"))
    for one in CORPUS:
        row = found[one.id]
        assert (int(row["characters"]), row["encoding"], row["state"]) == (len(one.text), "utf-8", "indexed")
        for strategy in STRATEGIES:
            overlay = lay_over(one, strategy, places)
            assert int(row[f"chunks_{strategy.name}"]) == len(overlay.chunks)
            assert int(row[f"destroyed_{strategy.name}"]) == sum(needle.destroyed for needle in overlay.needles)
    page = text(client, "/documents")
    assert re.search(r"4 documents with 6 needles: A destroys \d of 6 \[", page)
    assert "Embedded by keywords:" in page


def test_counting_again_does_not_read_the_texts_again(client, engine):
    text(client, "/documents")
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    text(client, "/documents")
    assert not any("FROM text" in one for one in asked)


@pytest.mark.parametrize("cut", ["A", "B", "E"])
def test_the_text_is_there_to_the_last_character_whatever_is_laid_over_it(client, cut):
    runs = laid(text(client, f"{OVENS_PAGE}?cut={cut}"))
    assert "".join(words for *_, words in runs) == OVENS.text
    for _, at, _, words in runs:
        assert OVENS.text[at : at + len(words)] == words


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: one.name)
def test_every_chunk_is_labelled_where_it_begins_and_overlap_is_marked(client, strategy):
    page = text(client, f"{OVENS_PAGE}?cut={strategy.name}")
    chunks = chunk_document(OVENS, strategy)
    header = r'(?:<span class="header-line"> ([^<]*)</span>)?'
    label = rf'<a class="chunk-cut" href="#char=(\d+),(\d+)" title="[^"]*">(\d+){header}</a>'
    labels = re.findall(rf'{label}<(?:mark|span) data-at="(\d+)"', page)
    assert [(int(a), int(b), int(number), int(at)) for a, b, number, _, at in labels] == [
        (chunk.start, chunk.end, number, chunk.start) for number, chunk in enumerate(chunks, 1)
    ]
    assert [unescape(header) for *_, header, _ in labels] == [chunk.header for chunk in chunks]
    overlap = {place for chunk in chunks for place in range(chunk.overlap_start, chunk.start)}
    shown = {
        place
        for _, at, attributes, words in laid(page)
        if re.search(r'class="[^"]*\boverlap\b', attributes)
        for place in range(at, at + len(words))
    }
    assert shown == overlap


def test_needles_are_marked_and_destroyed_ones_in_the_colour_of_alarm(client):
    whole, apart = laid(text(client, f"{OVENS_PAGE}?cut=E")), laid(text(client, f"{OVENS_PAGE}?cut=A"))
    for runs, alarmed in ((whole, False), (apart, True)):
        marked = [run for run in runs if run[0] == "mark" and STONES.start <= run[1] < STONES.end]
        assert "".join(words for *_, words in marked) == STONES.text
        assert all(("destroyed" in attributes) == alarmed for _, _, attributes, _ in marked)
        assert f'id="char={STONES.start},{STONES.end}"' in marked[0][2]
    assert len([run for run in apart if run[0] == "mark" and STONES.start <= run[1] < STONES.end]) > 1
    page = text(client, f"{OVENS_PAGE}?cut=E")
    assert "destroyed by A" in page and 'href="/sweeps/1/queries/stones/course"' in page


def test_heading_lines_that_no_chunk_holds_are_shown_as_such(client):
    runs = laid(text(client, f"{OVENS_PAGE}?cut=E"))
    assert any("outside" in attributes and words.startswith("## Doors") for _, _, attributes, words in runs)
    assert not any("outside" in attributes for _, _, attributes, _ in laid(text(client, f"{OVENS_PAGE}?cut=A")))


def test_a_stretch_asked_for_is_marked_without_javascript(client):
    start = OVENS.text.index("The ferry")
    page = text(client, f"{OVENS_PAGE}?cut=E&char={start},{start + 9}")
    marked = [run for run in laid(page) if "focus" in run[2]]
    assert "".join(words for *_, words in marked) == "The ferry"
    assert f'id="char={start},{start + 9}"' in marked[0][2]


def test_offsets_count_code_points(client):
    at = OVENS.text.index("🔥") + 1
    marked = [run for run in laid(text(client, f"{OVENS_PAGE}?cut=E&char={at},{at + 1}")) if "focus" in run[2]]
    assert [words for *_, words in marked] == ["🔥"]


def test_sections_and_needles_are_listed_with_links_to_their_places(client):
    page = text(client, f"{OVENS_PAGE}?cut=E")
    aside = page.split('<aside class="beside"')[1]
    for number, title in ((2, "Heat &amp; &lt;script&gt;alert(1)&lt;/script&gt;"), (3, "Doors")):
        assert f'<a href="#s-{number}">{title}</a>' in aside
        assert f'id="s-{number}"' in page
    assert f"?cut=E&amp;char={DOOR.start}%2C{DOOR.end}#char={DOOR.start},{DOOR.end}" in aside


def test_what_the_encoder_did_not_read_is_struck_through(tmp_path):
    engine, client = other_client(tmp_path)
    drilled(engine, window=8)
    unknown = text(client, f"{OVENS_PAGE}?cut=E")
    assert "is not known here" in unknown and 'class="unread"' not in unknown.split("data-to")[1]
    embedded_in(tmp_path, window=8)
    page = text(client, f"{OVENS_PAGE}?cut=E")
    assert "what is struck through was not read" in page and "Beyond the window" in page
    file = rows(client, f"/chunks.csv?document={quote(OVENS_ID)}&cut=E")
    unread = {
        place for row in file if row["unread_from"] for place in range(int(row["unread_from"]), int(row["end"]))
    }  # fmt: skip
    shown = {
        place
        for _, at, attributes, words in laid(page)
        if "unread" in attributes
        for place in range(at, at + len(words))
    }
    assert shown == unread != set()
    engine.dispose()


def test_where_everything_was_read_it_says_so(client):
    page = text(client, f"{OVENS_PAGE}?cut=E")
    assert "keywords read every chunk to its end" in page


def test_text_and_titles_are_other_peoples_words(client):
    for path in ("/documents", f"{OVENS_PAGE}?cut=E", f"{OVENS_PAGE}?cut=A&char=3,90"):
        page = text(client, path)
        assert "<script>alert(1)" not in page and "<b>heat" not in page and "<i>all" not in page
        assert "Ovens &lt;i&gt;all&lt;/i&gt;" in page


def test_a_long_document_comes_in_parts_and_a_place_leads_to_its_own(tmp_path):
    engine, client = other_client(tmp_path)
    drilled(engine, corpus_hash="long")
    long = document("long.md", "# Long\n\n" + "".join(f"## Part {n}\n\n{'word ' * 900}\n\n" for n in range(60)))
    writes.add_corpus(engine, *document_rows([long], "long"))
    first = text(client, "/documents/long.md?cut=E")
    assert len(first) < 200_000
    count = int(re.search(r"part 1 of (\d+)", first)[1])
    read = "".join(
        words
        for part in range(1, count + 1)
        for *_, words in laid(text(client, f"/documents/long.md?cut=E&part={part}"))
    )
    assert read == long.text
    place = 200_000
    page = text(client, f"/documents/long.md?cut=E&char={place},{place + 4}")
    assert [words for _, _, attributes, words in laid(page) if "focus" in attributes] == [long.text[place : place + 4]]
    link = unescape(re.search(r'href="([^"]*)">Part 50<', first)[1])
    assert f'id="{link.partition("#")[2]}"' in text(client, "/documents/long.md" + link.partition("#")[0])
    assert f"part {count} of {count}" in text(client, "/documents/long.md?part=999")
    engine.dispose()


def test_documents_step_to_their_neighbours_and_keep_the_strategy(client):
    page = text(client, "/documents/bread.md?cut=B")
    assert unescape(re.search(r'rel="prev" class="button" href="([^"]+)"', page)[1]) == "/documents/bees.md?cut=B"
    following = unescape(re.search(r'rel="next" class="button" href="([^"]+)"', page)[1])
    assert following == "/documents/guides/ovens%20&%20%3Cmore%3E.md?cut=B" or following.startswith("/documents/")
    assert text(client, following)


def test_an_older_corpus_says_what_changed_since(tmp_path):
    engine, client = other_client(tmp_path)
    drilled(engine)
    changed_hash, changed = edited("# Bees\n\nAnother text.\n")
    later = [document(changed, "# Bees\n\nAnother text.\n", "Bees"), *CORPUS[1:-1]]
    writes.add_corpus(engine, *document_rows(later, changed_hash))
    drilled(engine, corpus_hash=changed_hash, commit="d" * 40)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "DELETE FROM document WHERE corpus_hash = ? AND document_id = ?", (changed_hash, OVENS_ID)
        )
    found = {row["document"]: row["state"] for row in rows(client, "/documents.csv?sweep=1")}
    assert found == {"bees.md": "changed since", "bread.md": "indexed", "tides.md": "indexed", OVENS_ID: "gone since"}
    assert {row["state"] for row in rows(client, "/documents.csv")} == {"indexed"}
    assert '<option value="1" selected>' in text(client, "/documents?sweep=1")
    assert text(client, f"{OVENS_PAGE}?sweep=1")
    assert "has no document" in text(client, OVENS_PAGE, 404)
    engine.dispose()


FAILED = [
    {"file": "old.md", "problem": "The file is <b>empty</b>.", "advice": "Write the document."},
    {"file": "lost.md", "problem": "The link leads nowhere.", "advice": "Mend it."},
]


def test_a_document_that_failed_is_listed_with_its_reason(tmp_path):
    engine, client = other_client(tmp_path)
    drilled(engine, settings=settings(left_out=2, failed_documents=FAILED))
    found = {row["document"]: row for row in rows(client, "/documents.csv")}
    assert list(found)[:2] == ["old.md", "lost.md"]
    assert found["old.md"]["state"] == "failed"
    assert found["old.md"]["reason"] == "The file is <b>empty</b>. Write the document."
    assert found["old.md"]["characters"] == found["old.md"]["indexed_with"] == found["old.md"]["chunks_A"] == ""
    page = text(client, "/documents")
    assert "2 documents could not be read when sweep 1 began and were left out: no number speaks of them." in page
    assert "4 documents with 6 needles" in page
    assert "The file is &lt;b&gt;empty" in page and "<b>empty" not in page
    assert 'href="/documents/old.md"' not in page
    engine.dispose()


def test_a_document_says_what_read_it_and_what_embedded_it(tmp_path):
    engine, client = other_client(tmp_path)
    drilled(engine, versions={"extractor": EXTRACTOR})
    drilled(engine, versions={"extractor": "text/0"}, commit="d" * 40)
    (row, *_) = rows(client, "/documents.csv?sweep=1")
    assert (row["state"], row["extractor"], row["indexed_with"]) == ("indexed", EXTRACTOR, "keywords")
    (row, *_) = rows(client, "/documents.csv?sweep=2")
    assert (row["state"], row["extractor"]) == ("stale", "text/0")
    assert EXTRACTOR in row["reason"]
    page = text(client, "/documents?sweep=1")
    assert f"weights {'w' * 12}, 9 dimensions, window of 256 tokens, fp32" in page
    assert page.count("w" * 12) == 1
    engine.dispose()


@pytest.fixture
def beside_files(tmp_path):
    """A sweep, and a project whose files are no longer what it measured."""
    engine, client = other_client(tmp_path)
    drilled(engine, settings=settings(left_out=2, failed_documents=FAILED))
    project = small_project(tmp_path)
    for path in project.documents.iterdir():
        path.unlink()
    kept = {one.id: one for one in CORPUS}
    (project.documents / "guides").mkdir()
    (project.documents / OVENS_ID).write_text(kept[OVENS_ID].text, encoding="utf-8")
    (project.documents / "bread.md").write_text(kept["bread.md"].text + "More.\n")
    (project.documents / "tides.md").write_bytes(b"%PDF-1.7 ")
    (project.documents / "new.md").write_text("# New <i>one</i>\n\n## Part\n\nWords.\n")
    (project.documents / "blank.md").write_text(" ")
    (project.documents / "old.md").write_text("It can be read now.")
    yield client, project
    engine.dispose()


def test_the_files_are_looked_at_on_request_alone(beside_files):
    client, _ = beside_files
    unchecked = text(client, "/documents")
    assert "the files themselves were not looked at" in unchecked and "Compare with the files" in unchecked
    assert {row["state"] for row in rows(client, "/documents.csv")} == {"failed", "indexed"}
    found = {row["document"]: row for row in rows(client, "/documents.csv?check=1")}
    assert {name: row["state"] for name, row in found.items()} == {
        "old.md": "failed", "lost.md": "failed", OVENS_ID: "indexed", "bread.md": "changed since",
        "bees.md": "gone since", "tides.md": "cannot be read", "blank.md": "cannot be read", "new.md": "new on disk",
    }  # fmt: skip
    assert "It can be read now" in found["old.md"]["reason"]
    assert "not there any more" in found["lost.md"]["reason"]
    assert "PDF" in found["tides.md"]["reason"]
    assert found["tides.md"]["characters"]  # what was measured stands
    assert (found["new.md"]["sections"], found["new.md"]["extractor"]) == ("1", EXTRACTOR)
    assert found["new.md"]["indexed_with"] == found["new.md"]["needles"] == ""
    page = text(client, "/documents?check=1")
    assert "1 changed since, 1 gone since, 2 cannot be read and 2 new on disk" in page
    assert "New &lt;i&gt;one" in page
    assert "check=1" not in unescape(re.search(r'<th scope="row"><a href="([^"]+)"', page)[1])
    assert "/documents.json?check=1" in page
    assert_fragment_is_part_of_its_page(client, "/documents?check=1", "documents")


def test_files_that_are_as_measured_are_said_to_be(beside_files):
    client, project = beside_files
    shutil.rmtree(project.documents)
    (project.documents / "guides").mkdir(parents=True)
    for one in CORPUS:
        (project.documents / one.id).write_text(one.text, encoding="utf-8")
    page = text(client, "/documents?check=1")
    assert "are what this sweep measured." in page
    assert page.count("indexed</span>") == len(CORPUS)


def test_a_project_that_cannot_be_read_says_nothing_of_single_documents(beside_files):
    client, project = beside_files
    shutil.rmtree(project.documents)
    page = text(client, "/documents?check=1")
    assert "The files could not be compared: The documents folder does not exist" in page
    assert page.count("indexed</span>") == len(CORPUS)
    (project.root / "bluffline.toml").write_text("nonsense = [")
    assert "The files could not be compared" in text(client, "/documents?check=1")


def test_comparing_takes_no_more_statements(beside_files):
    client, _ = beside_files
    engine = client.application.extensions["bluffline"].engine
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    text(client, "/documents?check=1")
    assert len([one for one in asked if one.lstrip().upper().startswith("SELECT")]) <= 8


def test_a_sweep_without_results_shows_its_corpus_all_the_same(tmp_path):
    engine, client = other_client(tmp_path)
    drilled(engine, failed={f"{s}/{r}": "x" for s in "ABE" for r in ("dense/keywords", "bm25", "hybrid/keywords")},
            state="failed", reason="no model")  # fmt: skip
    page = text(client, "/documents")
    assert "not indexed" in page and "This sweep is failed (no model)." in page
    assert "nothing is recorded of how strategies cut them" in page
    assert "cuts this document into" in text(client, f"{OVENS_PAGE}?cut=E")
    engine.dispose()


def test_an_empty_store_says_what_to_run(tmp_path):
    engine, client = other_client(tmp_path)
    page = text(client, "/documents")
    assert "Nothing is indexed yet" in page and "Nothing is measured yet" in page and "bluffline run" in page
    page = text(client, "/documents/bees.md", 404)
    assert "There are no documents yet" in page and "bluffline run" in page
    assert "There is no such sweep" in text(client, "/documents?sweep=3", 404)
    engine.dispose()


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/documents?sweep=9", 404, "There is no such sweep"),
        ("/documents?sweep=x", 400, "sweep may be a whole number"),
        ("/documents/nothing.md", 404, "The corpus of sweep 1 has no document &#39;nothing.md&#39;."),
        (f"{OVENS_PAGE}?cut=Z", 400, "cut may be one of A, B, E."),
        (f"{OVENS_PAGE}?char=9", 400, "char may be two offsets like 120,480"),
        (f"{OVENS_PAGE}?char=9,3", 400, "char may be two offsets"),
        (f"{OVENS_PAGE}?char=0,99999", 400, f"end &lt;= {len(OVENS.text)}"),
        ("/documents?check=2", 400, "check may be 0 or 1"),
        (f"{OVENS_PAGE}?part=0", 400, "part may be a whole number"),
        (f"{OVENS_PAGE}?model=x", 400, "model may be one of keywords."),
        ("/chunks.csv", 404, "has no document &#39;&#39;"),
    ],
)
def test_what_cannot_be_shown_says_why(client, path, status, said):
    assert said in text(client, path, status)


@pytest.mark.parametrize("form", ["csv", "json", "md"])
def test_tables_are_handed_out(client, form):
    for path in (f"/documents.{form}", f"/chunks.{form}?document={quote(OVENS_ID)}&cut=B"):
        body = text(client, path)
        assert json.loads(body)["rows"] if form == "json" else len(body.splitlines()) > 2


def test_the_chunks_are_handed_out_as_they_were_cut(client):
    for strategy in STRATEGIES:
        file = rows(client, f"/chunks.csv?document={quote(OVENS_ID)}&cut={strategy.name}")
        assert [(int(row["overlap_start"]), int(row["start"]), int(row["end"]), row["header"]) for row in file] == [
            (
                chunk.overlap_start,
                chunk.start,
                chunk.end,
                "'" * chunk.header.startswith(("=", "+", "-", "@")) + chunk.header,
            )
            for chunk in chunk_document(OVENS, strategy)
        ]


@pytest.mark.parametrize("path", ["/documents", "/documents?sweep=1", f"{OVENS_PAGE}?cut=B"])
def test_a_page_takes_at_most_eight_statements(app, engine, path):
    app.extensions.pop("bluffline.cut_counts", None)
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    text(app.test_client(), path)
    assert len([one for one in asked if one.lstrip().upper().startswith("SELECT")]) <= 8


def test_the_pages_are_reached_from_the_navigation_and_the_list(client, engine):
    page = text(client, "/documents")
    assert '<a href="/documents" aria-current="page">Documents</a>' in page
    links = [unescape(found) for found in re.findall(r'<th scope="row"><a href="([^"]+)"', page)]
    assert len(links) == len(reads.documents(engine, reads.sweep(engine, 1).corpus_hash))
    assert all(text(client, link) for link in links)
