"""Telling how far a sweep is: a bar or lines on standard error, a row in the store, one estimate of the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from sqlalchemy import Engine
from tqdm import tqdm

from store import writes

BETWEEN_WRITES = 0.5  # seconds
BETWEEN_LINES = 10.0


class CancelledError(Exception):
    """Somebody asked for the sweep to stop."""


class Pace:
    """How much of something is done, and how long the rest takes at the pace so far."""

    def __init__(self, total: int, begun: float) -> None:
        """Begin to count at `begun` seconds."""
        self.total, self.done, self._begun = total, 0, begun

    def seconds_left(self, now: float) -> float | None:
        """Seconds left; None before anything is done."""
        if not self.done:
            return None
        return (now - self._begun) / self.done * max(self.total - self.done, 0)


class Progress:
    """Progress of one sweep, in texts embedded: all the rest takes next to no time."""

    def __init__(
        self,
        engine: Engine,
        sweep_id: int,
        total: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        stream: TextIO | None = None,
    ) -> None:
        """Begin.

        Args:
            engine: The store.
            sweep_id: The running sweep.
            total: Texts to embed over all strategies and models.
            clock: Seconds, for tests.
            stream: Where to tell it; standard error when None. A terminal gets a bar, anything else a line now and
                then.
        """
        self._engine, self._sweep_id, self._clock = engine, sweep_id, clock
        self._stream = stream or sys.stderr
        self._all = Pace(total, clock())
        self._name, self._stage = "", Pace(0, clock())
        self._written = clock() - BETWEEN_WRITES
        self._told = clock()
        self._bar = tqdm(
            total=total,
            disable=total == 0 or not self._stream.isatty(),
            file=self._stream,
            mininterval=0.2,
            leave=False,
            dynamic_ncols=True,
            bar_format="{bar:10} {desc}",  # fits into 80 columns
        )

    def stage(self, name: str, texts: int) -> None:
        """Say what is being done now, and how many texts it has to embed."""
        self._name, self._stage = name, Pace(texts, self._clock())
        self._tell()
        self._write()

    def advance(self, texts: int) -> None:
        """Count texts as embedded."""
        self._all.done += texts
        self._stage.done += texts
        self._tell()
        self._bar.update(texts)
        if self._clock() - self._written >= BETWEEN_WRITES:
            self._write()

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left of the whole sweep; None before anything is embedded."""
        return self._all.seconds_left(self._clock())

    @property
    def line(self) -> str:
        """How far the stage is, and the sweep."""
        now = self._clock()
        stage, whole = self._stage, self._all
        return (
            f"{self._name}: {stage.done:,}/{stage.total:,}, {duration_left(stage.seconds_left(now))}; "
            f"sweep: {whole.done:,}/{whole.total:,} texts, {duration_left(whole.seconds_left(now))}"
        )

    def _tell(self) -> None:
        if not self._bar.disable:
            self._bar.set_description_str(self.line, refresh=False)
        elif self._all.total and self._clock() - self._told >= BETWEEN_LINES:
            self._told = self._clock()
            self._stream.write(self.line + "\n")
            self._stream.flush()

    def _write(self) -> None:
        self._written = self._clock()
        cancelled = writes.beat(
            self._engine,
            self._sweep_id,
            stage=self._name,
            done=self._all.done,
            total=self._all.total,
            eta_seconds=self.eta_seconds,
        )
        if cancelled:
            raise CancelledError(f"sweep {self._sweep_id} was cancelled; what it recorded is kept")

    def __enter__(self) -> Progress:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal clean."""
        self._bar.close()


def duration_left(seconds: float | None) -> str:
    """`14 s left`, `2 min 10 s left`; a question mark where nobody can know yet."""
    if seconds is None:
        return "? left"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min left" if hours else f"{minutes} min {rest} s left" if minutes else f"{rest} s left"
