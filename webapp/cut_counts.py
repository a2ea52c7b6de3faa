"""How many chunks each strategy makes of each document, counted once: a text and a strategy always give the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from flask import current_app

from corpus.documents import Document
from experiments.chunking import chunk_document
from experiments.conditions import Strategy
from store.tables import DocumentRow

EXTENSION = "bluffline.cut_counts"
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
