"""A corpus as lines: each document with its state, what read it, and what each strategy does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from corpus.canonical import EXTRACTOR
from corpus.headings import headings
from experiments.conditions import Strategy
from experiments.naming import short_model
from experiments.reviewing.cuttings import NeedlePlace
from experiments.reviewing.document_states import NEW, UNREADABLE, Comparison, FailedDocument, failed_documents
from store.tables import CombinationRow, DocumentRow, SweepRow

Destroyed = Mapping[str, frozenset[str]]  # strategy -> ids of the needles it destroys
FAILED = "failed"


class Loss(NamedTuple):
    """What a strategy makes of a document."""

    chunks: int | None  # None where it was not measured
    destroyed: int | None  # None where nothing is recorded of it


class Line(NamedTuple):
    """A document; one that was not measured has no address and no numbers that measuring gives."""

    id: str
    title: str
    url: str
    state: str
    kind: str
    reason: str
    extractor: str
    encoding: str
    characters: int | None
    sections: int | None
    needles: int | None
    indexed_with: str
    losses: tuple[Loss, ...]


class Corpus(NamedTuple):
    """What was read."""

    sweep: SweepRow
    rows: Sequence[CombinationRow]
    documents: Sequence[DocumentRow]
    newest: Mapping[str, str] | None  # text hashes of the newest sweep's documents; None where this is the newest
    needles: Sequence[NeedlePlace]
    strategies: Mapping[str, Strategy]
    counts: Mapping[tuple[str, str], int]
    destroyed: Destroyed
    files: Comparison | None = None  # the documents beside their files; None where that was not asked for

    @property
    def failed(self) -> tuple[FailedDocument, ...]:
        """The documents the sweep was measured without."""
        return failed_documents(self.sweep.settings)

    @property
    def extractor(self) -> str:
        """What read the documents; sweeps recorded before it was kept do not say."""
        return self.sweep.versions.get("extractor", "")

    @property
    def models(self) -> str:
        """The models the documents were embedded with."""
        stamps = (row.stamp.get("model") for row in self.rows if row.state == "recorded")
        return ", ".join(dict.fromkeys(short_model(str(stamp["name"])) for stamp in stamps if stamp))


def lines(corpus: Corpus, document_url: Callable[[str], str]) -> tuple[Line, ...]:
    """Failed documents first, as they ask for something to be done; then the measured ones; then what is new."""
    return (
        *_failed(corpus),
        *(_measured(corpus, row, document_url) for row in corpus.documents),
        *_unmeasured(corpus),
    )


def _measured(corpus: Corpus, row: DocumentRow, document_url: Callable[[str], str]) -> Line:
    own = {needle.id for needle in corpus.needles if needle.document == row.document_id}
    state, kind, reason = _state(corpus, row)
    return Line(
        id=row.document_id,
        title=row.title,
        url=document_url(row.document_id),
        state=state,
        kind=kind,
        reason=reason,
        extractor=row.extractor or corpus.extractor,
        encoding=row.encoding,
        characters=row.characters,
        sections=row.sections,
        needles=len(own),
        indexed_with=corpus.models,
        losses=tuple(
            Loss(
                corpus.counts.get((row.document_id, name), 0),
                len(own & corpus.destroyed[name]) if name in corpus.destroyed else None,
            )
            for name in corpus.strategies
        ),
    )


def _state(corpus: Corpus, row: DocumentRow) -> tuple[str, str, str]:
    found = corpus.files.findings.get(row.document_id) if corpus.files else None
    if not any(one.state == "recorded" for one in corpus.rows):
        reason = "no combination of this sweep is recorded yet"
        return "not indexed", "warn", f"{reason}; {found.reason}" if found else reason
    if found is not None:
        return found.state, "bad" if found.state == UNREADABLE else "warn", found.reason
    if corpus.newest is not None:
        now = corpus.newest.get(row.document_id)
        if now is None:
            return "gone since", "warn", "the newest sweep's corpus does not have it"
        if now != row.text_sha256:
            return "changed since", "warn", "the newest sweep measured another text under this name"
    if corpus.extractor not in ("", EXTRACTOR):
        return "stale", "warn", f"it was read by {corpus.extractor}; documents are read by {EXTRACTOR} now"
    return "indexed", "good", ""


def _failed(corpus: Corpus) -> tuple[Line, ...]:
    """The documents the sweep was measured without; where their files were looked at, what is the matter now."""
    found = []
    for one in corpus.failed:
        now = ""
        if corpus.files and not corpus.files.fault:
            if one.file in {document.id for document in corpus.files.new}:
                now = " It can be read now: a new sweep measures it."
            elif one.file not in corpus.files.findings:
                now = " The file is not there any more."
        found.append(_without_numbers(corpus, one.file, FAILED, "bad", f"{one.problem} {one.advice}{now}"))
    return tuple(found)


def _unmeasured(corpus: Corpus) -> tuple[Line, ...]:
    """What lies on disk and was never measured, failed documents excepted: they have their line."""
    if corpus.files is None:
        return ()
    known = {row.document_id for row in corpus.documents} | {one.file for one in corpus.failed}
    found = [
        _without_numbers(corpus, name, finding.state, "bad", finding.reason)
        for name, finding in corpus.files.findings.items()
        if name not in known
    ]
    for new in corpus.files.new:
        if new.id not in known:
            line = _without_numbers(corpus, new.id, NEW, "info", "this sweep did not measure it")
            found.append(
                line._replace(
                    title=new.title,
                    extractor=new.extractor or EXTRACTOR,
                    encoding=new.encoding,
                    characters=len(new.text),
                    sections=sum(heading.level == 2 for heading in headings(new.text)),
                )
            )
    return tuple(sorted(found))


def _without_numbers(corpus: Corpus, name: str, state: str, kind: str, reason: str) -> Line:
    nothing = tuple(Loss(None, None) for _ in corpus.strategies)
    return Line(name, "", "", state, kind, reason, "", "", None, None, None, "", nothing)


def total(corpus: Corpus) -> Line:
    """All measured documents in one line."""
    losses = tuple(
        Loss(
            sum(corpus.counts.get((row.document_id, name), 0) for row in corpus.documents),
            len(corpus.destroyed[name]) if name in corpus.destroyed else None,
        )
        for name in corpus.strategies
    )
    return Line(
        *("", "all measured", "", "", "", "", "", ""),
        sum(row.characters for row in corpus.documents),
        sum(row.sections for row in corpus.documents),
        len(corpus.needles),
        "",
        losses,
    )
