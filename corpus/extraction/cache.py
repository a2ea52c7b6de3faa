"""What was extracted already, kept on disk by the file's content and by what it was extracted with."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus.extraction.extracted import ErrorKind, Extracted, ExtractionError, extraction_from_json
from corpus.extraction.limits import Limits
from corpus.locators import Locator

# What the file, its extractor and the limits decide. What only "failed" may be the machine's: permissions, a full disk.
_KEPT_FAILURES: frozenset[ErrorKind] = frozenset(
    ("password", "empty", "image-only", "damaged", "too-large", "too-slow", "out-of-memory")
)


class ExtractionCache:
    """A folder with one file for each text that was extracted, and for each file of which there is none.

    Nothing in it is ever out of date: its name is made of the file's bytes, the extractor with its version and the
    settings that shape the text; for a failure, of the limits as well.
    """

    def __init__(self, folder: Path) -> None:
        """Use this folder; it is made when something is kept."""
        self._folder = folder

    def get(self, sha256: str, key: str) -> Extracted | None:
        """Return what was extracted of a file with this content by what `key` says, or None."""
        values = _read(self._place(sha256, key))
        try:
            return extracted_from_json(values)
        except (KeyError, TypeError):
            return None

    def put(self, sha256: str, key: str, extracted: Extracted) -> None:
        """Keep what was extracted; a full or read-only disk costs the next reading its speed and nothing else."""
        _write(self._place(sha256, key), extracted_as_json(extracted))

    def failure(self, sha256: str, key: str, limits: Limits) -> ExtractionError | None:
        """Return why there was no text of a file with this content under these limits, or None."""
        try:
            return ExtractionError(*_read(self._place(sha256, _failed(key, limits)))["error"])
        except (KeyError, TypeError):
            return None

    def put_failure(self, sha256: str, key: str, limits: Limits, error: ExtractionError) -> None:
        """Keep why there is no text, where the same would come out again."""
        if error.kind in _KEPT_FAILURES:
            facts = (error.kind, error.problem, error.advice, error.line, error.value)
            _write(self._place(sha256, _failed(key, limits)), {"error": facts})

    def _place(self, sha256: str, key: str) -> Path:
        return self._folder / sha256[:2] / f"{sha256}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json.gz"


def _failed(key: str, limits: Limits) -> str:
    return f"failed: {key}, {replace(limits, processes=0)}"


def _read(place: Path) -> dict[str, Any]:
    """Return what was kept; nothing where none is there, or it was cut off."""
    try:
        with gzip.open(place, "rt", encoding="utf-8", newline="") as file:
            values = json.load(file)
    except (OSError, EOFError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _write(place: Path, values: dict[str, Any]) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent, suffix=".part")
        with (
            os.fdopen(handle, "wb") as raw,
            gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0) as file,
        ):
            file.write(json.dumps(values, ensure_ascii=False).encode("utf-8"))
        Path(name).replace(place)
    except OSError:
        return


def extracted_as_json(extracted: Extracted) -> dict[str, Any]:
    """Return an extracted text as what JSON can hold."""
    return {
        "text": extracted.text,
        "title": extracted.title,
        "locators": extracted.locators,
        "facts": extracted.facts.as_json(),
        "encoding": extracted.encoding,
    }


def extracted_from_json(values: dict[str, Any]) -> Extracted:
    """Return what `extracted_as_json` wrote."""
    locators = tuple(Locator(*one) for one in values["locators"])
    facts = extraction_from_json(values["facts"])
    return Extracted(values["text"], values["title"], locators, facts, values["encoding"])
