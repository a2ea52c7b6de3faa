"""Reading one file, whatever its format, where it is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from corpus.canonical import EXTRACTOR
from corpus.extraction import text_files
from corpus.extraction.extracted import Extracted, ExtractionError
from corpus.extraction.facts import with_text_facts
from corpus.extraction.formats import HEAD_BYTES, UnreadFormat, format_of
from corpus.extraction.limits import MEGABYTE, Limits


class Reader(NamedTuple):
    """How a format is read.

    Attributes:
        extractor: The rules with their version, and the library with its own.
        read: From a file's bytes to its text.
        guarded: Whether a file may hang or break its process, so that it gets one of its own.
    """

    extractor: str
    read: Callable[[bytes, Limits], Extracted]
    guarded: bool


_READERS: Mapping[str, Reader] = {
    "markdown": Reader(EXTRACTOR, lambda data, limits: text_files.extract_text(data, "markdown"), guarded=False),
    "text": Reader(EXTRACTOR, lambda data, limits: text_files.extract_text(data, "text"), guarded=False),
}


def reader_of(path: Path) -> Reader:
    """Return how a file is read.

    Raises:
        ExtractionError: If it is of a format nobody here reads.
        OSError: If it cannot be opened.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    found = format_of(path.name, head)
    if isinstance(found, UnreadFormat):
        raise ExtractionError("unsupported", f"the file is {found.name}", found.advice)
    return _READERS[found]


def extractor_of(format_name: str) -> str | None:
    """Return what a format is read by now; None where nobody here reads it."""
    reader = _READERS.get(format_name)
    return reader.extractor if reader else None


def extract(path: Path, limits: Limits | None = None) -> Extracted:
    """Read a file, by its content first and its suffix second.

    Raises:
        ExtractionError: If there is no text to be had of it, with the reason.
        OSError: If it cannot be read.
    """
    limits = limits or Limits()
    reader = reader_of(path)
    return extract_bytes(read_limited(path, limits), reader, limits)


def extract_bytes(data: bytes, reader: Reader, limits: Limits) -> Extracted:
    """Read the bytes of a file.

    Raises:
        ExtractionError: If there is no text to be had of them, with the reason.
    """
    if not data:
        raise ExtractionError("empty", "the file is empty", "Write the document, or remove the file.")
    found = reader.read(data, limits)
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
            problem = f"the file is larger than {limits.megabytes} MB"
            raise ExtractionError(
                "too-large", problem, "Split it, or raise [extraction] megabytes.", None, f"{size} bytes"
            )
        return file.read(most)
