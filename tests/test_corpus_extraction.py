"""Text of web pages, tables and transcripts; formats told by content; places that cover the text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_files import book, pdf, prose, slides, word, workbook, zipped

from corpus.documents import Document, load_documents, read_documents
from corpus.extraction import guarded, reading
from corpus.extraction.blocks import Block, Piece, heading, paragraph, rendered
from corpus.extraction.cache import ExtractionCache, extracted_as_json, extracted_from_json
from corpus.extraction.extracted import Extracted, ExtractionError, extraction_from_json
from corpus.extraction.facts import suspicious_share
from corpus.extraction.formats import format_of
from corpus.extraction.limits import Limits
from corpus.extraction.reading import extract, extract_bytes, reader_for
from corpus.faults import Fault
from corpus.folder_listing import list_folder
from corpus.headings import headings
from corpus.locators import Locator, locate

GOLDEN = Path(__file__).parent / "golden" / "documents"


def read(data: str | bytes, format_name: str) -> Extracted:
    return extract_bytes(data.encode() if isinstance(data, str) else data, reader_for(format_name), Limits())


def test_a_page_is_its_main_text_without_navigation_scripts_and_what_is_hidden() -> None:
    page = """
    <html><head><title>Ferries | Port</title><style>.no, #gone { display: none } @media print { .kept {display:none} }
    </style></head><body><nav>MENU</nav><header>BANNER</header><div role="navigation">MENU</div>
    <h1>Ferries</h1><p>They <b>sail</b>&nbsp;daily.<script>SCRIPT</script></p>
    <p class="no">HIDDEN</p><p id="gone">HIDDEN</p><p style="Display : none">HIDDEN</p><div hidden>HIDDEN</div>
    <p aria-hidden="true">HIDDEN</p><template>HIDDEN</template><noscript>HIDDEN</noscript><p class="kept">Kept.</p>
    <h2>Winter</h2><ul><li>ice<li>snow</ul><ol><li>one<li>two</ol>
    <table><tr><th>A<th>B<tr><td>1<td><p>2<p>3</table><pre>  code
# comment</pre><svg onload="alert(1)"><text>DRAWN</text></svg><footer>IMPRINT</footer></body></html>
    """
    found = read(page, "html")
    assert found.title == "Ferries"
    assert found.text == (
        "# Ferries\n\nThey sail daily.\n\nKept.\n\n## Winter\n\n- ice\n\n- snow\n\n1. one\n\n2. two\n\n"
        "A\tB\n\n1\t2 3\n\ncode\n\\# comment\n"
    )
    assert found.facts.tables == 1


def test_main_is_read_where_a_page_says_what_it_is_and_headings_of_articles_stay() -> None:
    page = "<body><div>AROUND</div><main><header><h1>T</h1></header><p>In.</p></main><div>AROUND</div>"
    assert read(page, "html").text == "# T\n\nIn.\n"
    page = "<body><header><h1>T</h1></header><article><footer>By me.</footer></article>"
    assert read(page, "html").text == "# T\n\nBy me.\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("<p>Größe: 5 €".encode("cp1252"), "cp1252"),
        (b'<meta charset="iso-8859-1">' + "<p>Größe: 5 €".encode("cp1252"), "cp1252"),
        (b'<meta charset="koi8-r">' + "<p>Паром".encode("koi8-r"), "koi8-r"),
        (b'<meta charset="nonsense">' + "<p>Größe".encode(), "utf-8"),
        (b'\xef\xbb\xbf<meta charset="koi8-r">' + "<p>Größe".encode(), "utf-8"),
        (b'<?xml version="1.0" encoding="cp1251"?>' + "<p>Паром".encode("cp1251"), "cp1251"),
    ],
)
def test_the_encoding_of_a_page_is_what_its_mark_says_then_what_it_says_itself_then_what_fits(
    data: bytes, encoding: str
) -> None:
    found = read(data, "html")
    assert found.encoding == encoding
    assert any(word in found.text for word in ("Größe", "Паром"))


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ("a;b\n1,5;2,5\n", ["a | b", "a: 1,5 | b: 2,5"]),
        ('a,b\n1,"ha ""ha"" ha"\n', ["a | b", 'a: 1 | b: ha "ha" ha']),
        ('a,b\n1,"two\nlines"\n', ["a | b", "a: 1 | b: two lines"]),
        ("a\tb\r\n1\t2\r\n", ["a | b", "a: 1 | b: 2"]),
        ("\ufeffsep=;\na;b\n1;2\n", ["a | b", "a: 1 | b: 2"]),
        ("1,2\n3,4\n", ["1 | 2", "3 | 4"]),
        ("a,b\n1,x\n", ["a | b", "a: 1 | b: x"]),
        ("名前,年齢\n佐藤,30\n".encode("cp932"), ["名前 | 年齢", "名前: 佐藤 | 年齢: 30"]),
    ],
)
def test_rows_of_a_table_are_read_whatever_separates_them(data: str | bytes, rows: list[str]) -> None:
    found = read(data, "csv")
    assert found.text == "\n\n".join(rows) + "\n"
    assert locate(found.locators, found.text.index(rows[1]), len(found.text)) == "#sheet=1&range=A2:B2"


def test_a_quote_that_is_never_closed_is_damage_and_uneven_rows_are_said() -> None:
    with pytest.raises(ExtractionError) as caught:
        read('a,b\n1,"no end\n2,3\n', "csv")
    assert caught.value.kind == "damaged"
    assert read("a,b\n1,2\n3,4,5\n", "csv").facts.warnings == ("1 of 3 rows have another number of columns than 2",)


VTT = """\ufeffWEBVTT - a talk

STYLE
::cue { color: red }

NOTE not --- spoken

1
00:01.000 --> 00:02.500 align:start
<v Ann>Good <i>morning</i> &amp;

2
00:02.500 --> 00:04.000
<v Ann>welcome.

00:04.000 --> 00:1d.000
lost

00:00:05.000 --> 00:00:06.000
<v Bob>Thanks.

01:00:00.000 --> 01:00:01.250
Late.
"""


def test_cues_become_running_text_that_leads_back_to_their_times() -> None:
    found = read(VTT, "vtt")
    assert found.text == "Ann: Good morning & welcome.\n\nBob: Thanks.\n\nLate.\n"
    assert [one.place for one in found.locators] == ["t=1,2.5", "t=2.5,4", "t=5,6", "t=3600,3601.25"]
    assert found.facts.partial == ("1 cue with a faulty time on line 16 is left out",)
    assert found.facts.pages == 4
    assert locate(found.locators, 0, 25) == "#t=1,4"


def test_subtitles_with_numbers_commas_and_rolling_lines_are_read() -> None:
    srt = (
        "1\r\n00:00:01,000 --> 00:00:02,000\r\none\r\n\r\n2\r\n00:00:02,000 --> 00:00:03,000\r\none\r\ntwo\r\n"
        "3\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}two\r\n<b>three</b>\r\n"
    )
    found = read(srt, "srt")
    assert found.text == "one two three\n"
    with pytest.raises(ExtractionError) as caught:
        read("1\n00:00:xx --> 00:00:02\nlost\n", "srt")
    assert caught.value.kind == "damaged"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", pdf([prose(70, 70, ["x"])]), "pdf"),
        ("a.pdf", b"junk\n" + pdf([prose(70, 70, ["x"])]), "pdf"),
        ("a.bin", word(lambda document: None), "docx"),
        ("a.docx", workbook(lambda made: None), "xlsx"),
        ("a.zip", slides(lambda made: None), "pptx"),
        ("a", book({"a.xhtml": ""}), "epub"),
        ("a", b"<!DOCTYPE html><p>x", "html"),
        ("a.md", b"<!DOCTYPE html><p>x", "markdown"),
        ("a", b"WEBVTT\n", "vtt"),
        ("a.tsv", b"a\tb", "csv"),
        ("a", b"words", "text"),
        ("a.docx", b"words", "docx"),
    ],
)
def test_a_format_is_told_by_the_content_then_by_the_name(
    tmp_path: Path, name: str, data: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(data)
    assert format_of(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("name", "data", "kind", "words"),
    [
        ("a.zip", zipped({"a.txt": "x"}), "unsupported", "a ZIP archive"),
        ("a.md", b"\x89PNG\r\n", "unsupported", "a picture"),
        ("a.odt", b"PK\x03\x04" + bytes(40), "unsupported", "an OpenDocument text"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "unsupported", "an old Word document"),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
            "password",
            "protected by a password",
        ),
        ("a.docx", b"words", "damaged", "cannot be opened"),
        ("a.pdf", b"", "damaged", "the file is empty"),
        ("a.html", b"<p> </p>", "empty", "no text is found"),
        ("a.txt", b"\n\n\n", "empty", "white space only"),
        ("a.csv", b"\x00\x01\x02", "damaged", "not text"),
    ],
)
def test_files_without_text_say_why(tmp_path: Path, name: str, data: bytes, kind: str, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ExtractionError, match=words) as caught:
        extract(tmp_path / name)
    assert caught.value.kind == kind
    assert caught.value.advice.endswith(".")


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 1_000_001)
    with pytest.raises(ExtractionError, match="larger than 1 MB: 1000001 bytes") as caught:
        extract(tmp_path / "a.txt", Limits(megabytes=1))
    assert caught.value.kind == "too-large"


def test_papers_of_two_columns_and_pdfs_with_a_password_come_out_as_they_should() -> None:
    paper = extract(GOLDEN / "two-column-latex.pdf")
    assert "Suspendisse vel felis. Ut lorem lorem, interdum eu, tincidunt" in paper.text
    assert "\n\nAustria 8.9 83,879 Vienna German\n\n" in paper.text
    assert "adipiscing elit" in paper.text  # its hyphen gone
    assert paper.title == "Two-Column Document with Lorem Ipsum"
    assert locate(paper.locators, paper.text.index("Austria"), paper.text.index("Austria") + 7) == "#page=3"
    with pytest.raises(ExtractionError) as caught:
        extract(GOLDEN / "password-user.pdf")
    assert caught.value.kind == "password"


def test_a_folder_of_all_formats_is_read_once_and_then_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    made = {
        "a.md": b"# A\n\nWords.\n",
        "b.html": b"<h1>B</h1><p>Words.",
        "c.pdf": pdf([prose(70, 70, ["Words on one page."]), prose(70, 70, ["Words on another."])]),
        "d.xlsx": workbook(lambda made: made.active.append(["words"])),
        "e.vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\nWords.\n",
        "f.docx": b"no document",
        "g.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "h.png": b"\x89PNG",
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    loaded = load_documents(folder, cache=tmp_path / "cache")
    assert [one.id for one in loaded.documents] == ["a.md", "b.html", "c.pdf", "d.xlsx", "e.vtt"]
    assert [(fault.file.rsplit("/", 1)[1], fault.kind) for fault in loaded.faults] == [
        ("f.docx", "damaged"),
        ("g.xls", "unsupported"),
    ]
    assert loaded.skipped == ("h.png",)
    by_id = {one.id: one for one in loaded.documents}
    assert by_id["c.pdf"].extractor.startswith("pdf/3 pypdfium2 5.")
    assert by_id["c.pdf"].locator(0, 5) == "#page=1"
    assert by_id["b.html"].title == "B"
    assert by_id["a.md"].locator(5, 9) == "#char=5,9"

    asked: list[list[str]] = []

    def nobody(paths: list[Path], *_: object) -> Iterator[tuple[Path, ExtractionError]]:
        asked.append([path.name for path in paths])
        yield from ()

    monkeypatch.setattr("corpus.documents.extract_many", nobody)
    assert load_documents(folder, cache=tmp_path / "cache") == loaded
    assert asked == [[]]


def test_what_failed_is_not_tried_again_under_the_same_limits_unless_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache = tmp_path / "documents", tmp_path / "cache"
    folder.mkdir()
    (folder / "slow.pdf").write_bytes(b"%PDF-1.7 slow")
    tries = 0
    slow = ExtractionError("too-slow", "reading the file takes longer than 2 seconds", "Split it.", 7, "value")
    answer: ExtractionError | Extracted = slow

    def guarded_reading(paths: list[Path], *_: object) -> Iterator[tuple[Path, ExtractionError | Extracted]]:
        nonlocal tries
        tries += len(paths)
        yield from ((path, answer) for path in paths)

    monkeypatch.setattr("corpus.documents.extract_many", guarded_reading)

    def load(limits: Limits, **asked: bool) -> object:
        ((_, found),) = read_documents(list_folder(folder).files, limits=limits, cache=cache, **asked)  # type: ignore[arg-type]
        return found

    first = load(Limits(seconds=2))
    assert isinstance(first, Fault)
    assert (first.line, first.value, first.kind) == (7, "value", "too-slow")
    assert load(Limits(seconds=2, processes=1)) == first
    assert load(Limits(seconds=2), extract_new=False) == first  # not "waiting": it is known to fail
    assert tries == 1
    load(Limits(seconds=3))
    assert tries == 2
    load(Limits(seconds=2), try_failed=True)
    assert tries == 3
    answer = Extracted("Words.")
    assert isinstance(load(Limits(seconds=2), try_failed=True), Document)
    assert isinstance(load(Limits(seconds=2)), Document)
    assert tries == 4
    (folder / "slow.pdf").write_bytes(b"%PDF-1.7 another")
    answer = ExtractionError("failed", "the file cannot be read (Input/output error)", "Check its permissions.")
    load(Limits(seconds=2))
    load(Limits(seconds=2))
    assert tries == 6  # that may have been the machine


def test_a_scan_without_words_is_looked_at_again_once_tesseract_has_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7 scan")
    languages, tries = "eng osd", 0
    limits = Limits(ocr_language="deu+eng")

    def guarded_reading(paths: list[Path], *_: object) -> Iterator[tuple[Path, ExtractionError]]:
        nonlocal tries
        tries += len(paths)
        yield from ((path, ExtractionError("image-only", "no text is found", "Install it.")) for path in paths)

    monkeypatch.setattr("corpus.documents.extract_many", guarded_reading)
    monkeypatch.setattr(reading, "tesseract_languages", lambda: languages)

    def load(**asked: bool) -> None:
        list(read_documents(list_folder(tmp_path).files, limits=limits, cache=tmp_path / ".cache", **asked))  # type: ignore[arg-type]

    load()
    load()
    assert tries == 1
    load(try_failed=True)
    assert tries == 2
    languages = "deu eng osd"
    load()
    assert tries == 3


def test_tables_and_transcripts_are_read_under_limits_and_kept_too() -> None:
    assert all(reader_for(name).guarded for name in ("csv", "vtt", "srt"))
    assert not any(reader_for(name).guarded for name in ("markdown", "text"))


def test_a_cache_that_was_cut_off_is_read_as_nothing(tmp_path: Path) -> None:
    cache = ExtractionCache(tmp_path)
    cache.put("ab" * 32, "pdf/1", Extracted("text"))
    assert cache.get("ab" * 32, "pdf/1") == Extracted("text")
    assert cache.get("ab" * 32, "pdf/2") is None
    (kept,) = (path for path in tmp_path.rglob("*.gz"))
    kept.write_bytes(kept.read_bytes()[:20])
    assert cache.get("ab" * 32, "pdf/1") is None


def test_a_process_that_dies_costs_its_own_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import os, corpus.extraction.worker as worker\n"
        "def read(path, limits, sha256):\n"
        "    if path.name == 'dies.md': os.abort()\n"
        "    if path.name == 'eats.md': raise MemoryError\n"
        "    if path.name == 'breaks.md': os._exit(3)\n"
        "    return real(path, limits, sha256)\n"
        "real, worker.extract = worker.extract, read\n"
        "worker.main()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(guarded, "COMMAND", ("-c", f"exec(open({str(worker)!r}).read())"))
    names = ("dies.md", "eats.md", "breaks.md", "fine.md")
    for name in names:
        (tmp_path / name).write_text("Words.", encoding="utf-8")
    found = dict(guarded.extract_many([tmp_path / name for name in names], Limits(processes=1)))
    kinds = [getattr(found[tmp_path / name], "kind", "") for name in names]
    assert kinds == ["out-of-memory", "out-of-memory", "failed", ""]


WORDS = st.text(st.sampled_from("ab .\n#-=`\t\x00é\u2028"), min_size=0, max_size=30)
PIECES = st.lists(st.tuples(WORDS, st.sampled_from(["", "page=1", "page=2"])), min_size=1, max_size=3)


@given(st.lists(st.one_of(st.tuples(st.integers(0, 7), WORDS), PIECES), max_size=8), st.sampled_from([None, "Title"]))
@settings(max_examples=300)
def test_places_come_in_order_and_headings_are_those_of_the_file(blocks: list[object], title: str | None) -> None:
    made = []
    for block in blocks:
        if isinstance(block, tuple):
            level, words = block
            made.append(heading(level, words, "page=3") if level else paragraph(words, "page=3"))
        else:
            made.append(
                Block(tuple(Piece(text.replace("\n", " ").replace("\x00", ""), place) for text, place in block))
            )  # type: ignore[attr-defined]
    text, locators, count = rendered(made, title)
    end = 0
    for one in locators:
        assert end <= one.start < one.end <= len(text)
        end = one.end
        assert locate(locators, one.start, one.end) == f"#{one.place}"
    if locators and not any(not piece.place for block in made for piece in block.pieces):
        assert (locators[0].start, locators[-1].end) == (0, len(text))
        assert all(one.end == other.start for one, other in pairwise(locators))
    levels = [block.level for block in made if block.level and block.text.strip()]
    assert len(headings(text)) <= count <= len(levels) + (title is not None)
    assert "\x00" not in text


@given(st.binary(max_size=300), st.sampled_from(["html", "csv", "vtt", "srt", "pdf", "docx", "xlsx", "epub", "text"]))
@settings(max_examples=150, deadline=None)
def test_no_bytes_bring_a_reader_down_and_reading_is_the_same_every_time(data: bytes, format_name: str) -> None:
    def once() -> Extracted | str:
        try:
            return extract_bytes(data, reader_for(format_name), Limits(ocr=False))
        except ExtractionError as error:
            return f"{error.kind}: {error.problem}"

    first = once()
    assert first == once()
    if isinstance(first, Extracted):
        assert extracted_from_json(extracted_as_json(first)) == first
        assert extraction_from_json(first.facts.as_json()) == first.facts


def test_documents_made_by_hand_have_offsets_for_places() -> None:
    made = Document("a", "A", "Words.", "a", "", "utf-8")
    assert made.locator(0, 5) == "#char=0,5"
    assert reading.extractor_of("nothing") is None
    assert Locator(0, 1, "page=1").place == "page=1"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("signs.txt", "\ue000" * 200_000),  # one word of nothing but signs no language writes
        ("voices.vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\n" + "<v " * 200_000),
        ("classes.vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\n<v" + ".a" * 60 + " " * 20_000 + "x"),
    ],
)
def test_text_made_to_be_looked_at_again_and_again_is_read_once(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_text(words, encoding="utf-8")
    assert len(extract(tmp_path / name).text) > 100


def test_each_word_of_a_broken_font_counts_once() -> None:
    assert suspicious_share("\ue000\ue001 good \ue002x (cid:1)(cid:2)") == 0.75
