"""Files from the browser: states, sending, trying again, removing, and handing out what other people wrote."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page
from small_project import WordEncoder, small_project
from sqlalchemy import event
from waitress.buffers import ReadOnlyFileBasedBuffer  # type: ignore[import-untyped]
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.test import stream_encode_multipart

from corpus.folder_listing import printable
from experiments import launching
from experiments.indexing.indexer import index_documents
from experiments.models import DEFAULT_MODEL
from store import files
from store.engine import open_store
from webapp import file_serving, uploads
from webapp.app import create_app
from webapp.contexts.documents import NothingMeasuredContext
from webapp.views.files import ArrivedContext, RemovingContext

BROKEN = {"empty.md": b"", "binary.txt": b"\x00\x01\xff" * 40, "picture.png": b"\x89PNG\r\n"}
PAGE = b"<html><script>alert(1)</script><p>Hello there, this is a page.</p></html>"


@pytest.fixture
def project(tmp_path):
    made = small_project(tmp_path / "project")
    for name, content in BROKEN.items():
        (made.documents / name).write_bytes(content)
    return made


@pytest.fixture
def engine(project):
    opened = open_store(project.store_url)
    yield opened
    opened.dispose()


@pytest.fixture
def started(monkeypatch):
    """How often the indexer was started; none runs."""
    calls = []
    monkeypatch.setattr(launching, "start_indexing", lambda *_, **__: calls.append(1) or True)
    return calls


@pytest.fixture
def client(engine, project, started):
    return create_app(engine, root=project.root, allowed_hosts={"localhost"}, largest_upload=2).test_client()


def index(engine, project):
    return index_documents(engine, project, find=lambda _: WordEncoder(DEFAULT_MODEL), stream=io.StringIO())


def get(client, path, status=200):
    response = client.get(path)
    assert response.status_code == status, response.get_data(as_text=True)[:2000]
    return unescape(response.get_data(as_text=True))


def post(client, path, **form):
    token = re.search(r'csrf-token" content="([^"]+)"', client.get("/documents").get_data(as_text=True))[1]
    stream, _, boundary = stream_encode_multipart(MultiDict({"csrf_token": token, **form}), use_tempfile=False)
    return client.post(path, data=stream.read(), content_type=f'multipart/form-data; boundary="{boundary}"')


def sent(name, content=b"# New\n\nSomething new stands here.\n"):
    return FileStorage(io.BytesIO(content), name)


def test_contexts_are_what_the_templates_use(client):
    app = client.application
    assert_context_is_what_the_templates_use(app, "documents_nothing", NothingMeasuredContext)
    assert_context_is_what_the_templates_use(app, "files_arrived", ArrivedContext)
    assert_context_is_what_the_templates_use(app, "files_removing", RemovingContext)


def test_before_anything_is_indexed_the_page_says_what_to_do(client):
    page = get(client, "/documents")
    assert "Nothing is indexed yet of" in page
    assert "Index the folder" in page
    assert "Add documents" in page


def test_every_state_stands_with_its_reason_and_time_and_can_be_looked_at_alone(client, engine, project):
    index(engine, project)
    page = get(client, "/documents")
    assert "2 of 5 files are indexed; 2 failed and 1 file of a format that is not read." in page
    assert "The file is empty. Write the document, or remove the file." in page
    assert '<a href="/documents?state=failed#files">failed <span class="count">3</span></a>' in page
    assert page.count("<time datetime=") >= 5
    failed = get(client, "/documents?state=failed")
    assert "empty.md" in failed
    assert "vectors.md" not in failed
    assert get(client, "/documents?state=odd", 400)
    assert_fragment_is_part_of_its_page(client, "/documents?state=failed", "files")
    rows = {
        row["document"]: row for row in csv.DictReader(io.StringIO(client.get("/files.csv").get_data(as_text=True)))
    }
    assert (rows["empty.md"]["state"], rows["empty.md"]["kind"]) == ("failed", "empty")
    assert (rows["vectors.md"]["chunks"], rows["vectors.md"]["pipeline"]) == (
        "A 1, E 3",
        files.files(engine)[-1].pipeline,
    )


def test_a_running_indexing_is_watched_and_the_watching_ends(client, engine, project):
    index(engine, project)
    run = files.begin_indexing(engine, pid=1, host="elsewhere", total=9)
    files.beat_indexing(engine, run, stage="embedding a.md", done=3, total=9, eta_seconds=12)
    page = get(client, "/documents")
    assert 'hx-get="/files/live"' in page
    assert "embedding a.md" in page
    assert "about 12" in page
    assert "searchable all the while" in page
    assert client.get("/files/live").status_code == 302
    fragment = client.get("/files/live?state=failed", headers={"HX-Request": "true"}).get_data(as_text=True)
    assert fragment.lstrip().startswith('<div id="files"')
    assert 'hx-get="/files/live?state=failed"' in fragment
    assert post(client, f"/files/runs/{run}/cancel").status_code == 303
    assert "cancelling" in get(client, "/documents")
    files.end_indexing(engine, run, "cancelled", "cancelled on request")
    page = get(client, "/documents")
    assert "hx-trigger" not in page.split('id="files"')[1].split(">")[0]
    assert "The last indexing was cancelled: cancelled on request." in page


def test_an_indexing_that_failed_says_why_in_words(client, engine):
    run = files.begin_indexing(engine, pid=1, host="elsewhere", total=1)
    files.end_indexing(engine, run, "failed", "/nowhere: the documents folder does not exist")
    assert "The last indexing failed: /nowhere: the documents folder does not exist." in get(client, "/documents")


def test_files_and_folders_are_sent_and_indexed(client, project, started):
    response = post(client, "/files/upload", files=[sent("one.md"), sent("two.md")], folder=[sent("sub/deep/three.md")])
    assert (response.status_code, response.location) == (303, "/documents#files")
    assert started == [1]
    assert (project.documents / "sub/deep/three.md").read_bytes().startswith(b"# New")
    assert post(client, "/files/upload", files=[sent("four.md")], into="more").status_code == 303
    assert (project.documents / "more/four.md").is_file()


@pytest.mark.parametrize(
    "name", ["../../evil.md", "/etc/evil.md", "a/../../evil.md", ".hidden.md", "..\\evil.md", "con.md"]
)
def test_names_that_trick_are_refused_and_the_others_arrive(client, project, name):
    before = {path for path in project.root.parent.rglob("*") if "evil" in path.name or "hidden" in path.name}
    response = post(client, "/files/upload", files=[sent(name), sent("good.md")])
    page = unescape(response.get_data(as_text=True))
    assert response.status_code == 422
    assert "give it a plain name" in page
    assert page.count(name.rsplit("/")[-1].rsplit("\\")[-1]) == 1
    assert "1 file added, 1 refused." in page
    assert (project.documents / "good.md").is_file()
    assert {path for path in project.root.parent.rglob("*") if "evil" in path.name or "hidden" in path.name} == before


def test_nothing_is_replaced_before_somebody_says_so(client, project, started):
    old = (project.documents / "vectors.md").read_bytes()
    response = post(client, "/files/upload", files=[sent("vectors.md"), sent("serving.md", b"# Other\n\nWords.\n")])
    page = unescape(response.get_data(as_text=True))
    assert response.status_code == 409
    assert "Replace it?" in page
    assert (project.documents / "vectors.md").read_bytes() == old
    token = re.search(r'name="token" value="(\w+)"', page)[1]
    assert post(client, "/files/replace", token=token, document="vectors.md").status_code == 303
    assert (project.documents / "vectors.md").read_bytes().startswith(b"# New")
    assert not (project.documents / "serving.md").read_bytes().startswith(b"# Other")
    assert post(client, "/files/replace", token=token, document="vectors.md").status_code == 422
    assert post(client, "/files/replace", token="../..", document="vectors.md").status_code == 422
    assert (
        post(client, "/files/upload", files=[sent("vectors.md")]).status_code == 303
    )  # the same content: nothing to ask
    assert started == [1]


def test_of_two_files_of_one_name_the_second_is_refused_and_not_put_aside_over_the_first(client, project):
    files = [sent("new.md"), sent("new.md", b"# Second"), sent("vectors.md"), sent("vectors.md", b"# Second")]
    response = post(client, "/files/upload", files=files)
    page = unescape(response.get_data(as_text=True))
    assert (response.status_code, page.count("only the first was taken")) == (409, 2)
    token = re.search(r'name="token" value="(\w+)"', page)[1]
    assert post(client, "/files/replace", token=token, document="vectors.md").status_code == 303
    for name in ("new.md", "vectors.md"):
        assert (project.documents / name).read_bytes().startswith(b"# New")


def test_of_two_answers_to_one_question_about_replacing_a_single_one_is_carried_out(client, project, monkeypatch):
    page = unescape(post(client, "/files/upload", files=[sent("vectors.md")]).get_data(as_text=True))
    token = re.search(r'name="token" value="(\w+)"', page)[1]
    added, second = uploads.add, []

    def add_slowly(*args, **named):
        second.append(post(client, "/files/replace", token=token, document="vectors.md"))
        return added(*args, **named)

    monkeypatch.setattr(uploads, "add", add_slowly)
    assert post(client, "/files/replace", token=token, document="vectors.md").status_code == 303
    assert [one.status_code for one in second] == [422]
    assert "not kept any more" in second[0].get_data(as_text=True)
    assert (project.documents / "vectors.md").read_bytes().startswith(b"# New")


def test_where_one_chosen_file_does_not_wait_none_is_replaced(client, project):
    old = (project.documents / "vectors.md").read_bytes()
    page = unescape(post(client, "/files/upload", files=[sent("vectors.md")]).get_data(as_text=True))
    token = re.search(r'name="token" value="(\w+)"', page)[1]
    response = post(client, "/files/replace", token=token, document=["vectors.md", "other.md"])
    assert response.status_code == 422
    assert "There is no file 'other.md' among those that wait." in unescape(response.get_data(as_text=True))
    assert (project.documents / "vectors.md").read_bytes() == old
    assert post(client, "/files/replace", token=token, document="vectors.md").status_code == 303


def test_a_documents_folder_that_is_gone_is_not_made_anew_by_sending_a_file(client, project):
    project.documents.rename(project.root / "moved")
    response = post(client, "/files/upload", files=[sent("new.md")])
    assert response.status_code == 422
    assert "is not there: bring it back" in response.get_data(as_text=True)
    assert not project.documents.exists()


def test_a_folder_named_like_a_file_that_is_there_is_told_as_such(client, project):
    response = post(client, "/files/upload", files=[sent("vectors.md/new.md")])
    assert "vectors.md/new.md would lie in a folder whose name is that of a file" in response.get_data(as_text=True)


def test_stopping_an_indexing_that_does_not_run_says_so(client, engine, project):
    index(engine, project)
    for number in (1, 77, 2**63, 10**40):
        response = post(client, f"/files/runs/{number}/cancel")
        assert response.status_code == 409
        assert "there is nothing to stop" in response.get_data(as_text=True)


def test_a_page_that_several_ask_for_at_once_is_drawn_whole_for_each_of_them(client, project, monkeypatch):
    (project.documents / "paper.pdf").write_bytes(PAGE)
    drawn = []

    def page_picture(*_):
        drawn.append(1)
        if len(drawn) == 1:  # another reader asks while the first picture is being drawn
            assert client.get("/files/pages/1/paper.pdf").get_data() == b"picture" * 9
        return b"picture" * 9

    monkeypatch.setattr(file_serving, "page_picture", page_picture)
    for _ in range(3):
        with client.get("/files/pages/1/paper.pdf") as response:
            assert (response.mimetype, response.get_data()) == ("image/png", b"picture" * 9)
    assert len(drawn) == 2
    assert [path.suffix for path in (project.root / "var" / "pages").rglob("*") if path.is_file()] == [".png"]


def test_a_page_is_shown_where_its_picture_cannot_be_kept(client, project, monkeypatch):
    (project.documents / "paper.pdf").write_bytes(PAGE)
    (project.root / "var").mkdir(exist_ok=True)
    (project.root / "var" / "pages").write_text("a file where the folder would be")
    monkeypatch.setattr(file_serving, "page_picture", lambda *_: b"picture")
    assert client.get("/files/pages/1/paper.pdf").get_data() == b"picture"


@pytest.mark.parametrize("address", ["/files/raw/vectors.md", "/files/raw/paper.pdf", "/files/pages/1/paper.pdf"])
def test_files_pass_through_the_server_that_is_really_used(client, project, monkeypatch, address):
    (project.documents / "paper.pdf").write_bytes(PAGE)
    monkeypatch.setattr(file_serving, "page_picture", lambda *_: b"picture")
    # Waitress wraps files in a class of its own, which has a length where Werkzeug's has none.
    for _ in range(2):  # drawn, then kept
        with client.get(address, environ_overrides={"wsgi.file_wrapper": ReadOnlyFileBasedBuffer}) as response:
            assert (response.status_code, bool(response.get_data())) == (200, True)


@pytest.mark.parametrize("address", ["/files/raw/paper.pdf", "/files/pages/1/paper.pdf"])
def test_a_file_that_vanishes_while_it_is_asked_for_is_told_as_such(client, project, monkeypatch, address):
    monkeypatch.setattr(file_serving, "file_of", lambda there, name: there.documents / name)
    response = client.get(address)
    assert response.status_code == 404
    assert "The documents folder has no file 'paper.pdf'." in unescape(response.get_data(as_text=True))


def test_what_is_wrong_with_a_project_ends_as_a_sentence_before_the_advice_begins(client, project):
    (project.root / "bluffline.toml").write_text("nonsense = [")
    page = get(client, "/files/raw/vectors.md", 409)
    assert "Correct it." in page
    assert ".." not in re.search(r"<main.*?</main>", page, re.DOTALL)[0].replace("...", "")


def test_what_is_too_large_is_refused_by_name_and_what_is_far_too_large_at_the_door(client, project):
    (project.root / "bluffline.toml").write_text("[extraction]\nmegabytes = 1\n")
    response = post(client, "/files/upload", files=[sent("large.md", b"x" * 1_100_000), sent("small.md")])
    assert response.status_code == 422
    assert "large.md is larger than 1 MB" in response.get_data(as_text=True)
    assert (project.documents / "small.md").is_file()
    response = post(client, "/files/upload", files=[sent("huge.md", b"x" * 2_100_000)])
    assert response.status_code == 413
    assert "This is too large" in response.get_data(as_text=True)
    assert post(client, "/files/retry", document="x" * 1_200_000).status_code == 413  # other forms stay small


def test_without_its_token_nothing_is_taken(client, project):
    response = client.post("/files/upload", data={"files": [sent("one.md")]}, content_type="multipart/form-data")
    assert response.status_code == 403
    assert not (project.documents / "one.md").exists()
    assert post(client, "/files/upload").status_code == 422  # no file chosen


def test_sending_and_removing_may_be_switched_off(client, project):
    (project.root / "bluffline.toml").write_text("[server]\nupload = false\n")
    page = get(client, "/documents")
    assert "switched off" in page
    assert "Upload and index" not in page
    assert post(client, "/files/upload", files=[sent("one.md")]).status_code == 403
    assert post(client, "/files/remove", document="vectors.md", warned="2").status_code == 403
    assert client.get("/files/removing?document=vectors.md").status_code == 403
    assert (project.documents / "vectors.md").is_file()


def test_failed_documents_are_tried_again_one_or_all(client, engine, project, started):
    index(engine, project)
    assert post(client, "/files/retry", document="empty.md").status_code == 303
    assert {row.document_id: row.state for row in files.files(engine)}["empty.md"] == "queued"
    assert post(client, "/files/retry").status_code == 303
    assert files.file(engine, "binary.txt").state == "queued"
    assert files.file(engine, "picture.png").state == "failed"
    assert post(client, "/files/retry", document="vectors.md").status_code == 422
    assert post(client, "/files/retry", document="nowhere").status_code == 422
    assert post(client, "/files/index").status_code == 303
    assert started == [1, 1, 1]


def test_removing_warns_of_the_questions_that_point_there(client, engine, project):
    index(engine, project)
    page = get(client, "/files/removing?document=vectors.md")
    assert "2 questions of the set have their needles in this document" in page
    assert "Can the norm of a vector be negative?" in page
    unwarned = post(client, "/files/remove", document="vectors.md", warned="0")
    assert unwarned.status_code == 409
    assert (project.documents / "vectors.md").is_file()
    assert post(client, "/files/remove", document="vectors.md", warned="2").status_code == 303
    assert not (project.documents / "vectors.md").exists()
    assert files.file(engine, "vectors.md") is None
    asked = get(client, "/files/removing?document=empty.md")  # the needles of the one that is gone are not found
    assert "No question of the set that can be read has its needle in this document" in asked
    assert "The questions file has 2 faults." in asked
    assert post(client, "/files/remove", document="empty.md", warned="0").status_code == 409
    assert client.get("/files/removing?document=nowhere.md").status_code == 404
    assert post(client, "/files/remove", document="../bluffline.toml", warned="0").status_code == 404


@pytest.mark.parametrize(
    ("name", "kind", "disposition"),
    [
        ("page.html", "application/octet-stream", "attachment"),
        ("drawing.svg", "application/octet-stream", "attachment"),
        ("page.xhtml", "application/octet-stream", "attachment"),
        ("words.md", "application/octet-stream", "attachment"),
        ("talk.mp3", "audio/mpeg", "inline"),
        ("paper.pdf", "application/pdf", "inline"),
    ],
)
def test_what_others_wrote_never_runs_from_here(client, project, name, kind, disposition):
    (project.documents / name).write_bytes(PAGE)
    response = client.get(f"/files/raw/{name}")
    assert response.get_data() == PAGE
    assert response.mimetype == kind
    assert response.headers["Content-Disposition"].startswith(disposition)
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert ("object-src 'self'" in policy) == (name == "paper.pdf")  # its viewer is an object of its own page
    assert "sandbox" not in policy  # which no viewer of PDF survives
    assert "frame-ancestors 'none'" in policy
    response.close()
    part = client.get(f"/files/raw/{name}", headers={"Range": "bytes=0-5"})
    assert (part.status_code, part.get_data()) == (206, PAGE[:6])
    part.close()


@pytest.mark.parametrize("path", ["../bluffline.toml", "..%2fbluffline.toml", ".hidden", "nowhere.md", "%00", "a//b"])
def test_nothing_outside_the_folder_is_handed_out(client, project, path):
    (project.documents / ".hidden").write_text("secret")
    assert client.get(f"/files/raw/{path}").status_code in (404, 308)
    assert client.get(f"/files/pages/1/{path}").status_code in (404, 308)


def test_a_document_opens_from_the_index_before_any_sweep_and_says_so(client, engine, project):
    index(engine, project)
    page = get(client, "/documents/vectors.md?char=11,40")
    assert "no sweep has measured it yet" in page
    assert "What extraction did" in page
    assert "Open the file itself" in page
    assert 'class="focus"' in page
    assert client.get("/documents/empty.md").status_code == 404
    (project.documents / "vectors.md").write_text("# Vectors\n\nOther words.\n")
    files.set_state(engine, ["vectors.md"], "stale", file_sha256="0" * 64)
    assert "The file has changed since this text was read from it." in get(client, "/documents/vectors.md")


def test_names_and_reasons_are_other_peoples_words(client, engine, project):
    name = "<b onclick=alert(1)>.md"
    (project.documents / name).write_bytes(b"")
    index(engine, project)
    page = client.get("/documents").get_data(as_text=True)
    assert "<b onclick" not in page
    assert "&lt;b onclick=alert(1)&gt;.md" in page
    assert client.get(f"/files/removing?document={quote(name)}").status_code == 200


def test_the_bundled_corpus_is_shown_and_not_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    client = create_app(engine, root=tmp_path, allowed_hosts={"localhost"}).test_client()
    assert "The bundled corpus is not changed" in get(client, "/documents")
    assert post(client, "/files/upload", files=[sent("one.md")]).status_code == 403
    engine.dispose()


def test_the_page_of_many_files_takes_few_statements_and_shows_the_first_hundred(client, engine, project):
    index(engine, project)
    (known, *_) = [row for row in files.files(engine) if row.state == "indexed"]
    many = [known.model_dump(exclude={"locators"}) | {"document_id": f"many/{number:03}.md"} for number in range(150)]
    files.add_files(engine, [type(known)(**one) for one in many])
    asked = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    page = get(client, "/documents")
    assert len([one for one in asked if one.lstrip().upper().startswith("SELECT")]) <= 8
    assert "55 more files" in page
    assert "many/149.md" in get(client, "/documents?all=1")


def test_a_name_that_is_no_text_is_told_as_such(client, project):
    token = re.search(r'csrf-token" content="([^"]+)"', client.get("/documents").get_data(as_text=True))[1]
    body = (
        b'--x\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n' + token.encode() + b"\r\n"
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="b\xff.md"\r\n\r\nWords.\r\n--x--\r\n'
    )
    answer = client.post("/files/upload", data=body, content_type="multipart/form-data; boundary=x")
    assert answer.status_code == 400
    assert "a name in it is not valid UTF-8" in answer.get_data(as_text=True)
    cut_off = client.post("/files/upload", data=body[:-30], content_type="multipart/form-data; boundary=x")
    assert cut_off.status_code == 400
    assert not list(project.documents.glob("b*.md"))


@pytest.mark.parametrize("name", [" first.md", "gone.md", "two\nlines.md", "b\udcff.md"])
def test_whatever_the_list_shows_can_be_removed_from_it(client, engine, project, name):
    path = project.documents / name
    if name == "gone.md":
        path.symlink_to("nowhere")
    else:
        path.write_text("Words.")
    index(engine, project)
    shown = printable(name)
    assert "No question of the set" in get(client, f"/files/removing?{urlencode({'document': shown})}")
    assert post(client, "/files/remove", document=shown, warned="0").status_code == 303
    assert not os.path.lexists(path)
    assert files.file(engine, shown) is None


def test_a_file_that_may_not_be_read_is_told_as_such(client, project, monkeypatch):
    real = Path.open

    def closed(path, *arguments, **more):
        if path.name == "vectors.md":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", closed)
    monkeypatch.setattr("builtins.open", lambda path, *rest, **more: closed(Path(path), *rest, **more))
    assert "cannot be read (Permission denied)" in get(client, "/files/raw/vectors.md", status=403)
    assert "cannot be read (Permission denied)" in get(client, "/files/pages/1/vectors.md", status=403)
