"""Work that outlasts a request: in threads of this process, which end before the process does.

An interpreter that exits stops its daemon threads wherever they are, and one that is inside a compiled library then
takes the whole process down with an abort. So they are asked to end, and waited for.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

PATIENCE = 60.0  # seconds; loading a model is the longest stretch that nothing can interrupt

_ending = threading.Event()
_running: set[threading.Thread] = set()


class EndingError(Exception):
    """The process is about to exit: work that is not done is given up."""


def start(name: str, work: Callable[[], object]) -> None:
    """Run `work` in a thread of its own; long work calls `check` between its steps."""

    def whole() -> None:
        try:
            work()
        finally:
            _running.discard(threading.current_thread())

    thread = threading.Thread(target=whole, daemon=True, name=name)
    _running.add(thread)
    thread.start()


def ending() -> bool:
    """Whether the process is about to exit."""
    return _ending.is_set()


def wait(seconds: float) -> bool:
    """Wait, and say whether the process is about to exit."""
    return _ending.wait(seconds)


def check() -> None:
    """Give up where the process is about to exit.

    Raises:
        EndingError: If it is.
    """
    if ending():
        raise EndingError("the server is stopping")


@atexit.register
def _end() -> None:
    _ending.set()
    patient_until = time.monotonic() + PATIENCE
    for thread in list(_running):
        thread.join(max(0.0, patient_until - time.monotonic()))
