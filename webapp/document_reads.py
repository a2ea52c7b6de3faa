"""Reading the corpus of a sweep: which one, what strategies destroy in it, and one document by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flask import g, request

from corpus.documents import Document
from corpus.headings import headings
from corpus.locators import Locator
from corpus.places import Place, PlaceError, find_place, pages_of, place_at
from experiments.asking.marking import Window
from experiments.conditions import PRESETS, Strategy
from experiments.model_stamps import cache_name
from experiments.naming import short_model
from experiments.project import ProjectError
from experiments.reviewing.cuttings import NeedlePlace, lay_over, needle_places, unread, window_keys
from experiments.reviewing.document_states import Comparison, compare_with_files
from store import files, reads
from store.needle_spans import needle_spans
from store.tables import CombinationRow, DocumentRow, FileRow, QueryRow, SweepRow
from store.windows import characters_read
from webapp import params
from webapp.contexts.document import Sheet
from webapp.contexts.document_lines import Corpus
from webapp.cut_counts import chunk_counts, lost_needles
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


def sweep_asked_for(known: Sequence[SweepRow] = ()) -> tuple[SweepRow | None, SweepRow | None]:
    """The sweep whose corpus is shown, and the newest finished one: the address names it, else it is the newest.

    Args:
        known: Sweeps that were read already, the newest first.

    Raises:
        UnknownSweepError: If the address names one that is not there.
        BadParameterError: If it is no number.
    """
    engine = dashboard().engine
    newest = next((one for one in known if one.state == "finished"), None)
    newest = newest or reads.latest_sweep(engine, "finished") or reads.latest_sweep(engine)
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
    documents = reads.document_heads(engine, sweep.corpus_hash)
    strategies = _used(sweep, rows)
    queries = reads.queries(engine, sweep.questions_hash)
    now: Mapping[str, str] | None = None
    if newest is not None and newest.corpus_hash != sweep.corpus_hash:
        now = {row.document_id: row.text_sha256 for row in reads.document_heads(engine, newest.corpus_hash)}
    return Corpus(
        sweep,
        rows,
        documents,
        now,
        needle_places(queries),
        strategies,
        chunk_counts(documents, strategies, lambda hashes: reads.texts(engine, hashes)),
        _with_several(destroyed_by(sweep, rows), queries, documents, strategies),
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
        # Unknown is not none: of document-level relevance, and of a retriever of one's own, nothing is said.
        if any(one.destroyed is not None for one in found.get(combination, ()) if one.needle_id)
    }


def _with_several(
    destroyed: Mapping[str, frozenset[str]],
    queries: Sequence[QueryRow],
    documents: Sequence[DocumentRow],
    strategies: Mapping[str, Strategy],
) -> dict[str, frozenset[str]]:
    """Add the needles of questions with several: what was recorded of these is one outcome for all of them."""
    spans = {span for query in queries if query.needles for span in needle_spans(query)}
    if not spans:
        return dict(destroyed)
    held = [row for row in documents if row.document_id in {span.document for span in spans}]
    lost = lost_needles(held, strategies, spans, lambda hashes: reads.texts(dashboard().engine, hashes))
    return {name: (destroyed.get(name, frozenset()) | lost[name]) for name in strategies}


class _Measured(NamedTuple):
    """What a sweep, or only the index, knows of a document."""

    row: DocumentRow
    documents: Sequence[DocumentRow]
    strategies: Mapping[str, Strategy]
    needles: Sequence[NeedlePlace]
    destroyed: Mapping[str, frozenset[str]]
    stamps: Mapping[str, Mapping[str, str | int]]


def sheet(sweep: SweepRow | None, document_id: str) -> Sheet:
    """One document as the address asks for it: as the sweep measured it, else as it is in the index.

    Raises:
        UnknownDocumentError: If neither the sweep's corpus nor the index has it.
        BadParameterError: If a parameter cannot be read.
    """
    engine = dashboard().engine
    file = files.file(engine, document_id)
    found = _in_sweep(sweep, document_id) if sweep else None
    measured = found is not None
    found = found or _in_index(file)
    if found is None:
        if sweep is None:
            raise NoCorpusError
        raise UnknownDocumentError(sweep.id, document_id)
    row, strategies, stamps = found.row, found.strategies, found.stamps
    text = reads.texts(engine, [row.text_sha256]).get(row.text_sha256, "")
    strategy = strategies[params.choice(request.args, "cut", list(strategies), next(iter(strategies)))]
    whole = Document(row.document_id, row.title, text, row.source, row.text_sha256, row.encoding)
    overlay = lay_over(whole, strategy, found.needles)
    model = params.choice(request.args, "model", list(stamps), next(iter(stamps), ""))
    seen = _seen(stamps.get(model), window_keys(overlay.chunks))
    locators = tuple(Locator(*one) for one in row.locators or ())
    pages = (row.extraction or {}).get("pages") if pages_of(locators) else None
    place, page = _place(text, locators, pages)
    return Sheet(
        row=row,
        text=text,
        documents=found.documents,
        headings=[heading for heading in headings(text) if heading.level <= 2],
        strategies=strategies,
        overlay=overlay,
        destroyed=found.destroyed,
        unread=unread(overlay.chunks, seen),
        known=bool(seen),
        window=int(stamps[model]["window"]) if model else 0,
        models=[(name, short_model(name)) for name in stamps],
        model=model,
        focus=Window(place.start, place.end) if place else None,
        part=params.integer(request.args, "part", 1, 10_000, 0) or None,
        locators=locators,
        place=place,
        page=page,
        pages=pages,
        file=file,
        measured=measured,
    )


def _in_sweep(sweep: SweepRow, document_id: str) -> _Measured | None:
    engine = dashboard().engine
    row = reads.document(engine, sweep.corpus_hash, document_id)
    if row is None:
        return None
    rows = reads.combinations(engine, sweep.id or 0)
    queries = reads.queries(engine, sweep.questions_hash)
    strategies = _used(sweep, rows) or {one.name: one for one in PRESETS}
    return _Measured(
        row,
        reads.document_heads(engine, sweep.corpus_hash),
        strategies,
        needle_places(queries),
        _with_several(destroyed_by(sweep, rows), queries, [row], strategies),
        _stamps(rows),
    )


def _in_index(file: FileRow | None) -> _Measured | None:
    """A document that no sweep has measured yet, under the strategies of the project."""
    if file is None or file.text_sha256 is None:
        return None
    row = DocumentRow(
        corpus_hash="",
        document_id=file.document_id,
        position=0,
        title=file.title or file.document_id,
        source=file.document_id,
        encoding=file.encoding or "",
        characters=file.characters or 0,
        sections=file.sections or 0,
        text_sha256=file.text_sha256,
        file_sha256=file.indexed_sha256,
        extractor=file.extractor,
        locators=file.locators,
        extraction=file.extraction,
    )
    try:
        strategies = {one.name: one for one in dashboard().project().settings.strategies}
    except ProjectError:
        strategies = {one.name: one for one in PRESETS}
    stamps = {str(file.stamp["name"]): file.stamp} if file.stamp else {}
    return _Measured(row, (row,), strategies, (), {}, stamps)


def _place(text: str, locators: Sequence[Locator], pages: int | None) -> tuple[Place | None, int | None]:
    """The place the address asks for, and the page to show beside its text.

    Raises:
        BadParameterError: If it cannot be read or the document has no such place.
    """
    focus = _focus(len(text))
    if focus is not None:
        marked = place_at(locators, focus.start, focus.end)
        return marked, params.integer(request.args, "page", 1, pages or 1, 0) or marked.page
    page = params.integer(request.args, "page", 1, pages, 0) if pages else 0
    if page and page not in pages_of(locators):  # a page nothing was read from is shown all the same
        return None, page
    try:
        place = find_place(locators, request.args)
    except PlaceError as error:
        raise params.BadParameterError(error.name, error.value, error.allowed) from error
    return place, page or None


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
    name = cache_name(stamp) if stamp else ""
    if not re.fullmatch(r"[0-9a-f]{16}", name):
        return {}
    return characters_read(dashboard().root / "var" / "vectors" / f"{name}.db", keys)


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
