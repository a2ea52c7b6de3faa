"""What an import makes: documents, questions about them, everything that is wrong, and what a person should know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.documents import Document
from corpus.faults import Fault, in_order
from corpus.question_rows import Row
from corpus.questions import LoadedQuestions, resolve_rows


@dataclass(frozen=True, slots=True)
class Material:
    """A question set of others, read.

    Attributes:
        documents: The documents, in the order they were read in.
        file: The file the questions come from.
        rows: A question each, with the columns of our questions files and the line it stands on in `file`.
        faults: What is wrong with the files; what is concerned is left out of documents and rows.
        notes: One sentence each: what was left out on purpose, and how much.
        collection: Whether the documents were made here; they lie in a folder of the user's own otherwise.
        lines: Where the questions stand in `file`, by the number their rows carry; empty where it is the line itself.
    """

    documents: Sequence[Document]
    file: str
    rows: Sequence[Row]
    faults: Sequence[Fault]
    notes: Sequence[str] = ()
    collection: bool = True
    lines: Mapping[int, int] | None = None

    def questions(self) -> LoadedQuestions:
        """Find needles and judged documents as a questions file of ours would, and add what is wrong with them."""
        loaded = resolve_rows(self.rows, self.documents, self.file)
        found = loaded.faults
        if self.lines is not None:
            found = tuple(replace(fault, line=self.lines.get(fault.line or 0)) for fault in found)
        return LoadedQuestions(loaded.queries, in_order([*self.faults, *found]))


def collection_lines(documents: Iterable[Document]) -> Iterable[str]:
    """Yield the lines of a collection of these documents."""
    for document in documents:
        values = {"id": document.id, "title": document.title, "text": document.text}
        yield json.dumps(values, ensure_ascii=False) + "\n"
