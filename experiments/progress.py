"""Telling how far a sweep is: a bar or lines on standard error, a row in the store, one estimate of the time left."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
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

    def __init__(self, total: int, expected: float | None = None) -> None:
        """Begin to count; time is counted with what is done in it.

        Args:
            total: How much there is to do.
            expected: Seconds that one took elsewhere, which is believed until one is done here.
        """
        self.total, self.done, self._seconds, self._expected = total, 0, 0.0, expected

    def advance(self, count: int, seconds: float) -> None:
        """Count what was done, and the time it took."""
        self.done += count
        self._seconds += seconds

    @property
    def each(self) -> float | None:
        """Seconds that one takes; None while nobody can know."""
        return self._seconds / self.done if self.done else self._expected

    @property
    def seconds_left(self) -> float | None:
        """Seconds left; None while no pace is known, 0 where nothing is left to do."""
        left = max(self.total - self.done, 0)
        if not left:
            return 0.0 if self.total else None
        return None if self.each is None else self.each * left


class Progress:
    """Progress of one sweep, in texts embedded and pairs scored: all the rest takes next to no time.

    A pair takes another time than a text, so each unit has a pace of its own, and the time left is the sum.
    """

    def __init__(
        self,
        engine: Engine,
        sweep_id: int,
        totals: Mapping[str, int],
        expected: Mapping[str, float] = MappingProxyType({}),
        *,
        clock: Callable[[], float] = time.monotonic,
        stream: TextIO | None = None,
    ) -> None:
        """Begin.

        Args:
            engine: The store.
            sweep_id: The running sweep.
            totals: By unit, how much there is to do over all strategies and models.
            expected: Seconds one took in an earlier sweep, for the units where that is known.
            clock: Seconds, for tests.
            stream: Where to tell it; standard error when None. A terminal gets a bar, anything else a line now and
                then.
        """
        self._engine, self._sweep_id, self._clock = engine, sweep_id, clock
        self._stream = stream or sys.stderr
        self._all = {unit: Pace(total, expected.get(unit)) for unit, total in totals.items()}
        self._name, self._unit, self._stage = "", "", Pace(0)
        self._last = clock()
        self._written = clock() - BETWEEN_WRITES
        self._told = clock()
        self._bar = tqdm(
            total=self._total,
            disable=self._total == 0 or not self._stream.isatty(),
            file=self._stream,
            mininterval=0.2,
            leave=False,
            dynamic_ncols=True,
            bar_format="{bar:10} {desc}",  # fits into 80 columns
        )

    def stage(self, name: str, count: int, unit: str = "texts", planned: int | None = None) -> None:
        """Say what is being done now, and how much of it there is to do.

        Args:
            name: What a person calls it.
            count: How much is to be done in it.
            unit: Of what; one of those the totals name.
            planned: How much of the total was meant for it, where that was an estimate; the total is corrected.
        """
        self._name, self._unit, self._stage = name, unit, Pace(count, self._all[unit].each)
        self._last = self._clock()
        if planned is not None:
            self._all[unit].total += count - planned
            self._bar.total = self._total
        self._tell()
        self._write()

    def advance(self, count: int) -> None:
        """Count as done, in the unit of the stage."""
        now = self._clock()
        for pace in (self._all[self._unit], self._stage):
            pace.advance(count, now - self._last)
        self._last = now
        self._tell()
        self._bar.update(count)
        if self._clock() - self._written >= BETWEEN_WRITES:
            self._write()

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left of the whole sweep; None until a pace is known of each unit."""
        left = [pace.seconds_left for pace in self._all.values() if pace.total]
        known = [seconds for seconds in left if seconds is not None]
        return sum(known) if left and len(known) == len(left) else None

    @property
    def _words_left(self) -> str:
        """What is left of the whole sweep; of what is timed already, as long as something is not."""
        if self.eta_seconds is not None:
            return duration_left(self.eta_seconds)
        timed = sum(pace.seconds_left or 0.0 for pace in self._all.values())
        return f"more than {duration_left(timed)}" if timed else duration_left(None)

    @property
    def _total(self) -> int:
        return sum(pace.total for pace in self._all.values())

    @property
    def line(self) -> str:
        """How far the stage is, and the sweep."""
        stage = self._stage
        here = f": {stage.done:,}/{stage.total:,}, {duration_left(stage.seconds_left)}" if stage.total else ""
        whole = ", ".join(f"{pace.done:,}/{pace.total:,} {unit}" for unit, pace in self._all.items() if pace.total)
        return f"{self._name}{here}; sweep: {whole}, {self._words_left}"

    def _tell(self) -> None:
        if not self._bar.disable:
            self._bar.set_description_str(self.line, refresh=False)
        elif self._total and self._clock() - self._told >= BETWEEN_LINES:
            self._told = self._clock()
            try:
                self._stream.write(self.line + "\n")
                self._stream.flush()
            except OSError:  # nobody reads it any more, which is no fault of what is measured
                self._told = math.inf

    def _write(self) -> None:
        self._written = self._clock()
        cancelled = writes.beat(
            self._engine,
            self._sweep_id,
            stage=self._name,
            done=sum(pace.done for pace in self._all.values()),
            total=self._total,
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
    return "? left" if seconds is None else f"{duration(seconds)} left"


def duration(seconds: float) -> str:
    """`14 s`, `2 min 10 s`, `3 h 5 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
