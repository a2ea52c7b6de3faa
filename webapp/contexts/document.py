"""What the page of one document shows: its text, and what a strategy and an encoder make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus.headings import Heading
from corpus.locators import Locator
from corpus.places import Place
from experiments.asking.marking import Window, part_of, parts
from experiments.conditions import Strategy, describe
from experiments.provenance import document_level
from experiments.reviewing.cuttings import Laid, Overlay
from experiments.verdicts.documents import on_document
from store.tables import DocumentRow, FileRow
from webapp.contexts.document_extraction import Work, work_of
from webapp.contexts.document_place import PlaceUrls, Recording, SidePage, side_page
from webapp.contexts.document_text import Stretch, stretches
from webapp.exports import Column, Table
from webapp.files import Files
from webapp.sweeps import Strip

WHOLE = 80_000  # characters up to which a document is shown in one piece
PART = 50_000  # characters of a part of a longer one
EXCERPT = 120  # characters of a needle in the list beside the text

COLUMNS = (
    Column("chunk", "Chunk", description="From 1, in the order of the document."),
    Column("section", "Section"),
    Column("overlap_start", "Embedded from", description="First character embedded, overlap included."),
    Column("start", "From", description="First character of its own words."),
    Column("end", "To", description="One past the last."),
    Column("header", "Header", description="Embedded in front of it."),
    Column("over_budget", "Over budget"),
    Column("unread_from", "Unread from", description="Where the encoder stopped reading; empty where it read all."),
    Column("needles", "Needles", description="Needles it holds whole."),
)


class Links(NamedTuple):
    """Addresses."""

    here: str
    back: str
    files: Files
    raw: str | None  # the file itself


class Section(NamedTuple):
    """A heading in the list beside the text."""

    title: str
    level: int
    url: str


class NeedleLine(NamedTuple):
    """A needle in the list beside the text."""

    excerpt: str
    url: str
    destroyed_by: str  # strategies; empty where none does
    destroyed: bool  # by the cuts that are shown
    unquotable: bool  # whole in a chunk, but through its overlap only
    questions: tuple[tuple[str, str], ...]  # id, address


class Fact(NamedTuple):
    """Something counted."""

    label: str
    words: str
    alarm: bool = False


class Neighbour(NamedTuple):
    """The document, or the part, before or after."""

    url: str
    words: str


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """Everything `templates/document/page.html` uses."""

    strip: Strip | None
    title: str
    document_id: str
    headline: str
    verdict_kind: str
    carried: tuple[tuple[str, str], ...]
    strategy_options: tuple[tuple[str, str], ...]
    model_options: tuple[tuple[str, str], ...]
    strategy: str
    model: str
    what: str
    facts: tuple[Fact, ...]
    window_words: str
    sections: tuple[Section, ...]
    needles: tuple[NeedleLine, ...]
    text: tuple[Stretch, ...]
    first: int
    behind: int
    earlier: Neighbour | None
    later: Neighbour | None
    part_words: str
    previous: Neighbour | None
    following: Neighbour | None
    position: str
    side: SidePage | None
    page_total: int
    recording: Recording | None
    work: Work | None
    file_words: str
    not_measured: str
    links: Links


class Sheet(NamedTuple):
    """What was read and computed for one document."""

    row: DocumentRow
    text: str
    documents: Sequence[DocumentRow]  # of the corpus
    headings: Sequence[Heading]
    strategies: Mapping[str, Strategy]
    overlay: Overlay
    destroyed: Mapping[str, frozenset[str]]  # by strategy, needles of the whole corpus
    unread: Mapping[int, int]
    known: bool  # whether it is known what the encoder read
    window: int  # of the encoder, in tokens; 0 where there is none to speak of
    models: Sequence[tuple[str, str]]
    model: str
    focus: Window | None
    part: int | None  # asked for, from 1
    locators: Sequence[Locator] = ()
    place: Place | None = None  # asked for
    page: int | None = None  # shown beside its text
    pages: int | None = None  # how many there are; None where the format has none
    file: FileRow | None = None  # what the index knows
    measured: bool = True  # by the sweep; else it is shown as the index has it


class Urls(NamedTuple):
    """How addresses are made."""

    document: Callable[[str], str]
    question: Callable[[str], str]
    char: Callable[[int, int], str]  # of a stretch of this document
    section: Callable[[int, int | None], str]  # of a heading, with the part it lies in
    part: Callable[[int], str]
    place: PlaceUrls


def build(
    sheet: Sheet,
    strip: Strip | None,
    carried: tuple[tuple[str, str], ...],
    links: Links,
    urls: Urls,
    recording: Recording | None = None,
    anchor: str = "",
) -> DocumentContext:
    """The page."""
    text, overlay = sheet.text, sheet.overlay
    windows = windows_of(text)
    shown = _shown(sheet, windows)
    own = {one.needle.id for one in overlay.needles}
    lost = {name: len(own & found) for name, found in sheet.destroyed.items()}
    lost[overlay.strategy.name] = sum(one.destroyed for one in overlay.needles)
    ids = [row.document_id for row in sheet.documents]
    place = ids.index(sheet.row.document_id)
    return DocumentContext(
        strip=strip,
        title=sheet.row.title,
        document_id=sheet.row.document_id,
        headline=on_document(
            overlay.strategy.name,
            len(overlay.chunks),
            lost,
            len(own),
            measured=sheet.measured,
            judged=strip is not None and document_level(strip.hit_rule),
        ),
        verdict_kind="warns" if lost[overlay.strategy.name] else "",
        carried=carried,
        strategy_options=tuple((name, f"{name}: {describe(one)}") for name, one in sheet.strategies.items()),
        model_options=tuple(sheet.models) if len(sheet.models) > 1 else (),
        strategy=overlay.strategy.name,
        model=sheet.model,
        what=describe(overlay.strategy),
        facts=_facts(sheet),
        window_words=_window_words(sheet),
        sections=tuple(
            Section(
                heading.title or "(untitled)",
                heading.level,
                urls.section(number, part_of(windows, heading.start) + 1 if len(windows) > 1 else None),
            )
            for number, heading in enumerate(sheet.headings, 1)
        ),
        needles=tuple(_needle(one, sheet, urls) for one in overlay.needles),
        text=stretches(text, windows[shown], overlay, sheet.headings, sheet.unread, sheet.focus, anchor),
        first=windows[shown].start,
        behind=windows[shown].end,
        earlier=Neighbour(urls.part(shown), "the part before") if shown else None,
        later=Neighbour(urls.part(shown + 2), "the part behind") if shown + 1 < len(windows) else None,
        part_words=f"part {shown + 1} of {len(windows)}, characters {windows[shown].start:,} to {windows[shown].end:,}"
        if len(windows) > 1
        else "",
        previous=_neighbour(sheet.documents[place - 1], urls) if place else None,
        following=_neighbour(sheet.documents[place + 1], urls) if place + 1 < len(ids) else None,
        position=f"{place + 1} of {len(ids)}",
        side=side_page(text, sheet.locators, sheet.page, sheet.pages, sheet.focus, urls.place),
        page_total=sheet.pages or 0,
        recording=recording,
        work=work_of(sheet.row, sheet.file, urls.place.page),
        file_words=_file_words(sheet),
        not_measured=""
        if sheet.measured or strip is None
        else f"Sweep {strip.sweep_id} did not measure this document.",
        links=links,
    )


def _file_words(sheet: Sheet) -> str:
    """That the file is another one than this text was read from, where that is known."""
    known, now = sheet.row.file_sha256, sheet.file.file_sha256 if sheet.file else None
    return "The file has changed since this text was read from it." if known and now and known != now else ""


def windows_of(text: str) -> list[Window]:
    """The parts a document is shown in."""
    return parts(text, PART) if len(text) > WHOLE else [Window(0, len(text))]


def _shown(sheet: Sheet, windows: Sequence[Window]) -> int:
    if sheet.focus is not None:
        return part_of(windows, sheet.focus.start)
    return min((sheet.part or 1) - 1, len(windows) - 1)


def _facts(sheet: Sheet) -> tuple[Fact, ...]:
    chunks = sheet.overlay.chunks
    own = sum(chunk.end - chunk.start for chunk in chunks)
    embedded = sum(len(chunk.text) for chunk in chunks)
    over = sum(chunk.over_budget for chunk in chunks)
    facts = [
        Fact("Characters", f"{len(sheet.text):,}"),
        *([Fact("Encoding", sheet.row.encoding)] if sheet.row.encoding else []),
        Fact("Chunks", f"{len(chunks):,}"),
        Fact("Longest", f"{max((chunk.end - chunk.start for chunk in chunks), default=0):,} characters"),
        Fact("Embedded", f"{embedded:,} characters"),
        Fact("of it header, overlap", _percent(embedded - own, embedded)),
    ]
    if over:
        facts.append(Fact("Over the budget", f"{over:,}", alarm=True))
    if sheet.known:
        facts.append(Fact("Beyond the window", f"{len(sheet.unread):,} of {len(chunks):,}", alarm=bool(sheet.unread)))
    return tuple(facts)


def _window_words(sheet: Sheet) -> str:
    if not sheet.model:
        return ""
    name = dict(sheet.models).get(sheet.model, sheet.model)
    if not sheet.known:
        return f"How much of each chunk {name} read is not known here: its cache of vectors is not at hand."
    if not sheet.unread:
        return f"{name} read every chunk to its end (window of {sheet.window} tokens)."
    return f"{name} reads {sheet.window} tokens: what is struck through was not read."


def _needle(one: Laid, sheet: Sheet, urls: Urls) -> NeedleLine:
    words = " ".join(one.needle.text.split())
    by = [name for name, found in sheet.destroyed.items() if one.needle.id in found]
    return NeedleLine(
        excerpt=words if len(words) <= EXCERPT else words[: EXCERPT - 1].rstrip() + "…",
        url=urls.char(one.needle.start, one.needle.end),
        destroyed_by=", ".join(by),
        destroyed=one.destroyed,
        unquotable=bool(one.chunks) and not one.quotable,
        questions=tuple((question, urls.question(question)) for question in one.needle.questions),
    )


def _neighbour(row: DocumentRow, urls: Urls) -> Neighbour:
    return Neighbour(urls.document(row.document_id), row.title)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole * 100:.1f} %" if whole else "-"


def table(sheet: Sheet) -> Table:
    """The chunks as data."""
    rows = []
    for place, chunk in enumerate(sheet.overlay.chunks):
        held = sum(place in one.chunks for one in sheet.overlay.needles)
        rows.append(
            (
                *(place + 1, chunk.section, chunk.overlap_start, chunk.start, chunk.end, chunk.header or None),
                *(chunk.over_budget, sheet.unread.get(place), held),
            )
        )
    return Table(f"chunks-{sheet.row.document_id}-{sheet.overlay.strategy.name}", COLUMNS, tuple(rows))
