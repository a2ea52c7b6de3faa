"""The files of the documents folder: sent, indexed, tried again, removed, and handed out as what they are."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, make_response, redirect, request, url_for

from experiments import launching
from experiments.indexing import folder
from experiments.indexing.folder import FolderRefusedError
from experiments.indexing.indexer import retry as try_again
from store import files as store
from webapp import exports, file_reads, file_serving, params, rendering, uploads
from webapp.contexts import files as panels
from webapp.contexts.files import FilesPanel
from webapp.dashboard import dashboard
from webapp.errors import PageError, shown
from webapp.exports import Format
from webapp.projects import project_here
from webapp.uploads import Arrived

blueprint = Blueprint("files", __name__)


class RefusedError(PageError):
    """Something about the folder that cannot be done."""

    status = 422
    title = "Nothing was changed"


class NotIndexingError(PageError):
    """There is nothing to stop."""

    status = 409
    title = "This indexing does not run"

    def __init__(self, indexing_id: int) -> None:
        """Keep which was to be stopped."""
        super().__init__(
            f"Indexing {shown(indexing_id)} has ended, or never was: there is nothing to stop.",
            "Go back to the documents.",
        )


@dataclass(frozen=True, slots=True)
class FilesContext:
    """What the panel alone shows."""

    files: FilesPanel


@dataclass(frozen=True, slots=True)
class ArrivedContext:
    """What `templates/files_arrived/page.html` shows."""

    arrived: Arrived
    replace_url: str
    back: str


@dataclass(frozen=True, slots=True)
class RemovingContext:
    """What `templates/files_removing/page.html` shows."""

    document_id: str
    questions: tuple[tuple[str, str], ...]  # id, words
    faults: int  # of the questions file: what those questions need is not known
    warned: int  # how much the button's reader was warned of
    remove_url: str
    back: str


@blueprint.get("/files/live")
def live() -> Response:
    """The panel, which asks for itself while something is at work."""
    if request.headers.get("HX-Request") != "true":
        return make_response(redirect(url_for("documents.page") + params.query_string()))
    return rendering.fragment("documents", "files", FilesContext(file_reads.files_panel()))


@blueprint.get("/files.<any(csv, json, md):form>")
def table(form: Format) -> Response:
    """The files as a file."""
    return exports.respond(panels.table(file_reads.read()), form)


@blueprint.post("/files/upload")
def upload() -> Response:
    """Take files into the folder and index them."""
    project = file_reads.changeable_project()
    sent = [*request.files.getlist("files"), *request.files.getlist("folder")]
    if not any(one.filename for one in sent):
        raise RefusedError("No file was chosen.", "Choose one or more files, or a folder, and send the form again.")
    arrived = uploads.take(project, sent, params.text(request.form, "into"))
    if arrived.added:
        _start()
    if arrived.plain:
        return _back()
    context = ArrivedContext(arrived, url_for("files.replace"), _documents())
    return rendering.page("files_arrived", context, status=409 if arrived.asked else 422)


@blueprint.post("/files/replace")
def replace() -> Response:
    """Let what was sent replace what is there, for the chosen ones."""
    project = file_reads.changeable_project()
    try:
        replaced = uploads.replace(project, params.text(request.form, "token"), request.form.getlist("document"))
    except (FolderRefusedError, OSError) as error:
        raise RefusedError(_sentence(error), "Go back to the documents.") from error
    if replaced:
        _start()
    return _back()


@blueprint.post("/files/index")
def index() -> Response:
    """Start the indexer."""
    project_here()
    _start()
    return _back()


@blueprint.post("/files/retry")
def retry() -> Response:
    """Try one failed document again, or all of them."""
    wanted = params.exact(request.form, "document")
    try:
        try_again(dashboard().engine, [wanted] if wanted else None)
    except KeyError as error:
        raise RefusedError(f"There is no document {wanted[:200]!r}.", "Go back to the documents.") from error
    except ValueError as error:
        raise RefusedError(_sentence(error), "Go back to the documents.") from error
    _start()
    return _back()


@blueprint.post("/files/runs/<int:indexing_id>/cancel")
def cancel(indexing_id: int) -> Response:
    """Ask the indexer to stop."""
    # no database counts further
    if not (indexing_id < 2**63 and store.cancel_indexing(dashboard().engine, indexing_id)):
        raise NotIndexingError(indexing_id)
    return _back()


@blueprint.get("/files/removing")
def removing() -> Response:
    """What removing a document would cost, and the button that does it."""
    return rendering.page("files_removing", _removing(params.exact(request.args, "document")))


@blueprint.post("/files/remove")
def remove() -> Response:
    """Remove a document, once the questions that point to it were seen."""
    project = file_reads.changeable_project()
    context = _removing(params.exact(request.form, "document"))
    if params.integer(request.form, "warned", 0, 10**9, 0) != context.warned:  # of others than there are now
        return rendering.page("files_removing", context, status=409)
    try:
        folder.remove(project, context.document_id)
    except (FolderRefusedError, OSError) as error:
        raise RefusedError(_sentence(error), "Go back to the documents.") from error
    store.remove_files(dashboard().engine, [context.document_id])
    return _back()


@blueprint.get("/files/raw/<whole:document_id>")
def raw(document_id: str) -> Response:
    """The file itself: PDF and media to be looked at, everything else as a download that no browser runs."""
    return file_serving.file(project_here(), document_id)


@blueprint.get("/files/pages/<int:number>/<whole:document_id>")
def page_image(number: int, document_id: str) -> Response:
    """One page of a PDF as a picture."""
    return file_serving.page_image(project_here(), document_id, number)


def _removing(document_id: str) -> RemovingContext:
    project = file_reads.changeable_project()
    if folder.entry_of(project, document_id) is None:
        raise file_serving.NoFileError(document_id)
    pointing = folder.questions_about(project, document_id)
    return RemovingContext(
        document_id,
        tuple((query.id, query.text) for query in pointing.questions),
        pointing.faults,
        len(pointing.questions) + pointing.faults,
        url_for("files.remove"),
        _documents(),
    )


def _start() -> None:
    here = dashboard()
    launching.start_indexing(here.engine, here.root, has_project=here.has_project)


def _documents() -> str:
    return url_for("documents.page")


def _back() -> Response:
    return make_response(redirect(_documents() + "#files", 303))


def _sentence(error: Exception) -> str:
    said = str(error)
    return said[:1].upper() + said[1:] + ("" if said.endswith(".") else ".")
