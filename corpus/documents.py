"""Documents: a folder of Markdown and text files as canonical texts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpus.canonical import (
    UndecodableError,
    canonical_text,
    front_matter_title,
    split_front_matter,
)
from corpus.canonical import strip_bibliography as without_bibliography
from corpus.faults import Fault, in_order
from corpus.headings import all_headings, title_heading

SUFFIXES = (".md", ".markdown", ".txt")
MOST_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """One canonical text.

    Attributes:
        id: POSIX path relative to the documents folder.
        title: The first ``# `` heading, else the front matter's title, else a heading underlined with ``===``,
            else the file's name without suffix.
        text: The canonical text; every offset counts code points in it.
        source: Path of the file it was read from.
        sha256: Hex digest of the canonical text in UTF-8.
        encoding: What the file was read in.
    """

    id: str
    title: str
    text: str
    source: str
    sha256: str
    encoding: str


@dataclass(frozen=True, slots=True)
class LoadedDocuments:
    """The documents that could be read, by id, the faults of the others, and the files nobody tried to read."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...]
    skipped: tuple[str, ...] = ()


def load_documents(
    folder: Path, *, strip_front_matter: bool = True, strip_bibliography: Sequence[str] = ()
) -> LoadedDocuments:
    """Read every ``.md``, ``.markdown`` and ``.txt`` file of a folder and its subfolders.

    Hidden files and folders are ignored, files with other suffixes and linked folders are listed as skipped, and
    links that lead out of the folder are faults.

    Args:
        folder: The documents folder.
        strip_front_matter: Whether YAML or TOML front matter is cut off (its title is used all the same).
        strip_bibliography: Titles of the closing heading that is cut off with everything behind it.
    """
    if not folder.is_dir():
        problem = "the documents folder is not a folder" if folder.exists() else "the documents folder does not exist"
        return LoadedDocuments((), (Fault(folder.as_posix(), None, "", problem, "Check the path."),))
    documents: list[Document] = []
    faults: list[Fault] = []
    skipped: list[str] = []
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        unreadable = _unreadable(path, folder)
        if unreadable is not None:
            faults.append(unreadable)
        elif not path.is_file() or path.suffix.lower() not in SUFFIXES:
            skipped.append(_printable(name))
        else:
            loaded = _load(path, name, strip_front_matter, strip_bibliography)
            if isinstance(loaded, Document):
                documents.append(loaded)
            else:
                faults.append(loaded)
    if not documents and not faults:
        advice = f"Put files ending in {', '.join(SUFFIXES)} into it."
        faults.append(Fault(folder.as_posix(), None, "", "the documents folder holds no documents", advice))
    by_id = tuple(sorted(documents, key=lambda document: document.id))
    return LoadedDocuments(by_id, in_order(faults), tuple(sorted(skipped)))


def _files(folder: Path) -> Iterator[Path]:
    """Yield every visible file, and linked folders as if they were files: they are not entered."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in (*folders, *sorted(names)):
            path = Path(place, name)
            if not name.startswith(".") and (name in names or path.is_symlink()):
                yield path


def _printable(name: str) -> str:
    return name.encode("utf-8", errors="backslashreplace").decode("utf-8")


def _unreadable(path: Path, folder: Path) -> Fault | None:
    file = _printable(path.as_posix())
    if file != path.as_posix():
        return Fault(file, None, path.name, "the file's name is not valid UTF-8", "Rename the file.")
    if not path.is_symlink():
        return None
    target = path.resolve()
    if not target.is_relative_to(folder.resolve()):
        problem, advice = "the link leads out of the documents folder", "Copy the file into the folder."
        return Fault(file, None, str(path.readlink()), problem, advice)
    if not target.exists():
        return Fault(file, None, str(path.readlink()), "the link leads nowhere", "Remove it or mend it.")
    return None


def _load(path: Path, name: str, strip_front_matter: bool, bibliography: Sequence[str]) -> Document | Fault:
    file = path.as_posix()
    try:
        data = read_limited(path)
        text, encoding = canonical_text(data)
    except UndecodableError as error:
        return Fault(file, error.line, error.value, error.problem, error.advice)
    except OSError as error:
        return Fault(file, None, "", f"the file cannot be read ({error.strerror})", "Check its permissions.")
    if not text.strip():
        problem = "the file holds white space only" if text else "the file is empty"
        return Fault(file, None, "", problem, "Write the document, or remove the file.")
    front_matter, body = split_front_matter(text)
    kept = without_bibliography(body if strip_front_matter else text, bibliography)
    if not kept.strip():
        problem = "nothing is left of the file without its front matter and bibliography"
        return Fault(file, None, "", problem, "Write the document, or remove the file.")
    title = _title(body, front_matter) or PurePosixPath(name).stem
    return Document(name, title, kept, file, hashlib.sha256(kept.encode("utf-8")).hexdigest(), encoding)


def read_limited(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        UndecodableError: If the file is larger than 100 MB, which no text of an evaluation is.
        OSError: If it cannot be read.
    """
    size = path.stat().st_size
    if size > MOST_BYTES:
        problem = f"the file is larger than {MOST_BYTES // 1_000_000} MB"
        raise UndecodableError(problem, "Split it, or remove it.", None, f"{size} bytes")
    return path.read_bytes()


def _title(body: str, front_matter: str) -> str | None:
    heading = title_heading(body)
    if heading is not None:
        return heading.title
    underlined = (other.title for other in all_headings(body) if other.level == 1 and other.title)
    return front_matter_title(front_matter) or next(underlined, None)
