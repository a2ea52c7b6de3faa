"""Plain text and Markdown: the file is the text, once its encoding is known."""

from __future__ import annotations

from corpus.canonical import UndecodableError, canonical_text
from corpus.extraction.extracted import Extracted, Extraction, ExtractionError
from corpus.extraction.limits import Limits


def read(data: bytes, limits: Limits, format_name: str) -> Extracted:
    """Return a text file's text.

    Raises:
        ExtractionError: If the bytes are no text.
    """
    text, encoding = decoded(data)
    return Extracted(text, facts=Extraction(format_name), encoding=encoding)


def decoded(data: bytes) -> tuple[str, str]:
    """Return the text of bytes and the encoding it was read in.

    Raises:
        ExtractionError: If the bytes are no text.
    """
    try:
        return canonical_text(data)
    except UndecodableError as error:
        raise ExtractionError("damaged", error.problem, error.advice, error.line, error.value) from None
