"""Pictures of pages read by Tesseract, where it is installed: found when it is needed, never required."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_DATA_OF_LANGUAGE = re.compile(r"Failed loading language '([^']+)'")


class OcrError(Exception):
    """Tesseract could not read a picture; the message says why."""


class ReadPicture(NamedTuple):
    """The paragraphs of a picture, and how sure Tesseract is of them (mean of its words, 0 to 1)."""

    paragraphs: tuple[str, ...]
    confidence: float


def tesseract() -> str | None:
    """Return Tesseract's path, or None where it is not installed."""
    return shutil.which("tesseract")


@lru_cache(maxsize=1)
def tesseract_version() -> str:
    """Return ``tesseract 5.3.0``, or an empty string where it is not installed."""
    words = _told("--version").split()
    return f"tesseract {words[1]}" if len(words) > 1 else "tesseract" if tesseract() else ""


@lru_cache(maxsize=1)
def tesseract_languages() -> str:
    """Return the languages Tesseract has data for, as ``deu eng osd``; an empty string where it is not installed."""
    return " ".join(sorted(_told("--list-langs").splitlines()[1:]))  # the first line says where they lie


def _told(option: str) -> str:
    program = tesseract()
    if program is None:
        return ""
    try:
        done = subprocess.run([program, option], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout or done.stderr


def read_picture(png: bytes, language: str) -> ReadPicture:
    """Read the picture of a page.

    Args:
        png: The picture.
        language: Tesseract's name of the language, as ``eng`` or ``deu+eng``.

    Raises:
        OcrError: If Tesseract is not installed, does not know the language, or fails.
    """
    program = tesseract()
    if program is None:
        raise OcrError("Tesseract is not installed")
    command = [program, "stdin", "stdout", "-l", language, "--psm", "1", "tsv"]
    try:
        done = subprocess.run(command, input=png, capture_output=True, check=False)  # noqa: S603 - no shell
    except OSError as error:
        raise OcrError(f"Tesseract cannot be started ({error.strerror})") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace")
        unknown = _DATA_OF_LANGUAGE.search(said)
        if unknown:
            raise OcrError(f"Tesseract has no data for the language {unknown[1]}")
        raise OcrError(f"Tesseract failed ({' '.join(said.split())[:120] or f'exit code {done.returncode}'})")
    return _paragraphs(done.stdout.decode("utf-8", "replace"))


def _paragraphs(table: str) -> ReadPicture:
    words: dict[tuple[str, str], list[str]] = {}
    lines: dict[tuple[str, str], str] = {}
    confidences = []
    for word, confidence, paragraph, line in _words(table):
        parts = words.setdefault(paragraph, [])
        before = parts[-1] if parts else ""
        if before.endswith("-") and lines[paragraph] != line and before[:-1].isalpha() and word[:1].islower():
            parts[-1] = before[:-1] + word  # cut in two by a line's end
        else:
            parts.append(word)
        lines[paragraph] = line
        confidences.append(confidence)
    mean = sum(confidences) / len(confidences) / 100 if confidences else 0.0
    return ReadPicture(tuple(" ".join(parts) for parts in words.values()), round(mean, 3))


def _words(table: str) -> Iterator[tuple[str, float, tuple[str, str], str]]:
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and (row["text"] or "").strip():
            yield row["text"].strip(), float(row["conf"]), (row["block_num"], row["par_num"]), row["line_num"]
