"""One way to answer: the whole page, or for htmx only the fragment it asked for."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING
from urllib.parse import unquote

from flask import Response, make_response, render_template, request

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def page(view: str, context: DataclassInstance, *fragments: str, status: int = 200) -> Response:
    """Render `<view>/page.html`, or `<view>/_<fragment>.html` when htmx asks for that fragment.

    A fragment's root element carries the fragment's name as its id, and its page includes it unchanged; htmx names
    the element it will replace, so the id says which fragment is wanted. A boosted request and a restored history
    entry replace the whole page and get it.

    Args:
        view: Folder under `templates/`.
        context: A frozen dataclass; its fields are the template's variables.
        fragments: Names of the fragments this page can be asked for.
        status: HTTP status, 422 for a form that comes back.
    """
    wanted = asked_fragment(fragments)
    template = f"{view}/_{wanted}.html" if wanted else f"{view}/page.html"
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    response = make_response(render_template(template, **values), status)
    if fragments:
        response.vary.update(("HX-Request", "HX-Target"))
    else:
        response.vary.add("HX-Request")
    return response


def fragment(view: str, name: str, context: DataclassInstance) -> Response:
    """Render one fragment of a page, whatever was asked for."""
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    response = make_response(render_template(f"{view}/_{name}.html", **values))
    response.vary.update(("HX-Request", "HX-Target"))
    return response


def asked_fragment(fragments: tuple[str, ...]) -> str | None:
    """The fragment htmx wants, or None when the whole page is due."""
    headers = request.headers
    if headers.get("HX-Request") != "true" or headers.get("HX-Request-Type") == "full":
        return None
    if headers.get("HX-Boosted") == "true" or headers.get("HX-History-Restore-Request") == "true":
        return None
    target = unquote(headers.get("HX-Target", "").rpartition("#")[2])  # sent as tag#id
    return target if target in fragments else None
