"""The check: a corpus and its questions, everything that is wrong with them, and what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.documents import Document, load_documents
from corpus.extraction.limits import Limits
from corpus.faults import Fault
from corpus.headings import headings
from corpus.overlap import PhrasingOverlap, overlaps_by_phrasing
from corpus.questions import Query, load_questions


@dataclass(frozen=True, slots=True)
class Counts:
    """What a corpus and its questions hold; only what is without fault is counted.

    Attributes:
        documents: Documents.
        characters: Code points of all canonical texts.
        sections: ``## `` headings outside fenced code.
        needles: Different needles; several that are needed together, or of which any answers, count as one.
        answerable: Answerable queries of each phrasing (None where the file names none).
        near: Unanswerable queries of the topic's neighbourhood.
        far: Unanswerable queries from far away.
        relevant: Different documents judged relevant, where whole documents are judged and not needles.
    """

    documents: int
    characters: int
    sections: int
    needles: int
    answerable: Mapping[str | None, int]
    near: int
    far: int
    relevant: int = 0

    @property
    def unanswerable(self) -> int:
        """Unanswerable queries, near and far."""
        return self.near + self.far


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything a check found out.

    Attributes:
        documents: The documents without fault, by id.
        queries: The queries without fault, in the order of the file.
        faults: Everything that is wrong: first the documents' faults, then the questions'.
        skipped: Files of the documents folder with other suffixes.
        counts: What is there.
        overlaps: Lexical overlap of question and needle, one row for each phrasing.
        document_faults: Those of the faults that are of documents.
    """

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    faults: tuple[Fault, ...]
    skipped: tuple[str, ...]
    counts: Counts
    overlaps: tuple[PhrasingOverlap, ...]
    document_faults: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    @property
    def guessed(self) -> tuple[Document, ...]:
        """The documents whose encoding had to be detected: a person should look at their special characters."""
        return tuple(
            document for document in self.documents if document.encoding and not document.encoding.startswith("utf-")
        )


def check(
    documents_folder: Path,
    questions_file: Path,
    *,
    strip_front_matter: bool = True,
    strip_bibliography: Sequence[str] = (),
    limits: Limits | None = None,
    cache: Path | None = None,
) -> CheckReport:
    """Load a corpus and its questions and report every fault of both at once.

    Args:
        documents_folder: Folder of documents.
        questions_file: JSONL or CSV.
        strip_front_matter: See ``load_documents``.
        strip_bibliography: See ``load_documents``.
        limits: See ``load_documents``.
        cache: See ``load_documents``.
    """
    loaded = load_documents(
        documents_folder,
        strip_front_matter=strip_front_matter,
        strip_bibliography=strip_bibliography,
        limits=limits,
        cache=cache,
    )
    asked = load_questions(questions_file, loaded.documents)
    return CheckReport(
        documents=loaded.documents,
        queries=asked.queries,
        faults=loaded.faults + asked.faults,
        skipped=loaded.skipped,
        counts=_counts(loaded.documents, asked.queries),
        overlaps=overlaps_by_phrasing(asked.queries),
        document_faults=loaded.faults,
    )


def _counts(documents: Sequence[Document], queries: Sequence[Query]) -> Counts:
    strata = Counter(query.stratum for query in queries)
    return Counts(
        documents=len(documents),
        characters=sum(len(document.text) for document in documents),
        sections=sum(heading.level == 2 for document in documents for heading in headings(document.text)),
        needles=len({query.answer_id for query in queries if query.needles}),
        answerable=dict(Counter(query.phrasing for query in queries if query.answerable)),
        near=strata["near"],
        far=strata["far"],
        relevant=len({document for query in queries for document, grade in query.relevant if grade > 0}),
    )
