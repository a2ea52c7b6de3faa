"""PDF: page by page, in reading order, without running headers; pictures of pages through Tesseract.

Read with PDFium by way of pypdfium2: it is the fastest by far of the readers whose licences fit, mends hyphens itself
and is what a browser shows.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

from corpus.extraction.blocks import Block, Piece, paragraph, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError, PageConfidence
from corpus.extraction.limits import Limits
from corpus.extraction.ocr import OcrError, read_picture, tesseract
from corpus.extraction.pdf_edges import Edge, edges_of, without_edges
from corpus.extraction.pdf_lines import HYPHEN, Line, PageText
from corpus.extraction.pdf_order import reading_order
from corpus.extraction.pdf_paragraphs import mended, page_blocks
from corpus.extraction.pdf_setting import LARGER, Setting, Survey, body_size, key_of, setting_of, survey_of

_ANEW = "Open it in a PDF reader and print or save it as a new PDF."
_OCR_DPI = 300
_MOST_PIXELS = 40_000_000
_LOW_CONFIDENCE = 0.6
_SHOWN = 10  # pages named in a sentence


class _Page(NamedTuple):
    lines: list[Line]
    survey: Survey
    edges: list[Edge]
    has_picture: bool
    unknown: int


_NO_PAGE = _Page([], survey_of([]), [], has_picture=False, unknown=0)


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return the text of a PDF.

    Raises:
        ExtractionError: If it is damaged, encrypted, too long or nothing but pictures that nobody can read.
    """
    document = _opened(data)
    collects = gc.isenabled()
    gc.disable()  # lines and blocks hold no cycles: looking for them anew and anew takes a tenth of the time
    try:
        count = len(document)
        if count > limits.pages:
            problem = f"the PDF has more than {limits.pages} pages"
            raise ExtractionError(
                "too-large", problem, "Split it, or raise [extraction] pages.", None, f"{count} pages"
            )
        if count == 0:
            raise ExtractionError("damaged", "the PDF has no page that can be opened", _ANEW)
        return _extracted(document, count, limits, format_name)
    finally:
        document.close()
        if collects:
            gc.enable()


def _opened(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            problem = "the PDF needs a password"
            raise ExtractionError("password", problem, "Save it without one and put that file here.") from None
        raise ExtractionError("damaged", f"the PDF cannot be opened ({str(error).rstrip('.')})", _ANEW) from None


def _extracted(document: pdfium.PdfDocument, count: int, limits: Limits, format_name: str) -> Extracted:
    pages, damaged = [], []
    for number in range(count):
        page = _page(document, number)
        pages.append(page or _NO_PAGE)
        damaged += [number + 1] if page is None else []
    if len(damaged) == count:
        raise ExtractionError("damaged", "no page of the PDF can be opened", _ANEW)
    lines = [page.lines for page in pages]
    surveys = [page.survey for page in pages]
    edges = chain.from_iterable([page.edges for page in pages])
    kept, gone, dropped = without_edges(lines, edges, body_size(surveys))
    setting = setting_of(kept, surveys, body_size(surveys, gone), _outline(document))
    pictures = [number for number, page in enumerate(pages) if page.has_picture and not page.lines]
    read_pages, confidences, problem = _read_pictures(document, pictures, limits)
    if not any(lines) and not read_pages:
        if pictures:
            raise ExtractionError("image-only", *_unread(pictures, count, problem, limits))
        if damaged:
            raise ExtractionError("damaged", f"{_pages(damaged)} cannot be opened, the others are blank", _ANEW)
        raise ExtractionError("empty", "no text is found in the file: its pages are blank", "Remove the file.")
    blocks: list[Block] = []
    tables = 0
    for number, page_lines in enumerate(kept):
        place = f"page={number + 1}"
        found = [paragraph(words, place) for words in read_pages.get(number, ())]
        found += page_blocks(page_lines, setting, place)
        tables += sum(is_row for is_row, _ in groupby(page_lines, attrgetter("is_row")))  # rows in a row are one
        _append(blocks, found, setting)
    title = _title(kept, setting)
    whole = rendered(blocks, title)
    unread = [number + 1 for number in pictures if number not in read_pages]
    partial = []
    if damaged:
        partial.append(f"{_pages(damaged)} cannot be opened")
    if unread:
        partial.append(f"{_pages(unread)} without text: a picture, {problem}")
    unknown = sum(page.unknown for page in pages)
    facts = Extraction(
        format_name,
        headings=whole.headings,
        pages=count,
        tables=tables,
        dropped=dropped,
        ocr=confidences,
        partial=tuple(partial),
        warnings=tuple(_warnings(confidences, unknown)),
    )
    return Extracted(whole.text, title, whole.locators, facts)


def _warnings(confidences: Sequence[PageConfidence], unknown: int) -> Iterator[str]:
    low = [one.page for one in confidences if one.confidence < _LOW_CONFIDENCE]
    if low:
        yield f"{_pages(low)} read from a picture with low confidence"
    if unknown:
        signs = "character has" if unknown == 1 else "characters have"
        yield f"{unknown} {signs} no meaning in the fonts of the file; U+FFFD stands for them"


def _pages(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN])) + (", ..." if len(numbers) > _SHOWN else "")
    return f"page{'s' * (len(numbers) > 1)} {shown}"


def _page(document: pdfium.PdfDocument, number: int) -> _Page | None:
    """Return the lines of a page in reading order; None where it cannot be opened."""
    page = raw.FPDF_LoadPage(document.raw, number)
    if not page:
        return None
    try:
        text_page = raw.FPDFText_LoadPage(page)
        if not text_page:
            return None
        try:
            text = PageText(text_page)
            lines = reading_order(text.lines())
        finally:
            raw.FPDFText_ClosePage(text_page)
        has_picture = not lines and _has_picture(page)
        return _Page(lines, survey_of(lines), edges_of(number, lines), has_picture, text.unknown)
    finally:
        raw.FPDF_ClosePage(page)


def _has_picture(page: object) -> bool:
    """Tell whether anything is drawn on a page without text: a picture, or letters drawn as lines."""
    return bool(raw.FPDFPage_CountObjects(page) > 0)


def _outline(document: pdfium.PdfDocument) -> dict[str, int]:
    """Return the titles of the PDF's own table of contents with their levels from 1."""
    found: dict[str, int] = {}
    for number, entry in enumerate(document.get_toc(max_depth=6)):
        if number >= 5_000:
            break
        key = key_of(entry.get_title() or "")
        if len(key) > 2:
            found.setdefault(key, entry.level + 1)
    return found


def _append(blocks: list[Block], found: Sequence[Block], setting: Setting) -> None:
    """Add a page's blocks; a paragraph that goes on from the page before stays one paragraph, and one word one word."""
    if not found:
        return
    last, first = (blocks[-1] if blocks else None), found[0]
    if last is not None and not last.level and not first.level and _goes_on(last.text, first.text):
        before, after = last.pieces[-1], first.pieces[0]
        if before.text.endswith("-") and before.text[-2:-1].isalpha():
            whole = mended(f"{before.text[:-1]}{HYPHEN}{after.text}", setting.compounds)
            cut = len(before.text) - 1
            pieces = (Piece(whole[:cut], before.place), Piece(whole[cut:], after.place))
        else:
            pieces = (before, Piece(f" {after.text}", after.place))
        blocks[-1] = Block((*last.pieces[:-1], *pieces))
        found = found[1:]
    blocks.extend(found)


def _goes_on(before: str, after: str) -> bool:
    return after[:1].islower() and before[-1:] not in ".!?:;" and len(before) > 60


def _is_large(line: Line, largest: float) -> bool:
    return abs(line.size - largest) < 0.05 * largest and not line.turned


def _title(pages: Sequence[Sequence[Line]], setting: Setting) -> str | None:
    """Return the words in the largest letters of the first page with text, where there are not too many of them.

    Lines of that size in several places are headings: the first is the title only where the page begins with it.
    """
    lines = next((lines for lines in pages if lines), [])
    least = LARGER * setting.body_size
    large = [line for line in lines if line.size > least and not line.turned]
    largest = max((line.size for line in large if any(map(str.isalpha, line.text))), default=0.0)
    if not largest:
        return None
    runs = [list(run) for large, run in groupby(lines, lambda line: _is_large(line, largest)) if large]
    if len(runs) > 1 and lines[0] is not runs[0][0]:
        return None
    title = runs[0]
    words = " ".join(" ".join(line.text for line in title).split())
    return mended(words, setting.compounds) if len(title) <= 4 and len(words) <= 250 else None


def _read_pictures(
    document: pdfium.PdfDocument, pictures: Sequence[int], limits: Limits
) -> tuple[dict[int, tuple[str, ...]], tuple[PageConfidence, ...], str]:
    """Read pages that are pictures; what was read of each, with its confidence, and why others were not."""
    if not pictures:
        return {}, (), ""
    if not limits.ocr:
        return {}, (), "and reading pictures is switched off"
    if tesseract() is None:
        return {}, (), "and Tesseract is not installed"
    found: dict[int, tuple[str, ...]] = {}
    confidences: list[PageConfidence] = []
    problem = "in which Tesseract finds no words"
    for number in pictures:
        try:
            picture = read_picture(_drawn(document, number), limits.ocr_language)
        except OcrError as error:
            return found, tuple(confidences), f"and {error}"
        if picture.paragraphs:
            found[number] = picture.paragraphs
            confidences.append(PageConfidence(number + 1, picture.confidence))
    return found, tuple(confidences), problem


def _drawn(document: pdfium.PdfDocument, number: int) -> bytes:
    """Return the picture of a page as PNG."""
    page = document[number]
    try:
        width, height = page.get_size()
        scale = _OCR_DPI / 72
        scale *= min(1.0, (_MOST_PIXELS / max(1.0, width * height * scale * scale)) ** 0.5)
        picture = page.render(scale=scale, grayscale=True).to_pil()
        buffer = io.BytesIO()
        picture.save(buffer, format="PNG", compress_level=1, dpi=(_OCR_DPI, _OCR_DPI))
        return buffer.getvalue()
    finally:
        page.close()


def _unread(pictures: Sequence[int], count: int, problem: str, limits: Limits) -> tuple[str, str]:
    """Return the problem of a PDF that is pictures alone, and what to do."""
    pages = "its page is a picture" if count == 1 else f"{len(pictures)} of its {count} pages are pictures"
    if not limits.ocr:
        advice = "Set ocr = true under [extraction]."
    elif "not installed" in problem:
        advice = "Install tesseract-ocr, or put in a PDF with a text layer."
    elif "no data" in problem:
        advice = "Install that language's data, or set [extraction] ocr_language."
    else:
        advice = "Scan it again with a higher resolution, or put in a PDF with a text layer."
    return f"no text is found in the PDF: {pages} without a text layer {problem}", advice
