"""Which format a file has: by its content first, by the end of its name second."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_HEAD_BYTES = 2_048
_MOST_OLE_BYTES = 50_000_000


class UnreadFormat(NamedTuple):
    """A format nobody here reads."""

    name: str  # with its article
    advice: str


class Protected(NamedTuple):
    """An office document that is encrypted as a whole."""


SUFFIXES: Mapping[str, str] = {
    **{".md": "markdown", ".markdown": "markdown", ".txt": "text"},
    **{".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf", ".epub": "epub"},
    **{".docx": "docx", ".docm": "docx", ".pptx": "pptx", ".pptm": "pptx", ".xlsx": "xlsx", ".xlsm": "xlsx"},
    **{".csv": "csv", ".tsv": "csv", ".tab": "csv", ".vtt": "vtt", ".srt": "srt"},
}
TEXT_FORMATS = frozenset(("markdown", "text", "html", "csv", "vtt", "srt"))
# Documents all the same: leaving them out in silence would lose their text.
_UNREAD: Mapping[str, UnreadFormat] = {
    ".doc": UnreadFormat("an old Word document", "Save it as .docx."),
    ".xls": UnreadFormat("an old Excel workbook", "Save it as .xlsx."),
    ".ppt": UnreadFormat("an old PowerPoint presentation", "Save it as .pptx."),
    ".odt": UnreadFormat("an OpenDocument text", "Save it as .docx."),
    ".ods": UnreadFormat("an OpenDocument workbook", "Save it as .xlsx."),
    ".odp": UnreadFormat("an OpenDocument presentation", "Save it as .pptx."),
    ".rtf": UnreadFormat("a Rich Text document", "Save it as .docx."),
    ".pages": UnreadFormat("a Pages document", "Export it as .docx."),
    ".mobi": UnreadFormat("a Kindle book", "Convert it to .epub."),
    ".azw3": UnreadFormat("a Kindle book", "Convert it to .epub."),
    ".djvu": UnreadFormat("a DjVu document", "Convert it to .pdf."),
    ".eml": UnreadFormat("an e-mail message", "Save its text as .txt or .html."),
    ".msg": UnreadFormat("an Outlook message", "Save its text as .txt or .html."),
}
_AS_TEXT = "Save its text as a format that is read, Markdown for one."
_MAGIC: tuple[tuple[bytes, UnreadFormat], ...] = (
    (b"\x89PNG", UnreadFormat("a picture", _AS_TEXT)),
    (b"GIF8", UnreadFormat("a picture", _AS_TEXT)),
    (b"\xff\xd8\xff", UnreadFormat("a picture", _AS_TEXT)),
    (b"\x1f\x8b", UnreadFormat("a compressed file", "Unpack it first.")),
    (b"7z\xbc\xaf\x27\x1c", UnreadFormat("a 7z archive", "Unpack it first.")),
    (b"Rar!\x1a\x07", UnreadFormat("a RAR archive", "Unpack it first.")),
    (b"{\\rtf", _UNREAD[".rtf"]),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PARTS = (("word/document.xml", "docx"), ("xl/workbook.xml", "xlsx"), ("ppt/presentation.xml", "pptx"))


def is_document(name: str) -> bool:
    """Tell whether a file of this name is taken for a document at all."""
    suffix = Path(name).suffix.lower()
    return suffix in SUFFIXES or suffix in _UNREAD


def format_of(path: Path) -> str | UnreadFormat | Protected:
    """Return the format of a file: what its content is, or else what its name says; text where neither tells.

    Raises:
        OSError: If the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:  # one read is all that is wanted of most files
        head = file.read(_HEAD_BYTES)
        suffix = path.suffix.lower()
        if head.startswith(_OLE):
            return _ole_format(head + file.read(_MOST_OLE_BYTES), suffix)
    if b"%PDF-" in head[:1024] and (head.startswith(b"%PDF-") or suffix == ".pdf"):
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return _archive_format(path, suffix)
    for mark, found in _MAGIC:
        if head.startswith(mark):
            return found
    if suffix in _UNREAD:
        return _UNREAD[suffix]
    return SUFFIXES.get(suffix) or _told_by_words(head)


def _ole_format(data: bytes, suffix: str) -> UnreadFormat | Protected:
    """Return what a compound file is: office documents with a password are put into one whole."""
    if _ENCRYPTED in data:
        return Protected()
    return _UNREAD.get(suffix) or UnreadFormat("an old office document", "Save it in today's format.")


def _archive_format(path: Path, suffix: str) -> str | UnreadFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            names = frozenset(archive.namelist())
            kind = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, EOFError, zipfile.LargeZipFile):
        names, kind = frozenset(), b""
    found = next((found for part, found in _PARTS if part in names), None)
    if found is not None:
        return found
    if "META-INF/container.xml" in names or kind.startswith(b"application/epub"):
        return "epub"
    if suffix in _UNREAD:
        return _UNREAD[suffix]
    named = SUFFIXES.get(suffix, "")
    # A damaged archive under the name of a document is a damaged document: its reader says in what way.
    return named if named and named not in TEXT_FORMATS else UnreadFormat("a ZIP archive", "Unpack it first.")


def _told_by_words(head: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    return "vtt" if start.startswith(b"webvtt") else "text"
