"""The files of the documents folder as a page shows them: states with reasons and times, and what the indexer does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from experiments.indexing.stamps import Stamps, refusal
from experiments.indexing.standing import Standing, counts, standings
from experiments.launching import Launched
from experiments.naming import short_model
from experiments.verdicts.files import on_files_of_index
from store.files import FAILED, RUNNING, STATES
from store.tables import FileRow, IndexingRow
from webapp.contexts.live import SILENT
from webapp.exports import Column, Table
from webapp.files import Files
from webapp.filters import duration, utc

LENGTH = 100  # lines of a page
KINDS = {"queued": "info", "extracting": "info", "indexed": "good", "stale": "warn", "failed": "bad"}

COLUMNS = (
    Column("document", "Document"),
    Column("title", "Title"),
    Column(
        "state",
        "State",
        description="queued: waits for the indexer. extracting: is being read. indexed: its chunks and vectors are "
        "there. stale: they are, but of an older file, extractor, pipeline or model. failed: it could not be read.",
    ),
    Column("kind", "Kind", description="Why it failed, as one word."),
    Column("reason", "Reason", description="Why it is in this state, and what to do."),
    Column("since", "Since", description="When it came into this state."),
    Column("bytes", "Bytes"),
    Column("extractor", "Extractor", description="What made its text of the file, with versions."),
    Column("pipeline", "Pipeline", description="The version of cutting and embedding."),
    Column("model", "Model", description="The model that embedded its chunks."),
    Column("model_files", "Model files", description="Hash over every file of the model that shapes a vector."),
    Column("dimensions", "Dimensions"),
    Column("pages", "Pages", description="Pages, slides, sheets, cues or chapters, where the format has them."),
    Column("characters", "Characters", description="Code points of the canonical text."),
    Column("sections", "Sections", description="Headings of the second level."),
    Column("tables", "Tables", description="Tables found, where the format has them."),
    Column("chunks", "Chunks", description="By strategy, counted when the indexer had finished the document."),
)


class FileLine(NamedTuple):
    """One file."""

    id: str
    title: str
    url: str | None
    state: str
    tag: str
    works: bool
    kind: str
    reason: str
    since: datetime
    extractor: str
    model: str
    pages: int | None
    characters: int | None
    tables: int | None
    chunks: tuple[int | None, ...]
    retry: bool
    remove_url: str


class StateChip(NamedTuple):
    """A state to look at alone."""

    words: str
    files: int
    url: str
    current: bool


class IndexingRun(NamedTuple):
    """The indexer at work."""

    label: str
    done: int
    total: int
    facts: tuple[str, ...]
    cancelling: bool
    cancel_url: str


class FilesLinks(NamedTuple):
    """Addresses."""

    here: str
    poll: str
    start: str
    retry: str
    upload: str
    state: Callable[[str], str]
    document: Callable[[str], str]
    remove: Callable[[str], str]
    cancel: Callable[[int], str]
    more: str
    files: Files


class FilesPanel(NamedTuple):
    """Everything `templates/documents/_files.html` uses."""

    headline: str
    verdict_kind: str
    refused_words: str
    folder: str
    total: int
    chips: tuple[StateChip, ...]
    run: IndexingRun | None
    starting: bool
    said: tuple[str, ...]
    ended: str
    poll_url: str | None
    strategies: tuple[str, ...]
    lines: tuple[FileLine, ...]
    hidden: int
    failed: int
    todo: int
    can_change: bool
    cannot: str
    largest: int
    columns: tuple[Column, ...]
    links: FilesLinks


class FilesRead(NamedTuple):
    """What was read.

    Attributes:
        rows: Every known file.
        latest: The newest run of the indexer.
        launch: The last one that was started from here.
        stamps: What an index made now would be made with.
        strategies: Names of the project's strategies.
        folder: The documents folder.
        state: The state that is looked at alone; empty for all.
        everything: Whether all lines are shown.
        cannot: Why nothing can be changed from here; empty where it can.
        largest: Megabytes one upload may bring.
    """

    rows: Sequence[FileRow]
    latest: IndexingRow | None
    launch: Launched | None
    stamps: Stamps
    strategies: tuple[str, ...]
    folder: str
    state: str
    everything: bool
    cannot: str
    largest: int


def panel(read: FilesRead, links: FilesLinks) -> FilesPanel:
    """The panel of the documents page."""
    found = standings(read.rows, read.stamps)
    counted = counts(found)
    chosen = [one for one in found if not read.state or one.state == read.state]
    shown = chosen if read.everything else chosen[:LENGTH]
    run = _run(read.latest, links) if read.latest and read.latest.state == RUNNING else None
    starting = run is None and _starting(read)
    unread = sum(one.row.kind == "unsupported" for one in found)
    return FilesPanel(
        headline=on_files_of_index(counted, unread, read.folder),
        verdict_kind="warns" if counted.get(FAILED, 0) > unread else "" if found else "open",
        refused_words=refusal(read.rows, read.stamps),
        folder=read.folder,
        total=len(found),
        chips=_chips(counted, read.state, len(found), links),
        run=run,
        starting=starting,
        said=_said(read),
        ended=_ended(read.latest),
        poll_url=links.poll if run or starting else None,
        strategies=read.strategies,
        lines=tuple(_line(one, read, links) for one in shown),
        hidden=len(chosen) - len(shown),
        failed=counted.get(FAILED, 0) - unread,
        todo=sum(counted.get(state, 0) for state in ("queued", "extracting", "stale")),
        can_change=not read.cannot,
        cannot=read.cannot,
        largest=read.largest,
        columns=COLUMNS,
        links=links,
    )


def _chips(counted: dict[str, int], chosen: str, total: int, links: FilesLinks) -> tuple[StateChip, ...]:
    if not total:
        return ()
    every = StateChip("all", total, links.state(""), not chosen)
    some = [
        StateChip(state, counted.get(state, 0), links.state(state), state == chosen)
        for state in STATES
        if counted.get(state) or state == chosen
    ]
    return (every, *some)


def _run(row: IndexingRow, links: FilesLinks, now: datetime | None = None) -> IndexingRun:
    moment = now or datetime.now(UTC)
    facts = [f"about {duration(row.eta_seconds)} left"] if row.eta_seconds is not None else []
    facts.append(f"running for {duration(max((moment - utc(row.started_at)).total_seconds(), 0.0))}")
    silent = (moment - utc(row.heartbeat_at)).total_seconds()
    if silent > SILENT:
        facts.append(f"no sign of life for {duration(silent)} from {row.host}")
    return IndexingRun(
        label=row.stage or "looking at the folder",
        done=row.done,
        total=row.total,
        facts=tuple(facts),
        cancelling=row.cancel_requested,
        cancel_url=links.cancel(row.id or 0),
    )


def _began(read: FilesRead) -> bool:
    return bool(read.latest and read.launch and utc(read.latest.started_at) >= read.launch.since)


def _starting(read: FilesRead) -> bool:
    return bool(read.launch and read.launch.lives and not _began(read))


def _said(read: FilesRead) -> tuple[str, ...]:
    """What a process said that ended without beginning to index."""
    if read.launch is None or read.launch.lives or _began(read):
        return ()
    return read.launch.words


def _ended(row: IndexingRow | None) -> str:
    """How the last run ended, where that is worth a word."""
    if row is None or row.state in (RUNNING, "finished"):
        return ""
    what = "failed" if row.state == "failed" else f"was {row.state}"
    return f"{what}: {row.reason}." if row.reason else f"{what}."


def _line(one: Standing, read: FilesRead, links: FilesLinks) -> FileLine:
    row = one.row
    chunks = row.chunks or {}
    return FileLine(
        id=row.document_id,
        title=row.title or "",
        url=links.document(row.document_id) if row.text_sha256 else None,
        state=one.state,
        tag=KINDS[one.state],
        works=one.state == "extracting",
        kind=row.kind or "" if one.state == FAILED else "",
        reason=one.reason,
        since=one.since,
        extractor=row.extractor or "",
        model=short_model(str(row.stamp["name"])) if row.stamp else "",
        pages=row.pages,
        characters=row.characters,
        tables=row.tables,
        chunks=tuple(chunks.get(name) for name in read.strategies),
        retry=one.state == FAILED and row.kind != "unsupported",
        remove_url=links.remove(row.document_id),
    )


def table(read: FilesRead) -> Table:
    """The files as data."""
    rows = []
    for one in standings(read.rows, read.stamps):
        row, stamp = one.row, one.row.stamp or {}
        kind = row.kind if one.state == FAILED else None
        state = (one.state, kind, one.reason or None, utc(one.since).isoformat(timespec="seconds"), row.bytes)
        made = (row.extractor, row.pipeline, stamp.get("name"), stamp.get("files"), stamp.get("dimensions"))
        counted = (row.pages, row.characters, row.sections, row.tables)
        chunks = ", ".join(f"{name} {count}" for name, count in (row.chunks or {}).items()) or None
        rows.append((row.document_id, row.title, *state, *made, *counted, chunks))
    return Table("files", COLUMNS, tuple(rows))
