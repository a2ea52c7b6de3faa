"""What extraction did to a document: counts, what was left out, and what a person should look at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from corpus.extraction.extracted import Extraction, extraction_from_json
from store.files import STATES
from store.tables import DocumentRow, FileRow
from webapp.filters import percent

LOW_CONFIDENCE = 0.8  # of a page's words, under which it is named
SUSPICIOUS = 0.01  # share of words
PAGES = {"pptx": "Slides", "xlsx": "Sheets", "csv": "Sheets", "vtt": "Cues", "srt": "Cues", "epub": "Chapters"}


class Counted(NamedTuple):
    """Something counted."""

    label: str
    words: str
    alarm: bool = False


class LowPage(NamedTuple):
    """A page that was read from a picture, and not surely."""

    number: int
    words: str
    url: str


class Left(NamedTuple):
    """A running header or footer that was left out."""

    text: str
    pages: int


class Work(NamedTuple):
    """What extraction did.

    Attributes:
        counts: In numbers.
        sentences: What is missing or should be looked at.
        low: Pages the recogniser was unsure of.
        dropped: Running headers and footers.
        stamps: What it was made with, label and words.
        times: When it came into each state last.
    """

    counts: tuple[Counted, ...]
    sentences: tuple[str, ...]
    low: tuple[LowPage, ...]
    dropped: tuple[Left, ...]
    stamps: tuple[tuple[str, str], ...]
    times: tuple[tuple[str, datetime], ...]


def work_of(row: DocumentRow, file: FileRow | None, page_url: Any) -> Work | None:
    """What extraction did; None where it is not on record (a sweep of an older version)."""
    if row.extraction is None:
        return None
    facts = extraction_from_json(row.extraction)
    low = sorted((one for one in facts.ocr if one.confidence < LOW_CONFIDENCE), key=lambda one: one.confidence)
    return Work(
        counts=_counts(facts),
        sentences=(*facts.partial, *facts.warnings),
        low=tuple(LowPage(one.page, percent(one.confidence, 0), page_url(one.page)) for one in low),
        dropped=tuple(Left(words, pages) for words, pages in facts.dropped),
        stamps=_stamps(row, file),
        times=_times(file),
    )


def _counts(facts: Extraction) -> tuple[Counted, ...]:
    found = [Counted("Format", facts.format)]
    if facts.pages is not None:
        found.append(Counted(PAGES.get(facts.format, "Pages"), f"{facts.pages:,}"))
    found += [Counted("Characters", f"{facts.characters:,}"), Counted("Headings", f"{facts.headings:,}")]
    if facts.tables is not None:
        found.append(Counted("Tables", f"{facts.tables:,}"))
    if facts.dropped:
        found.append(Counted("Running headers left out", f"{len(facts.dropped):,}"))
    if facts.ocr:
        mean = sum(one.confidence for one in facts.ocr) / len(facts.ocr)
        unsure = any(one.confidence < LOW_CONFIDENCE for one in facts.ocr)
        found.append(Counted("Pages read from pictures", f"{len(facts.ocr):,}, confidence {percent(mean, 0)}", unsure))
    found.append(
        Counted("Replacement characters", f"{facts.replacement_characters:,}", facts.replacement_characters > 0)
    )
    found.append(
        Counted("Words no language writes", percent(facts.suspicious_words), facts.suspicious_words > SUSPICIOUS)
    )
    return tuple(found)


def _stamps(row: DocumentRow, file: FileRow | None) -> tuple[tuple[str, str], ...]:
    found = [("Extractor", row.extractor or "-")]
    if row.file_sha256:
        found.append(("File", row.file_sha256[:12]))
    if file is not None and file.stamp is not None:
        stamp: Mapping[str, Any] = file.stamp
        model = f"{stamp.get('name')}, files {str(stamp.get('files', ''))[:12]}, {stamp.get('dimensions')} dimensions"
        found += [("Pipeline", file.pipeline or "-"), ("Model", model)]
    return tuple(found)


def _times(file: FileRow | None) -> tuple[tuple[str, datetime], ...]:
    if file is None:
        return ()
    return tuple((state, datetime.fromisoformat(file.times[state])) for state in STATES if state in file.times)
