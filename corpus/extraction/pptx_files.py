"""Presentations: slide by slide, titles as sections, tables as rows, notes at the end of each slide."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.exc import PythonPptxError

from corpus.extraction.archives import DAMAGE, checked_archive
from corpus.extraction.blocks import CELLS, Block, heading, paragraph, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.limits import Limits

_ANEW = "Open it in the program it was written with and save it anew."


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return the text of a presentation; a slide is a page.

    Raises:
        ExtractionError: If it is damaged, encrypted or too large.
    """
    checked_archive(data, limits).close()
    try:
        slides = list(Presentation(io.BytesIO(data)).slides)
        blocks, tables = _blocks(slides)
    except (PythonPptxError, etree.XMLSyntaxError, *DAMAGE) as error:
        raise ExtractionError("damaged", f"the presentation cannot be opened ({error})", _ANEW) from None
    whole = rendered(blocks)
    return Extracted(
        whole.text,
        None,
        whole.locators,
        Extraction(format_name, headings=whole.headings, pages=len(slides), tables=tables),
    )


def _blocks(slides: Sequence[Any]) -> tuple[list[Block], int]:
    """Return the blocks of all slides, and how many tables there are."""
    blocks: list[Block] = []
    tables = 0
    for number, slide in enumerate(slides, 1):
        place = f"page={number}"
        title = slide.shapes.title
        if title is not None and title.text_frame.text.strip():
            blocks.append(heading(2, title.text_frame.text, place))
        for shape in _shapes(slide.shapes):
            if title is not None and shape.shape_id == title.shape_id:
                continue
            tables += bool(getattr(shape, "has_table", False))
            blocks += [paragraph(text, place) for text in _texts(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            blocks += [paragraph(f"Notes: {notes}", place)] if notes else []
    return blocks, tables


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield all shapes, those in groups included."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _texts(shape: Any) -> Iterator[str]:
    """Yield a shape's paragraphs, or its table's rows; the cells of merged ranges once."""
    if getattr(shape, "has_table", False):
        for row in shape.table.rows:
            cells = (" ".join(cell.text.split()) for cell in row.cells if not cell.is_spanned)
            yield CELLS.join(cell for cell in cells if cell)
    elif shape.has_text_frame:
        for line in shape.text_frame.paragraphs:
            text = line.text.replace("\v", "\n").strip()
            if text:
                yield f"- {text}" if line.level else text
