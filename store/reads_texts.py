"""Documents with their texts, for pages that show passages."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Engine, select
from sqlmodel import Session, col

from store.sharing import shared_by_key
from store.tables import DocumentRow, TextRow


class DocumentText(NamedTuple):
    """A document's title and canonical text.

    Attributes:
        title: Its title.
        text: Its canonical text.
        locators: Start, end and place of each of its stretches; empty where its offsets are all there is.
    """

    title: str
    text: str
    locators: tuple[tuple[int, int, str], ...] = ()


@shared_by_key
def document_texts(engine: Engine, corpus_hash: str, document_ids: Collection[str]) -> dict[str, DocumentText]:
    """Some documents of a corpus, by id; what is not there is left out."""
    if not document_ids:
        return {}
    query = (
        select(col(DocumentRow.document_id), col(DocumentRow.title), col(TextRow.text), col(DocumentRow.locators))
        .join(TextRow, col(TextRow.sha256) == col(DocumentRow.text_sha256))
        .where(col(DocumentRow.corpus_hash) == corpus_hash, col(DocumentRow.document_id).in_(sorted(document_ids)))
    )
    with Session(engine) as session:
        return {
            found: DocumentText(title, text, tuple((start, end, place) for start, end, place in locators or ()))
            for found, title, text, locators in session.execute(query).all()
        }
