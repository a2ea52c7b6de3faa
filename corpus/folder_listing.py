"""What lies in a documents folder: which of its files are documents, and why others are not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpus.collection import is_collection
from corpus.extraction.formats import is_document
from corpus.faults import Fault

_HALF = re.compile(r"[\ud800-\udfff]")  # what stands for a byte that is no UTF-8
# Line breaks and escapes split or colour the line they stand in; the last two ranges turn its direction.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class SourceFile(NamedTuple):
    """A file of the documents folder."""

    path: Path
    name: str  # the document's id: the POSIX path relative to the folder


class FolderListing(NamedTuple):
    """What lies in a documents folder.

    Attributes:
        files: Those that are to be read.
        others: Visible files nobody will read, because of their suffix or of a fault; folders that cannot be read too.
        faults: Why, where it is a fault.
        problem: Why the folder itself cannot be listed; empty where it could.
        closed: Names of folders that cannot be read: what lies in them is not known.
    """

    files: tuple[SourceFile, ...]
    others: tuple[SourceFile, ...] = ()
    faults: tuple[Fault, ...] = ()
    problem: str = ""
    closed: tuple[str, ...] = ()


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
    closed: list[OSError] = []
    for path in _files(folder, closed):
        name = path.relative_to(folder).as_posix()
        try:
            unreadable = _unreadable(path, folder)
            readable = unreadable is None and path.is_file() and is_document(name)
        except OSError as error:  # its folder may be listed and not entered
            unreadable, readable = _not_opened("file", path, error), False
        if unreadable is not None:
            faults.append(unreadable)
        (files if readable else others).append(SourceFile(path, name if readable else printable(name)))
    names = []
    for why in closed:
        path = Path(why.filename)
        if path == folder:
            return FolderListing((), problem=f"the documents folder cannot be read ({why.strerror})")
        names.append(path.relative_to(folder).as_posix())
        faults.append(_not_opened("folder", path, why))
        others.append(SourceFile(path, printable(names[-1])))
    return FolderListing(tuple(files), tuple(others), tuple(faults), "", tuple(names))


def _files(folder: Path, closed: list[OSError]) -> Iterator[Path]:
    """Yield every visible file, and linked folders as if they were files: they are not entered.

    Args:
        folder: Where to begin.
        closed: Takes the errors of folders that cannot be listed.
    """
    for place, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in (*folders, *sorted(names)):
            path = Path(place, name)
            if not name.startswith(".") and (name in names or os.path.islink(path)):  # noqa: PTH114 - Path's own raises
                yield path


def printable(name: str) -> str:
    """Return a name as it can be shown and written in one line, whatever bytes and signs it is made of."""
    shown = name.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return _CONTROLS.sub(lambda sign: sign[0].encode("unicode_escape").decode(), shown)


def _unreadable(path: Path, folder: Path) -> Fault | None:
    file = printable(path.as_posix())
    if _HALF.search(path.as_posix()):
        return Fault(file, None, printable(path.name), "the file's name is not valid UTF-8", "Rename the file.")
    if _CONTROLS.search(path.relative_to(folder).as_posix()):
        problem = "the file's name, or its folder's, has line breaks or signs in it that nobody sees"
        return Fault(file, None, printable(path.name), problem, "Rename it.")
    if not path.is_symlink():
        return None
    target = Path(os.path.realpath(path))  # `resolve` fails on a loop of links, with a RuntimeError
    if not target.is_relative_to(folder.resolve()):
        problem, advice = "the link leads out of the documents folder", "Copy the file into the folder."
        return Fault(file, None, str(path.readlink()), problem, advice)
    if not target.exists():
        return Fault(file, None, str(path.readlink()), "the link leads nowhere", "Remove it or mend it.")
    return None


def _not_opened(what: str, path: Path, error: OSError) -> Fault:
    problem = f"the {what} cannot be read ({error.strerror})"
    return Fault(printable(path.as_posix()), None, "", problem, "Check its permissions.", "failed")
