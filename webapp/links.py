"""Addresses of other pages, which may not exist in every version of the dashboard."""

from __future__ import annotations

from typing import Any

from flask import current_app, url_for


def url_or_none(endpoint: str, **values: Any) -> str | None:
    """The address of a page, or None where this dashboard does not have it."""
    return url_for(endpoint, **values) if endpoint in current_app.view_functions else None
