"""One page of a PDF as a picture, drawn in a process of its own: one that hangs or breaks costs that picture alone."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import subprocess
import sys
from pathlib import Path

import corpus
from corpus.extraction.extracted import ExtractionError
from corpus.extraction.limits import MEGABYTE, Limits

WIDTH = 1_000  # pixels
_TALLEST = 4_000
_SECONDS = 30.0  # a page is drawn in far less


def page_picture(path: Path, number: int, limits: Limits) -> bytes:
    """Draw a page.

    Args:
        path: A PDF.
        number: The page, from 1.
        limits: Of time and memory.

    Returns:
        A PNG, 1,000 pixels wide.

    Raises:
        ExtractionError: If the file is no PDF that can be opened, has no such page, or the page takes too much.
    """
    here = str(Path(corpus.__file__).parent.parent)
    searched = os.pathsep.join(part for part in (here, os.environ.get("PYTHONPATH", "")) if part)
    page = os.fsencode(path.absolute()).hex(), str(number), str(limits.memory_megabytes)
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no shell
            # -P: a folder `corpus` where the command was started is not taken for this package
            [sys.executable, "-P", "-m", __name__, *page],
            env={**os.environ, "PYTHONPATH": searched},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=min(limits.seconds, _SECONDS),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ExtractionError("too-slow", f"drawing page {number} takes too long", "Open the file itself.") from None
    if done.returncode == 0 and done.stdout:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    problem = said[-1] if done.returncode == 2 and said else f"page {number} cannot be drawn"
    raise ExtractionError("failed", problem, "Open the file itself.")


def main(path: str, number: str, megabytes: str) -> None:
    """Write the page to standard output; what a reader can be told goes to standard error, with exit code 2."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource  # noqa: PLC0415 - there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (int(megabytes) * MEGABYTE, int(megabytes) * MEGABYTE))
    pdfium = importlib.import_module("pypdfium2")  # only this process draws
    try:
        document = pdfium.PdfDocument(Path(os.fsdecode(bytes.fromhex(path))))
    except pdfium.PdfiumError:
        sys.exit(_told("the file is no PDF that can be opened"))
    if not 1 <= int(number) <= len(document):
        sys.exit(_told(f"the file has {len(document)} pages, and no page {number}"))
    page = document[int(number) - 1]
    width, height = page.get_size()
    scale = min(WIDTH / max(width, 1.0), _TALLEST / max(height, 1.0))
    buffer = io.BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(buffer, "PNG", optimize=False)
    sys.stdout.buffer.write(buffer.getvalue())


def _told(words: str) -> int:
    sys.stderr.write(words + "\n")
    return 2


if __name__ == "__main__":
    main(*sys.argv[1:])
