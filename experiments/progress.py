"""Telling how far a sweep is: a bar in the terminal, a row in the store, one estimate of the time left for both."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from sqlalchemy import Engine
from tqdm import tqdm

from store import writes

_BETWEEN_WRITES = 0.5  # seconds


class CancelledError(Exception):
    """Somebody asked for the sweep to stop."""


class Progress:
    """Progress of one sweep, in texts embedded: all the rest takes next to no time."""

    def __init__(
        self, engine: Engine, sweep_id: int, total: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin.

        Args:
            engine: The store.
            sweep_id: The running sweep.
            total: Texts to embed over all strategies and models.
            clock: Seconds, for tests.
        """
        self._engine, self._sweep_id, self._total, self._clock = engine, sweep_id, total, clock
        self._done = 0
        self._begun = clock()
        self._written = -_BETWEEN_WRITES
        self._bar = tqdm(
            total=total,
            unit="text",
            disable=total == 0,
            file=sys.stderr,
            mininterval=0.2 if sys.stderr.isatty() else 10,
            bar_format="{desc} {percentage:3.0f} % {bar:24} {n_fmt}/{total_fmt} texts, {remaining} left, {rate_fmt}",
        )

    def stage(self, name: str) -> None:
        """Say what is being done now."""
        self._bar.set_description_str(f"{name:<24}")
        self._write(name)

    def advance(self, name: str, texts: int) -> None:
        """Count texts as embedded."""
        self._done += texts
        self._bar.update(texts)
        if self._clock() - self._written >= _BETWEEN_WRITES:
            self._write(name)

    @property
    def eta_seconds(self) -> float | None:
        """Seconds left at the pace so far; None before anything is done."""
        if not self._done:
            return None
        return (self._clock() - self._begun) / self._done * (self._total - self._done)

    def _write(self, name: str) -> None:
        self._written = self._clock()
        cancelled = writes.beat(
            self._engine, self._sweep_id, stage=name, done=self._done, total=self._total, eta_seconds=self.eta_seconds
        )
        if cancelled:
            raise CancelledError

    def __enter__(self) -> Progress:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal clean."""
        self._bar.close()
