"""What the documents page shows: the corpus of a sweep, and what each strategy does to each document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.conditions import Strategy, describe
from experiments.reviewing.cuttings import NeedlePlace
from experiments.verdicts.documents import on_corpus
from store.tables import CombinationRow, DocumentRow, SweepRow
from webapp.combinations import Note
from webapp.exports import Column, Table
from webapp.files import Files
from webapp.sweeps import Strip

Destroyed = Mapping[str, frozenset[str]]  # strategy -> ids of the needles it destroys


class Links(NamedTuple):
    """Addresses."""

    here: str
    files: Files


class StrategyHead(NamedTuple):
    """A strategy as the head of columns."""

    name: str
    what: str


class Loss(NamedTuple):
    """What a strategy makes of a document."""

    chunks: int
    destroyed: int | None  # None where nothing is recorded of it


class Line(NamedTuple):
    """A document."""

    id: str
    title: str
    url: str
    state: str
    kind: str
    reason: str
    encoding: str
    characters: int
    sections: int
    needles: int
    losses: tuple[Loss, ...]


class Stamp(NamedTuple):
    """A model that embedded the corpus."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class DocumentsContext:
    """Everything `templates/documents/page.html` uses."""

    strip: Strip
    notes: tuple[Note, ...]
    headline: str
    verdict_kind: str
    sweep_options: tuple[tuple[str, str], ...]
    chosen: str
    strategies: tuple[StrategyHead, ...]
    lines: tuple[Line, ...]
    total: Line
    stamps: tuple[Stamp, ...]
    columns: tuple[Column, ...]
    links: Links


COLUMNS = (
    Column("document", "Document"),
    Column("title", "Title"),
    Column("state", "State", description="indexed: its chunks were measured in this sweep; else what became of it."),
    Column("encoding", "Encoding", description="What the file was read in."),
    Column("characters", "Characters", description="Code points of the canonical text."),
    Column("sections", "Sections", description="Headings of the second level."),
    Column("needles", "Needles", description="Sentences that questions ask for."),
)


class Corpus(NamedTuple):
    """What was read."""

    sweep: SweepRow
    rows: Sequence[CombinationRow]
    documents: Sequence[DocumentRow]
    newest: Mapping[str, str] | None  # text hashes of the newest sweep's documents; None where this is the newest
    needles: Sequence[NeedlePlace]
    strategies: Mapping[str, Strategy]
    counts: Mapping[tuple[str, str], int]
    destroyed: Destroyed


def build(
    corpus: Corpus,
    notes: tuple[Note, ...],
    sweep_options: tuple[tuple[str, str], ...],
    strip: Strip,
    links: Links,
    document_url: Callable[[str], str],
) -> DocumentsContext:
    """The page."""
    lines = tuple(_line(corpus, row, document_url) for row in corpus.documents)
    lost = {name: len(found) for name, found in corpus.destroyed.items()}
    touched = sum(any(loss.destroyed for loss in line.losses) for line in lines)
    return DocumentsContext(
        strip=strip,
        notes=notes,
        headline=on_corpus(len(lines), lost, touched, len(corpus.needles)),
        verdict_kind="warns" if touched else "" if lost else "open",
        sweep_options=sweep_options,
        chosen=str(corpus.sweep.id),
        strategies=tuple(StrategyHead(name, describe(strategy)) for name, strategy in corpus.strategies.items()),
        lines=lines,
        total=_total(corpus, lines),
        stamps=_stamps(corpus.rows),
        columns=COLUMNS,
        links=links,
    )


def _line(corpus: Corpus, row: DocumentRow, document_url: Callable[[str], str]) -> Line:
    own = {needle.id for needle in corpus.needles if needle.document == row.document_id}
    state, kind, reason = _state(corpus, row)
    return Line(
        id=row.document_id,
        title=row.title,
        url=document_url(row.document_id),
        state=state,
        kind=kind,
        reason=reason,
        encoding=row.encoding,
        characters=row.characters,
        sections=row.sections,
        needles=len(own),
        losses=tuple(
            Loss(
                corpus.counts.get((row.document_id, name), 0),
                len(own & corpus.destroyed[name]) if name in corpus.destroyed else None,
            )
            for name in corpus.strategies
        ),
    )


def _state(corpus: Corpus, row: DocumentRow) -> tuple[str, str, str]:
    if not any(one.state == "recorded" for one in corpus.rows):
        return "not indexed", "warn", "no combination of this sweep is recorded yet"
    if corpus.newest is not None:
        now = corpus.newest.get(row.document_id)
        if now is None:
            return "gone since", "warn", "the newest sweep's corpus does not have it"
        if now != row.text_sha256:
            return "changed since", "warn", "the newest sweep measured another text under this name"
    return "indexed", "good", ""


def _total(corpus: Corpus, lines: Sequence[Line]) -> Line:
    losses = tuple(
        Loss(
            sum(line.losses[place].chunks for line in lines),
            len(corpus.destroyed[name]) if name in corpus.destroyed else None,
        )
        for place, name in enumerate(corpus.strategies)
    )
    return Line(
        *("", "all", "", "", "", "", ""),
        sum(line.characters for line in lines),
        sum(line.sections for line in lines),
        len(corpus.needles),
        losses,
    )


def _stamps(rows: Sequence[CombinationRow]) -> tuple[Stamp, ...]:
    found = {}
    for row in rows:
        stamp = row.stamp.get("model") if row.state == "recorded" else None
        if stamp and stamp["name"] not in found:
            words = (
                f"{stamp['dimensions']} dimensions, window of {stamp['window']} tokens, {stamp['precision']}, "
                f"files {stamp['files'][:12]}"
            )
            found[stamp["name"]] = Stamp(stamp["name"], words)
    return tuple(found.values())


def table(corpus: Corpus) -> Table:
    """The documents as data."""
    columns = list(COLUMNS)
    for name in corpus.strategies:
        columns.append(Column(f"chunks_{name}", f"Chunks {name}"))
        columns.append(Column(f"destroyed_{name}", f"Destroyed {name}", description="Needles no chunk holds whole."))
    rows = []
    for row in corpus.documents:
        line = _line(corpus, row, lambda _: "")
        cells = [count for loss in line.losses for count in (loss.chunks, loss.destroyed)]
        facts = (line.id, line.title, line.state, line.encoding, line.characters, line.sections, line.needles)
        rows.append((*facts, *cells))
    return Table(f"sweep-{corpus.sweep.id}-documents", tuple(columns), tuple(rows))
