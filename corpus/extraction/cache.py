"""What was extracted already, kept on disk by the file's content and by what it was extracted with."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from corpus.extraction.extracted import Extracted, extraction_from_json
from corpus.locators import Locator


class ExtractionCache:
    """A folder with one file for each text that was extracted.

    Nothing in it is ever out of date: its name is made of the file's bytes, the extractor with its version and the
    settings that shape the text. Failures are not kept, so whoever tries again does.
    """

    def __init__(self, folder: Path) -> None:
        """Use this folder; it is made when something is kept."""
        self._folder = folder

    def get(self, sha256: str, key: str) -> Extracted | None:
        """Return what was extracted of a file with this content by what `key` says, or None."""
        try:
            with gzip.open(self._place(sha256, key), "rt", encoding="utf-8", newline="") as file:
                return extracted_from_json(json.load(file))
        except (OSError, EOFError, ValueError, KeyError, TypeError):  # none there, or it was cut off
            return None

    def put(self, sha256: str, key: str, extracted: Extracted) -> None:
        """Keep what was extracted; a full or read-only disk costs the next reading its speed and nothing else."""
        place = self._place(sha256, key)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=place.parent, suffix=".part")
            with (
                os.fdopen(handle, "wb") as raw,
                gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0) as file,
            ):
                file.write(json.dumps(extracted_as_json(extracted), ensure_ascii=False).encode("utf-8"))
            Path(name).replace(place)
        except OSError:
            return

    def _place(self, sha256: str, key: str) -> Path:
        return self._folder / sha256[:2] / f"{sha256}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json.gz"


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
