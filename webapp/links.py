"""Addresses: of other pages, which may not exist in every version of the dashboard, and of this one at its shortest."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, request, url_for


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
