"""The application: everything is wired here, and nothing happens at import time."""

from __future__ import annotations

import gc
import hashlib
import ipaddress
import secrets
from collections.abc import Collection
from pathlib import Path

from flask import Flask
from jinja2 import StrictUndefined
from sqlalchemy import Engine

from webapp import assets, errors, figures, filters, links, navigation, params, security, whiskers
from webapp.dashboard import EXTENSION, Dashboard
from webapp.views import BLUEPRINTS

LARGEST_REQUEST = 1024 * 1024  # bytes; a form holds a question, a reason, a few facts
LARGEST_READ = 16 * LARGEST_REQUEST  # what the server takes in so that a page can say that it is too large


def create_app(
    engine: Engine,
    *,
    root: Path,
    allowed_hosts: Collection[str],
    secret_key: str | None = None,
    title: str = "Bluffline",
    tags_decisions: bool = False,
    largest_upload: int = 200,
    sync_every: float | None = None,
) -> Flask:
    """Make the dashboard's application.

    Args:
        engine: The store, as `store.engine.open_store` returns it.
        root: The project's folder.
        allowed_hosts: Values of the Host header that are answered, port included, as `security.loopback_hosts` lists.
        secret_key: Signs the session that carries the form token. A new one per process when None: forms that
            were open across a restart must then be loaded again.
        title: What this dashboard is called, shown in every page's title.
        tags_decisions: Whether a decision made here is logged to the MLflow of the project in `root`.
        largest_upload: Megabytes of documents that one request may bring.
        sync_every: Minutes between two exchanges with MLflow that are started by themselves; it is only told here.

    Raises:
        ValueError: If no host is allowed, so that nobody could be answered.
    """
    if not allowed_hosts:
        raise ValueError("allowed_hosts is empty: the dashboard could not answer any request")
    app = Flask("webapp", template_folder=str(_folder("templates")), static_folder=str(_folder("static")))
    app.config.update(
        SECRET_KEY=secret_key or secrets.token_hex(32),
        # Cookies do not know ports: two dashboards on one machine must not share a name.
        SESSION_COOKIE_NAME=f"bluffline-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        MAX_CONTENT_LENGTH=LARGEST_REQUEST,
        MAX_FORM_MEMORY_SIZE=LARGEST_REQUEST,
        LARGEST_UPLOAD=largest_upload * 1_000_000,
    )
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.extensions[EXTENSION] = Dashboard(
        engine=engine, root=root, title=title, tags_decisions=tags_decisions, sync_every=sync_every
    )
    security.protect(app, allowed_hosts)
    for module in (assets, errors, figures, filters, links, navigation, params, whiskers):
        module.register(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app


def serve(app: Flask, host: str, port: int) -> None:
    """Serve until interrupted, on a loopback address only.

    Raises:
        ValueError: If `host` is not a loopback address.
    """
    require_loopback(host)
    from waitress import serve as listen  # type: ignore[import-untyped]  # noqa: PLC0415 - only a server needs it

    # What is loaded by now stays: looking through all of it again would stop every tenth request for 100 ms.
    gc.collect()
    gc.freeze()
    listen(
        app,
        host=host.strip("[]"),
        port=port,
        threads=8,
        ident=None,
        clear_untrusted_proxy_headers=True,
        max_request_body_size=app.config["LARGEST_UPLOAD"] + LARGEST_READ,
    )


def require_loopback(host: str) -> None:
    """Refuse to listen where others could reach it.

    Raises:
        ValueError: If `host` is not a loopback address.
    """
    if not _is_loopback(host):
        raise ValueError(
            f"will not listen on {host!r}: access control is missing, so anyone who reaches that address could read "
            "every document; use 127.0.0.1 and reach it from elsewhere through an SSH tunnel"
        )


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _folder(name: str) -> Path:
    """Templates and static files: inside the package when installed, at the top of a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
