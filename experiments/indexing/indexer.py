"""The indexer: every file of the documents folder becomes *indexed* or *failed*, and none of them stops the others."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import NamedTuple, TextIO

from sqlalchemy import Engine

from corpus.collection import is_collection
from corpus.documents import Document, read_documents
from corpus.faults import Fault
from corpus.folder_listing import list_folder
from corpus.headings import headings
from experiments.chunking import chunk_document
from experiments.embedding import embed, missing, open_cache
from experiments.indexing.progress import IndexingProgress
from experiments.indexing.scanning import Seen, changes, look, look_into
from experiments.indexing.stamps import Stamps
from experiments.model_stamps import ModelError
from experiments.models import Encoder
from experiments.processes import lives, utc
from experiments.progress import CancelledError
from experiments.project import Project, find_encoder
from experiments.provenance import PIPELINE
from store import files as store
from store.files import EXTRACTING, FAILED, QUEUED, STALE, IndexingElsewhereError
from store.tables import FileRow, TextRow
from store.vectors import VectorCache

Say = Callable[[str], object]
_SILENT = 900.0  # seconds; far longer than one file may take
_PATIENCE = 0.5  # seconds between two looks whether another indexing has ended
_ROUNDS = 1_000  # of looking again for what came in the meantime
_MOST_READS = 3  # of one file in one run


class FolderError(Exception):
    """The documents folder cannot be read at all; the message says why."""


class Indexed(NamedTuple):
    """What an indexing did."""

    indexed: int
    failed: int
    removed: int
    embedded: int  # texts that were in no cache


def index_documents(
    engine: Engine,
    project: Project,
    *,
    find: Callable[[str], Encoder] | None = None,
    say: Say = lambda _: None,
    stream: TextIO | None = None,
    wait: bool = False,
) -> Indexed:
    """Bring every file that is new, changed, stale or waiting into the index; what is there already stays as it is.

    A file that cannot be read is *failed* with its reason and the next one goes on. What is done is written file by
    file, so that a process that is killed loses at most the documents it was working on.

    Args:
        engine: The store.
        project: Whose documents, strategies and gate model.
        find: How the model is found by name; as the project says by default.
        say: Told what a person should read.
        stream: Where progress is told; standard error when None.
        wait: Whether to wait for the end of an indexing that runs, instead of refusing.

    Raises:
        ModelError: If the model cannot be found: nothing is changed then.
        StampMismatchError: If its cache of vectors is another model's.
        FolderError: If the folder cannot be read.
        IndexingElsewhereError: If another process is indexing.
        CancelledError: If somebody cancelled it; what is indexed stays.
    """
    name = project.settings.gate_model
    encoder = find(name) if find else find_encoder(project, name)
    cache = open_cache(project.vectors, encoder.stamp)
    indexing_id = _begin(engine, wait=wait)
    with _ended(engine, indexing_id), IndexingProgress(engine, indexing_id, stream=stream or sys.stderr) as progress:
        return _Indexer(engine, project, encoder, cache, progress, say).run()


def _begin(engine: Engine, *, wait: bool) -> int:
    while True:
        settle_interrupted(engine)
        try:
            return store.begin_indexing(engine, pid=os.getpid(), host=socket.gethostname(), total=0)
        except IndexingElsewhereError:
            if not wait:
                raise
            time.sleep(_PATIENCE)


def settle_interrupted(engine: Engine) -> None:
    """Mark runs whose process is gone, or that were silent for long on another machine; what they left waits again."""
    for row in store.running_indexings(engine):
        if row.host == socket.gethostname():
            gone = not lives(row.pid, row.heartbeat_at)
        else:
            gone = (store.now() - utc(row.heartbeat_at)).total_seconds() > _SILENT
        if gone:
            store.end_indexing(engine, row.id or 0, "interrupted", "its process ended before it was finished")


@contextmanager
def _ended(engine: Engine, indexing_id: int) -> Iterator[None]:
    """Say how the run ended, whatever ends it."""
    try:
        yield
    except CancelledError:
        store.end_indexing(engine, indexing_id, "cancelled", "cancelled on request")
        raise
    except Exception as error:
        told = isinstance(error, FolderError | ModelError)  # their message is a sentence for readers
        said = str(error).rstrip(".") if told else f"{type(error).__name__}: {error}"
        store.end_indexing(engine, indexing_id, "failed", said)
        raise
    except BaseException:
        store.end_indexing(engine, indexing_id, "interrupted", "interrupted; run again to go on")
        raise
    store.end_indexing(engine, indexing_id, "finished")


class _Indexer:
    """One run: looks, brings what waits into the index, and looks again until nothing waits."""

    def __init__(
        self,
        engine: Engine,
        project: Project,
        encoder: Encoder,
        cache: VectorCache,
        progress: IndexingProgress,
        say: Say,
    ) -> None:
        self._engine, self._project = engine, project
        self._encoder, self._cache = encoder, cache
        self._progress, self._say = progress, say
        self._stamps = Stamps(PIPELINE, encoder.stamp)
        self._collected: dict[str, Document] = {}  # where all documents lie in one file
        self._closed: tuple[str, ...] = ()  # folders that cannot be read
        self._reads: Counter[str] = Counter()
        self._counts = {"indexed": 0, "failed": 0, "removed": 0, "embedded": 0}

    def run(self) -> Indexed:
        for _ in range(_ROUNDS):  # a folder that never rests must not hold a process for ever
            # A file that changes all the time is left waiting, as the page says, for the next run.
            todo = [seen for seen in self._look() if self._reads[seen.file.name] < _MOST_READS]
            if not todo:
                break
            self._reads.update(seen.file.name for seen in todo)
            self._progress.expect(len(todo))
            self._read(todo)
        return Indexed(**self._counts)

    def _look(self) -> tuple[Seen, ...]:
        """Return what has to be read, and write it down, so that a page can show what waits."""
        self._progress.stage("looking at the folder")
        found = changes(self._seen(), store.files(self._engine), self._stamps, self._closed)
        if found.gone:
            store.remove_files(self._engine, found.gone)
            self._counts["removed"] += len(found.gone)
            for name in found.gone:
                self._say(f"{name}: not in the folder any more")
        store.add_files(self._engine, [_queued(seen) for seen in found.new])
        for name, (_, why) in found.stale.items():
            store.set_state(self._engine, [name], STALE, reason=why)
        for seen in found.changed:
            self._set(seen, QUEUED, reason="the file changed")
        return found.todo

    def _seen(self) -> dict[str, Seen]:
        project = self._project
        if is_collection(project.documents):
            loaded = project.load_documents()
            self._collected = {document.id: document for document in loaded.documents}
            for fault in loaded.faults if not self._collected else ():
                raise FolderError(fault.sentence)
            return look_into(loaded.documents)
        listing = list_folder(project.documents)
        if listing.problem:
            raise FolderError(f"{project.documents}: {listing.problem}")
        self._closed = listing.closed
        return look(project, listing)

    def _read(self, todo: Sequence[Seen]) -> None:
        by_name = {seen.file.name: seen for seen in todo}
        if self._collected:
            for seen in todo:
                self._begun(seen)
                self._document(seen, self._collected[seen.file.name])
            return
        for seen in todo:
            if seen.fault is not None:
                self._failed(seen, seen.fault)
        # The small ones first: a page that is open sees most of the folder indexed soon.
        readable = sorted((seen for seen in todo if seen.fault is None), key=lambda seen: (seen.bytes, seen.file.name))
        for file, found in read_documents(
            [seen.file for seen in readable],
            strip_front_matter=self._project.strip_front_matter,
            strip_bibliography=self._project.strip_bibliography,
            limits=self._project.extraction,
            cache=self._project.extracted,
            try_failed=True,  # what failed before is here because someone asked for it, or it changed
            begun=lambda file: self._begun(by_name[file.name]),
        ):
            seen = by_name[file.name]
            if isinstance(found, Fault):
                self._failed(seen, found)
            else:
                self._document(seen, found)

    def _begun(self, seen: Seen) -> None:
        """Called by the thread that reads the file."""
        self._set(seen, EXTRACTING)

    def _document(self, seen: Seen, document: Document) -> None:
        """Cut and embed a text, and write everything about it once that is done."""
        cuts = {one.name: chunk_document(document, one) for one in self._project.settings.strategies}
        texts = list(dict.fromkeys(chunk.text for chunks in cuts.values() for chunk in chunks))
        self._progress.embedding(document.id, len(missing("document", texts, self._cache)))
        try:
            embedded = embed("document", texts, self._encoder, self._cache, self._progress.embedded)
        except ValueError as error:  # of this text; a model that cannot be loaded ends the run
            self._failed(seen, Fault(document.source, None, "", str(error), "Choose another model.", "failed"))
            return
        facts = document.extraction
        store.record_indexed(
            self._engine,
            document.id,
            TextRow(sha256=document.sha256, text=document.text),
            bytes=seen.bytes,
            file_sha256=document.file_sha256,
            indexed_sha256=document.file_sha256,
            title=document.title,
            encoding=document.encoding,
            extractor=document.extractor,
            pipeline=self._stamps.pipeline,
            stamp=self._encoder.stamp._asdict(),
            characters=len(document.text),
            sections=sum(heading.level == 2 for heading in headings(document.text)),
            pages=facts.pages,
            tables=facts.tables,
            chunks={name: len(chunks) for name, chunks in cuts.items()},
            extraction=facts.as_json(),
            locators=[list(one) for one in document.locators],
        )
        self._counts["indexed"] += 1
        self._counts["embedded"] += embedded.computed
        self._progress.done()

    def _failed(self, seen: Seen, fault: Fault) -> None:
        problem = fault.problem if fault.line is None else f"line {fault.line}: {fault.problem}"
        reason = f"{problem}: {fault.value}" if fault.value else problem
        kind = fault.kind or "failed"
        self._set(seen, FAILED, kind=kind, reason=reason, advice=fault.advice, extractor=seen.extractor)
        self._say(f"{seen.file.name}: failed ({kind}): {reason}")
        self._counts["failed"] += 1
        self._progress.done()

    def _set(self, seen: Seen, state: str, **values: object) -> None:
        kept = {"bytes": seen.bytes, "file_sha256": seen.sha256}
        store.set_state(self._engine, [seen.file.name], state, **kept, **values)


def _queued(seen: Seen) -> FileRow:
    now = store.now()
    return FileRow(
        document_id=seen.file.name,
        bytes=seen.bytes,
        file_sha256=seen.sha256,
        state=QUEUED,
        changed_at=now,
        times={QUEUED: now.isoformat()},
    )


def retry(engine: Engine, document_ids: Sequence[str] | None = None) -> tuple[str, ...]:
    """Let failed documents wait for the indexer again.

    Args:
        engine: The store.
        document_ids: Which; every failed one when None.

    Returns:
        Those that wait now. Files of formats that are not read stay as they are when all are meant.

    Raises:
        KeyError: If one of the ids is unknown.
        ValueError: If one of them has not failed.
    """
    rows = {row.document_id: row for row in store.files(engine)}
    if document_ids is None:
        chosen = [name for name, row in rows.items() if row.state == FAILED and row.kind != "unsupported"]
    else:
        chosen = [PurePosixPath(name).as_posix() for name in document_ids]
        for name in chosen:
            if rows[name].state != FAILED:
                raise ValueError(f"the document {name!r} has not failed: it is {rows[name].state}")
    store.set_state(engine, chosen, QUEUED, reason="to be tried again")
    return tuple(chosen)
