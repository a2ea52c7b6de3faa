"""Electronic books (EPUB): the chapters in the order of the spine, each read as HTML.

An EPUB is an archive of XHTML, so the reader of HTML reads it; the well-known library for it has a licence that would
bind every user of this one.
"""

from __future__ import annotations

import posixpath
import zipfile
from typing import Any
from urllib.parse import unquote

from lxml import etree

from corpus.extraction.archives import checked_archive, read_part
from corpus.extraction.blocks import Block, rendered
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.html_files import decode_html, read_page
from corpus.extraction.limits import Limits

_ANEW = "Save or export it anew."
_CONTAINER = "META-INF/container.xml"


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return the text of a book.

    Raises:
        ExtractionError: If it is damaged, protected or too large.
    """
    with checked_archive(data, limits) as archive:
        if b"EncryptedData" in read_part(archive, "META-INF/encryption.xml") and "META-INF/rights.xml" in (
            archive.namelist()
        ):
            raise ExtractionError("password", "the book is protected against copying", "Get it without protection.")
        package_name = _xml(archive, _CONTAINER).xpath("string(//*[local-name()='rootfile']/@full-path)")
        package = _xml(archive, package_name)
        items = {
            item.get("id"): item.get("href", "") for item in package.xpath("//*[local-name()='manifest']/*[@href]")
        }
        spine = package.xpath("//*[local-name()='spine']/*/@idref")
        title = " ".join(package.xpath("string(//*[local-name()='metadata']/*[local-name()='title'])").split())
        blocks: list[Block] = []
        tables = 0
        missing = []
        chapters: dict[str, str] = {}  # each once, however often the spine names it
        for key in spine:
            name = posixpath.normpath(posixpath.join(posixpath.dirname(package_name), unquote(items.get(key, ""))))
            chapters.setdefault(name, key)
        for name, key in chapters.items():
            chapter = read_part(archive, name)
            if not chapter:
                missing.append(key)
                continue
            page = read_page(decode_html(chapter)[0])
            blocks += page.blocks
            tables += page.tables
    whole = rendered(blocks, title or None)
    partial = tuple(f"chapter {key} is named but not in the file" for key in missing)
    facts = Extraction(format_name, headings=whole.headings, pages=len(chapters), tables=tables, partial=partial)
    return Extracted(whole.text if blocks else "", title or None, whole.locators, facts)


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
        root = etree.fromstring(read_part(archive, name), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ExtractionError("damaged", f"the book cannot be opened ({error})", _ANEW, None, name) from None
    if root is None:
        raise ExtractionError("damaged", "the book cannot be opened", _ANEW, None, name)
    return root
