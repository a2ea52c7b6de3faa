"""How many chunks each strategy makes of each document, counted once: a text and a strategy always give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from flask import current_app

from corpus.documents import Document
from experiments.chunking import chunk_document
from experiments.conditions import Strategy
from experiments.relevance import destroyed
from store.needle_spans import NeedleSpan
from store.tables import DocumentRow

EXTENSION = "bluffline.cut_counts"
LOST = "bluffline.lost_needles"
Key = tuple[str, str, str]  # text, title, strategy


def chunk_counts(
    documents: Sequence[DocumentRow],
    strategies: Mapping[str, Strategy],
    texts: Callable[[Sequence[str]], Mapping[str, str]],
) -> dict[tuple[str, str], int]:
    """Chunks by document id and strategy name.

    Args:
        documents: The documents.
        strategies: By name.
        texts: Reads texts by their hashes; asked once, for those alone that were not counted before.
    """
    known = cast("dict[Key, int]", current_app.extensions.setdefault(EXTENSION, {}))
    missing = {
        row.text_sha256
        for row in documents
        for strategy in strategies.values()
        if (row.text_sha256, row.title, strategy.spec) not in known
    }
    read = texts(sorted(missing)) if missing else {}
    found = {}
    for row in documents:
        for name, strategy in strategies.items():
            key = (row.text_sha256, row.title, strategy.spec)
            if key not in known:
                text = read.get(row.text_sha256, "")
                whole = Document(row.document_id, row.title, text, row.source, row.text_sha256, row.encoding)
                known[key] = len(chunk_document(whole, strategy))
            found[row.document_id, name] = known[key]
    return found


def lost_needles(
    documents: Sequence[DocumentRow],
    strategies: Mapping[str, Strategy],
    needles: Iterable[NeedleSpan],
    texts: Callable[[Sequence[str]], Mapping[str, str]],
) -> dict[str, frozenset[str]]:
    """The needles each strategy destroys in some documents, found by cutting them; done once.

    Args:
        documents: The documents.
        strategies: By name.
        needles: Of any documents.
        texts: As for `chunk_counts`.

    Returns:
        Ids of needles by strategy.
    """
    known = cast("dict[tuple[Key, frozenset[NeedleSpan]], frozenset[str]]", current_app.extensions.setdefault(LOST, {}))
    by_document: dict[str, set[NeedleSpan]] = {}
    for needle in needles:
        by_document.setdefault(needle.document, set()).add(needle)
    lost: dict[str, set[str]] = {name: set() for name in strategies}
    for row in documents:
        own = frozenset(by_document.get(row.document_id, ()))
        for name, strategy in strategies.items():
            key = ((row.text_sha256, row.title, strategy.spec), own)
            if own and key not in known:
                text = texts([row.text_sha256]).get(row.text_sha256, "")
                whole = Document(row.document_id, row.title, text, row.source, row.text_sha256, row.encoding)
                asked = sorted(own)
                gone = destroyed(chunk_document(whole, strategy), asked)
                known[key] = frozenset(needle.id for needle, is_gone in zip(asked, gone, strict=True) if is_gone)
            lost[name] |= known.get(key, frozenset())
    return {name: frozenset(found) for name, found in lost.items()}
