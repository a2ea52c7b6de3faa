"""Files of every format, made as small as they can be; for tests of extraction."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import docx
import openpyxl
import pptx

DOCX_PART = "word/document.xml"


def zipped(parts: Mapping[str, str | bytes], *, stored: Sequence[str] = ()) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def repacked(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """An archive with its parts changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zipped({name: change(name, archive.read(name)) for name in archive.namelist()})


def word(build: Callable[[Any], None]) -> bytes:
    document = docx.Document()
    build(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def workbook(build: Callable[[openpyxl.Workbook], None]) -> bytes:
    made = openpyxl.Workbook()
    build(made)
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def slides(build: Callable[[Any], None]) -> bytes:
    made = pptx.Presentation()
    build(made)
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def book(chapters: Mapping[str, str], title: str = "Book") -> bytes:
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="in/content.opf"/></container>',
            "in/content.opf": f"<package><metadata><title>{title}</title></metadata><manifest>{items}</manifest>"
            f"<spine>{spine}</spine></package>",
            **{f"in/{name}": text for name, text in chapters.items()},
        },
        stored=["mimetype"],
    )


class Text:
    """Words on a PDF page; `y` counts from the top."""

    def __init__(self, x: float, y: float, words: str, size: float = 10, font: str = "F1") -> None:
        self.x, self.y, self.words, self.size, self.font = x, y, words, size, font


def pdf(pages: Sequence[Sequence[Text]], *, picture: bytes = b"", outline: Sequence[tuple[str, int]] = ()) -> bytes:
    """A PDF of A4 pages in Helvetica (F1) and Helvetica bold (F2), in the order the words are given in.

    Args:
        pages: The words of each page.
        picture: A grey picture of 8 bits, 100 by 100, drawn on every page without words.
        outline: Titles and pages (from 0) of its own table of contents.
    """
    objects: list[bytes] = []

    def add(body: bytes | str) -> int:
        objects.append(body if isinstance(body, bytes) else body.encode("cp1252"))
        return len(objects)

    def stream(content: bytes, entries: str = "") -> int:
        return add(f"<<{entries}/Length {len(content)}>>stream\n".encode() + content + b"\nendstream")

    add("")  # the catalogue and the page tree are filled in when the pages are known
    add("")
    fonts = [
        add(f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>")
        for name in ("Helvetica", "Helvetica-Bold")
    ]
    image = stream(picture, "/Type/XObject/Subtype/Image/Width 100/Height 100/ColorSpace/DeviceGray/BitsPerComponent 8")
    kids = []
    for words in pages:
        drawn = "".join(
            f"BT /{one.font} {one.size} Tf 1 0 0 1 {one.x} {842 - one.y} Tm ({_escaped(one.words)}) Tj ET\n"
            for one in words
        )
        if not words and picture:
            drawn = "q 400 0 0 400 100 200 cm /I Do Q"
        content = stream(drawn.encode("cp1252"))
        kids.append(
            add(
                f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {content} 0 R"
                f"/Resources<</Font<</F1 {fonts[0]} 0 R/F2 {fonts[1]} 0 R>>/XObject<</I {image} 0 R>>>>>>"
            )
        )
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    entries = ""
    if outline:
        first = len(objects) + 2
        root = add(f"<</Type/Outlines/Count {len(outline)}/First {first} 0 R/Last {first + len(outline) - 1} 0 R>>")
        for number, (title, page) in enumerate(outline):
            following = f"/Next {first + number + 1} 0 R" if number + 1 < len(outline) else ""
            add(f"<</Title({_escaped(title)})/Parent {root} 0 R{following}/Dest[{kids[page]} 0 R/Fit]>>")
        entries = f"/Outlines {root} 0 R"
    objects[0] = f"<</Type/Catalog/Pages 2 0 R{entries}>>".encode()
    return _assembled(objects)


def _escaped(words: str) -> str:
    return words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _assembled(objects: Sequence[bytes]) -> bytes:
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def prose(x: float, y: float, lines: Sequence[str], size: float = 10) -> list[Text]:
    """Lines below each other."""
    return [Text(x, y + 1.2 * size * number, words, size) for number, words in enumerate(lines)]
