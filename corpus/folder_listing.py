"""What lies in a documents folder: which of its files are documents, and why others are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpus.collection import is_collection
from corpus.extraction.formats import is_document
from corpus.faults import Fault


class SourceFile(NamedTuple):
    """A file of the documents folder."""

    path: Path
    name: str  # the document's id: the POSIX path relative to the folder


class FolderListing(NamedTuple):
    """What lies in a documents folder.

    Attributes:
        files: Those that are to be read.
        others: Visible files nobody will read, because of their suffix or of a fault.
        faults: Why, where it is a fault.
        problem: Why the folder itself cannot be listed; empty where it could.
    """

    files: tuple[SourceFile, ...]
    others: tuple[SourceFile, ...] = ()
    faults: tuple[Fault, ...] = ()
    problem: str = ""


def list_folder(folder: Path) -> FolderListing:
    """Return the files of a folder and its subfolders; hidden ones are ignored, linked folders are not entered."""
    if is_collection(folder):
        return FolderListing((), problem="the documents are one file, which every check and sweep reads anew")
    if not folder.is_dir():
        problem = "the documents folder is not a folder" if folder.exists() else "the documents folder does not exist"
        return FolderListing((), problem=problem)
    files: list[SourceFile] = []
    others: list[SourceFile] = []
    faults: list[Fault] = []
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        unreadable = _unreadable(path, folder)
        if unreadable is not None:
            faults.append(unreadable)
        readable = unreadable is None and path.is_file() and is_document(name)
        (files if readable else others).append(SourceFile(path, name if readable else printable(name)))
    return FolderListing(tuple(files), tuple(others), tuple(faults))


def _files(folder: Path) -> Iterator[Path]:
    """Yield every visible file, and linked folders as if they were files: they are not entered."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in (*folders, *sorted(names)):
            path = Path(place, name)
            if not name.startswith(".") and (name in names or path.is_symlink()):
                yield path


def printable(name: str) -> str:
    """A name as it can be shown and kept: bytes that are no UTF-8 are spelled out."""
    """Return a name as it can be shown and written, whatever bytes it is made of."""
    return name.encode("utf-8", errors="backslashreplace").decode("utf-8")


def _unreadable(path: Path, folder: Path) -> Fault | None:
    file = printable(path.as_posix())
    if file != path.as_posix():
        return Fault(file, None, path.name, "the file's name is not valid UTF-8", "Rename the file.")
    if not path.is_symlink():
        return None
    target = Path(os.path.realpath(path))  # `resolve` fails on a loop of links, with a RuntimeError
    if not target.is_relative_to(folder.resolve()):
        problem, advice = "the link leads out of the documents folder", "Copy the file into the folder."
        return Fault(file, None, str(path.readlink()), problem, advice)
    if not target.exists():
        return Fault(file, None, str(path.readlink()), "the link leads nowhere", "Remove it or mend it.")
    return None
