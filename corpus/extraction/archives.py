"""ZIP archives, which office documents and electronic books are: what they hold, and what they may cost."""

from __future__ import annotations

import io
import zipfile
import zlib

from corpus.extraction.extracted import ExtractionError
from corpus.extraction.limits import MEGABYTE, Limits

# What libraries raise on archives that are cut off or changed, or whose parts are not what they should be.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    SyntaxError,
    NotImplementedError,
)
_MOST_PARTS = 20_000
_ANEW = "Open it in the program it was written with and save it anew."


def checked_archive(data: bytes, limits: Limits) -> zipfile.ZipFile:
    """Open an archive whose parts, unpacked, stay within the limits; nothing of it is ever written to disk.

    A part never unpacks to more than the archive says, so its word can be taken for the sum.

    Raises:
        ExtractionError: If it is damaged, encrypted or too large.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        parts = archive.infolist()
    except DAMAGE as error:
        raise ExtractionError("damaged", f"the archive cannot be opened ({error})", _ANEW) from None
    unpacked = sum(part.file_size for part in parts)
    if unpacked > limits.unpacked_megabytes * MEGABYTE or len(parts) > _MOST_PARTS:
        problem = f"the file unpacks to more than {limits.unpacked_megabytes} MB"
        advice = "If it is what it seems to be, raise [extraction] unpacked_megabytes."
        size = f"{unpacked / MEGABYTE:,.0f} MB in {len(parts):,} part{'s' * (len(parts) != 1)}"
        raise ExtractionError("too-large", problem, advice, None, size)
    if any(part.flag_bits & 1 for part in parts):
        raise ExtractionError("password", "the file is protected by a password", "Save it without one.")
    return archive


def read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part of an archive; empty where it has none of this name.

    Raises:
        ExtractionError: If the part is damaged.
    """
    try:
        return archive.read(name)
    except KeyError:
        return b""
    except DAMAGE as error:
        raise ExtractionError(
            "damaged", f"a part of the file cannot be unpacked ({error})", _ANEW, None, name
        ) from None
