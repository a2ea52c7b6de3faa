"""Reading one file, whatever its format, where it is called."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from corpus.canonical import EXTRACTOR
from corpus.extraction.extracted import ErrorKind, Extracted, ExtractionError
from corpus.extraction.facts import with_text_facts
from corpus.extraction.formats import TEXT_FORMATS, Protected, UnreadFormat, format_of
from corpus.extraction.limits import MEGABYTE, Limits
from corpus.extraction.ocr import tesseract_languages, tesseract_version

_ANEW = "Open it in its own program and save it anew."


class _Module(Protocol):
    """A module of this package that reads a format."""

    def read(self, data: bytes, limits: Limits, format_name: str) -> Extracted:
        """Return the text of a file's bytes."""


class _Rules(NamedTuple):
    """Who reads a format.

    Attributes:
        version: Of our rules: raised by hand whenever the same bytes would give another text.
        module: Imported when the first file of its format comes.
        library: Whose version shapes the text as well; empty where there is none.
        guarded: Whether a file may hang or break its process, so that it gets one of its own.
    """

    version: str
    module: str
    library: str = ""
    guarded: bool = False


_RULES: Mapping[str, _Rules] = {
    "markdown": _Rules(EXTRACTOR, "text_files"),
    "text": _Rules(EXTRACTOR, "text_files"),
    "csv": _Rules("csv/1", "csv_files", guarded=True),
    "vtt": _Rules("subtitles/1", "subtitles", guarded=True),
    "srt": _Rules("subtitles/1", "subtitles", guarded=True),
    "html": _Rules("html/1", "html_files", "selectolax", guarded=True),
    "epub": _Rules("epub/1", "epub_files", "selectolax", guarded=True),
    "pdf": _Rules("pdf/3", "pdf_files", "pypdfium2", guarded=True),
    "docx": _Rules("docx/1", "docx_files", "python-docx", guarded=True),
    "pptx": _Rules("pptx/1", "pptx_files", "python-pptx", guarded=True),
    "xlsx": _Rules("xlsx/1", "xlsx_files", "openpyxl", guarded=True),
}


class Reader(NamedTuple):
    """How a file is read.

    Attributes:
        format: Its format.
        guarded: Whether it may hang or break its process.
    """

    format: str
    guarded: bool

    @property
    def extractor(self) -> str:
        """The rules with their version, and the library with its own, as ``pdf/1 pypdfium2 5.1``."""
        return _extractor(self.format)


@lru_cache(maxsize=32)
def _extractor(format_name: str) -> str:
    from importlib import metadata  # noqa: PLC0415 - a quarter of a reading process's start, which asks for no version

    rules = _RULES[format_name]
    library = f" {rules.library} {metadata.version(rules.library).split('+')[0]}" if rules.library else ""
    return f"{rules.version}{library}"


def reader_for(format_name: str) -> Reader:
    """Return how files of a format are read."""
    return Reader(format_name, _RULES[format_name].guarded)


def reader_of(path: Path) -> Reader:
    """Return how a file is read.

    Raises:
        ExtractionError: If it is of a format nobody here reads.
        OSError: If it cannot be opened.
    """
    found = format_of(path)
    if isinstance(found, UnreadFormat):
        raise ExtractionError("unsupported", f"the file is {found.name}, which is not read here", found.advice)
    if isinstance(found, Protected):
        raise ExtractionError("password", "the file is protected by a password", "Save it without one.")
    return reader_for(found)


def cache_key(reader: Reader, limits: Limits) -> str:
    """Return what shapes a file's text beside its bytes, or decides that there is none: OCR is more than a library."""
    if reader.format != "pdf" or not limits.ocr:
        return reader.extractor
    there = set(limits.ocr_language.split("+")) <= set(tesseract_languages().split())
    return f"{reader.extractor}, {tesseract_version()} {limits.ocr_language}{'' if there else ' without its data'}"


def extractor_of(format_name: str) -> str | None:
    """Return what a format is read by now; None where nobody here reads it."""
    return reader_for(format_name).extractor if format_name in _RULES else None


def extract(path: Path, limits: Limits | None = None, sha256: str = "") -> Extracted:
    """Read a file, by its content first and its suffix second.

    Args:
        path: The file.
        limits: What it may cost.
        sha256: Of the bytes that are meant; empty for whatever the file holds now.

    Raises:
        ExtractionError: If there is no text to be had of it, with the reason; also if it holds other bytes by now.
        OSError: If it cannot be read.
    """
    limits = limits or Limits()
    reader = reader_of(path)
    data = read_limited(path, limits)
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise ExtractionError("failed", "the file changed while it was read", "Index it again once it rests.")
    return extract_bytes(data, reader, limits)


def extract_bytes(data: bytes, reader: Reader, limits: Limits) -> Extracted:
    """Read the bytes of a file.

    Raises:
        ExtractionError: If there is no text to be had of them, with the reason.
    """
    if not data:  # no text is a text; no PDF is a PDF that was cut off
        kind: ErrorKind = "empty" if reader.format in TEXT_FORMATS else "damaged"
        raise ExtractionError(kind, "the file is empty", "Write the document, or remove the file.")
    module = cast("_Module", import_module(f"corpus.extraction.{_RULES[reader.format].module}"))
    try:
        found = module.read(data, limits, reader.format)
    except (ExtractionError, MemoryError):
        raise
    except RecursionError:
        raise ExtractionError("damaged", "the file is nested too deeply", _ANEW) from None
    except Exception as error:  # whatever a library raises on a broken file is a state of that file
        said = f"{type(error).__name__}: {error}"
        raise ExtractionError("failed", "the file cannot be read", _ANEW, None, said) from error
    if not found.text.strip():
        problem = "the file holds white space only" if found.text else "no text is found in the file"
        raise ExtractionError("empty", problem, "Write the document, or remove the file.")
    return replace(found, facts=with_text_facts(found.facts, found.text))


def read_limited(path: Path, limits: Limits) -> bytes:
    """Return a file's bytes.

    Raises:
        ExtractionError: If the file is over the limit.
        OSError: If it cannot be read.
    """
    most = limits.megabytes * MEGABYTE
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            problem, advice = (
                f"the file is larger than {limits.megabytes} MB",
                "Split it, or raise [extraction] megabytes.",
            )
            raise ExtractionError("too-large", problem, advice, None, f"{size} bytes")
        return file.read(size or most)  # of the file's own size: a buffer of the most would be made for every file
