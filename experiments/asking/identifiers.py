"""Links and identifiers in a text: addresses, DOIs, arXiv ids and ISBNs, in one form each so that they compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# No group can back up over what it has read, so no text makes these slow.
_SCHEME = r"(?:https?|ftp|file)://"
_TAIL = r"[^\s<>\"“”„«»`|\\^{}]"
_URL = re.compile(rf"(?:{_SCHEME}|mailto:|(?<![\w.@/-])www\.(?=\w)){_TAIL}+", re.IGNORECASE)
_BARE_DOMAIN = re.compile(
    r"(?<![\w.@/:-])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|io|ai|dev|app|info|eu|uk|de|fr|ch|gr|it|es|nl)"
    rf"(?![\w-])(?:/{_TAIL}*)?",
    re.IGNORECASE,
)
_MARKDOWN = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{1,2000}(?:[ \t][^()\n]{0,300})?\)")
_DOI = re.compile(rf"(?:\bdoi:[ \t]?|(?<![\w./]))10\.\d{{4,9}}/{_TAIL}+", re.IGNORECASE)
_ARXIV = re.compile(
    r"\barxiv[:\s][ \t]?(?:\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?(?!\d)", re.IGNORECASE
)
_BARE_ARXIV = re.compile(r"(?<![\w.,/-])(?:0[7-9]|[1-3]\d)(?:0[1-9]|1[0-2])\.\d{5}(?:v\d{1,2})?(?![\w,])(?!\.\d)")
_ISBN = re.compile(r"\bISBN(?:-1[03])?:?[ \t]?(?:\d[ -]?){9,12}[\dX]\b", re.IGNORECASE)
_BARE_ISBN = re.compile(r"(?<![\w-])97[89][ -]?(?:\d[ -]?){9}\d(?![\w-])")

_TRAILING = ".,;:!?…'’*_"
_DOI_INSIDE = re.compile(r"10\.\d{4,9}/\S+", re.IGNORECASE)
_ARXIV_INSIDE = re.compile(r"arxiv\.org/(?:abs|pdf)/([\w.-]+(?:/\d{7})?(?:v\d{1,2})?)", re.IGNORECASE)


class Identifier(NamedTuple):
    """Something that names a work or an address.

    Attributes:
        start: First character.
        end: One past the last.
        kind: `URL`, `DOI`, `arXiv` or `ISBN`.
        canonical: The same for two ways of writing the same thing.
    """

    start: int
    end: int
    kind: str
    canonical: str


def links(text: str) -> list[tuple[int, int]]:
    """Ranges of Markdown links and addresses, in order and without overlap."""
    spans = [match.span() for match in _MARKDOWN.finditer(text)]
    spans += [(one.start, one.end) for one in _urls(text)]
    return without_overlap(spans)


def identifiers(text: str) -> list[Identifier]:
    """Every address, DOI, arXiv id and ISBN of a text, in order and without overlap; the longest reading wins."""
    found = [*_urls(text), *_dois(text), *_arxiv_ids(text), *_isbns(text)]
    kept = set(without_overlap([(one.start, one.end) for one in found]))
    chosen: dict[tuple[int, int], Identifier] = {}
    for one in found:
        if (one.start, one.end) in kept:
            chosen.setdefault((one.start, one.end), one)
    return sorted(chosen.values())


def without_overlap(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest ranges first, then those that touch none of them; in order."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0] - span[1], span[0])):
        if all(end <= low or high <= start for low, high in kept):
            kept.append((start, end))
    return sorted(kept)


def _urls(text: str) -> Iterator[Identifier]:
    for pattern in (_URL, _BARE_DOMAIN):
        for match in pattern.finditer(text):
            address = _bare(match.group())
            if address:
                kind, canonical = _of_address(address)
                yield Identifier(match.start(), match.start() + len(address), kind, canonical)


def _bare(address: str) -> str:
    """An address without the sentence's punctuation; a closing bracket stays where one was opened in it."""
    while address:
        last = address[-1]
        if last in _TRAILING or (last in ")]" and address.count(last) > address.count({")": "(", "]": "["}[last])):
            address = address[:-1]
        else:
            break
    return address


def _of_address(address: str) -> tuple[str, str]:
    doi = _DOI_INSIDE.search(address) if "doi" in address.lower() else None
    if doi:
        return "DOI", f"doi {doi.group().lower()}"
    arxiv = _ARXIV_INSIDE.search(address)
    if arxiv:
        return "arXiv", _arxiv(arxiv[1].removesuffix(".pdf"))
    plain = re.sub(r"^(?:https?://)?(?:www\.)?", "", address, flags=re.IGNORECASE)
    host, slash, path = plain.partition("/")
    return "URL", f"url {(host.lower() + slash + path).rstrip('/')}"


def _dois(text: str) -> Iterator[Identifier]:
    for match in _DOI.finditer(text):
        doi = _bare(match.group())
        inside = _DOI_INSIDE.search(doi)
        if inside:
            yield Identifier(match.start(), match.start() + len(doi), "DOI", f"doi {inside.group().lower()}")


def _arxiv_ids(text: str) -> Iterator[Identifier]:
    for match in _ARXIV.finditer(text):
        yield Identifier(match.start(), match.end(), "arXiv", _arxiv(re.split(r"[:\s]+", match.group(), maxsplit=1)[1]))
    for match in _BARE_ARXIV.finditer(text):
        yield Identifier(match.start(), match.end(), "arXiv", _arxiv(match.group()))


def _arxiv(written: str) -> str:
    return "arxiv " + re.sub(r"v\d{1,2}$", "", written.strip().lower())


def _isbns(text: str) -> Iterator[Identifier]:
    for pattern in (_ISBN, _BARE_ISBN):
        for match in pattern.finditer(text):
            digits = re.sub(r"[^0-9Xx]", "", re.sub(r"^ISBN(?:-1[03])?", "", match.group(), flags=re.IGNORECASE))
            if len(digits) in (10, 13):
                yield Identifier(match.start(), match.end(), "ISBN", f"isbn {_isbn13(digits.upper())}")


def _isbn13(digits: str) -> str:
    """An ISBN in its 13-digit form, so that both ways of writing a book's number compare."""
    if len(digits) == 13:
        return digits
    body = "978" + digits[:9]
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return body + str(-total % 10)
