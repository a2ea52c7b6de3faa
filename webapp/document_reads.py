"""Reading the corpus of a sweep: which one, what strategies destroy in it, and one document by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flask import g, request

from corpus.documents import Document
from corpus.headings import headings
from experiments.asking.marking import Window
from experiments.conditions import PRESETS, Strategy
from experiments.naming import short_model
from experiments.project import ProjectError
from experiments.reviewing.cuttings import lay_over, needle_places, unread, window_keys
from experiments.reviewing.document_states import Comparison, compare_with_files
from store import reads
from store.tables import CombinationRow, DocumentRow, SweepRow
from store.windows import characters_read
from webapp import params
from webapp.contexts.document import Sheet
from webapp.contexts.document_lines import Corpus
from webapp.cut_counts import chunk_counts
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.question_material import strategies_of
from webapp.sweeps import UnknownSweepError, get_sweep

_RANGE = re.compile(r"(\d{1,12}),(\d{1,12})")


class NoCorpusError(PageError):
    """There is no sweep whose corpus could be shown."""

    status = 404
    title = "There are no documents yet"

    def __init__(self) -> None:
        """Say what to run."""
        super().__init__(
            "Nothing has been measured, so no corpus is on record.", "Run `bluffline run`, then load this page again."
        )


class UnknownDocumentError(PageError):
    """A document that is not in the corpus of a sweep."""

    status = 404
    title = "There is no such document in this corpus"

    def __init__(self, sweep_id: int | None, document_id: str) -> None:
        """Keep which document was asked for."""
        super().__init__(
            f"The corpus of sweep {sweep_id} has no document {document_id[:200]!r}.",
            "Choose one from the documents of that sweep; another sweep may have measured another corpus.",
        )


def sweep_asked_for() -> tuple[SweepRow | None, SweepRow | None]:
    """The sweep whose corpus is shown, and the newest finished one: the address names it, else it is the newest.

    Raises:
        UnknownSweepError: If the address names one that is not there.
        BadParameterError: If it is no number.
    """
    newest = reads.latest_sweep(dashboard().engine, "finished") or reads.latest_sweep(dashboard().engine)
    wanted = params.integer(request.args, "sweep", 1, 2**62, 0)
    if newest is None:
        if wanted:
            raise UnknownSweepError(wanted)
        return None, None
    if wanted and wanted != newest.id:
        return get_sweep(wanted), newest
    g.sweep_id = newest.id
    return newest, newest


def corpus_of(sweep: SweepRow, newest: SweepRow | None, rows: Sequence[CombinationRow]) -> Corpus:
    """A corpus with what each strategy does to each document."""
    engine = dashboard().engine
    documents = reads.documents(engine, sweep.corpus_hash)
    strategies = _used(sweep, rows)
    now: Mapping[str, str] | None = None
    if newest is not None and newest.corpus_hash != sweep.corpus_hash:
        now = {row.document_id: row.text_sha256 for row in reads.documents(engine, newest.corpus_hash)}
    return Corpus(
        sweep,
        rows,
        documents,
        now,
        needle_places(reads.queries(engine, sweep.questions_hash)),
        strategies,
        chunk_counts(documents, strategies, lambda hashes: reads.texts(engine, hashes)),
        destroyed_by(sweep, rows),
        _files(documents) if params.flag(request.args, "check") else None,
    )


def _files(documents: Sequence[DocumentRow]) -> Comparison:
    """Measured documents beside the files that a sweep started now would read."""
    try:
        project = dashboard().project()
    except ProjectError as error:
        return Comparison("", {}, (), str(error))
    loaded = project.load_documents()
    measured = {row.document_id: (row.title, row.text_sha256) for row in documents}
    return compare_with_files(measured, loaded, project.documents)


def destroyed_by(sweep: SweepRow, rows: Sequence[CombinationRow]) -> dict[str, frozenset[str]]:
    """The needles each strategy destroys; they are the same under each of its combinations, so one is read."""
    first: dict[str, int] = {}
    for row in rows:
        if row.state == "recorded" and row.id is not None:
            first.setdefault(row.strategy, row.id)
    found = reads.outcomes(dashboard().engine, sweep.id or 0, list(first.values())) if first else {}
    return {
        strategy: frozenset(one.needle_id for one in found.get(combination, ()) if one.needle_id and one.destroyed)
        for strategy, combination in first.items()
    }


def sheet(sweep: SweepRow, document_id: str) -> Sheet:
    """One document as the address asks for it.

    Raises:
        UnknownDocumentError: If the sweep's corpus does not have it.
        BadParameterError: If a parameter cannot be read.
    """
    engine = dashboard().engine
    rows = reads.combinations(engine, sweep.id or 0)
    documents = reads.documents(engine, sweep.corpus_hash)
    row = next((one for one in documents if one.document_id == document_id), None)
    if row is None:
        raise UnknownDocumentError(sweep.id, document_id)
    text = reads.texts(engine, [row.text_sha256]).get(row.text_sha256, "")
    strategies = _used(sweep, rows) or {one.name: one for one in PRESETS}
    strategy = strategies[params.choice(request.args, "cut", list(strategies), next(iter(strategies)))]
    needles = needle_places(reads.queries(engine, sweep.questions_hash))
    whole = Document(row.document_id, row.title, text, row.source, row.text_sha256, row.encoding)
    overlay = lay_over(whole, strategy, needles)
    stamps = _stamps(rows)
    model = params.choice(request.args, "model", list(stamps), next(iter(stamps), ""))
    seen = _seen(stamps.get(model), window_keys(overlay.chunks))
    return Sheet(
        row=row,
        text=text,
        documents=documents,
        headings=[heading for heading in headings(text) if heading.level <= 2],
        strategies=strategies,
        overlay=overlay,
        destroyed=destroyed_by(sweep, rows),
        unread=unread(overlay.chunks, seen),
        known=bool(seen),
        window=int(stamps[model]["window"]) if model else 0,
        models=[(name, short_model(name)) for name in stamps],
        model=model,
        focus=_focus(len(text)),
        part=params.integer(request.args, "part", 1, 10_000, 0) or None,
    )


def _used(sweep: SweepRow, rows: Sequence[CombinationRow]) -> dict[str, Strategy]:
    """The strategies of a sweep's combinations, in their order."""
    known = strategies_of(sweep)
    return {row.strategy: known[row.strategy] for row in rows if row.strategy in known}


def _stamps(rows: Sequence[CombinationRow]) -> dict[str, Mapping[str, str | int]]:
    """The stamps of the models that embedded the chunks."""
    found: dict[str, Mapping[str, str | int]] = {}
    for row in rows:
        stamp = row.stamp.get("model") if row.state == "recorded" and row.model else None
        if stamp:
            found.setdefault(str(stamp["name"]), stamp)
    return found


def _seen(stamp: Mapping[str, str | int] | None, keys: Sequence[bytes]) -> dict[bytes, int]:
    """How much of each chunk the encoder read, where its cache of vectors lies in this project."""
    files = str(stamp["files"])[:16] if stamp else ""
    if not re.fullmatch(r"[0-9a-f]{16}", files):
        return {}
    return characters_read(dashboard().root / "var" / "vectors" / f"{files}.db", keys)


def _focus(length: int) -> Window | None:
    """The stretch the address asks to be marked.

    Raises:
        BadParameterError: If it is no range, or does not lie in the document.
    """
    raw = request.args.get("char") or ""
    if not raw:
        return None
    match = _RANGE.fullmatch(raw)
    if match is None or not int(match[1]) < int(match[2]) <= length:
        raise params.BadParameterError("char", raw, f"two offsets like 120,480 with 0 <= start < end <= {length}")
    return Window(int(match[1]), int(match[2]))
