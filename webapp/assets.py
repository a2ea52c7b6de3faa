"""Addresses of static files that change with their content, so that a browser may keep them for good."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flask import Flask, Response, redirect, request, url_for

FOR_GOOD = "public, max-age=31536000, immutable"
HTMX = "vendor/htmx-4.0.1.min.js"
PLOTLY = "vendor/plotly-basic-4.1.1.min.js"
PLOTLY_STYLES = "vendor/plotly-basic-4.1.1.css"


def register(app: Flask) -> None:
    """Give templates `asset(...)` and the names of the vendored files; mark versioned answers as lasting."""
    folder = Path(app.static_folder or "static")

    def asset(name: str) -> str:
        path = folder / name
        if name.startswith("vendor/"):  # the version is part of the name
            return url_for("static", filename=name)
        return url_for("static", filename=name, v=_fingerprint(path, path.stat().st_mtime_ns))

    @app.after_request
    def keep(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code in {200, 304}:
            named = (request.view_args or {}).get("filename", "")
            lasting = "v" in request.args or (named.startswith("vendor/") and not named.endswith(".json"))
            response.headers["Cache-Control"] = FOR_GOOD if lasting else "no-cache"
        return response

    # A file that is shown by itself, a PDF for one, names no icon: the browser asks here.
    app.add_url_rule("/favicon.ico", "icon", lambda: redirect(asset("icon.svg")))
    app.jinja_env.globals.update(
        asset=asset, htmx=HTMX, plotly=PLOTLY, plotly_styles=PLOTLY_STYLES, product_version=product_version()
    )


def product_version() -> str:
    """The installed version, or where this runs from when it is not installed."""
    try:
        return version("bluffline")
    except PackageNotFoundError:
        return "from a checkout"


@lru_cache(maxsize=64)
def _fingerprint(path: Path, _changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
