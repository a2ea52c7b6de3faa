"""Places in documents as addresses: each locator as a fragment for people, and as parameters, which servers see."""

from __future__ import annotations

from urllib.parse import parse_qsl

from corpus.locators import Locator, locate
from store.reads_texts import DocumentText
from webapp.links import url_or_none

NAMES = ("char", "page", "t", "sheet", "range")


def parameters_of(locator: str) -> dict[str, str]:
    """`#sheet=Prices&range=A2:F2` as parameters of an address."""
    pairs = parse_qsl(locator.removeprefix("#").replace("+", "%2B"), keep_blank_values=True)
    return {name: value for name, value in pairs if name in NAMES}


def locator_of(document: DocumentText | None, start: int, end: int) -> str:
    """The fragment that leads to a stretch of a document: its page, its time, its cells or its offsets."""
    return locate([Locator(*one) for one in document.locators] if document else (), start, end)


def document_place(document_id: str, start: int, end: int, locator: str = "", **values: object) -> str | None:
    """The address of a stretch of a document; None where this dashboard has no documents.

    Args:
        document_id: The document.
        start: First code point.
        end: One past the last.
        locator: The fragment a person opens, `#page=12`; the offsets where it is left out.
        values: Further parameters.
    """
    char = f"{start},{end}"
    fragment = (locator or f"#char={char}").removeprefix("#")
    place = {**parameters_of(fragment), "char": char}
    url = url_or_none("documents.document", document_id=document_id, **values, **place)
    return f"{url}#{fragment}" if url else None
