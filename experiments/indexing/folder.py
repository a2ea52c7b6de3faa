"""Putting files into the documents folder and taking them out: names made safe, nothing replaced or lost unasked."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from corpus.collection import is_collection
from corpus.documents import Document, read_documents
from corpus.extraction.limits import MEGABYTE
from corpus.folder_listing import SourceFile, list_folder
from corpus.questions import Query, load_questions
from experiments.project import Project

LONGEST_PART = 255  # bytes of one name, as file systems have it
DEEPEST = 20
_BLOCK = 1 << 20
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\..*)?", re.IGNORECASE)
_JOINERS = "\u200c\u200d"  # between letters of Persian and parts of emoji
_FORBIDDEN = frozenset('<>:"|?*')


class FolderRefusedError(ValueError):
    """A file cannot be put into the folder or taken out of it; the message names it and says why."""


class ExistsError(FolderRefusedError):
    """There is another file of that name; it can be replaced."""


class Added(NamedTuple):
    """What became of a file that was to be added."""

    document_id: str
    bytes: int
    new: bool  # False where the same content was there already
    replaced: bool


class Pointing(NamedTuple):
    """The questions that need a document.

    Attributes:
        questions: Those that are known to.
        faults: Faults of the questions file: nobody knows what the questions behind them need.
    """

    questions: tuple[Query, ...]
    faults: int


def safe_id(name: str) -> str:
    """The id of a document that is to be added under a name somebody gave.

    Args:
        name: A file name, or a path below the documents folder, with slashes of either kind.

    Raises:
        FolderRefusedError: If the name leads out of the folder, is hidden, or cannot be a file's on some system.
    """
    written = unicodedata.normalize("NFC", name).replace("\\", "/")
    shown = repr(name if len(name) <= 80 else name[:77] + "...")
    parts = written.split("/")
    problem = ""
    if not written.strip("/. "):
        problem = "has no name"
    elif written.startswith("/") or re.match(r"[A-Za-z]:", written):
        problem = "is an absolute path"
    elif ".." in parts:
        problem = "leads out of the documents folder"
    elif any(part in ("", ".") for part in parts):
        problem = "has an empty part"
    elif any(part.startswith(".") for part in parts):
        problem = "is hidden: it begins with a dot"
    elif any(_is_refused(sign) for sign in written):
        problem = "has signs in it that a file's name cannot have everywhere"
    elif any(part != part.strip() or part.endswith(".") or _RESERVED.fullmatch(part) for part in parts):
        problem = "cannot be a file's name on every system"
    elif len(parts) > DEEPEST or any(len(part.encode()) > LONGEST_PART for part in parts):
        problem = "is too long"
    if problem:
        raise FolderRefusedError(f"{shown} {problem}: give it a plain name")
    return PurePosixPath(written).as_posix()


def _is_refused(sign: str) -> bool:
    return sign in _FORBIDDEN or (unicodedata.category(sign) in ("Cc", "Cs", "Cf") and sign not in _JOINERS)


def add(project: Project, name: str, source: IO[bytes], *, replace: bool = False) -> Added:
    """Put one file into the documents folder, whole or not at all.

    Args:
        project: Whose folder.
        name: Under which name.
        source: Its bytes.
        replace: Whether another file of that name is replaced.

    Raises:
        FolderRefusedError: If the name is unsafe, the file is over [extraction] megabytes, or the folder is not ours.
        ExistsError: If there is another file of that name and it is not to be replaced.
        OSError: If it cannot be written.
    """
    document_id = safe_id(name)
    target = _inside(project, document_id)
    if not project.documents.is_dir():  # moved, or a drive that is not mounted: one of our own would hide that
        raise FolderRefusedError(f"the documents folder {project.documents} is not there: bring it back")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise FolderRefusedError(f"{document_id} would lie in a folder whose name is that of a file") from error
    most = project.extraction.megabytes * MEGABYTE
    part = target.parent / f".{secrets.token_hex(8)}.part"  # hidden: no scan takes it for a document
    digest, size = hashlib.sha256(), 0
    try:
        with part.open("xb") as file:
            while block := source.read(_BLOCK):
                size += len(block)
                if size > most:
                    raise FolderRefusedError(
                        f"{document_id} is larger than {project.extraction.megabytes} MB: split it, or raise "
                        "[extraction] megabytes"
                    )
                digest.update(block)
                file.write(block)
        there = target.is_file()
        if there and _sha256(target) == digest.hexdigest():
            return Added(document_id, size, new=False, replaced=False)
        if there and not replace:
            raise ExistsError(f"{document_id} is there already, with other content")
        if target.exists() and not there:
            raise FolderRefusedError(f"{document_id} is a folder")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return Added(document_id, size, new=True, replaced=there)


def remove(project: Project, document_id: str) -> None:
    """Take a file out of the documents folder. Who calls has asked what questions point there.

    Raises:
        FolderRefusedError: If there is no such file, or the folder is not ours.
        OSError: If it cannot be removed.
    """
    _inside(project, document_id)
    target = entry_of(project, document_id)
    if target is None:
        raise FolderRefusedError(f"there is no document {document_id!r} in {project.documents}")
    target.unlink()


def questions_about(project: Project, document_id: str) -> Pointing:
    """The questions a document answers, by a needle or as a whole; without it they cannot be answered any more."""
    if not project.questions.exists():
        return Pointing((), 0)
    # Whoever asks waits: of what is not extracted yet only the document itself is read. Needles that are not found for
    # the others are faults.
    documents = project.load_documents(extract_new=False).documents
    if all(one.id != document_id for one in documents):
        documents = (*documents, *_alone(project, document_id))
    loaded = load_questions(project.questions, documents)
    found = tuple(
        query
        for query in loaded.queries
        if any(needle.document == document_id for needle in query.needles)
        or any(judged.document == document_id and judged.grade > 0 for judged in query.relevant)
    )
    return Pointing(found, len(loaded.faults))


def _alone(project: Project, document_id: str) -> Iterator[Document]:
    path = file_of(project, document_id)
    for _, found in read_documents(
        [SourceFile(path, document_id)] if path else [],
        strip_front_matter=project.strip_front_matter,
        strip_bibliography=project.strip_bibliography,
        limits=project.extraction,
        cache=project.extracted,
    ):
        if isinstance(found, Document):
            yield found


def require_own_folder(project: Project) -> None:
    """Refuse to write into the bundled corpus, or where the documents are no folder.

    Raises:
        FolderRefusedError: If there is no project file, or all documents lie in one file.
    """
    if is_collection(project.documents):
        raise FolderRefusedError(f"the documents are lines of {project.documents.name}: change that file")
    if project.file is None:
        raise FolderRefusedError(
            "the bundled corpus is not changed: make a project with `bluffline init DIR --documents FOLDER "
            "--questions FILE`"
        )


def file_of(project: Project, document_id: str) -> Path | None:
    """Where a document's file lies; None where there is none, or it lies outside the documents folder."""
    path = project.documents / document_id
    try:
        inside = path.resolve().is_relative_to(project.documents.resolve())
        hidden = any(part.startswith(".") for part in PurePosixPath(document_id).parts)
        return path if inside and not hidden and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a NUL in it, a loop of links
        return None


def entry_of(project: Project, document_id: str) -> Path | None:
    """What can be taken out of the documents folder under a document's id.

    That is a document's file, or whatever else the index lists: links that lead nowhere, files whose name is shown in
    other signs than it is made of. None where there is nothing.
    """
    there = file_of(project, document_id)
    if there is not None:
        return there
    others = (one.path for one in list_folder(project.documents).others if one.name == document_id)
    return next((path for path in others if path.is_symlink() or not path.is_dir()), None)


def _inside(project: Project, document_id: str) -> Path:
    require_own_folder(project)
    target = project.documents / document_id
    if not target.parent.resolve().is_relative_to(project.documents.resolve()):
        raise FolderRefusedError(f"{document_id!r} leads out of the documents folder")
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
