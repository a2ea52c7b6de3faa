"""Word documents: paragraphs, headings, lists, tables, text boxes, notes, headers and footers.

python-docx opens the package, its styles and its parts. What is walked here is the XML below it, because python-docx
gives the cells of merged ranges many times over and has no text boxes and no notes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml import etree

from corpus.extraction.archives import DAMAGE, checked_archive
from corpus.extraction.blocks import CELLS, Block, heading, paragraph, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.limits import Limits

_ANEW = "Open it in the program it was written with and save it anew."
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
_NOTES = ("footnotes", "endnotes")
_P, _TBL, _TR, _TC, _T = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc"), qn("w:t")
_VAL, _ID, _TYPE = qn("w:val"), qn("w:id"), qn("w:type")
_BOX, _SDT = qn("w:txbxContent"), qn("w:sdtContent")
_BREAKS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
# Kept for programs that do not know the newer form of the same, or deleted while changes are tracked.
_SKIPPED = frozenset(
    ("{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback", qn("w:del"), qn("w:instrText"))
)
_NOTE_MARKS = {qn("w:footnoteReference"): "footnotes", qn("w:endnoteReference"): "endnotes"}


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return the text of a Word document.

    Raises:
        ExtractionError: If it is damaged, encrypted or too large.
    """
    checked_archive(data, limits).close()
    try:
        document = docx.Document(io.BytesIO(data))
        reader = _Reader(document)
        body = reader.blocks(document.element.body)
        blocks = [*reader.edges("header"), *body, *reader.edges("footer"), *reader.notes()]
    except (OpcError, etree.XMLSyntaxError, *DAMAGE) as error:
        raise ExtractionError("damaged", f"the Word document cannot be opened ({error})", _ANEW) from None
    title = reader.title or None
    whole = rendered(blocks, title)
    return Extracted(
        whole.text, title, whole.locators, Extraction(format_name, headings=whole.headings, tables=reader.tables)
    )


class _Reader:
    def __init__(self, document: WordDocument) -> None:
        self.title = ""
        self.tables = 0
        self._document = document
        self._levels = _style_levels(document)
        self._boxes: list[Any] = []
        self._noted: list[tuple[str, str]] = []  # kind and id of the notes, in the order of their marks

    def blocks(self, parent: Any) -> Iterator[Block]:
        """Yield what stands directly in a body, a text box, a note, a header or a footer."""
        for child in parent:
            if child.tag == _P:
                yield from self._paragraph(child)
            elif child.tag == _TBL:
                self.tables += 1
                for row in child.iterchildren(_TR):
                    text = CELLS.join(cell for cell in map(self._cell, _cells(row)) if cell)
                    if text:
                        yield paragraph(text)
                yield from self._waiting_boxes()
            elif child.tag not in _SKIPPED and len(child):  # content controls, insertions, custom XML
                yield from self.blocks(child)

    def edges(self, which: str) -> Iterator[Block]:
        """Yield the headers or footers of all sections, each text once."""
        seen: set[str] = set()
        for section in self._document.sections:
            for name in (which, f"first_page_{which}", f"even_page_{which}"):
                part = getattr(section, name)
                if part.is_linked_to_previous:
                    continue
                for block in self.blocks(part._element):
                    if block.text and block.text not in seen:
                        seen.add(block.text)
                        yield block._replace(level=0)

    def notes(self) -> Iterator[Block]:
        """Yield foot and end notes, in the order of their marks in the text."""
        parts = {kind: self._notes_of(kind) for kind in _NOTES}
        for number, (kind, key) in enumerate(self._noted, 1):
            note = parts[kind].get(key)
            if note is not None:
                text = " ".join(block.text for block in self.blocks(note))
                if text:
                    yield paragraph(f"[{number}] {text}")

    def _notes_of(self, kind: str) -> dict[str, Any]:
        for relation in self._document.part.rels.values():
            if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
                root = etree.fromstring(relation.target_part.blob, _parser())
                return {note.get(_ID, ""): note for note in root if note.get(_TYPE) in (None, "normal")}
        return {}

    def _paragraph(self, element: Any) -> Iterator[Block]:
        text = self._text(element)
        style, level, is_list = self._kind(element)
        if text.strip():
            if style == "title" and not self.title:
                self.title = " ".join(text.split())
                yield heading(1, text)
            elif level:
                yield heading(level, text)
            else:
                yield paragraph(f"- {text.strip()}" if is_list else text)
        yield from self._waiting_boxes()

    def _kind(self, element: Any) -> tuple[str, int, bool]:
        """Return a paragraph's style, its heading level and whether it is an item of a list."""
        properties = element.find(qn("w:pPr"))
        style_id = own = numbered = None
        if properties is not None:
            found = properties.find(qn("w:pStyle"))
            style_id = found.get(_VAL) if found is not None else None
            outline = properties.find(qn("w:outlineLvl"))
            own = outline.get(_VAL) if outline is not None else None
            numbered = properties.find(qn("w:numPr"))
        name, level = self._levels.get(style_id or "", ("", 0))
        if own is not None and own.isdigit() and int(own) < 9:
            level = int(own) + 1
        return name, level, numbered is not None or name.startswith("list ")

    def _cell(self, cell: Any) -> str:
        """Return a cell's text on one line, that of a table in it included."""
        parts = []
        for child in cell:
            if child.tag == _TBL:
                self.tables += 1
                rows = (", ".join(filter(None, map(self._cell, _cells(row)))) for row in child.iterchildren(_TR))
                parts.append("; ".join(row for row in rows if row))
            elif child.tag == _P:
                parts.append(self._text(child))
            elif child.tag not in _SKIPPED and len(child):
                parts.append(self._cell(child))
        return " ".join(" ".join(parts).split())

    def _text(self, element: Any) -> str:
        """Return the words of a paragraph; text boxes anchored in it wait until it ends."""
        words: list[str] = []
        stack = [iter(element)]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif child.tag == _T:
                words.append(child.text or "")
            elif child.tag in _BREAKS:
                words.append(_BREAKS[child.tag])
            elif child.tag in _NOTE_MARKS:
                self._noted.append((_NOTE_MARKS[child.tag], child.get(_ID, "")))
                words.append(f"[{len(self._noted)}]")
            elif child.tag == _BOX:
                self._boxes.append(child)
            elif child.tag not in _SKIPPED and len(child):
                stack.append(iter(child))
        return "".join(words).replace("\xa0", " ")

    def _waiting_boxes(self) -> Iterator[Block]:
        while self._boxes:
            yield from self.blocks(self._boxes.pop(0))


def _cells(row: Any) -> Iterator[Any]:
    """Yield the cells of a row, those that only go on with the cell above left out."""
    for child in row:
        if child.tag == _TC:
            merge = child.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
            if merge is None or merge.get(_VAL) == "restart":
                yield child
        elif child.tag not in _SKIPPED and len(child):
            yield from _cells(child)


def _style_levels(document: WordDocument) -> dict[str, tuple[str, int]]:
    """Return each paragraph style's name, lower-cased, and the heading level it or one it is based on has."""
    found = {}
    for style in document.styles.element.iterchildren(qn("w:style")):
        key, current, seen, level, name = style.get(qn("w:styleId"), ""), style, set(), 0, ""
        while current is not None and current not in seen and not level:
            seen.add(current)
            named = current.find(qn("w:name"))
            own = (named.get(_VAL) or "").lower() if named is not None else ""
            name = name or own
            outline = current.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
            stated = _HEADING.match(own)
            if stated:
                level = int(stated[1])
            elif outline is not None and (outline.get(_VAL) or "").isdigit() and int(outline.get(_VAL)) < 9:
                level = int(outline.get(_VAL)) + 1
            base = current.find(qn("w:basedOn"))
            current = _style(document, base.get(_VAL)) if base is not None else None
        found[key] = (name, level)
    return found


def _style(document: WordDocument, key: str | None) -> Any:
    wanted = (style for style in document.styles.element.iterchildren(qn("w:style")))
    return next((style for style in wanted if style.get(qn("w:styleId")) == key), None)


def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
