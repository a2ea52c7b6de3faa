"""Addresses: of other pages, which may not exist in every version of the dashboard, and of this one at its shortest."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from flask import Flask, Response, current_app, request, url_for
from werkzeug.routing import BaseConverter


class Whole(BaseConverter):
    """An id of anybody's making at the end of an address, slashes and dots included.

    Where a browser would take `../` or `./` out of the address, or a server join `//`, its slashes are escaped.
    """

    regex = ".+"
    part_isolating = False

    def to_url(self, value: Any) -> str:
        """The id as one part of a path."""
        words = str(value)
        plain = all(part not in ("", ".", "..") for part in words.split("/"))
        return quote(words, safe="!$'()*+,;:@=&" + ("/" if plain else ""))


def register(app: Flask) -> None:
    """Let addresses end in `<whole:name>`; they are read as they were sent."""
    app.url_map.converters["whole"] = Whole
    app.url_map.merge_slashes = False


def url_or_none(endpoint: str, **values: Any) -> str | None:
    """The address of a page, or None where this dashboard does not have it."""
    return url_for(endpoint, **values) if endpoint in current_app.view_functions else None


def shown_as(response: Response, url: str, *, new: bool) -> Response:
    """Let the browser show a short address instead of the one a form was sent with.

    Args:
        response: The answer to a form that htmx sent; others are left alone, their address is shown already.
        url: Leads to the same page.
        new: Whether the way back leads to the page as it was before.
    """
    if request.headers.get("HX-Request") == "true":
        response.headers["HX-Push-Url" if new else "HX-Replace-Url"] = url
    return response
