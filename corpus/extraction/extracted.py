"""What extraction gives: a text with its locators and what was done to it, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from corpus.locators import Locator

ErrorKind = Literal[
    "password",
    "empty",
    "image-only",
    "damaged",
    "unsupported",
    "too-large",
    "too-slow",
    "out-of-memory",
    "failed",
]


class ExtractionError(ValueError):
    """A file of which there is no text.

    Attributes:
        kind: Why, as one word.
        problem: What is wrong, without a full stop.
        advice: What to do, as one or more sentences.
        line: Line number from 1 of the fault, or None.
        value: The offending value, or an empty string.
    """

    def __init__(self, kind: ErrorKind, problem: str, advice: str, line: int | None = None, value: str = "") -> None:
        """Keep the facts of the fault to be made of it."""
        super().__init__(f"{problem}: {value}" if value else problem)
        self.kind, self.problem, self.advice, self.line, self.value = kind, problem, advice, line, value


class Dropped(NamedTuple):
    """A running header or footer that was left out of the text."""

    text: str  # as on the first page it stands on
    pages: int  # how many it stood on


class PageConfidence(NamedTuple):
    """How sure the recogniser of a page's picture was."""

    page: int  # from 1
    confidence: float  # mean of its words, 0 to 1


@dataclass(frozen=True, slots=True)
class Extraction:
    """What extraction did.

    Attributes:
        format: ``markdown``, ``text``, ``html``, ``pdf``, ``docx``, ``pptx``, ``xlsx``, ``csv``, ``vtt``, ``srt`` or
            ``epub``; empty where nobody knows.
        pages: Pages of a PDF, slides, sheets, cues or chapters; None where the format has none.
        characters: Code points of the text.
        headings: Headings of the text, of all levels.
        tables: Tables found; None where the format has none or nobody looked.
        dropped: Running headers and footers left out.
        ocr: Confidence of every page that was read from a picture.
        replacement_characters: U+FFFD in the text: characters that were lost before.
        suspicious_words: Share of words that no language writes, 0 to 1: letters of a broken font, mostly. Of a long
            text slices are looked at.
        partial: What is missing from the text, one sentence each, as "1 cue with a faulty time on line 9 is left out".
        warnings: What a person should look at, one sentence each.
    """

    format: str = ""
    pages: int | None = None
    characters: int = 0
    headings: int = 0
    tables: int | None = None
    dropped: tuple[Dropped, ...] = ()
    ocr: tuple[PageConfidence, ...] = ()
    replacement_characters: int = 0
    suspicious_words: float = 0.0
    partial: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the facts as what JSON can hold; ``extraction_from_json`` reads it."""
        return asdict(self)


def extraction_from_json(values: Mapping[str, Any]) -> Extraction:
    """Return the facts that ``Extraction.as_json`` wrote; names nobody knows any more are ignored."""
    known = {name: value for name, value in values.items() if name in Extraction.__slots__}
    known["dropped"] = tuple(Dropped(*one) for one in known.get("dropped", ()))
    known["ocr"] = tuple(PageConfidence(*one) for one in known.get("ocr", ()))
    for name in ("partial", "warnings"):
        known[name] = tuple(known.get(name, ()))
    return Extraction(**known)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A file's canonical text.

    Attributes:
        text: The text; front matter and bibliography of a Markdown file are still in it.
        title: Its title as the format states it; None where only headings or the file's name could tell.
        locators: In order, without overlap, over the text; empty where the text is the file itself.
        facts: What extraction did.
        encoding: What the file was read in; empty for formats that say so themselves.
    """

    text: str
    title: str | None = None
    locators: tuple[Locator, ...] = ()
    facts: Extraction = field(default_factory=Extraction)
    encoding: str = ""
