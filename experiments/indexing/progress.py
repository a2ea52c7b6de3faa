"""Telling how far an indexing is: a bar or lines on standard error, and a row in the store."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from sqlalchemy import Engine
from tqdm import tqdm

from experiments.progress import BETWEEN_LINES, BETWEEN_WRITES, CancelledError, Pace, duration_left
from store import files as store


class IndexingProgress:
    """Progress of one indexing, in documents."""

    def __init__(
        self, engine: Engine, indexing_id: int, *, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin; a terminal gets a bar, anything else a line now and then."""
        self._engine, self._id, self._clock, self._stream = engine, indexing_id, clock, stream
        self._pace, self._last = Pace(0), clock()
        self._stage = ""
        self._texts, self._embedded = 0, 0
        self._written = self._told = clock()
        self._bar = tqdm(
            total=0,
            disable=not stream.isatty(),
            file=stream,
            mininterval=0.2,
            leave=False,
            dynamic_ncols=True,
            bar_format="{bar:10} {desc}",
        )

    def expect(self, documents: int) -> None:
        """More documents are to be done."""
        self._pace.total += documents
        self._bar.total = self._pace.total
        self.stage("reading documents")

    def stage(self, words: str) -> None:
        """Say what is being done now."""
        self._stage = words
        self._tell()
        self._write()

    def embedding(self, document_id: str, texts: int) -> None:
        """A document's chunks are about to be embedded."""
        self._texts, self._embedded = texts, 0
        self._stage = f"embedding {document_id}" if texts else "reading documents"
        self._beat()

    def embedded(self, texts: int) -> None:
        """Count chunks as embedded."""
        self._embedded += texts
        self._beat()

    def done(self) -> None:
        """One more document is indexed or has failed."""
        now = self._clock()
        self._pace.advance(1, now - self._last)
        self._last = now
        self._texts = 0
        self._bar.update(1)
        self._stage = "reading documents"
        self._beat()

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left; None before the first document is done."""
        return self._pace.seconds_left

    @property
    def line(self) -> str:
        """How far it is."""
        chunks = f", {self._embedded:,} of {self._texts:,} chunks" if self._texts else ""
        pace = self._pace
        counted = f"{pace.done:,}/{pace.total:,} documents, {duration_left(self.eta_seconds)}; " if pace.total else ""
        return f"{counted}{self._stage}{chunks}"

    def _beat(self) -> None:
        self._tell()
        if self._clock() - self._written >= BETWEEN_WRITES:
            self._write()

    def _tell(self) -> None:
        if not self._bar.disable:
            self._bar.set_description_str(self.line, refresh=False)
        elif self._pace.total and self._clock() - self._told >= BETWEEN_LINES:
            self._told = self._clock()
            self._stream.write(self.line + "\n")
            self._stream.flush()

    def _write(self) -> None:
        self._written = self._clock()
        chunks = f" ({self._embedded:,} of {self._texts:,} chunks)" if self._texts else ""
        cancelled = store.beat_indexing(
            self._engine,
            self._id,
            stage=self._stage + chunks,
            done=self._pace.done,
            total=self._pace.total,
            eta_seconds=self.eta_seconds,
        )
        if cancelled:
            raise CancelledError(f"indexing {self._id} was cancelled; what is indexed is kept")

    def __enter__(self) -> IndexingProgress:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal clean."""
        self._bar.close()
