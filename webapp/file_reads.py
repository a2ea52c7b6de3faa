"""Reading what the files of the documents folder are in, and what the indexer does with them."""

from __future__ import annotations

from pathlib import PurePosixPath

from flask import request, url_for

from corpus.collection import is_collection
from experiments import launching
from experiments.indexing.folder import file_of
from experiments.indexing.indexer import settle_interrupted
from experiments.indexing.scanning import MEDIA, TRANSCRIPTS
from experiments.indexing.stamps import Stamps, named_stamps
from experiments.project import Project, ProjectError
from experiments.provenance import PIPELINE
from store import files
from store.files import RUNNING, STATES
from webapp import params
from webapp.contexts.document import Sheet
from webapp.contexts.document_place import Recording, recording
from webapp.contexts.files import FilesLinks, FilesPanel, FilesRead, panel
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.files import files as handed
from webapp.projects import project_here, sentences

VIDEO = (".mp4", ".webm")


class UnchangeableError(PageError):
    """The folder cannot be changed from the browser."""

    status = 403
    title = "Documents are not changed from here"


def cannot_change(project: Project) -> str:
    """Why the folder is not changed from the browser; empty where it may be."""
    if is_collection(project.documents):
        return f"The documents are lines of {project.documents.name}; change that file, then index it again."
    if project.file is None:
        return "The bundled corpus is not changed; make a project with `bluffline init` to index documents of your own."
    if not project.upload:
        return "Uploading and removing is switched off ([server] upload = false)."
    return ""


def changeable_project() -> Project:
    """The dashboard's project, whose folder may be changed.

    Raises:
        UnchangeableError: If it may not.
    """
    project = project_here()
    if why := cannot_change(project):
        raise UnchangeableError(why, "Put files into the folder itself, and run `bluffline documents index`.")
    return project


def read() -> FilesRead:
    """What the panel shows, in two statements while nothing runs; a project file that is faulty costs only its part."""
    engine = dashboard().engine
    latest = files.latest_indexing(engine)
    if latest is not None and latest.state == RUNNING:
        settle_interrupted(engine)
        latest = files.latest_indexing(engine)
    rows = files.files(engine)
    try:
        project, fault = dashboard().project(), ""
    except ProjectError as error:
        project, fault = None, sentences(error)
    return FilesRead(
        rows=rows,
        latest=latest,
        launch=launching.launched(dashboard().root, launching.INDEXING),
        stamps=named_stamps(project) if project else Stamps(PIPELINE, None),
        strategies=tuple(one.name for one in project.settings.strategies) if project else (),
        folder=project.documents.as_posix() if project else "the documents folder",
        state=params.choice(request.args, "state", STATES, ""),
        everything=params.flag(request.args, "all"),
        cannot=cannot_change(project) if project else fault,
        largest=project.largest_upload if project else 0,
    )


def files_panel() -> FilesPanel:
    """The panel of the documents page, as its address asks for it."""
    return panel(read(), _links())


def raw_url(document_id: str) -> str | None:
    """Where the file itself is handed out; None where it is not there."""
    try:
        there = file_of(dashboard().project(), document_id)
    except ProjectError:
        return None
    return url_for("files.raw", document_id=document_id) if there else None


def recording_of(sheet: Sheet) -> Recording | None:
    """The recording a transcript is of, at the time asked for; None where there is none beside it."""
    path = PurePosixPath(sheet.row.document_id)
    if path.suffix.lower() not in TRANSCRIPTS:
        return None
    for suffix in MEDIA:
        name = path.with_suffix(suffix).as_posix()
        if url := raw_url(name):
            return recording(name, url, sheet.place, video=suffix in VIDEO)
    return None


def _links() -> FilesLinks:
    here, args = url_for("documents.page"), list(request.args.items(multi=True))

    def state(name: str) -> str:
        return here + params.changed(args, state=name or None, all=None) + "#files"

    return FilesLinks(
        here=here,
        poll=url_for("files.live") + params.changed(args),
        start=url_for("files.index"),
        retry=url_for("files.retry"),
        upload=url_for("files.upload"),
        state=state,
        document=lambda document_id: url_for("documents.document", document_id=document_id),
        remove=lambda document_id: url_for("files.removing", document=document_id),
        cancel=lambda indexing_id: url_for("files.cancel", indexing_id=indexing_id),
        more=here + params.changed(args, all=1) + "#files",
        files=handed("files.table"),
    )
