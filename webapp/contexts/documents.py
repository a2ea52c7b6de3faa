"""What the documents page shows: the corpus of a sweep, and what each strategy does to each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.conditions import describe
from experiments.model_stamps import stamp_words
from experiments.naming import short_model
from experiments.provenance import document_level
from experiments.verdicts.documents import on_corpus, on_failed, on_files
from store.tables import CombinationRow
from webapp.combinations import Note
from webapp.contexts.document_lines import Corpus, Line, lines, total
from webapp.contexts.files import FilesPanel
from webapp.exports import Column, Table
from webapp.files import Files
from webapp.sweeps import Strip


class Links(NamedTuple):
    """Addresses."""

    here: str
    files: Files


class StrategyHead(NamedTuple):
    """A strategy as the head of columns."""

    name: str
    what: str


class Stamp(NamedTuple):
    """A model that embedded the corpus."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class NothingMeasuredContext:
    """Everything `templates/documents_nothing/page.html` uses."""

    files: FilesPanel


@dataclass(frozen=True, slots=True)
class DocumentsContext:
    """Everything `templates/documents/page.html` uses."""

    strip: Strip
    files: FilesPanel
    notes: tuple[Note, ...]
    headline: str
    verdict_kind: str
    failed_words: str
    files_words: str
    compared: bool
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
    Column(
        "state",
        "State",
        description="indexed: its chunks were measured in this sweep. failed: it could not be read and was left out. "
        "changed since, gone since: what was measured is stale. Beside the files also: new on disk, cannot be read.",
    ),
    Column("reason", "Reason", description="Why its state is not indexed."),
    Column("extractor", "Extractor", description="The rules that made its text of the file, and their version."),
    Column("encoding", "Encoding", description="What the file was read in."),
    Column("characters", "Characters", description="Code points of the canonical text."),
    Column("sections", "Sections", description="Headings of the second level."),
    Column("needles", "Needles", description="Sentences that questions ask for."),
    Column(
        "indexed_with", "Indexed with", description="The models that embedded its chunks; their stamps stand above."
    ),
)


def build(
    corpus: Corpus,
    files: FilesPanel,
    notes: tuple[Note, ...],
    sweep_options: tuple[tuple[str, str], ...],
    strip: Strip,
    links: Links,
    document_url: Callable[[str], str],
) -> DocumentsContext:
    """The page."""
    shown = lines(corpus, document_url)
    lost = {name: len(found) for name, found in corpus.destroyed.items()}
    touched = sum(any(loss.destroyed for loss in line.losses) for line in shown)
    compared = corpus.files
    return DocumentsContext(
        strip=strip,
        files=files,
        notes=notes,
        headline=on_corpus(
            len(corpus.documents), lost, touched, len(corpus.needles), judged=document_level(corpus.sweep.hit_rule)
        ),
        verdict_kind="warns" if touched else "" if lost else "open",
        failed_words=on_failed(len(corpus.failed), corpus.sweep.id),
        files_words=on_files(compared.counts, compared.folder, compared.fault) if compared else on_files(None, ""),
        compared=compared is not None,
        sweep_options=sweep_options,
        chosen=str(corpus.sweep.id),
        strategies=tuple(StrategyHead(name, describe(strategy)) for name, strategy in corpus.strategies.items()),
        lines=shown,
        total=total(corpus),
        stamps=_stamps(corpus.rows),
        columns=COLUMNS,
        links=links,
    )


def _stamps(rows: Sequence[CombinationRow]) -> tuple[Stamp, ...]:
    found = {}
    for row in rows:
        stamp = row.stamp.get("model") if row.state == "recorded" else None
        if stamp and stamp["name"] not in found:
            found[stamp["name"]] = Stamp(short_model(stamp["name"]), stamp_words(stamp))
    return tuple(found.values())


def table(corpus: Corpus) -> Table:
    """The documents as data."""
    columns = list(COLUMNS)
    for name in corpus.strategies:
        columns.append(Column(f"chunks_{name}", f"Chunks {name}"))
        columns.append(Column(f"destroyed_{name}", f"Destroyed {name}", description="Needles no chunk holds whole."))
    rows = []
    for line in lines(corpus, lambda _: ""):
        cells = [count for loss in line.losses for count in (loss.chunks, loss.destroyed)]
        read = (line.extractor or None, line.encoding or None, line.characters, line.sections, line.needles)
        facts = (line.id, line.title or None, line.state, line.reason or None, *read, line.indexed_with or None)
        rows.append((*facts, *cells))
    return Table(f"sweep-{corpus.sweep.id}-documents", tuple(columns), tuple(rows))
