"""Who may ask, and what a page may do: host check, form token, response headers, compression."""

from __future__ import annotations

import gzip
import hmac
import secrets
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from flask import Flask, Request, Response, current_app, g, request, session
from werkzeug.formparser import FormDataParser

from webapp.errors import PageError

TOKEN_FIELD = "csrf_token"  # noqa: S105 - the name of a form field
TOKEN_HEADER = "X-CSRF-Token"  # noqa: S105 - the name of a header
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# Plotly's rules are a vendored file and htmx's indicator styles are off, so that not even styles need an exception.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "media-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
HOSTS = "bluffline-hosts"  # the extension that holds which hosts are answered
UPLOAD = "files.upload"  # the endpoint that takes documents
LARGEST_UPLOAD = "LARGEST_UPLOAD"  # bytes, in the application's configuration
MOST_PARTS = 10_000  # files of one upload
COMPRESSIBLE = frozenset(
    {"text/html", "text/css", "text/csv", "text/markdown", "text/plain", "text/javascript", "application/javascript",
     "application/json", "image/svg+xml"}
)  # fmt: skip
SMALLEST_COMPRESSED = 600


class UnknownHostError(PageError):
    """The Host header names a server this is not: a rebound name, or a proxy nobody configured."""

    status = 400
    title = "This address is not served here"

    def __init__(self, host: str, allowed: Collection[str]) -> None:
        """Keep the name asked for beside the ones that are answered."""
        super().__init__(
            f"The request asked for the host {host!r}; this dashboard answers only to its own addresses, so that "
            "no other web site can read it through your browser.",
            "Open it at " + " or ".join(f"http://{name}/" for name in sorted(allowed)) + ".",
        )


class ForgedFormError(PageError):
    """A request that changes something came without this session's token."""

    status = 403
    title = "This form cannot be accepted"

    def __init__(self, reason: str) -> None:
        """Say what was missing."""
        super().__init__(
            f"Nothing was changed: {reason}.",
            "Go back, load the page again and send the form once more. Cookies must be allowed for this address.",
        )


class UnreadableFormError(PageError):
    """A form that was sent in no way a browser sends one."""

    title = "This form cannot be read"

    def __init__(self, error: ValueError) -> None:
        """Say what is wrong with it."""
        is_name = isinstance(error, UnicodeDecodeError)
        super().__init__(
            "Nothing was changed: " + ("a name in it is not valid UTF-8." if is_name else f"{error}."),
            "Rename the file and send it again." if is_name else "Load the page again and send the form once more.",
        )


class _FormParser(FormDataParser):
    """A parser that says what is wrong with a form, where Flask's own takes such a form for an empty one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "silent": False})


class FormRequest(Request):
    """A request whose form is read whole or refused."""

    form_data_parser_class = _FormParser


def loopback_hosts(port: int) -> frozenset[str]:
    """The Host headers of a dashboard on this machine."""
    names = ("127.0.0.1", "localhost", "[::1]")
    bare = frozenset(names) if port == 80 else frozenset()
    return bare | frozenset(f"{name}:{port}" for name in names)


def protect(app: Flask, allowed_hosts: Collection[str]) -> None:
    """Check every request and finish every response of an application."""
    app.request_class = FormRequest
    allowed = app.extensions[HOSTS] = frozenset(host.lower() for host in allowed_hosts)

    @app.before_request
    def check() -> None:
        host = request.headers.get("Host", "")
        if host.lower() not in allowed:
            g.without_store = True
            raise UnknownHostError(host, allowed)
        if request.endpoint == UPLOAD:  # what a form may hold is too little for documents
            request.max_content_length = current_app.config[LARGEST_UPLOAD]
            request.max_form_parts = MOST_PARTS
        # an address that takes no such request, or is none, says so itself: nothing behind it could be changed
        if request.method not in SAFE_METHODS and request.routing_exception is None:
            _check_token()

    app.after_request(_finish)
    app.jinja_env.globals.update(csrf_token=csrf_token, csrf_field=TOKEN_FIELD)


def csrf_token() -> str:
    """This session's token, made when first asked for."""
    token: str = session.setdefault("csrf", secrets.token_urlsafe(32))
    return token


def _check_token() -> None:
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise ForgedFormError("it was sent by another web site")
    expected = session.get("csrf")
    try:
        form = request.form
    except ValueError as error:
        raise UnreadableFormError(error) from error
    sent = request.headers.get(TOKEN_HEADER) or form.get(TOKEN_FIELD)
    if not expected:
        raise ForgedFormError("your session has ended or the server was started anew")
    if not sent:
        raise ForgedFormError("it came without its token")
    if not hmac.compare_digest(sent.encode(), expected.encode()):
        raise ForgedFormError("its token belongs to an older page")


def _finish(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)  # a file of the user's own has a stricter policy
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "private, no-cache")
        if request.method == "GET" and response.status_code == 200 and not _is_passed_on(response):
            response.add_etag(weak=True)
            response.make_conditional(request)
    return _compress(response)


def _is_passed_on(response: Response) -> bool:
    """Whether the server takes it from a file piece by piece: a server's own wrapper may have a length all the same."""
    return response.is_streamed or response.direct_passthrough


def _compress(response: Response) -> Response:
    """Gzip what is text and worth it; static files once, because they are read on every first view."""
    if response.mimetype not in COMPRESSIBLE:
        return response
    response.vary.add("Accept-Encoding")
    static = request.endpoint == "static"
    wanted = request.accept_encodings.quality("gzip") > 0
    if not wanted or response.status_code != 200 or "Content-Encoding" in response.headers:
        return response
    if _is_passed_on(response) and not static:
        return response
    response.direct_passthrough = False
    body = response.get_data()
    if len(body) < SMALLEST_COMPRESSED:
        return response
    response.set_data(_packed(body) if static else gzip.compress(body, 5, mtime=0))
    response.headers["Content-Encoding"] = "gzip"
    etag, _ = response.get_etag()
    if etag:
        response.set_etag(etag, weak=True)
    return response


@lru_cache(maxsize=32)
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
