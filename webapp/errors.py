"""What a reader sees when something is wrong: what happened and what to do, never a traceback."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, fields

from flask import Flask, Response, current_app, g, make_response, render_template, request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException

from store.engine import StoreError

LONGEST_SHOWN = 200  # characters of an address


class PageError(Exception):
    """Something a reader can be told about. Subclasses set `status` and `title` and pass the two sentences.

    Attributes:
        status: HTTP status of the answer.
        title: What is wrong, in a few words.
        happened: What happened, with the value in it.
        advice: What to do about it.
    """

    status = 400
    title = "This cannot be shown"

    def __init__(self, happened: str, advice: str) -> None:
        """Keep what happened and what to do."""
        super().__init__(happened)
        self.happened = happened
        self.advice = advice


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """What the error page shows."""

    status: int
    heading: str
    happened: str
    advice: str


HTTP_ERRORS = {
    400: ErrorContext(400, "The request is malformed", "", "Check the address, or start again from the overview."),
    403: ErrorContext(403, "This is not allowed", "", "Go back and load the page again."),
    404: ErrorContext(404, "There is no such page", "", "Check the address, or start again from the overview."),
    405: ErrorContext(405, "This address is used another way", "", "Use the form on its page instead."),
    413: ErrorContext(
        413, "This is too large", "", "Shorten what stands in the form, or send fewer or smaller files at once."
    ),
}


def shown(value: object) -> str:
    """What somebody asked for, shortened where it is longer than anything that exists."""
    words = str(value)
    return words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 3] + "..."


def register(app: Flask) -> None:
    """Answer every error of an application with a page or, for htmx, with a notice."""
    app.register_error_handler(PageError, _page_error)
    app.register_error_handler(StoreError, _store_error)
    app.register_error_handler(SQLAlchemyError, _database_error)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(500, _broken)


def answer(context: ErrorContext) -> Response:
    """Render an error. For htmx it goes to the notices of the page, which itself stays as it is."""
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    partial = request.headers.get("HX-Request") == "true" and "HX-Boosted" not in request.headers
    if request.headers.get("HX-History-Restore-Request") == "true":
        partial = False
    response = make_response(
        render_template("errors/_error.html" if partial else "errors/page.html", **values), context.status
    )
    if partial:
        response.headers["HX-Retarget"] = "#notices"
        response.headers["HX-Reswap"] = "innerHTML"
        response.headers["HX-Reselect"] = ".notice"  # whatever part of a page was wanted
        response.headers["HX-Push-Url"] = "false"
    response.headers["Cache-Control"] = "no-store"
    response.vary.add("HX-Request")
    return response


def _page_error(error: PageError) -> Response:
    return answer(ErrorContext(error.status, error.title, error.happened, error.advice))


def _store_error(error: StoreError) -> Response:
    g.without_store = True
    said = str(error)
    return answer(
        ErrorContext(
            503,
            "The store cannot be used",
            said[:1].upper() + said[1:] + ".",
            "The measurements are also in MLflow: a new store can be filled from there with `bluffline sync`.",
        )
    )


def _database_error(error: SQLAlchemyError) -> Response:
    g.without_store = True
    reference = _log("the store could not be read", error)
    return answer(
        ErrorContext(
            503,
            "The store cannot be read",
            "The database did not answer as it should: it may be busy, moved, full or damaged.",
            f"Try again in a moment. If it stays so, look for {reference} in the server's log.",
        )
    )


def _http_error(error: HTTPException) -> Response:
    code = error.code or 500
    if code < 400:  # a redirect is an HTTPException too
        return make_response(error.get_response())
    known = HTTP_ERRORS.get(code, ErrorContext(code, error.name, "", "Start again from the overview."))
    happened = {
        404: f"Nothing is served at {shown(request.path)}.",
        405: f"{shown(request.path)} does not take {request.method} requests.",
    }.get(code, error.description or error.name)
    return answer(ErrorContext(code, known.heading, happened, known.advice))


def _broken(error: Exception) -> Response:
    reference = _log("a page failed", getattr(error, "original_exception", None) or error)
    return answer(
        ErrorContext(
            500,
            "This page is broken",
            "Something went wrong that should not: this is a fault in Bluffline, not in what you did.",
            f"Nothing was changed. Look for {reference} in the server's log and report what stands there.",
        )
    )


def _log(what: str, error: BaseException) -> str:

    reference = secrets.token_hex(4)
    current_app.logger.error("%s [%s] %s %s", what, reference, request.method, request.path, exc_info=error)
    return reference
