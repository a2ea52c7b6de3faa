"""The process that reads files for `corpus.extraction.guarded`: paths in, texts out, one JSON line each.

Whatever a file does to it, its parent outlives.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import IO, Any

from corpus.extraction.cache import extracted_as_json
from corpus.extraction.extracted import ErrorKind, ExtractionError
from corpus.extraction.limits import MEGABYTE, Limits
from corpus.extraction.reading import extract

_GRACE = 5.0  # seconds after which the process ends by itself: its parent, who would have ended it, is gone
OUT_OF_MEMORY: tuple[ErrorKind, str] = ("out-of-memory", "reading the file takes more memory than allowed")


def main() -> None:
    """Read requests from standard input until it ends."""
    # Libraries write to standard output now and then; the answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        limits = Limits(**request["limits"])
        _limit_memory(limits.memory_megabytes)
        _limit_time(limits.seconds + _GRACE)
        _send(answers, _answer(Path(os.fsdecode(bytes.fromhex(request["path"]))), limits, request["sha256"]))
        _limit_time(0)


def _answer(path: Path, limits: Limits, sha256: str) -> dict[str, Any]:
    try:
        return {"extracted": extracted_as_json(extract(path, limits, sha256))}
    except ExtractionError as error:
        facts = (error.kind, error.problem, error.advice, error.line, error.value)
    except MemoryError:
        facts = (*OUT_OF_MEMORY, advice_on_memory(limits), None, f"{limits.memory_megabytes} MB")
    except OSError as error:
        problem = f"the file cannot be read ({error.strerror or error})"
        facts = ("failed", problem, "Check its permissions.", None, "")
    return {"error": facts}


def advice_on_memory(limits: Limits) -> str:
    """Say what to do about a file that needs more memory."""
    return f"Split it, or raise [extraction] memory_megabytes over {limits.memory_megabytes}."


def _limit_memory(megabytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource  # noqa: PLC0415 - there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE, megabytes * MEGABYTE))


def _limit_time(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _send(answers: IO[str], answer: dict[str, Any]) -> None:
    try:
        line = json.dumps(answer)
    except MemoryError:
        line = json.dumps({"error": (*OUT_OF_MEMORY, "Split it.", None, "")})
    answers.write(line + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
