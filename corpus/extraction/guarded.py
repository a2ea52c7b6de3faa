"""Reading files in processes of their own, each under limits of time and memory, several at a time.

A process reads many files, one after the other; one that is too slow, needs too much memory or breaks it costs that
file alone, and the next file gets a fresh process.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

import corpus
from corpus.extraction.cache import extracted_from_json
from corpus.extraction.extracted import Extracted, ExtractionError
from corpus.extraction.limits import Limits
from corpus.extraction.worker import OUT_OF_MEMORY, advice_on_memory

COMMAND = ("-m", "corpus.extraction.worker")
_MOST_PROCESSES = 4
_FILES_EACH = 500  # then a fresh process: what libraries leak stays small, and a start costs what 40 short files cost
_KILLED = (signal.SIGABRT, getattr(signal, "SIGKILL", signal.SIGABRT))  # what running out of memory looks like


def extract_many(
    paths: Sequence[Path],
    limits: Limits | None = None,
    begun: Callable[[Path], object] = lambda _: None,
    contents: Mapping[Path, str] | None = None,
) -> Iterator[tuple[Path, Extracted | ExtractionError]]:
    """Read many files, several at a time; yield each as it is done, so that a slow one delays no other.

    Args:
        paths: The files.
        limits: What one of them may cost.
        begun: Told of each file when its reading begins, from the thread that waits for it.
        contents: SHA-256 of what a file is known to hold; where it holds something else by now, it failed.
    """
    limits, contents = limits or Limits(), contents or {}
    if not paths:
        return
    count = min(len(paths), limits.processes or min(os.cpu_count() or 1, _MOST_PROCESSES))
    idle: queue.SimpleQueue[_Reader] = queue.SimpleQueue()
    readers = [_Reader(limits) for _ in range(count)]
    for reader in readers:
        idle.put(reader)

    def read(path: Path) -> Extracted | ExtractionError:
        reader = idle.get()
        try:
            begun(path)
            return reader.read(path, contents.get(path, ""))
        except ExtractionError as error:
            return error
        finally:
            idle.put(reader)

    pool = ThreadPoolExecutor(count, thread_name_prefix="extraction")
    try:
        waiting = {pool.submit(read, path): path for path in paths}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    finally:  # also when nobody wants the rest
        pool.shutdown(wait=False, cancel_futures=True)
        for reader in readers:
            reader.close()


class _Reader:
    """A process that reads files, started when it is needed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._files = 0
        self._closed = False

    def read(self, path: Path, sha256: str = "") -> Extracted:
        if self._closed:
            raise ExtractionError("failed", "reading was stopped", "Try again.")
        if self._process is None:
            self._process = _start()
        process = self._process
        late = threading.Event()

        def stop() -> None:
            late.set()
            _kill(process)  # the pipe ends with it, and so does the wait for an answer

        timer = threading.Timer(self._limits.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            answer = _ask(process, path, sha256, self._limits)
        finally:
            timer.cancel()
        self._files += 1
        if answer is None:
            code = process.wait()
            self._forget()
            if late.is_set():
                raise self._too_slow()
            raise self._broken(code)
        if late.is_set() or self._files >= _FILES_EACH or _has_used_much(answer):
            self._forget()
        if "error" in answer:
            raise ExtractionError(*answer["error"])
        return extracted_from_json(answer["extracted"])

    def close(self) -> None:
        self._closed = True
        self._forget()

    def _forget(self) -> None:
        if self._process is not None:
            _kill(self._process)
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError, AttributeError):
                    pipe.close()  # type: ignore[union-attr]
            self._process = None
        self._files = 0

    def _too_slow(self) -> ExtractionError:
        advice = "Split it, or raise [extraction] time_limit."
        problem = f"reading the file takes longer than {self._limits.seconds:g} seconds"
        return ExtractionError("too-slow", problem, advice)

    def _broken(self, code: int) -> ExtractionError:
        if -code in _KILLED:
            return ExtractionError(*OUT_OF_MEMORY, advice_on_memory(self._limits))
        problem = "the process that read the file ended"
        advice = "Open it in its own program and save it anew."
        return ExtractionError("failed", problem, advice, None, f"exit code {code}")


def _has_used_much(answer: dict[str, Any]) -> bool:
    return "error" in answer and answer["error"][0] in ("out-of-memory", "failed")


def _start() -> subprocess.Popen[bytes]:
    here = str(Path(corpus.__file__).parent.parent)
    path = os.pathsep.join(part for part in (here, os.environ.get("PYTHONPATH", "")) if part)
    return subprocess.Popen(  # noqa: S603 - fixed arguments, no shell
        # -P: a folder `corpus` where the command was started is not taken for this package
        [sys.executable, "-P", *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path, "OMP_THREAD_LIMIT": "1"},
        start_new_session=True,  # so that what it starts ends with it
    )


def _ask(process: subprocess.Popen[bytes], path: Path, sha256: str, limits: Limits) -> dict[str, Any] | None:
    """Return the process's answer; None where it ended without one."""
    request = {"path": os.fsencode(path.absolute()).hex(), "sha256": sha256, "limits": asdict(limits)}
    if process.stdin is None or process.stdout is None:  # both are pipes
        return None
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except (OSError, ValueError):
        return None
    if not line.endswith(b"\n"):
        return None
    answer: dict[str, Any] = json.loads(line)
    return answer


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError, AttributeError):  # Windows has no process groups
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
