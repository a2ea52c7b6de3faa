"""Questions: what is asked, with the needle that answers it or the stratum that says why nothing does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from corpus.documents import Document
from corpus.faults import Fault, in_order
from corpus.key_facts import find_key_facts
from corpus.near_misses import near_misses
from corpus.needles import Missing, Needle, NeedleFinder, Objection
from corpus.question_fields import Draft, Require, Stratum, read_fields
from corpus.question_rows import Row, read_rows

__all__ = ["Judgement", "LoadedQuestions", "Needle", "Query", "Require", "Stratum", "load_questions"]


OF_DOCUMENTS = "documents:"  # what the answer of a question about whole documents is called by


class Judgement(NamedTuple):
    """How relevant somebody judged a whole document to be for a question: grade 0 is not, more is more."""

    document: str
    grade: int


@dataclass(frozen=True, slots=True)
class Query:
    """One question.

    It is answerable by needles (spans that answer it), by relevant documents (where nobody said which passage
    answers), or not at all; a set of questions uses one of the first two throughout.

    Attributes:
        id: Unique in its file.
        text: What is asked.
        needles: The spans that answer it, in the order of the file; empty where the corpus does not, and where
            whole documents are judged.
        phrasing: How it is worded (``course``, ``ticket``, ...), or None where the file does not say.
        stratum: ``near`` or ``far`` where there is no needle, else None.
        key_facts: Phrases that any passage answering it would have to contain; none of them is in the corpus.
        line: Line of the questions file it begins on.
        require: Whether `any` one of several needles answers it, or `all` are needed together.
        relevant: Judged documents by id, for document-level relevance only; at least one has a grade above 0.
    """

    id: str
    text: str
    needles: tuple[Needle, ...]
    phrasing: str | None
    stratum: Stratum | None
    key_facts: tuple[str, ...]
    line: int
    require: Require = "any"
    relevant: tuple[Judgement, ...] = ()

    @property
    def needle(self) -> Needle | None:
        """The first needle; None where there is none."""
        return self.needles[0] if self.needles else None

    @property
    def answerable(self) -> bool:
        """Whether the corpus answers it, by a needle or by a relevant document."""
        return bool(self.needles or self.relevant)

    @property
    def answer_id(self) -> str | None:
        """What answers it, by name: equal for two phrasings of the same needles; None where nothing does.

        One needle's own id; of several all ids, joined by `or` (any) or `and` (all). Questions about relevant
        documents are each on their own.
        """
        if self.relevant:
            return f"{OF_DOCUMENTS}{self.id}"
        names = [needle.id for needle in sorted(self.needles, key=lambda one: (one.document, one.start, one.end))]
        return (" or " if self.require == "any" else " and ").join(names) or None


@dataclass(frozen=True, slots=True)
class LoadedQuestions:
    """The queries without fault, in the order of the file, and the faults of all others."""

    queries: tuple[Query, ...]
    faults: tuple[Fault, ...]


def load_questions(path: Path, documents: Sequence[Document]) -> LoadedQuestions:
    """Read a JSONL or CSV file of questions, find their needles and report every fault at once.

    Args:
        path: The questions file.
        documents: The corpus the needles are verbatim spans of.
    """
    file = path.as_posix()
    rows, faults = read_rows(path)
    if not rows and not faults:
        faults.append(Fault(file, None, "", "the questions file holds no questions", "Add a row for each question."))
    resolved = resolve_rows(rows, documents, file)
    return LoadedQuestions(resolved.queries, in_order([*faults, *resolved.faults]))


def resolve_rows(rows: Sequence[Row], documents: Sequence[Document], file: str) -> LoadedQuestions:
    """Make queries of rows, wherever they come from, and report every fault of them at once.

    Args:
        rows: The columns of a questions file, with the line each stands on.
        documents: The corpus the needles are verbatim spans of.
        file: What to name in faults.
    """
    faults: list[Fault] = []
    drafts = []
    for row in rows:
        draft, wrong = read_fields(row, file)
        faults.extend(wrong)
        drafts.append(draft)
    faults.extend(_repeated_ids(drafts, file))
    faults.extend(_mixed_rules(drafts, file))
    if not documents:
        problem = "there are no documents to find the needles in"
        return LoadedQuestions((), in_order([*faults, Fault(file, None, "", problem, "Mend the documents first.")]))
    resolver = _Resolver(documents, file)
    faults.extend(resolver.answered(drafts))
    faulty = {fault.line for fault in faults}
    # Faulty drafts are resolved as well, so that one fault does not hide another.
    resolved = [(draft.line, resolver.resolve(draft)) for draft in drafts]
    queries = tuple(query for line, query in resolved if query is not None and line not in faulty)
    return LoadedQuestions(queries, in_order([*faults, *resolver.faults, *resolver.missing_faults()]))


def _repeated_ids(drafts: Iterable[Draft], file: str) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for draft in drafts:
        earlier = first.setdefault(draft.id, draft.line)
        if draft.id and earlier != draft.line:
            problem = f"the id is used already on line {earlier}"
            yield Fault(file, draft.line, draft.id, problem, "Give every question an id of its own.")


def _mixed_rules(drafts: Sequence[Draft], file: str) -> Iterator[Fault]:
    """Needles and relevant documents are two hit rules, and numbers of two rules cannot be put into one."""
    answered = [draft for draft in drafts if draft.claims or draft.relevant]
    for draft in answered:
        if bool(draft.relevant) != bool(answered[0].relevant):
            first = "relevant documents" if answered[0].relevant else "a needle"
            problem = f"one set of questions has one hit rule, and line {answered[0].line} has {first}"
            advice = "Keep questions with needles and questions with `relevant` in projects of their own."
            yield Fault(file, draft.line, draft.id, problem, advice)


class _Resolver:
    """Turns drafts into queries and keeps the faults of those that stay drafts."""

    def __init__(self, documents: Sequence[Document], file: str) -> None:
        self.finder = NeedleFinder(documents)
        self.file = file
        self.faults: list[Fault] = []
        self.missing: list[tuple[int, str]] = []

    def answered(self, drafts: Iterable[Draft]) -> Iterator[Fault]:
        """Yield a fault for every key fact that the corpus holds; all are looked for in one pass of it."""
        asked = [(draft.line, fact) for draft in drafts for fact in draft.key_facts]
        found = find_key_facts((fact for _, fact in asked), self.finder.documents)
        for line, fact in asked:
            if fact in found:
                place = found[fact]
                problem = f"the key fact of an unanswerable question stands in '{place.document}' at {place.start}"
                advice = "Ask something the corpus does not answer, or choose a fact that only an answer would hold."
                yield Fault(self.file, line, fact, problem, advice)

    def resolve(self, draft: Draft) -> Query | None:
        needles: list[Needle] = []
        for claim in draft.claims:
            found = self.finder.locate(claim)
            if isinstance(found, Missing):
                self.missing.append((draft.line, found.text))
            elif isinstance(found, Objection):
                self.faults.append(Fault(self.file, draft.line, *found))
            elif found in needles:
                problem = "the needle is named twice for one question"
                self.faults.append(Fault(self.file, draft.line, found.text, problem, "Remove one of them."))
            else:
                needles.append(found)
        relevant = self._relevant(draft)
        if len(needles) < len(draft.claims) or len(relevant) < len(draft.relevant):
            return None
        return Query(
            draft.id,
            draft.text,
            tuple(needles),
            draft.phrasing,
            draft.stratum,
            draft.key_facts,
            draft.line,
            draft.require,
            relevant,
        )

    def _relevant(self, draft: Draft) -> tuple[Judgement, ...]:
        """Return the judged documents that are there, by id; a fault for each that is not."""
        found: dict[str, int] = {}
        for name, grade in draft.relevant:
            document = self.finder.document(name)
            if document is None:
                advice = f"The closest name is '{self.finder.closest_name(name)}'."
                self.faults.append(Fault(self.file, draft.line, name, "there is no such document", advice))
            else:
                found[document.id] = grade
        return tuple(Judgement(name, found[name]) for name in sorted(found))

    def missing_faults(self) -> list[Fault]:
        """Return the faults of the needles that stand nowhere; all are looked for in one pass of the corpus."""
        closest = near_misses([text for _, text in self.missing], self.finder.documents)
        faults = []
        for (line, text), near in zip(self.missing, closest, strict=True):
            advice = near.sentence if near is not None else "Copy a sentence of the corpus letter by letter."
            faults.append(Fault(self.file, line, text, "the needle stands nowhere in the corpus", advice))
        return faults
