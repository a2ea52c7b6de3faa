"""Following links from the overview, as a reader would."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

from flask import Flask
from werkzeug.test import TestResponse

REPORT = "/report.html"
_HREF = re.compile(r'<a\b[^>]*\bhref="([^"#][^"]*)"')
_PLACE = re.compile(r"\d+|(?<=/queries/)[^/?]+|(?<=/documents/)[^?]+")


def walk(app: Flask, each: int = 2, but: tuple[str, ...] = ()) -> dict[str, TestResponse]:
    """Answers by address: every kind of page is opened `each` times, not each of hundreds of questions.

    A report, which is made of all pages of a sweep, is opened once.

    Args:
        app: The dashboard.
        each: How often a kind of page is opened.
        but: What stands in addresses that are not opened.
    """
    client, waiting = app.test_client(), ["/"]
    found: dict[str, TestResponse] = {}
    kinds: dict[tuple[str, tuple[str, ...]], int] = {}
    while waiting:
        address = waiting.pop(0)
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or address in found or any(part in address for part in but):
            continue
        kind = (_PLACE.sub("*", parts.path), tuple(sorted(one.split("=")[0] for one in parts.query.split("&"))))
        if kinds.get(kind, 0) >= (1 if parts.path.endswith(REPORT) else each):
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        found[address] = client.get(address, buffered=True)  # a file is read and closed
        if found[address].mimetype == "text/html":
            links = _HREF.findall(found[address].get_data(as_text=True))
            waiting += [urljoin(address, unescape(link)).split("#")[0] for link in links]
    return found
