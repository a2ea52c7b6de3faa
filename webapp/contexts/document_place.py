"""A place of a document as its file shows it: a page beside its text, a recording at its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from corpus.locators import Locator
from corpus.places import Place, find_place, pages_of
from experiments.asking.marking import Span, Window
from webapp.contexts.passages import Piece, pieces


class SidePage(NamedTuple):
    """One page: the picture of it where it can be drawn, and the text that came from it.

    Attributes:
        number: From 1.
        total: How many there are.
        image_url: Of its picture; None where the format has none.
        pieces: Its text, with the stretch asked for marked; empty where no text came from it.
        previous_url: Of the page before; None for the first.
        next_url: Of the page behind; None for the last.
    """

    number: int
    total: int
    image_url: str | None
    pieces: tuple[Piece, ...]
    previous_url: str | None
    next_url: str | None


class Recording(NamedTuple):
    """The audio or video a transcript is of, at the time that is asked for."""

    url: str
    video: bool
    name: str
    words: str


class PlaceUrls(NamedTuple):
    """How addresses are made."""

    page: Callable[[int], str]
    image: Callable[[int], str] | None


def side_page(
    text: str, locators: Sequence[Locator], number: int | None, total: int | None, focus: Window | None, urls: PlaceUrls
) -> SidePage | None:
    """The page asked for; None where none is, or the document has none."""
    if number is None or not total:
        return None
    found = find_place(locators, {"page": str(number)}) if number in pages_of(locators) else None
    shown: tuple[Piece, ...] = ()
    if found is not None:
        whole = (found.start, found.end) == (focus.start, focus.end) if focus else True
        spans = [] if whole or focus is None else [Span(focus.start, focus.end, "focus")]
        shown = pieces(text, Window(found.start, found.end), spans)
    return SidePage(
        number,
        total,
        urls.image(number) if urls.image else None,
        shown,
        urls.page(number - 1) if number > 1 else None,
        urls.page(number + 1) if number < total else None,
    )


def recording(media_id: str, url: str, place: Place | None, *, video: bool) -> Recording:
    """The recording beside a transcript; a media fragment lets the browser begin at the time."""
    if place is None or place.seconds is None:
        return Recording(url, video, media_id, "from its beginning")
    begin, end = place.seconds
    until = f",{end:g}" if end > begin else ""
    return Recording(f"{url}#t={begin:g}{until}", video, media_id, f"from {_clock(begin)}")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
