"""Bytes to canonical text: the one Unicode text that every offset of the project counts in."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from charset_normalizer import CharsetMatch, from_bytes

from corpus.headings import headings

# What makes canonical texts of files, with the version of its rules: raised by hand whenever the same bytes would give
# another text.
EXTRACTOR = "text/1"

# Longer marks first: the UTF-32 mark begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What files without a mark are really written in, most usual first. The order settles ties.
_CANDIDATES = (
    *("cp1252", "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp1253", "iso8859_7"),
    *("cp1250", "iso8859_2", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
)
_OTHER_FORMATS = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x89PNG", "a picture"),
    (b"GIF8", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a compressed file"),
)
_MOST_CHAOS = 0.1
_CHAOS_TIE = 0.01
_COHERENCE_TIE = 0.05
_EVIDENCE_BYTES = 65_536
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_MOST_CONTROLS = 0.005
# Signs that stand before a letter only in the wrong reading, as in "¶λλα" for "Άλλα".
_MISPLACED = re.compile(r"[¢¤¥¦©¬®¯±¶¸](?=[^\W\d_])")
_SAVE_AS_UTF8 = "Open it in the program it was written with and save it as UTF-8."
_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n")
_FRONT_MATTER_LINE = re.compile(r"[ \t]*$|[ \t]+|#|-(?=\s)|\[|[\]})]|[\w\"'.-][^\n:=]*[:=]")
_TITLE_LINE = re.compile(r"title[ \t]*[:=][ \t]*(.*)", re.IGNORECASE)


class Decoded(NamedTuple):
    """A text and the encoding it was read in (``utf-8`` where there was nothing to guess)."""

    text: str
    encoding: str


class UndecodableError(ValueError):
    """Bytes that are not text, or text in an encoding that cannot be told.

    Attributes:
        line: Line number from 1 of the first offending byte, or None.
        value: The offending byte, as ``0x93``, or an empty string.
        problem: What is wrong, without a full stop.
        advice: What to do.
    """

    def __init__(self, problem: str, advice: str, line: int | None = None, value: str = "") -> None:
        """Keep the facts of the fault to be made of it."""
        super().__init__(f"{problem}: {value}" if value else problem)
        self.line, self.value, self.problem, self.advice = line, value, problem, advice


def canonical_text(data: bytes) -> Decoded:
    r"""Decode bytes and normalise line ends to ``\n``; Unicode normal forms are left as found.

    A byte order mark decides. Without one, strict UTF-8 is tried, then an encoding is detected: a candidate counts
    only when its text is free of disorder (charset-normalizer's ``chaos`` of at most 0.1) and of control characters,
    and among candidates as good as the best one the one without misplaced signs wins, then the more usual encoding.

    Raises:
        UndecodableError: If the bytes are not text, are damaged, or no encoding is likely enough.
    """
    for mark, what in _OTHER_FORMATS:
        if data.startswith(mark):
            raise UndecodableError(f"the file is {what}, not text", "Export it as plain text or Markdown first.")
    decoded = _decode(data)
    if _is_binary(decoded.text):
        raise UndecodableError("the file is not text (it holds control characters)", "Export it as plain text first.")
    text = decoded.text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text, decoded.encoding)


def _decode(data: bytes) -> Decoded:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return Decoded(_strictly(data[len(mark) :], encoding), encoding)
    if b"\0" in data:
        return _decode_wide(data)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        return _detect(data, error)


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _damaged(data, error, encoding) from None


def _damaged(data: bytes, error: UnicodeDecodeError, encoding: str) -> UndecodableError:
    line = None if encoding.startswith(("utf-16", "utf-32")) else data.count(b"\n", 0, error.start) + 1
    value = f"0x{data[error.start]:02x}" if error.start < len(data) else ""
    return UndecodableError(f"the bytes are damaged {encoding.upper()}", _SAVE_AS_UTF8, line, value)


def _decode_wide(data: bytes) -> Decoded:
    """Decode bytes with zeros among them: UTF-16 without a mark, or no text at all."""
    best: Decoded | None = None
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        plain = not _is_binary(text) and not any(unicodedata.category(c) in ("Cn", "Co") for c in set(text))
        # In the wrong byte order blanks and line ends become letters, so the right order has more of them.
        if plain and _blanks(text) > (0 if best is None else _blanks(best.text)):
            best = Decoded(text, encoding)
    if best is None:
        raise UndecodableError("the file is not text (it holds zero bytes)", "Export it as plain text first.")
    return best


def _blanks(text: str) -> int:
    return text.count(" ") + text.count("\n")


def _is_binary(text: str) -> bool:
    return "\0" in text or sum(1 for _ in _CONTROLS.finditer(text)) > _MOST_CONTROLS * len(text)


def _detect(data: bytes, error: UnicodeDecodeError) -> Decoded:
    lenient = data.decode("utf-8", errors="replace")
    # Sequences that are valid UTF-8 hardly ever come about by chance, so a few bad bytes among many are damage.
    wide = sum(1 for c in lenient if c > "\x7f" and c != "\ufffd")
    if wide > lenient.count("\ufffd"):
        raise _damaged(data, error, "utf-8")
    for match in _likely(_evidence(data)):
        for encoding in sorted({match.encoding, *match.could_be_from_charset} & set(_CANDIDATES), key=_usual):
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            if not _is_binary(text):
                return Decoded(text, encoding)
    line = data.count(b"\n", 0, error.start) + 1
    problem = "the bytes are neither UTF-8 nor text in an encoding that can be told"
    raise UndecodableError(problem, _SAVE_AS_UTF8, line, f"0x{data[error.start]:02x}")


def _evidence(data: bytes) -> bytes:
    """Return the lines that hold bytes outside ASCII, at least 64 KiB of them where there are so many.

    The detector looks at samples, and a long English text with a few quotation marks would show it none.
    """
    kept, size = [], 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            kept.append(line)
            size += len(line)
        if size >= _EVIDENCE_BYTES:
            break
    return b"".join(kept)


def _likely(evidence: bytes) -> list[CharsetMatch]:
    matches = [match for match in from_bytes(evidence, cp_isolation=list(_CANDIDATES)) if match.chaos <= _MOST_CHAOS]
    if not matches:
        return []
    chaos = matches[0].chaos + _CHAOS_TIE
    coherence = matches[0].coherence - _COHERENCE_TIE
    tied = [match for match in matches if match.chaos <= chaos and match.coherence >= coherence]
    return sorted(tied, key=_implausibility)


def _implausibility(match: CharsetMatch) -> tuple[int, int]:
    names = (match.encoding, *match.could_be_from_charset)
    return len(_MISPLACED.findall(str(match))), min(map(_usual, names))


def _usual(encoding: str) -> int:
    return _CANDIDATES.index(encoding) if encoding in _CANDIDATES else len(_CANDIDATES)


def split_front_matter(text: str) -> tuple[str, str]:
    """Split a text into its front matter (YAML between ``---``, TOML between ``+++``) and the rest.

    The front matter is empty where the text has none: a thematic break at the top is not the start of one unless
    every line up to the next is an entry. Line breaks behind it belong to it, so the rest starts with words.
    """
    opening = _FRONT_MATTER.match(text)
    if opening is None:
        return "", text
    position = opening.end()
    for line in text[position:].split("\n"):
        position += len(line) + 1
        if line.rstrip() == opening[1] or (line.rstrip() == "..." and opening[1] == "---"):
            rest = text[position:].lstrip("\n")
            return text[: len(text) - len(rest)], rest
        if not _FRONT_MATTER_LINE.match(line):
            break
    return "", text


def front_matter_title(front_matter: str) -> str | None:
    """Return the value of the front matter's ``title`` entry, unquoted, or None."""
    for line in front_matter.split("\n"):
        entry = _TITLE_LINE.match(line)
        if entry is None:
            continue
        value = entry[1].strip()
        if len(value) > 1 and value[0] in "\"'" and value[0] in value[1:]:
            return value[1 : value.index(value[0], 1)].strip() or None
        return value.split(" #")[0].strip() or None
    return None


def strip_bibliography(text: str, titles: Sequence[str]) -> str:
    """Return the text without its trailing bibliography.

    The bibliography is the last heading whose title is one of ``titles`` (case does not matter) and everything
    behind it, provided that no other heading of the same or a higher level follows.
    """
    wanted = {title.strip().casefold() for title in titles}
    found = headings(text)
    for position in range(len(found) - 1, -1, -1):
        heading = found[position]
        if heading.title.casefold() in wanted:
            if any(later.level <= heading.level for later in found[position + 1 :]):
                return text
            kept = text[: heading.start].rstrip()
            return kept + "\n" if kept else ""
    return text
