"""What one file may cost, and whether pictures are read: the ``[extraction]`` table of a project."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one file; a file over one of them has no text and says which.

    Attributes:
        megabytes: Size of the file.
        unpacked_megabytes: Size of what is packed in it (office documents and books are ZIP archives).
        pages: Pages of a PDF.
        seconds: Time from handing it to its process until the text is there.
        memory_megabytes: Address space of its process, where the system can limit it.
        ocr: Whether pages that are pictures are read with Tesseract, where it is installed.
        ocr_language: Its language, as ``eng`` or ``deu+eng``.
        processes: Files read at a time; 0 for one a processor, at most 4.
    """

    megabytes: int = 100
    unpacked_megabytes: int = 500
    pages: int = 2_000
    seconds: float = 120.0
    memory_megabytes: int = 4_000
    ocr: bool = True
    ocr_language: str = "eng"
    processes: int = 0
