"""JSON lines read one at a time, so that no file has to fit into memory twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from corpus.faults import Fault
from corpus.question_rows import Row, parse_object

MOST_MEGABYTES = 500  # of a file somebody else made; exact search over more is no evaluation of an afternoon
_LINE_BYTES = 20_000_000
_MARK = b"\xef\xbb\xbf"


def json_lines(path: Path, most_megabytes: int = MOST_MEGABYTES) -> Iterator[Row | Fault]:
    """Yield every object of a JSONL file with its line, or what is wrong with that line.

    Args:
        path: The file, in UTF-8.
        most_megabytes: A larger file is one fault and is not opened.
    """
    refused = refusal(path, most_megabytes)
    if refused is not None:
        yield refused
        return
    file = path.as_posix()
    with path.open("rb") as stream:
        for number, line in enumerate(_lines(stream), start=1):
            if len(line) > _LINE_BYTES:
                problem = f"the line is longer than {_LINE_BYTES // 1_000_000} MB"
                yield Fault(file, number, "", problem, "Write one JSON object a line.")
                continue
            try:
                text = line.removeprefix(_MARK if number == 1 else b"").decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                value = f"0x{line[error.start]:02x}"
                yield Fault(file, number, value, "the bytes are no UTF-8", "Save the file as UTF-8.")
                continue
            if text.strip():
                yield parse_object(file, number, text)


def refusal(path: Path, most_megabytes: int = MOST_MEGABYTES) -> Fault | None:
    """Return why a file cannot be read at all, None where it can; it is not opened for that."""
    file = path.as_posix()
    if not path.is_file():
        problem = "the file is a folder" if path.is_dir() else "the file does not exist"
        return Fault(file, None, "", problem, "Check the path.")
    size = path.stat().st_size
    if size > most_megabytes * 1_000_000:
        problem = f"the file is larger than {most_megabytes:,} MB"
        advice = "Take a part of it: every question is compared with every passage, exactly."
        return Fault(file, None, f"{size:,} bytes", problem, advice)
    if size == 0:
        return Fault(file, None, "", "the file is empty", "Check the path.")
    return None


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield lines; of one that is too long only its beginning."""
    while line := stream.readline(_LINE_BYTES + 1):
        rest = line
        while len(rest) > _LINE_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(_LINE_BYTES + 1)
        yield line
