"""Addresses of a table as files, one for each format."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import url_for

from webapp.exports import FORMATS


class Files(NamedTuple):
    """Where a table is handed out."""

    csv: str
    json: str
    md: str


def files(endpoint: str, query: str = "", **values: Any) -> Files:
    """The files of an endpoint that takes a format.

    Args:
        endpoint: Of the view that hands the table out.
        query: Parameters, with their question mark.
        values: Of the endpoint's address.
    """
    csv, json, md = (url_for(endpoint, form=form, **values) + query for form in FORMATS)
    return Files(csv, json, md)
