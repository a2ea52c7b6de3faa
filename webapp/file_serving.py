"""Handing out files of the documents folder: other people's files, from our own address, so nothing in them may run."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
from pathlib import Path

from flask import Response, send_file

from corpus.extraction.extracted import ExtractionError
from corpus.extraction.page_images import page_picture
from experiments.indexing.folder import file_of
from experiments.project import Project
from webapp.errors import PageError

# What a browser shows without running anything in it. Everything else is a download, whatever its name says.
INLINE = {
    ".pdf": "application/pdf",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
}
POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
# A browser's own viewer of PDF draws with styles and objects of its own; nothing else is allowed it either.
PDF_POLICY = POLICY + "; object-src 'self'; style-src 'unsafe-inline'; img-src data: blob:"


class NoFileError(PageError):
    """There is no such file in the documents folder."""

    status = 404
    title = "There is no such file"

    def __init__(self, document_id: str) -> None:
        """Keep what was asked for."""
        super().__init__(
            f"The documents folder has no file {document_id[:200]!r}.",
            "It may have been removed or renamed; the documents page lists what is there.",
        )


class ClosedFileError(PageError):
    """There is a file, and this server may not read it."""

    status = 403
    title = "This file cannot be read"

    def __init__(self, document_id: str, error: OSError) -> None:
        """Keep what was asked for and what the system said."""
        super().__init__(f"{document_id[:200]!r} cannot be read ({error.strerror}).", "Check its permissions.")


class NoPictureError(PageError):
    """A page cannot be drawn."""

    status = 422
    title = "This page cannot be shown as a picture"


def file(project: Project, document_id: str) -> Response:
    """The file.

    Raises:
        NoFileError: If there is none.
        ClosedFileError: If it may not be read.
    """
    path = _there(project, document_id)
    suffix = path.suffix.lower()
    kind = INLINE.get(suffix)
    try:
        response = send_file(
            path.resolve(),
            mimetype=kind or "application/octet-stream",
            as_attachment=kind is None,
            download_name=path.name,
            conditional=True,
            max_age=0,
        )
    except OSError as error:
        raise _unreadable(document_id, error) from error
    response.headers["Content-Security-Policy"] = PDF_POLICY if suffix == ".pdf" else f"{POLICY}; media-src 'self'"
    return response


def page_image(project: Project, document_id: str, number: int) -> Response:
    """One page of a PDF as PNG, drawn in a process of its own and kept.

    Raises:
        NoFileError: If there is no such file.
        ClosedFileError: If it may not be read.
        NoPictureError: If the page cannot be drawn.
    """
    path = _there(project, document_id)
    try:
        with path.open("rb") as opened:
            sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(document_id, error) from error
    kept = project.var / "pages" / sha256[:2] / f"{sha256}-{number}.png"
    if kept.is_file():
        return send_file(kept.resolve(), mimetype="image/png", conditional=True, max_age=3600)
    try:
        picture = page_picture(path, number, project.extraction)
    except ExtractionError as error:
        said = str(error)
        raise NoPictureError(f"{said[:1].upper()}{said[1:]}.", error.advice) from error
    _keep(kept, picture)
    return send_file(io.BytesIO(picture), mimetype="image/png", max_age=3600)


def _there(project: Project, document_id: str) -> Path:
    path = file_of(project, document_id)
    if path is None:
        raise NoFileError(document_id)
    return path


def _unreadable(document_id: str, error: OSError) -> PageError:
    """It was removed in this moment, or is not ours to read."""
    return NoFileError(document_id) if isinstance(error, FileNotFoundError) else ClosedFileError(document_id, error)


def _keep(place: Path, picture: bytes) -> None:
    """Keep a picture for the next reader; several may draw the same page at once, and a full disk costs only time."""
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=place.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(picture)
            Path(part).replace(place)
        finally:
            Path(part).unlink(missing_ok=True)
