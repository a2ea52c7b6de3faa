"""Which format a file has: by its content first, by the end of its name second."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple

HEAD_BYTES = 8_192


class UnreadFormat(NamedTuple):
    """A format nobody here reads."""

    name: str  # with its article
    advice: str


SUFFIXES: Mapping[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
}
_AS_TEXT = "Export it as plain text or Markdown first."
_MAGIC: tuple[tuple[bytes, str | UnreadFormat], ...] = (
    (b"%PDF-", UnreadFormat("a PDF", _AS_TEXT)),
    (b"PK\x03\x04", UnreadFormat("a ZIP archive or an office document", _AS_TEXT)),
    (b"\x89PNG", UnreadFormat("a picture", _AS_TEXT)),
    (b"GIF8", UnreadFormat("a picture", _AS_TEXT)),
    (b"\xff\xd8\xff", UnreadFormat("a picture", _AS_TEXT)),
    (b"\x1f\x8b", UnreadFormat("a compressed file", "Unpack it first.")),
)


def is_document(name: str) -> bool:
    """Tell whether a file of this name is taken for a document at all."""
    return PurePath(name).suffix.lower() in SUFFIXES


def format_of(name: str, head: bytes) -> str | UnreadFormat:
    """Return the format of a file by its first bytes and its name.

    Args:
        name: Its name; only the suffix counts.
        head: Its first bytes, 8 KiB are enough.
    """
    for mark, found in _MAGIC:
        if head.startswith(mark):
            return found
    return SUFFIXES.get(PurePath(name).suffix.lower(), "text")
