"""Looking at the documents folder: which files there are, and which of them the index does not know as they are."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from corpus.documents import Document
from corpus.extraction.extracted import ExtractionError
from corpus.extraction.limits import MEGABYTE
from corpus.extraction.reading import reader_of
from corpus.faults import Fault
from corpus.folder_listing import FolderListing, SourceFile, printable
from experiments.indexing.stamps import Stamps, why_stale
from experiments.project import Project
from store.files import EXTRACTING, FAILED, QUEUED
from store.tables import FileRow

_BLOCK = 1 << 20
MEDIA = (".mp4", ".m4a", ".mp3", ".webm", ".ogg", ".wav")
TRANSCRIPTS = (".vtt", ".srt")


class Seen(NamedTuple):
    """A file as it lies in the folder."""

    file: SourceFile
    bytes: int
    sha256: str
    extractor: str | None  # what would read it
    fault: Fault | None  # why nobody will read it


class Changes(NamedTuple):
    """What the folder is beside the index."""

    new: tuple[Seen, ...]
    changed: tuple[Seen, ...]
    waiting: tuple[Seen, ...]  # queued or left half-done
    stale: Mapping[str, tuple[Seen, str]]  # unchanged, but made with something else; with the reason
    gone: tuple[str, ...]

    @property
    def todo(self) -> tuple[Seen, ...]:
        """Everything that has to be read."""
        return (*self.new, *self.changed, *self.waiting, *(seen for seen, _ in self.stale.values()))


def look(project: Project, listing: FolderListing) -> dict[str, Seen]:
    """Every file of the folder, by id, with a hash of its content.

    Media files beside a transcript of the same name are played with it and are no documents of their own.
    """
    faults = {Path(fault.file).as_posix(): fault for fault in listing.faults}
    everything = (*listing.files, *listing.others)
    transcribed = {file.path.with_suffix("") for file in everything if file.path.suffix.lower() in TRANSCRIPTS}
    found = {}
    for file in listing.files:
        found[file.name] = _seen(project, file, None)
    for file in listing.others:
        media = file.path.suffix.lower() in MEDIA
        if not media or file.path.with_suffix("") not in transcribed:
            fault = faults.get(printable(file.path.as_posix())) or _unsupported(file, media=media)
            found[file.name] = _seen(project, file, fault)
    return found


def look_into(collection: Sequence[Document]) -> dict[str, Seen]:
    """The documents of a collection, which all lie in one file, by id."""
    return {
        one.id: Seen(
            SourceFile(Path(one.source), one.id), len(one.text.encode()), one.file_sha256, one.extractor or None, None
        )
        for one in collection
    }


def _seen(project: Project, file: SourceFile, fault: Fault | None) -> Seen:
    if fault is not None and os.path.islink(file.path):  # noqa: PTH114 - Path's own raises where it may not look
        # its target is none of ours, and may never end
        size, sha256 = (
            0,
            hashlib.sha256(f"link to {file.path.readlink()}".encode("utf-8", "surrogateescape")).hexdigest(),
        )
    else:
        size, sha256 = _content(file.path, project.extraction.megabytes * MEGABYTE)
    return Seen(file, size, sha256, None if fault else extractor_for(file.path), fault)


def extractor_for(path: Path) -> str | None:
    """What would read a file now; None where nothing does."""
    try:
        return reader_of(path).extractor
    except (ExtractionError, OSError):
        return None


def changes(seen: Mapping[str, Seen], rows: Sequence[FileRow], now: Stamps, closed: Sequence[str] = ()) -> Changes:
    """Set the folder beside the index; what failed is left as it is while file and extractor are the same.

    Args:
        seen: The files of the folder, by id.
        rows: What the index knows.
        now: What an index made now would be made with.
        closed: Folders that cannot be read: nobody knows whether what lies in them is gone.
    """
    known = {row.document_id: row for row in rows}
    new = tuple(one for name, one in seen.items() if name not in known)
    changed, waiting, stale = [], [], {}
    for name, row in known.items():
        one = seen.get(name)
        if one is None:
            continue
        if one.sha256 != row.file_sha256:
            changed.append(one)
        elif row.state in (QUEUED, EXTRACTING) or (row.state == FAILED and row.extractor != one.extractor):
            waiting.append(one)
        elif row.state != FAILED and (why := why_stale(row, now) or _old_content(row, one)):
            stale[name] = (one, why)
    hidden = tuple(f"{name}/" for name in closed)
    gone = tuple(name for name in known if name not in seen and not name.startswith(hidden))
    return Changes(new, tuple(changed), tuple(waiting), stale, gone)


def _old_content(row: FileRow, seen: Seen) -> str:
    return "the file changed since it was indexed" if row.indexed_sha256 != seen.sha256 else ""


def _unsupported(file: SourceFile, *, media: bool) -> Fault:
    """Say why nobody reads a file that has no fault."""
    if file.path.is_symlink():
        problem, advice = (
            "it is a link to a folder, which is not followed",
            "Copy the folder itself, or remove the link.",
        )
        return Fault(file.path.as_posix(), None, "", problem, advice, "unsupported")
    if not file.path.is_file():
        problem = "it is no file that holds something: a pipe, a socket or a device"
        return Fault(file.path.as_posix(), None, "", problem, "Take it out of the folder.", "unsupported")
    suffix = file.path.suffix or "without a suffix"
    advice = (
        f"Put a transcript beside it: {file.path.with_suffix('.vtt').name}."
        if media
        else "Export it in a format that is read, or take it out of the folder."
    )
    return Fault(file.path.as_posix(), None, "", f"files {suffix} are not read", advice, "unsupported")


def _content(path: Path, most: int) -> tuple[int, str]:
    """Size and hash of a file; of one that is too large to be read, a hash of its beginning, size and time."""
    try:
        facts = path.stat()
        digest = hashlib.sha256()
        if not stat.S_ISREG(facts.st_mode):  # opening a pipe waits for whoever writes into it
            return 0, hashlib.sha256(b"no file").hexdigest()
        with path.open("rb") as file:
            if facts.st_size > most:
                digest.update(f"{facts.st_size} {facts.st_mtime_ns} ".encode())
                digest.update(file.read(_BLOCK))
                return facts.st_size, digest.hexdigest()
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        return 0, hashlib.sha256(f"unreadable {error.errno}".encode()).hexdigest()
    return facts.st_size, digest.hexdigest()
