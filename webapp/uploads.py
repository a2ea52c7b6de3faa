"""Files that a browser sent: put into the folder, refused with a reason, or kept aside until somebody decides."""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from werkzeug.datastructures import FileStorage

from experiments.indexing.folder import ExistsError, FolderRefusedError, add, safe_id
from experiments.project import Project

_KEPT = 24 * 3600.0  # seconds that a file waits for a decision
_TWICE = "another file of this name came with it, and only the first was taken: rename one of them and send it again"
_GONE = "the files that were sent are not kept any more: look whether they are there, else send them again"
_TOKEN = re.compile(r"[0-9a-f]{32}")


class Arrival(NamedTuple):
    """What became of one file."""

    name: str
    words: str


class Arrived(NamedTuple):
    """What became of an upload.

    Attributes:
        added: Files that are in the folder now.
        same: Files that were there already with the same content.
        refused: Files that cannot be there, with the reason.
        asked: Files that would replace another of the same name; they wait.
        token: Names the place they wait at; empty where none does.
    """

    added: tuple[str, ...]
    same: tuple[str, ...]
    refused: tuple[Arrival, ...]
    asked: tuple[str, ...]
    token: str

    @property
    def plain(self) -> bool:
        """Whether there is nothing to be said or asked."""
        return not self.refused and not self.asked


def take(project: Project, sent: Iterable[FileStorage], into: str) -> Arrived:
    """Put what was sent into the documents folder; nothing that is there is replaced.

    Args:
        project: Whose folder.
        sent: The files; their names may hold folders.
        into: A folder below the documents folder; empty for none.
    """
    _forget_old(project)
    added: list[str] = []
    same: list[str] = []
    refused: list[Arrival] = []
    asked: list[str] = []
    token = secrets.token_hex(16)
    for one in sent:
        if not one.filename:
            continue
        name = f"{into.strip().strip('/')}/{one.filename}" if into.strip() else one.filename
        try:
            there = add(project, name, one.stream)
            (added if there.new else same).append(there.document_id)
        except ExistsError:
            document_id = safe_id(name)
            if document_id in (*added, *same, *asked):  # neither of the two is put aside unseen
                refused.append(Arrival(one.filename[:200], _TWICE))
                continue
            one.stream.seek(0)
            _wait(project, token, document_id, one)
            asked.append(document_id)
        except FolderRefusedError as error:
            refused.append(Arrival(one.filename[:200], str(error).removeprefix(f"{name!r} ")))  # said once
        except OSError as error:
            refused.append(Arrival(one.filename[:200], _unwritten(error)))
    return Arrived(tuple(added), tuple(same), tuple(refused), tuple(asked), token if asked else "")


def replace(project: Project, token: str, chosen: Sequence[str]) -> tuple[str, ...]:
    """Let files that wait replace those of the same name; the others are forgotten.

    Returns:
        Those that were replaced.

    Raises:
        FolderRefusedError: If they wait no longer, or one of the chosen never did: then none is replaced.
        OSError: If one cannot be written.
    """
    place = _place(project, token)
    if place is None or not place.is_dir():
        raise FolderRefusedError(_GONE)
    for document_id in chosen:
        if not (place / safe_id(document_id)).is_file():
            raise FolderRefusedError(f"there is no file {document_id[:200]!r} among those that wait")
    taken = place.with_name(f"{token}-taken")
    try:
        place.rename(taken)  # of two answers to the same question only one is carried out
    except OSError as error:
        raise FolderRefusedError(_GONE) from error
    replaced = []
    try:
        for document_id in chosen:
            with (taken / safe_id(document_id)).open("rb") as file:
                replaced.append(add(project, document_id, file, replace=True).document_id)
    finally:
        shutil.rmtree(taken, ignore_errors=True)
    return tuple(replaced)


def _unwritten(error: OSError) -> str:
    return f"it could not be written ({error.strerror or error})"


def _wait(project: Project, token: str, document_id: str, one: FileStorage) -> None:
    place = project.var / "uploads" / token / document_id
    place.parent.mkdir(parents=True, exist_ok=True)
    one.save(place)


def _place(project: Project, token: str) -> Path | None:
    return project.var / "uploads" / token if _TOKEN.fullmatch(token) else None


def _forget_old(project: Project) -> None:
    folder = project.var / "uploads"
    for place in folder.iterdir() if folder.is_dir() else ():
        if time.time() - place.stat().st_mtime > _KEPT:
            shutil.rmtree(place, ignore_errors=True)
