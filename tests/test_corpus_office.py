"""Word, PowerPoint and Excel files, books: their text once, with its structure and its places."""

from __future__ import annotations

import datetime
import io
import zipfile

import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from made_files import book, repacked, slides, word, workbook, zipped
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from pptx.util import Inches

from corpus.extraction.extracted import Extracted, ExtractionError
from corpus.extraction.limits import Limits
from corpus.extraction.reading import extract_bytes, reader_for
from corpus.locators import locate

LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'


def read(data: bytes, format_name: str, **limits: object) -> Extracted:
    return extract_bytes(data, reader_for(format_name), Limits(**limits))  # type: ignore[arg-type]


def text_of(build, format_name: str = "docx") -> str:
    return read({"docx": word, "pptx": slides, "xlsx": workbook}[format_name](build), format_name).text


def kind_of(data: bytes, format_name: str, **limits: object) -> str:
    with pytest.raises(ExtractionError) as caught:
        read(data, format_name, **limits)
    return caught.value.kind


def test_a_word_document_keeps_headings_lists_and_their_order() -> None:
    def build(document) -> None:
        document.add_heading("Ferries", 0)
        document.add_heading("Winter", 1)
        document.add_paragraph("None sails.")
        document.add_heading("Ice", 3)
        document.add_paragraph("thick", style="List Bullet")
        document.add_paragraph("# of boats").add_run().add_break(WD_BREAK.LINE)

    assert text_of(build) == "# Ferries\n\n## Winter\n\nNone sails.\n\n#### Ice\n\n- thick\n\n\\# of boats\n"


def test_a_cell_written_in_several_runs_has_the_spaces_it_was_written_with_and_no_others() -> None:
    def build(document) -> None:
        table = document.add_table(1, 3)
        for cell, runs in zip(table.rows[0].cells, [("a ", ">"), (">", "b", "<"), ("b", " <")], strict=True):
            for run in runs:
                cell.paragraphs[0].add_run(run)

    assert text_of(build) == "a >\t>b<\tb <\n"


def test_cells_of_merged_ranges_and_of_tables_in_tables_come_once() -> None:
    def build(document) -> None:
        table = document.add_table(3, 3)
        for number, cell in enumerate(table._cells):
            cell.text = f"c{number}"
        table.cell(0, 0).merge(table.cell(1, 0)).text = "tall"
        table.cell(0, 1).merge(table.cell(0, 2)).text = "wide & <b>"
        inner = table.cell(2, 2).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "ner"

    assert text_of(build) == "tall\twide & <b>\n\nc4\tc5\n\nc6\tc7\tc8 in, ner\n"


def test_text_boxes_notes_headers_and_footers_of_a_word_document_are_text() -> None:
    def build(document) -> None:
        document.sections[0].header.paragraphs[0].text = "Port authority"
        document.sections[0].footer.paragraphs[0].text = "Page one of all"
        run = document.add_paragraph("Before the box.").add_run()
        box = (
            f'<w:pict {nsdecls("w")} xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><w:txbxContent>'
            "<w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict>"
        )
        run._r.append(parse_xml(box))
        document.add_paragraph("After the box.")

    assert text_of(build) == "Port authority\n\nBefore the box.\n\nIn the box.\n\nAfter the box.\n\nPage one of all\n"


def test_footnotes_stand_at_the_end_with_the_number_of_their_mark() -> None:
    mark = f'<w:footnoteReference {nsdecls("w")} w:id="2"/>'
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:type="separator" w:id="0"/>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>Since 1990.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    data = word(lambda document: document.add_paragraph("It sails").add_run()._r.append(parse_xml(mark)))

    def change(name: str, content: bytes) -> bytes:
        if name == "[Content_Types].xml":
            kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
            entry = f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>'
            return content.replace(b"</Types>", entry.encode())
        if name == "word/_rels/document.xml.rels":
            kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
            entry = f'<Relationship Id="rId99" Type="{kind}" Target="footnotes.xml"/></Relationships>'
            return content.replace(b"</Relationships>", entry.encode())
        return content

    changed = repacked(data, change)
    import zipfile

    buffer = io.BytesIO(changed)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("word/footnotes.xml", notes)
    assert read(buffer.getvalue(), "docx").text == "It sails[1]\n\n[1] Since 1990.\n"


def test_every_row_of_a_sheet_is_readable_by_itself_and_leads_to_its_cells() -> None:
    def build(made) -> None:
        sheet = made.active
        sheet.title = "Prices & more"
        for row in (["Fares 2025"], [], ["Route", "Fare", "From"], ["North", 12.5, datetime.date(2025, 3, 1)]):
            sheet.append(row)
        sheet.append(["South", 0.07, datetime.datetime.fromisoformat("2025-03-01T06:30:00")])
        sheet["B5"].number_format = "0%"
        sheet.append(["East", "=1/0", True])
        sheet["A7"], sheet["A8"] = "West", "gone"
        sheet.merge_cells("A7:C7")
        other = made.create_sheet("More")
        other["B2"] = "alone"

    found = read(workbook(build), "xlsx")
    assert found.text == (
        "## Prices & more\n\nFares 2025\n\nRoute | Fare | From\n\nRoute: North | Fare: 12.5 | From: 2025-03-01\n\n"
        "Route: South | Fare: 7% | From: 2025-03-01 06:30:00\n\nRoute: East | From: TRUE\n\n"
        "Route: West\n\nRoute: gone\n\n"
        "## More\n\nalone\n"
    )
    assert found.facts.partial == ("1 formula without a saved value: nothing is computed",)
    start = found.text.index("Route: North")
    assert locate(found.locators, start, start + 5) == "#sheet=Prices%20%26%20more&range=A4:C4"
    assert (
        locate(found.locators, start, found.text.index("Route: East") + 3) == "#sheet=Prices%20%26%20more&range=A4:C6"
    )
    alone = found.text.index("alone")
    assert locate(found.locators, alone, alone + 5) == "#sheet=More&range=B2"


def test_error_cells_and_dates_of_the_other_calendar_are_shown_as_saved() -> None:
    def build(made) -> None:
        made.epoch = CALENDAR_MAC_1904
        made.active.append([datetime.date(2021, 1, 1), "#DIV/0!"])

    assert text_of(build, "xlsx") == "## Sheet\n\n2021-01-01 | #DIV/0!\n"


def test_hidden_sheets_are_left_out_and_named_and_a_workbook_of_nothing_is_empty() -> None:
    def build(made) -> None:
        made.active["A1"] = "seen"
        made.create_sheet("Secret")["A1"] = "unseen"
        made["Secret"].sheet_state = "hidden"

    found = read(workbook(build), "xlsx")
    assert "unseen" not in found.text
    assert found.facts.partial == ("1 hidden sheet left out: Secret",)
    assert kind_of(workbook(lambda made: None), "xlsx") == "empty"


def test_slides_are_pages_with_tables_groups_and_notes() -> None:
    def build(made) -> None:
        first = made.slides.add_slide(made.slide_layouts[5])
        first.shapes.title.text = "Fares"
        table = first.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
        table.cell(0, 0).merge(table.cell(0, 1))
        table.cell(0, 0).text, table.cell(1, 0).text, table.cell(1, 1).text = "both", "left", "right"
        second = made.slides.add_slide(made.slide_layouts[6])
        group = second.shapes.add_group_shape()
        group.shapes.add_textbox(0, 0, 10, 10).text_frame.text = "In a group."
        second.notes_slide.notes_text_frame.text = "Say hello."

    found = read(slides(build), "pptx")
    assert found.text == "## Fares\n\nboth\n\nleft\tright\n\nIn a group.\n\nNotes: Say hello.\n"
    assert [locator.place for locator in found.locators] == ["page=1", "page=2"]
    assert (found.facts.pages, found.facts.tables) == (2, 1)


def test_a_book_is_its_chapters_in_the_order_of_its_spine() -> None:
    chapters = {
        "b.xhtml": "<html><head><title>x</title></head><body><h1>Second</h1><p>Two &amp; a half.</p></body></html>",
        "a.xhtml": "<html><body><h1>First</h1><script>alert(1)</script><p>One.</p></body></html>",
    }
    found = read(book(chapters, "A book"), "epub")
    assert found.text == "# A book\n\n## Second\n\nTwo & a half.\n\n## First\n\nOne.\n"
    assert found.title == "A book"


@pytest.mark.parametrize(
    ("format_name", "data"),
    [
        ("docx", word(lambda document: document.add_paragraph("Words."))),
        ("pptx", slides(lambda made: made.slides.add_slide(made.slide_layouts[6]))),
        ("xlsx", workbook(lambda made: made.active.append(["words"]))),
        ("epub", book({"a.xhtml": "<p>Words.</p>"})),
    ],
)
def test_damaged_archives_and_bombs_are_told_apart(format_name: str, data: bytes) -> None:
    assert kind_of(data[: len(data) // 2], format_name) == "damaged"
    assert kind_of(b"PK\x03\x04" + bytes(100), format_name) == "damaged"
    bomb = repacked(data, lambda name, content: content)
    padded = zipped({"big": bytes(30_000_000)})
    assert kind_of(padded, format_name, unpacked_megabytes=10) == "too-large"
    flipped = bytearray(bomb)
    for place in range(60, len(flipped) // 3, 7):
        flipped[place] ^= 0x55
    with pytest.raises(ExtractionError):
        read(bytes(flipped), format_name)


@pytest.mark.parametrize("format_name", ["docx", "pptx", "xlsx"])
def test_entities_of_xml_are_never_resolved(format_name: str, tmp_path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET", encoding="utf-8")
    outside = f'<!DOCTYPE x [<!ENTITY c SYSTEM "{secret.as_uri()}">]>'
    parts = {"docx": "word/document.xml", "pptx": "ppt/slides/slide1.xml", "xlsx": "xl/sharedStrings.xml"}

    def build(made) -> None:
        if format_name == "docx":
            made.add_paragraph("MARK")
        elif format_name == "pptx":
            made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "MARK"
        else:
            made.active["A1"] = "MARK"

    data = {"docx": word, "pptx": slides, "xlsx": workbook}[format_name](build)
    for doctype in (LAUGHS, outside):

        def change(name: str, content: bytes, doctype: str = doctype) -> bytes:
            if name != parts[format_name]:
                return content
            body = content.decode().replace("MARK", "&c;")
            declaration, _, rest = body.partition("?>") if body.startswith("<?xml") else ("", "", body)
            return f"{declaration + '?>' if declaration else ''}{doctype}{rest}".encode()

        try:
            text = read(repacked(data, change), format_name).text
        except ExtractionError as error:
            text = error.problem
        assert "ha" * 8 not in text
        assert "SECRET" not in text


def sheet_of(rows: str) -> bytes:
    written = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
    plain = workbook(lambda made: made.active.append([1]))
    return repacked(plain, lambda name, data: written.encode() if name == "xl/worksheets/sheet1.xml" else data)


def test_cells_far_apart_are_read_and_too_many_between_them_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    far = sheet_of('<row r="1"><c r="B1"><v>1</v></c></row><row r="90000"><c r="ZZ90000"><v>2</v></c></row>')
    found = read(far, "xlsx")
    assert found.text == "## Sheet\n\n1\n\n2\n"
    assert found.locators[-1].place == "sheet=Sheet&range=ZZ90000"
    monkeypatch.setattr("corpus.extraction.xlsx_files._MOST_CELLS", 100_000)
    wide = "".join(f'<row r="{row}"><c r="XFD{row}"><v>2</v></c></row>' for row in range(1, 10))
    assert kind_of(sheet_of(wide), "xlsx") == "too-large"


def test_a_text_that_many_cells_share_is_too_large_written_out() -> None:
    rows = "".join(f'<row r="{row}"><c t="s"><v>0</v></c></row>' for row in range(1, 1100))
    shared = (
        f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{"x" * 1000}</t></si></sst>'
    )
    types = (
        '<Override PartName="/xl/sharedStrings.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    )
    with zipfile.ZipFile(io.BytesIO(sheet_of(rows))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", types.encode())
    made = zipped({**parts, "xl/sharedStrings.xml": shared})
    assert read(made, "xlsx", unpacked_megabytes=2).facts.characters > 1_000_000
    with pytest.raises(ExtractionError, match="the cells of a sheet hold more than 1 MB of text") as caught:
        read(made, "xlsx", unpacked_megabytes=1)
    assert caught.value.kind == "too-large"


def test_a_chapter_that_a_book_names_twice_is_read_once() -> None:
    made = book({"one.xhtml": "<html><body><p>Knots.</p></body></html>"})
    twice = repacked(
        made, lambda name, data: data.replace(b"</spine>", b'<itemref idref="one.xhtml"/>' * 9 + b"</spine>")
    )
    found = read(twice, "epub")
    assert (found.text, found.facts.pages) == ("# Book\n\nKnots.\n", 1)


def test_a_row_no_sheet_can_have_is_damage_and_not_waited_for() -> None:
    assert kind_of(sheet_of('<row r="999999999"><c r="A999999999"><v>1</v></c></row>'), "xlsx") == "damaged"
