"""`bluffline serve`: the dashboard of a project, on this machine only."""

from __future__ import annotations

import errno
import socket
from dataclasses import replace
from pathlib import Path

import click
from flask import Flask

from experiments.cli.options import FloatRange, project_option
from experiments.indexing.stamps import stamps_of, why_stale
from experiments.launching import start_indexing
from experiments.project import Project, open_project
from store import files
from store.engine import open_store
from store.files import EXTRACTING, QUEUED, STALE
from webapp import app as application
from webapp.security import loopback_hosts
from webapp.sync_timer import keep_syncing


class CannotServeError(click.ClickException):
    """The dashboard cannot be served as asked; one line says why and what to do."""

    exit_code = 2


@click.command()
@project_option
@click.option("--host", help="A loopback address; else the project's, else 127.0.0.1.")
@click.option("--port", type=click.IntRange(1, 65535), help="Else the project's, else 5077.")
@click.option(
    "--sync-every",
    type=FloatRange(0.5, 10_080),
    metavar="MINUTES",
    help="Exchange sweeps with MLflow every so often; else the project's, else only on request.",
)
def serve(folder: Path | None, host: str | None, port: int | None, sync_every: float | None) -> None:
    """Serve the dashboard until interrupted.

    It listens on this machine only. Reach it from elsewhere through an SSH tunnel.
    """
    project = open_project(folder)
    host, port = (host or project.host).strip("[]"), port or project.port
    try:
        application.require_loopback(host)
    except ValueError as error:
        raise CannotServeError(str(error)) from error
    project = project if sync_every is None else replace(project, sync_every=sync_every)
    app = dashboard_of(project, host, port)
    _require_free(host, port)
    if _take_up(project):
        click.echo("documents are indexed again in the background: /documents shows how far it is")
    if project.sync_every is not None:
        keep_syncing(project.root, has_project=project.file is not None, minutes=project.sync_every)
    click.echo(f"{project.name}: http://{_authority(host, port)}/ (stop with Ctrl-C)")
    try:
        application.serve(app, host, port)
    except KeyboardInterrupt:  # before the server had begun to listen; afterwards it takes it itself
        pass
    except OSError as error:
        raise _not_had(host, port, error) from error


def dashboard_of(project: Project, host: str, port: int) -> Flask:
    """The application of a project that answers at one address of this machine."""
    return application.create_app(
        open_store(project.store_url),
        root=project.root,
        allowed_hosts=loopback_hosts(port) | {_authority(host, port)},
        title=project.name,
        tags_decisions=True,
        largest_upload=project.largest_upload,
        sync_every=project.sync_every,
    )


def _take_up(project: Project) -> bool:
    """Let the indexer go on with what an upgrade made stale, or what a process that ended left waiting.

    Returns:
        Whether it was started. Where nothing was ever indexed, nothing is.
    """
    engine = open_store(project.store_url)
    try:
        rows = files.files(engine)
        now = stamps_of(project) if rows else None
        if now is None or not any(row.state in (QUEUED, EXTRACTING, STALE) or why_stale(row, now) for row in rows):
            return False
        return start_indexing(engine, project.root, has_project=project.file is not None)
    finally:
        engine.dispose()


def _require_free(host: str, port: int) -> None:
    """Find out before anything is said: a URL that does not answer is worse than none."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
    except OSError as error:
        raise _not_had(host, port, error) from error


def _not_had(host: str, port: int, error: OSError) -> CannotServeError:
    why = {
        errno.EADDRINUSE: "something already listens there, perhaps another dashboard",
        errno.EACCES: "this user may not listen there",
    }.get(error.errno or 0, str(error.strerror or error))
    return CannotServeError(f"cannot listen on {_authority(host, port)}: {why}; choose another port with --port")


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
